// SPDX-License-Identifier: Apache-2.0
//
// Two samples that are compared, and held still meanwhile.
#pragma once

#include "objects.hpp"

namespace meterbank::border {

class SamplePair {
 public:
  SamplePair() = default;
  // `older` may be NULL. Errors: those of a handle; both are one sample.
  [[nodiscard]] static Outcome<SamplePair> find(const mb_sample* newer, const mb_sample* older);

  [[nodiscard]] bool empty() const noexcept { return newer_ == nullptr; }
  // No other call uses the samples as long as these are held.
  struct Locks {
    std::unique_lock<std::mutex> newer, older;
  };
  [[nodiscard]] Locks lock() const;
  // Precondition of both: the caller holds the locks.
  [[nodiscard]] Rows rows() const noexcept;
  // Grows with each collection into one of them.
  [[nodiscard]] std::uint64_t collections() const noexcept;

 private:
  std::shared_ptr<HeldSample> newer_;
  std::shared_ptr<HeldSample> older_;  // null: none
};

}  // namespace meterbank::border
