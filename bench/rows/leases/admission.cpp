// SPDX-License-Identifier: Apache-2.0
//
// Question: how many requests are granted, and how many are refused though enough counters are
// free? No time is measured: it is a simulation, the same in every run.
// Beside it: callers that name the counters they want, as on Windows; and first fit, which takes
// the lowest place and moves no holder.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/core/books/placement_search.hpp"
#include "rows.hpp"

namespace meterbank::bench {
namespace {

using arbiter::CounterBook;
using arbiter::CounterDemand;
using arbiter::CounterMask;

struct Arrival {
  double time = 0;
  double hold = 0;
  std::uint32_t counters = 0;  // adjacent ones at a multiple of it; all there are: alone
  std::uint32_t place = 0;     // any number, for the request that names it
};

// Half want one counter, three in ten a pair, three in twenty four, one in twenty all.
std::vector<Arrival> arrivals(std::uint32_t counters, double load, std::size_t count) {
  std::mt19937_64 random(7);
  const double mean_counters = 0.5 + 0.3 * 2 + 0.15 * 4 + 0.05 * counters;
  std::exponential_distribution<double> gap(load * counters / mean_counters);
  std::exponential_distribution<double> hold(1);
  std::vector<Arrival> all(count);
  double time = 0;
  for (Arrival& one : all) {
    time += gap(random);
    const auto kind = random() % 100;
    one = {.time = time,
           .hold = hold(random),
           .counters = kind < 50   ? 1
                       : kind < 80 ? 2
                       : kind < 95 ? 4
                                   : counters,
           .place = static_cast<std::uint32_t>(random() >> 32)};
  }
  return all;
}

// A lender is asked for an arrival, and gives back what it took.
class ByMask {
 public:
  ByMask(std::uint32_t counters, bool is_first_fit) noexcept
      : counters_(counters), is_first_fit_(is_first_fit) {}

  bool take(std::uint64_t id, const Arrival& wanted) {
    const std::uint32_t places = counters_ / wanted.counters;
    const std::uint32_t first = is_first_fit_ ? 0 : wanted.place % places;
    const std::uint32_t last = is_first_fit_ ? places - 1 : first;
    for (std::uint32_t place = first; place <= last; ++place) {
      const CounterMask mask = arbiter::bits_of(place * wanted.counters, wanted.counters);
      if ((used_ & mask) != 0) continue;
      used_ |= mask;
      held_.emplace(id, mask);
      return true;
    }
    return false;
  }
  void release(std::uint64_t id) {
    const auto found = held_.find(id);
    used_ &= ~found->second;
    held_.erase(found);
  }
  [[nodiscard]] std::uint32_t free() const noexcept { return counters_ - arbiter::count_of(used_); }

 private:
  std::uint32_t counters_;
  bool is_first_fit_;
  CounterMask used_ = 0;
  std::map<std::uint64_t, CounterMask> held_;
};

class ByBook {
 public:
  explicit ByBook(std::uint32_t counters) noexcept
      : counters_(counters), book_(arbiter::bits_of(0, counters)) {}

  bool take(std::uint64_t id, const Arrival& wanted) {
    CounterDemand demand;
    if (wanted.counters == counters_) {
      demand.whole = true;
    } else if (wanted.counters == 1) {
      demand.any = {arbiter::bits_of(0, counters_)};
    } else {
      demand.blocks = {{.length = wanted.counters, .alignment = wanted.counters}};
    }
    return book_.take(id, demand) == arbiter::Fit::kFits;
  }
  void release(std::uint64_t id) { book_.release(id); }
  [[nodiscard]] std::uint32_t free() const noexcept { return arbiter::count_of(book_.free()); }

 private:
  std::uint32_t counters_;
  CounterBook book_;
};

struct Admission {
  double granted = 0;
  double refused_though_free = 0;
};

template <typename Lender>
Admission admit(const std::vector<Arrival>& all, Lender lender) {
  std::multimap<double, std::uint64_t> ends;
  std::uint64_t id = 0;
  std::size_t granted = 0;
  std::size_t refused_though_free = 0;
  for (const Arrival& one : all) {
    while (!ends.empty() && ends.begin()->first <= one.time) {
      lender.release(ends.begin()->second);
      ends.erase(ends.begin());
    }
    const std::uint32_t free = lender.free();
    if (lender.take(++id, one)) {
      ++granted;
      ends.emplace(one.time + one.hold, id);
    } else if (free >= one.counters) {
      ++refused_though_free;
    }
  }
  const auto count = static_cast<double>(all.size());
  return {static_cast<double>(granted) / count, static_cast<double>(refused_though_free) / count};
}

}  // namespace

void lease_admission_rows(const Effort& effort, Table& table) {
  constexpr std::pair<std::uint32_t, double> kMachines[] = {
      {6, 0.8}, {8, 0.5}, {8, 0.8}, {16, 0.8}};
  for (const auto& [counters, load] : kMachines) {
    const std::vector<Arrival> all = arrivals(counters, load, effort.operations);
    const Admission ours = admit(all, ByBook(counters));
    const Admission first_fit = admit(all, ByMask(counters, true));
    const Admission named = admit(all, ByMask(counters, false));
    const auto rows = [&, counters = counters, load = load](std::string_view what,
                                                            const Admission& other) {
      const std::string where = fmt::format("{} counters, load {}", counters, load);
      table.share_row(fmt::format("{}: granted (beside: {})", where, what), ours.granted,
                      other.granted);
      table.share_row(fmt::format("{}: refused though enough are free (beside: {})", where, what),
                      ours.refused_though_free, other.refused_though_free);
    };
    rows("first fit", first_fit);
    rows("callers name them", named);
  }
}

}  // namespace meterbank::bench
