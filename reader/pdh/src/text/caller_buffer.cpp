// SPDX-License-Identifier: Apache-2.0
#include "caller_buffer.hpp"

#include <limits>

namespace meterbank::pdh {

PDH_STATUS CallerBuffer::fill(std::span<const std::byte> answer) const noexcept {
  const std::size_t needed = answer.size() / unit_bytes;
  if (needed > std::numeric_limits<DWORD>::max()) return PDH_MEMORY_ALLOCATION_FAILURE;
  const bool fits = needed <= *size;
  *size = static_cast<DWORD>(needed);
  if (!fits) return PDH_MORE_DATA;
  if (!answer.empty()) std::memcpy(target, answer.data(), answer.size());
  return ERROR_SUCCESS;
}

}  // namespace meterbank::pdh
