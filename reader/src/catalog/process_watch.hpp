// SPDX-License-Identifier: Apache-2.0
//
// Whether one process is still the one it was.
#pragma once

#include <cstdint>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {

class ProcessWatch {
 public:
  // A number alone names no process: another one may have it by now. So the process is taken hold
  // of first and identified by its start time and the boot afterwards.
  explicit ProcessWatch(const PointerRecord& record) noexcept;

  // One system call. Once false, always false.
  [[nodiscard]] bool alive() noexcept;

 private:
  std::uint32_t pid_;
  std::uint64_t start_time_;
  UniqueFd pidfd_;  // none on kernels before 5.3; then the start time decides each time
  bool gone_ = false;
};

}  // namespace meterbank
