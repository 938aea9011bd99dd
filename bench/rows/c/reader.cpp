// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a sample cost that arrives in one buffer, as Python wants it?
// Limit: the same rows in C++, value by value, without storing them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/c/reader.h"
#include "meterbank/reader.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kInstances = 125;
constexpr std::uint32_t kCounters = 8;
constexpr std::size_t kValues = kInstances * kCounters;

void must_be_ok(mb_status status, const mb_error& error) {
  if (status != MB_OK) give_up(error.what);
}

// Two samples that take turns.
class CSamples {
 public:
  explicit CSamples(const std::string& directory) {
    mb_error error;
    mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
    options.directory = directory.c_str();
    must_be_ok(mb_catalog_open(&options, &catalog_, &error), error);
    must_be_ok(mb_query_compile(catalog_, nullptr, 0, nullptr, 0, &query_, &error), error);
    for (mb_sample*& sample : samples_) must_be_ok(mb_sample_create(&sample, &error), error);
    values_.cooked = buffer_.data();
    values_.capacity = buffer_.size();
  }
  CSamples(const CSamples&) = delete;
  CSamples& operator=(const CSamples&) = delete;
  ~CSamples() {
    for (mb_sample* const sample : samples_) mb_sample_close(sample);
    mb_query_close(query_);
    mb_catalog_close(catalog_);
  }

  void read(std::uint64_t turns) {
    mb_error error;
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      std::swap(samples_[0], samples_[1]);
      must_be_ok(mb_query_collect(query_, samples_[0], MB_CUT_NONE, nullptr, &error), error);
      must_be_ok(mb_sample_values(samples_[0], samples_[1], &values_, &error), error);
    }
    if (values_.count != kValues) give_up("a sample has other values than it should");
  }

 private:
  mb_catalog* catalog_ = nullptr;
  mb_query* query_ = nullptr;
  std::array<mb_sample*, 2> samples_{};
  std::vector<double> buffer_ = std::vector<double>(kValues);
  mb_values values_ = MB_VALUES_INIT;
};

class CppSamples {
 public:
  explicit CppSamples(const std::string& directory)
      : catalog_(must(Catalog::open({.directory = directory}))),
        query_(must(Query::compile(catalog_, {}))) {}

  void read(std::uint64_t turns) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      std::swap(samples_[0], samples_[1]);
      query_.collect(samples_[0]);
      for (const Row& row : samples_[0].since(samples_[1])) {
        for (const Value& value : row) keep(value.cooked.value);
      }
    }
  }

 private:
  Catalog catalog_;
  Query query_;
  std::array<Sample, 2> samples_;
};

}  // namespace

void c_reader_rows(const Effort& effort, Table& table) {
  Workplace workplace;
  const SetShape shape{.counters = kCounters};
  const Registration set = workplace.add(shape);
  const std::vector<Instance> instances = workplace.fill(set, shape, kInstances);
  CSamples of_c(workplace.directory());
  CppSamples of_cpp(workplace.directory());
  const std::uint64_t turns = std::max<std::uint64_t>(effort.operations / kValues, 1);
  table.time_row("C: collect 1,000 counters into a buffer (limit: C++)",
                 compare(
                     effort.rounds, turns, [&] { of_c.read(turns); }, [&] { of_cpp.read(turns); }),
                 60'000);
}

}  // namespace meterbank::bench
