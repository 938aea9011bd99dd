// SPDX-License-Identifier: Apache-2.0
//
// Counters of the providers of this machine, between their last two samples.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "counter_source.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank::pdh {

class LiveSource final : public CounterSource {
 public:
  explicit LiveSource(Catalog catalog)
      : catalog_(std::move(catalog)), query_(ItemQuery::compile(catalog_, {})) {}

  [[nodiscard]] bool is_real_time() const noexcept override { return true; }
  [[nodiscard]] PDH_STATUS set_range(std::int64_t /*begin*/, std::int64_t /*end*/) override {
    return PDH_DATA_SOURCE_IS_REAL_TIME;
  }
  [[nodiscard]] PDH_STATUS find(const PathElements& path, FoundCounter& found) override;
  [[nodiscard]] PDH_STATUS collect(std::vector<FoundCounter> counters) override;
  [[nodiscard]] std::int64_t local_time() const noexcept override;
  [[nodiscard]] std::vector<std::vector<Reading>> readings(CookOptions options) const override;
  [[nodiscard]] DWORD why_absent(std::size_t counter) const noexcept override;

 private:
  [[nodiscard]] PDH_STATUS look_around();
  void make_ready(const std::vector<FoundCounter>& counters);
  [[nodiscard]] bool has_data() const noexcept;

  Catalog catalog_;
  ItemQuery query_;
  std::uint64_t looked_ns_ = 0;
  Sample older_, newer_;
  std::vector<FoundCounter> counters_;                     // what the items of the newer sample are
  std::vector<std::shared_ptr<const NumberedRows>> rows_;  // theirs
};

}  // namespace meterbank::pdh
