// SPDX-License-Identifier: Apache-2.0
//
// The one place where Boost maps memory for us, and where its exceptions stop.
#pragma once

#include <sys/mman.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank {

// What Boost.Interprocess asks of a memory-mappable object: a native handle. Does not own it.
class BorrowedDescriptor {
 public:
  explicit BorrowedDescriptor(int descriptor) noexcept : descriptor_{descriptor} {}
  [[nodiscard]] boost::interprocess::mapping_handle_t get_mapping_handle() const noexcept {
    return {descriptor_, false};
  }

 private:
  int descriptor_;
};

// `place`: memory of the caller that is to be replaced, or null for wherever there is room.
inline Result<boost::interprocess::mapped_region> map_region(int descriptor, std::uint64_t bytes,
                                                             boost::interprocess::mode_t mode,
                                                             std::byte* place = nullptr) {
  using boost::interprocess::default_map_options;
  try {
    return boost::interprocess::mapped_region(BorrowedDescriptor(descriptor), mode, 0, bytes, place,
                                              place == nullptr ? default_map_options : MAP_FIXED);
  } catch (const boost::interprocess::interprocess_exception& refused) {
    return fail(ErrorCode::kNoSpace, "map " + std::to_string(bytes) + " bytes",
                "raise RLIMIT_AS or vm.max_map_count", refused.get_native_error());
  }
}

}  // namespace meterbank
