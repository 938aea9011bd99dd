// SPDX-License-Identifier: Apache-2.0
#include "rows/scale/reader_costs.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>
#include <utility>

#include "../tests/support/temporary_directory.hpp"
#include "meterbank/reader.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{4} << 30;
constexpr double kLongNs = 1e9;  // a step is not repeated beyond this
constexpr unsigned kLeastRounds = 3;

Catalog catalog_of(const std::string& directory) {
  return must(Catalog::open({.directory = directory,
                             .segment_bytes_max = kSegmentBytesMax,
                             .user_bytes_max = kSegmentBytesMax}));
}

void cook_all(const Sample& newer, const Sample& older) {
  for (const Row& row : newer.since(older)) {
    for (const Value& value : row) keep(value.cooked.value);
  }
}

// Everything that a monitoring program holds.
struct Reader {
  explicit Reader(const std::string& directory)
      : catalog(catalog_of(directory)), query(must(Query::compile(catalog, {}))) {
    query.prepare(older);
    query.prepare(newer);
    query.collect(older);
    rows = query.collect(newer).rows;
    cook_all(newer, older);
  }

  Catalog catalog;
  Query query;
  Sample older, newer;
  std::size_t rows = 0;
};

// What malloc has handed out, without what it keeps for itself.
std::uint64_t allocated_bytes() noexcept {
  const struct mallinfo2 facts = ::mallinfo2();
  return facts.uordblks + facts.hblkhd;
}

std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

std::uint64_t bytes_of_empty_reader() {
  const test::TemporaryDirectory directory;
  const std::uint64_t before = allocated_bytes();
  const Reader reader(directory.path());
  return allocated_bytes() - before;
}

// `prepare` is not timed.
template <typename F, typename G>
Spread time_rounds(const Effort& effort, F&& prepare, G&& step) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < kLeastRounds || (times.size() < effort.rounds && total < kLongNs)) {
    prepare();
    times.push_back(nanoseconds_each(1, step));
    total += times.back();
  }
  return Spread::of(std::move(times));
}

ReaderCost once(std::string_view step, std::string_view unit, std::uint64_t value) {
  const auto number = static_cast<double>(value);
  return {step, unit, {number, number, number}, true};
}

std::uint64_t mapped_bytes(const Catalog& catalog) {
  std::uint64_t bytes = 0;
  for (const auto& provider : catalog.providers()) bytes += provider->bytes;
  return bytes;
}

}  // namespace

std::vector<ReaderCost> reader_costs(const Effort& effort, const std::string& directory,
                                     const OtherProviders& providers, std::size_t instances) {
  // A directory that has just changed is walked through at each refresh.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::uint64_t of_empty = bytes_of_empty_reader();
  const std::uint64_t bytes_before = allocated_bytes();
  const std::size_t files_before = open_files();
  Reader reader(directory);
  const std::uint64_t bytes = allocated_bytes() - bytes_before - of_empty;
  const std::size_t files = open_files() - files_before;
  if (reader.rows != instances) {
    give_up(fmt::format("scale: {} of {} instances were found", reader.rows, instances));
  }

  const auto nothing = [] {};
  std::vector<ReaderCost> costs;
  const auto time = [&](std::string_view step, auto&& prepare, auto&& work) {
    costs.push_back({step, "ns", time_rounds(effort, prepare, work)});
  };
  time("Catalog::open", nothing, [&] { keep(catalog_of(directory).version()); });
  time("Query::compile of everything", nothing,
       [&] { keep(must(Query::compile(reader.catalog, {})).unmatched().size()); });
  const Timestamp now = Timestamp::now();
  time("collect", nothing, [&] { keep(reader.query.collect(reader.newer, now).rows); });
  time("cook every value", nothing, [&] { cook_all(reader.newer, reader.older); });
  time("refresh, nothing has changed", nothing, [&] { reader.catalog.refresh(); });
  time(
      "refresh after one instance was created", [&] { providers.create_instance(); },
      [&] { reader.catalog.refresh(); });
  time(
      "Query::update after that",
      [&] {
        providers.create_instance();
        reader.catalog.refresh();
      },
      [&] { keep(reader.query.update(reader.catalog)); });
  costs.push_back(once("private memory of the reader", "B", bytes));
  costs.push_back(once("shared memory that it maps", "B", mapped_bytes(reader.catalog)));
  costs.push_back(once("descriptors that it holds", "", files));
  return costs;
}

}  // namespace meterbank::bench
