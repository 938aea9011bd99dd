// SPDX-License-Identifier: Apache-2.0
//
// Removes pointer records of providers that are proved to have ended: judge() of process_watch.hpp
// says kGone at the moment of removal, or the record is of this very process, which has lost that
// memory by exec(). What cannot be proved stays; a successor proves one thing more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {

enum class RecordRemoval : std::uint8_t {
  kRemoved,
  kNotDead,  // alive, or not to be verified from here
  kChanged,  // the file is gone or another one
  kDenied,   // it belongs to another user, or the kernel refused
};

// Removes the record at `path` and its socket, if the file is the one with this device and inode,
// belongs to this user, and its process has ended.
[[nodiscard]] RecordRemoval remove_ended_record(const std::string& path,
                                                const std::array<std::uint64_t, 2>& file);

// Removes the records that earlier, failed lives of a provider left in `directory`: of the same
// name, user and pid namespace; or of another pid namespace of this boot, if the kernel says that
// no process listens at the door of the record, as when a container starts again. Returns how many.
// Progress: never waits for another process. One call walks over at most 65,536 entries, removes at
// most 1,024 records and opens at most 32 of processes whose pid is taken.
std::size_t remove_predecessors(const std::string& directory, const PointerRecord& successor);

}  // namespace meterbank
