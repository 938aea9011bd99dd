// SPDX-License-Identifier: Apache-2.0
//
// How a provider is found: one small text file in a runtime directory that points at its memfd.
// A memfd vanishes with its last user, so a crash leaves nothing behind but this record.
//
//   meterbank 1
//   name orders
//   pid 48213
//   start 8123456
//   boot 0f3c...                 32 hexadecimal digits
//   descriptor 5
//   inode 1044
//   bytes 65536
//   layout 1.0
//   pidns 4026531836             pid namespace of the pid, by its inode; not in version 0.1
//   timens 4026531834            time namespace of the start time; not in version 0.1
//   socket 48213-414.ask         beside the record; without callbacks there is no such file
//   door 48213-414.door          beside the record: the socket that hands out the memory, door.hpp;
//                                missing: the memory is found through procfs only
//
// Readers read() it, at most kPointerRecordBytesMax, and never map it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/process_facts.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank {

inline constexpr std::size_t kPointerRecordBytesMax = 4096;
inline constexpr std::string_view kPointerRecordSuffix = ".provider";
inline constexpr std::string_view kSocketSuffix = ".ask";
inline constexpr std::string_view kDoorSuffix = ".door";

struct PointerRecord {
  std::string name;
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot, /proc/PID/stat field 22
  std::array<std::uint64_t, 2> boot_id{};
  std::uint32_t descriptor = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::uint16_t layout_major = 0;
  std::uint16_t layout_minor = 0;
  std::string socket = {};           // a plain file name, may be empty
  std::uint64_t pid_namespace = 0;   // inode; 0: not known
  std::uint64_t time_namespace = 0;  // inode; 0: not known
  std::string door = {};             // a plain file name, may be empty

  [[nodiscard]] std::string text() const;
  // Unknown lines are skipped (a newer minor adds some); missing or malformed ones are kCorrupt.
  static Result<PointerRecord> parse(std::string_view text);
};

// The directories of a list like that of PATH: "/run/meterbank:/srv/pods". Empty parts are skipped.
[[nodiscard]] std::vector<std::string> split_directories(std::string_view list);

// Where directories are looked for.
struct DirectoryRoots {
  std::string system = "/run/meterbank";
  std::string sessions = "/run/user";      // UID/meterbank
  std::string shared_memory = "/dev/shm";  // meterbank-UID
};

// Where records of this user go: those of METERBANK_DIR (a list; ignored in set-uid programs), else
// the first of these, alone:
//   /run/meterbank             if root made it and this user may write there
//   $XDG_RUNTIME_DIR/meterbank if its parent is a tmpfs
//   /run/meterbank             for root, who makes it
//   /dev/shm/meterbank-UID
[[nodiscard]] std::vector<std::string> provider_directories(const DirectoryRoots& roots = {});

// Whether users who own neither the directory nor a record in it could remove that record. In a
// sticky directory they cannot; members of a group that root has given a directory are trusted.
[[nodiscard]] bool is_open_to_removal(std::uint32_t mode, std::uint32_t owner) noexcept;
// What helps against that.
[[nodiscard]] std::string remedy_for_open_directory(const std::string& directory);

struct SegmentDirectories {
  std::vector<std::string> paths;  // own and root's first
  // By owner: directories that bear another user's uid.
  std::map<std::uint32_t, std::uint64_t> squatted = {};
  std::uint64_t objects = 0;  // entries that were looked at
  bool is_whole = true;       // false: there are more entries
};
// Where a reader looks: in those of METERBANK_DIR alone if it is set, else where this user's
// records go and, with `everyone`, in the directories of the system and of the other users. A
// directory that bears a uid counts only if it belongs to this user.
[[nodiscard]] SegmentDirectories segment_directories(bool everyone,
                                                     const DirectoryRoots& roots = {});

// What PointerRecord::socket and PointerRecord::door say of this process and segment.
[[nodiscard]] std::string socket_name(std::uint32_t pid, std::uint64_t inode);
[[nodiscard]] std::string door_name(std::uint32_t pid, std::uint64_t inode);
// Whether a file is called like one of these sockets.
[[nodiscard]] bool is_called_like_socket(std::string_view name) noexcept;

// Creates the directory if it is missing (mode 0755), and refuses one that belongs to another user
// than this one or root, or that is_open_to_removal(). Errors: kNoDirectory with the reason.
[[nodiscard]] Result<void> prepare_directory(const std::string& directory);
// Prepares the first of several for which that works, and says which. Errors: those of the first.
[[nodiscard]] Result<std::string> prepare_first_directory(
    const std::vector<std::string>& directories);

// The name of the file that write_record() writes: "orders@48213-414.provider". It is for people
// who list the directory; what counts is written in the record.
[[nodiscard]] std::string record_file_name(const PointerRecord& record);

// Writes under a temporary name, then renames. Fills in the name of the socket. Returns the final
// path.
// Errors: kNoDirectory kNoSpace kDenied kSystem.
[[nodiscard]] Result<std::string> write_record(const std::string& directory,
                                               const PointerRecord& record);
// The same in a directory that is open, wherever its path leads by now.
[[nodiscard]] Result<void> write_record_at(int directory, const PointerRecord& record);

}  // namespace meterbank
