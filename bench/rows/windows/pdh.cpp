// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a value cost that a program for Windows reads by its path?
// Limit: a Query of the same rows, whose values are computed by iterating over two samples. A PDH
// query does the same underneath.
#include <fmt/format.h>
#include <pdh.h>
#include <stdlib.h>

#include <cstddef>
#include <vector>

#include "blocks.hpp"
#include "meterbank/reader.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kInstances = 1000;
constexpr std::size_t kCounters = 8;
constexpr std::size_t kValues = kInstances * kCounters;

// All instances of each counter of the one set: eight paths with a wildcard.
class PdhReader {
 public:
  explicit PdhReader(const Workplace& workplace) {
    ::setenv("METERBANK_DIR", workplace.directory().c_str(), 1);
    const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
    const Counterset& set = *catalog.providers().front()->sets.front().set;
    PDH_STATUS status = PdhOpenQueryA(nullptr, 0, &query_);
    for (std::size_t index = 0; index < kCounters && status == ERROR_SUCCESS; ++index) {
      const std::string path = fmt::format("\\{}(*)\\{}", set.name, set.counters[index].name);
      status = PdhAddCounterA(query_, path.c_str(), 0, &counters_.emplace_back());
    }
    for (int sample = 0; sample < 2 && status == ERROR_SUCCESS; ++sample) {
      status = PdhCollectQueryData(query_);
    }
    DWORD bytes = 0, count = 0;
    if (status == ERROR_SUCCESS) {
      status = PdhGetFormattedCounterArrayA(counters_[0], PDH_FMT_DOUBLE, &bytes, &count, nullptr);
    }
    if (status != PDH_MORE_DATA) give_up(fmt::format("pdh: status {:#x}", status));
    items_.resize(bytes / sizeof(PDH_FMT_COUNTERVALUE_ITEM_A) + 1);
  }
  PdhReader(const PdhReader&) = delete;
  PdhReader& operator=(const PdhReader&) = delete;
  ~PdhReader() {
    PdhCloseQuery(query_);
    ::unsetenv("METERBANK_DIR");
  }

  // How many values there were.
  std::size_t read() noexcept {
    std::size_t values = 0;
    if (PdhCollectQueryData(query_) != ERROR_SUCCESS) return 0;
    for (const PDH_HCOUNTER counter : counters_) {
      auto bytes = static_cast<DWORD>(items_.size() * sizeof items_[0]);
      DWORD count = 0;
      if (PdhGetFormattedCounterArrayA(counter, PDH_FMT_DOUBLE, &bytes, &count, items_.data()) ==
          ERROR_SUCCESS) {
        values += count;
      }
    }
    return values;
  }

 private:
  PDH_HQUERY query_ = nullptr;
  std::vector<PDH_HCOUNTER> counters_;
  std::vector<PDH_FMT_COUNTERVALUE_ITEM_A> items_;
};

}  // namespace

void pdh_rows(const Effort& effort, Table& table) {
  const SetShape shape{.counters = kCounters, .many = true, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, kInstances);
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {}));
  Sample older, newer;
  query.collect(newer);
  PdhReader pdh(workplace);
  const std::size_t values = pdh.read();
  if (values != kValues) give_up(fmt::format("pdh: {} of {} values", values, kValues));
  table.ratio_row("1,000 x 8, a value through PDH (limit: Query and its samples)",
                  compare(
                      effort.rounds, kValues, [&] { keep(pdh.read()); },
                      [&] {
                        std::swap(older, newer);
                        query.collect(newer);
                        double sum = 0;
                        for (const Row& row : newer.since(older)) {
                          for (const Value& value : row) sum += value.cooked.value;
                        }
                        keep(sum);
                      }),
                  {});
}

}  // namespace meterbank::bench
