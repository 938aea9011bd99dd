// SPDX-License-Identifier: Apache-2.0
//
// Question: what do scrapes cost the service that is scraped?
// Limit: the same increments while the other processor copies memory of its own.
#include "scraped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "exposition/page/page_writer.hpp"
#include "other_processor.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kPageBytesAtOnce = std::size_t{64} << 10;
constexpr unsigned kAtOnce = 64;  // a clock costs more than an increment

// What one increment takes at p99.9 while the other processor repeats `step`.
template <typename F>
double slowest_thousandth_ns(Instance& instance, unsigned batches, F step) {
  using Steady = std::chrono::steady_clock;
  std::vector<double> times;
  times.reserve(batches);
  const OtherProcessor other(std::move(step));
  while (other.steps() == 0) std::this_thread::yield();
  for (unsigned batch = 0; batch < batches; ++batch) {
    const auto begin = Steady::now();
    for (unsigned count = 0; count < kAtOnce; ++count) instance.add(0U, 1U);
    const std::chrono::duration<double, std::nano> spent = Steady::now() - begin;
    times.push_back(spent.count() / kAtOnce);
  }
  std::sort(times.begin(), times.end());
  return quantile(times, 0.999);
}

}  // namespace

void scraped_row(Instance& instance, exposition::Snapshots& snapshots, std::size_t series,
                 const Effort& effort, Table& table) {
  const std::string what =
      fmt::format("increment while pages of {} series are written, p99.9", series);
  if (std::thread::hardware_concurrency() < 2) {
    table.note_row(what, "needs two processors");
    return;
  }
  const auto write_page = [&snapshots] {
    const auto page =
        exposition::make_page_writer(exposition::PageFormat::kText, snapshots.take(), {});
    std::string piece;
    do {
      keep(piece.data());
      piece.clear();
    } while (page->write(piece, kPageBytesAtOnce));
  };
  std::vector<char> from(std::size_t{8} << 20), to(from.size());
  const auto copy = [&] {
    std::memcpy(to.data(), from.data(), from.size());
    keep(to.data());
  };
  const unsigned batches = effort.fresh_reads * 100;
  Rounds rounds;
  for (unsigned round = 0; round < effort.fresh_rounds; ++round) {
    const double scraped = slowest_thousandth_ns(instance, batches, write_page);
    rounds.add(scraped, slowest_thousandth_ns(instance, batches, copy));
  }
  table.ratio_row(what + " (limit: other work)", rounds.comparison(), 1.05);
}

}  // namespace meterbank::bench
