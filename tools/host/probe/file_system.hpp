// SPDX-License-Identifier: Apache-2.0
//
// Mounted file systems: /proc/self/mountinfo, narrowed to those that lie on block devices, and the
// root, whatever it lies on. Each has the free space that statvfs() tells and, where it has a block
// device, what diskstats says of that.
//
// File systems in memory, of the network and of user space are left out: a server or a program that
// does not answer would hold the caller for ever. So are images that nothing can be written to.
#pragma once

#include <sys/statvfs.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/probe/disk.hpp"
#include "host/probe/file_reader.hpp"
#include "host/probe/readings.hpp"

namespace meterbank::host {

inline constexpr std::size_t kFileSystemsMax = 4096;

// One line of mountinfo. The texts are those of the line; `point` is unescaped.
struct MountLine {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool is_whole = false;  // the root of the file system is mounted, not a folder or file of it
  PathText point;
  std::string_view type;
  std::string_view source;
};

// No value: it is not of the expected form, or the mount point is longer than kPathBytesMax.
[[nodiscard]] std::optional<MountLine> parse_mount_line(std::string_view line) noexcept;

// Usable and free bytes as `df` has them: what only root may fill is neither.
void set_space(const struct statvfs& status, DiskValues& target) noexcept;

struct FileSystemReading {
  PathText name;
  // The device: another one under the same mount point is another file system.
  std::uint64_t life = 0;
  DiskValues values;
};

class FileSystemReader {
 public:
  FileSystemReader(FileReader& files, const DiskReader& disks) noexcept
      : files_(files), disks_(disks) {}

  // Takes block devices as the disk reader saw them last. False: the table was unreadable; the file
  // systems are then those of the last good sample. One whose space cannot be read is left out.
  [[nodiscard]] bool sample();

  // A device that is mounted several times is here once.
  [[nodiscard]] std::span<const FileSystemReading> file_systems() const noexcept { return now_; }
  // All of them.
  [[nodiscard]] const DiskTotal& total() const noexcept { return total_; }

 private:
  struct Mount {
    PathText point;
    PathText source;
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    bool is_whole = false;
  };
  void list_mounts(std::string_view text);
  // nullptr: none.
  [[nodiscard]] const DiskReading* device_of(const Mount& mount);
  [[nodiscard]] const DiskReading* mapped_device(std::string_view name);
  void read(const Mount& mount);

  FileReader& files_;
  const DiskReader& disks_;
  std::vector<Mount> mounts_;
  std::vector<FileSystemReading> now_;
  std::vector<FileSystemReading> before_;
  DiskTotal total_;
};

}  // namespace meterbank::host
