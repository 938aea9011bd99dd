// SPDX-License-Identifier: Apache-2.0
//
// The answer to one pmFetch: values of one snapshot, in the form that libpcp sends and that
// archives are made of.
#pragma once

#include <pcp/pmapi.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "exposition/page/row_values.hpp"
#include "meterbank/reader/sample.hpp"
#include "pcp/answers/instance_filter.hpp"
#include "pcp/layout/observer.hpp"

namespace meterbank::pcp {

struct Observed {
  const Layout& layout;
  const Sample& sample;
  const RecentWindow& window;
  const std::vector<bool>* left_out = nullptr;  // blocks without values; null: none
};

// Thread safety  One thread at a time.
// Cost           No allocation for a value, once there was an answer of the same size.
class FetchAnswer {
 public:
  FetchAnswer();
  // `profile`: the instances that the client wants; null: all. The result belongs to this object,
  // and is valid until the next call.
  [[nodiscard]] pmResult* make(std::span<const pmID> ids, const Observed& observed,
                               const pmProfile* profile);
  [[nodiscard]] pmResult* make(std::span<const pmID> ids, const Observer& observer,
                               const pmProfile* profile) {
    return make(ids, {observer.layout(), observer.sample(), observer.window()}, profile);
  }

 private:
  [[nodiscard]] pmValueSet* values_of(const Metric& metric, const Observed& observed,
                                      const InstanceFilter& filter);
  [[nodiscard]] pmValueSet* no_values(pmID id, int status);
  // Null: the row has no such value at this moment.
  [[nodiscard]] pmValueBlock* value_of(const MetricSource& source, int type, const StoredRow& row,
                                       const Timestamp& time);
  // `before`: what it was when the window of quantiles began; empty: nothing.
  [[nodiscard]] pmValueBlock* part_of_distribution(const MetricSource& source, const StoredRow& row,
                                                   const Timestamp& time,
                                                   std::span<const std::uint64_t> before);
  [[nodiscard]] pmValueBlock* block(int type, std::span<const std::byte> bytes);

  std::vector<std::byte> first_memory_;
  std::pmr::monotonic_buffer_resource memory_;
  exposition::RowValues row_values_;
  Distribution before_;
};

}  // namespace meterbank::pcp
