// SPDX-License-Identifier: Apache-2.0
//
// What distributions were a while ago. A quantile of all that was recorded since a service started
// says little of the last minute, so quantiles are those of the values between then and now.
//
//   mark            mark            now
//   |<-- a minute -->|<- up to one ->|      look() makes a mark when the last one is a minute old
//   |<----------- window ----------->|
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "meterbank/reader/sample.hpp"
#include "pcp/layout/layout.hpp"

namespace meterbank::pcp {

class RecentWindow {
 public:
  static constexpr std::uint64_t kMarkNs = 60'000'000'000;

  // `now_ns`: CLOCK_MONOTONIC. Cost: a copy of all distributions, once a minute.
  void advance(const Layout& layout, const Sample& sample, std::uint64_t now_ns);

  // The words of a distribution of this row when the window began. Empty: the row was not there, or
  // there is no window yet, which is so for the first minute.
  [[nodiscard]] std::span<const std::uint64_t> before(const RowBlock& block, std::size_t row,
                                                      const MetricSource& source) const;

 private:
  struct MarkedBlock {
    std::vector<RowLife> lives;  // by slot
    std::vector<std::uint64_t> words;
  };
  using Mark = std::map<RegistrationKey, MarkedBlock>;

  [[nodiscard]] static Mark mark(const Layout& layout, const Sample& sample);

  Mark begin_, last_;
  std::uint64_t last_ns_ = 0;  // 0: there is no mark
};

}  // namespace meterbank::pcp
