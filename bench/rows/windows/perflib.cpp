// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a value cost that a Windows program reads, and one that a query reads?
// Limit: the same blocks, snapshot one by one with the block protocol alone.
#include <fmt/format.h>
#include <perflib.h>
#include <stdlib.h>

#include <cstring>

#include "../../../tests/support/allocation_count.hpp"
#include "../../../tests/support/sample_words.hpp"
#include "blocks.hpp"
#include "meterbank/perflib/block_walker.hpp"
#include "meterbank/reader.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kInstances = 1000;
constexpr std::size_t kCounters = 8;
constexpr std::size_t kValues = kInstances * kCounters;

// The blocks behind a plan, without the query around them.
class BareSnapshots {
 public:
  explicit BareSnapshots(const QueryPlan& plan) : values_(plan.words) {
    for (std::size_t row = 0; row < plan.rows; ++row) {
      blocks_.push_back(test::block_of(plan, row));
    }
  }
  void read() noexcept {
    std::uint64_t* target = values_.data();
    for (const auto& block : blocks_) {
      keep(read_bounded<StdAtomics>(block, target, 0).version);
      target += block.words;
    }
  }

 private:
  std::vector<BlockParts<const SharedWord>> blocks_;
  std::vector<std::uint64_t> values_;
};

// All counters of all instances of the one set, as a program for Windows reads them.
class PerfReader {
 public:
  explicit PerfReader(const Workplace& workplace) {
    ::setenv("METERBANK_DIR", workplace.directory().c_str(), 1);
    DWORD count = 1;
    struct {
      PERF_COUNTER_IDENTIFIER header;
      WCHAR name[2];
    } wanted = {{{}, 0, sizeof(wanted), PERF_WILDCARD_COUNTER, 0xffffffff, 0, 0}, {L'*', 0}};
    ULONG error = PerfEnumerateCounterSet(nullptr, &wanted.header.CounterSetGuid, 1, &count);
    if (error == ERROR_SUCCESS) error = PerfOpenQueryHandle(nullptr, &query_);
    if (error == ERROR_SUCCESS) error = PerfAddCounters(query_, &wanted.header, sizeof wanted);
    if (error != ERROR_SUCCESS) give_up(fmt::format("perflib: error {}", error));
    while (!read()) buffer_.resize(needed_);
  }
  PerfReader(const PerfReader&) = delete;
  PerfReader& operator=(const PerfReader&) = delete;
  ~PerfReader() {
    PerfCloseQueryHandle(query_);
    ::unsetenv("METERBANK_DIR");
  }

  bool read() noexcept {
    return PerfQueryCounterData(query_, reinterpret_cast<PPERF_DATA_HEADER>(buffer_.data()),
                                static_cast<DWORD>(buffer_.size()), &needed_) == ERROR_SUCCESS;
  }

  // As a reader of foreign blocks does it: every size is checked.
  [[nodiscard]] std::uint64_t walk(std::size_t& values) const noexcept {
    std::uint64_t sum = 0;
    const std::span<const std::byte> bytes(buffer_.data(), needed_);
    ResultWalker result(bytes, CharacterWidth::kFour);
    while (const auto block = result.next()) {
      RowWalker rows = block->rows();
      while (auto row = rows.next()) {
        while (const auto value = row->values.next()) {
          sum += value->number().value_or(0);
          ++values;
        }
      }
    }
    return sum;
  }

 private:
  HANDLE query_ = nullptr;
  std::vector<std::byte> buffer_;
  DWORD needed_ = 0;
};

template <typename F>
double allocations_each(F&& work) {
  constexpr int kTurns = 16;
  work();
  const std::size_t before = test::allocations_made();
  for (int turn = 0; turn < kTurns; ++turn) work();
  return static_cast<double>(test::allocations_made() - before) / kTurns;
}

void one_form(const Effort& effort, Table& table, bool tile) {
  const SetShape shape{.counters = kCounters, .many = tile, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, kInstances);
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {}));
  Sample sample;
  query.prepare(sample);
  BareSnapshots bare(*plan_of(query));
  PerfReader perflib(workplace);
  std::size_t walked = 0;
  static_cast<void>(perflib.walk(walked));
  if (walked != kValues || query.collect(sample).rows != kInstances) {
    give_up(fmt::format("perflib: {} of {} values", walked, kValues));
  }
  const std::string what = fmt::format("1,000 x 8, {}, a value through", tile ? "tile" : "line");
  const auto collect = [&] { keep(query.collect(sample).stale); };
  const auto read = [&] { keep(perflib.read()); };
  const auto limit = [&] { bare.read(); };
  table.ratio_row(what + " Query (limit: snapshots alone)",
                  compare(effort.rounds, kValues, collect, limit), {});
  table.ratio_row(what + " PerfQueryCounterData (same limit)",
                  compare(effort.rounds, kValues, read, limit), {});
  table.ratio_row(what + " the block walker (same limit)",
                  compare(
                      effort.rounds, kValues,
                      [&] {
                        std::size_t values = 0;
                        keep(perflib.walk(values));
                      },
                      limit),
                  {});
  if (!tile) return;
  table.plain_row("  allocations of a collect through Query", allocations_each(collect), "", 0.5);
  table.plain_row("  allocations of a PerfQueryCounterData", allocations_each(read), "", 0.5);
}

}  // namespace

void perflib_rows(const Effort& effort, Table& table) {
  for (const bool tile : {true, false}) one_form(effort, table, tile);
}

}  // namespace meterbank::bench
