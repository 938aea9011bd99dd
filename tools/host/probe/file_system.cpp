// SPDX-License-Identifier: Apache-2.0
#include "host/probe/file_system.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <utility>

namespace meterbank::host {
namespace {

// Always full, because they are made full.
constexpr std::array<std::string_view, 6> kImageTypes = {"squashfs", "erofs",  "iso9660",
                                                         "udf",      "cramfs", "romfs"};
constexpr std::string_view kDevices = "/dev/";
constexpr std::string_view kMapped = "/dev/mapper/";

bool is_image(std::string_view type) noexcept {
  return std::find(kImageTypes.begin(), kImageTypes.end(), type) != kImageTypes.end();
}

// Some of them have a block device, but a program answers for them.
bool is_of_user_space(std::string_view type) noexcept { return type.starts_with("fuse"); }

bool may_lie_on_device(const MountLine& mount) noexcept {
  if (is_image(mount.type) || is_of_user_space(mount.type)) return false;
  return mount.major != 0 || mount.source.starts_with(kDevices);
}

bool is_root(const PathText& point) noexcept { return point.view() == "/"; }

}  // namespace

// "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw": any number of fields before the
// dash.
std::optional<MountLine> parse_mount_line(std::string_view line) noexcept {
  FieldScanner fields(line);
  if (!fields.skip(2)) return std::nullopt;
  const std::string_view device = fields.next();
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto major = parse_integer<std::uint32_t>(device.substr(0, colon));
  const auto minor = parse_integer<std::uint32_t>(device.substr(colon + 1));
  if (!major || !minor) return std::nullopt;
  MountLine mount;
  mount.major = *major;
  mount.minor = *minor;
  mount.is_whole = fields.next() == "/";
  append_unescaped(fields.next(), mount.point);
  if (mount.point.is_cut() || !mount.point.view().starts_with("/")) return std::nullopt;
  std::string_view field = fields.next();
  while (!field.empty() && field != "-") field = fields.next();
  mount.type = fields.next();
  mount.source = fields.next();
  if (mount.type.empty() || mount.source.empty()) return std::nullopt;
  return mount;
}

void set_space(const struct statvfs& status, DiskValues& target) noexcept {
  const std::uint64_t reserved =
      status.f_bfree > status.f_bavail ? status.f_bfree - status.f_bavail : 0;
  const std::uint64_t usable = status.f_blocks > reserved ? status.f_blocks - reserved : 0;
  target.set(DiskField::kUsableBytes, multiply_saturated(usable, status.f_frsize));
  target.set(DiskField::kFreeBytes, multiply_saturated(status.f_bavail, status.f_frsize));
}

// Keeps one mount of each device number, so that a machine with thousands of bind mounts costs no
// more than one with a few: the first that shows all of the file system, else the first. A later
// mount hides an earlier one at the same point, whatever it is. The table of a process whose root
// is a plain folder (chroot) has no root, so the root is listed before it is read.
void FileSystemReader::list_mounts(std::string_view text) {
  mounts_.clear();
  if (const auto device = files_.root_device()) {
    mounts_.push_back(Mount{.point = PathText("/"),
                            .source = PathText("-"),
                            .major = major(*device),
                            .minor = minor(*device),
                            .is_whole = false});
  }
  LineScanner lines(text);
  std::string_view line;
  while (mounts_.size() < kFileSystemsMax && lines.next(line)) {
    const auto read = parse_mount_line(line);
    if (!read) continue;
    std::erase_if(mounts_,
                  [&](const Mount& old) { return old.point.view() == read->point.view(); });
    if (!is_root(read->point) && !may_lie_on_device(*read)) continue;
    const auto same_device = std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& old) {
      return old.major == read->major && old.minor == read->minor;
    });
    if (same_device != mounts_.end()) {
      if (same_device->is_whole || !read->is_whole) continue;
      mounts_.erase(same_device);
    }
    mounts_.push_back(Mount{.point = read->point,
                            .source = PathText(read->source),
                            .major = read->major,
                            .minor = read->minor,
                            .is_whole = read->is_whole});
  }
}

// Device mapper names its devices by number; their own names are links that only udev makes.
const DiskReading* FileSystemReader::mapped_device(std::string_view name) {
  for (const DiskReading& disk : disks_.devices()) {
    if (!disk.name.view().starts_with("dm-")) continue;
    const PathText path = PathText("sys/block/").append(disk.name.view()).append("/dm/name");
    const auto text = files_.read(path.view());
    if (text && trim(*text) == name) return &disk;
  }
  return nullptr;
}

// File systems that can spread over devices have numbers of their own.
const DiskReading* FileSystemReader::device_of(const Mount& mount) {
  const auto devices = disks_.devices();
  const auto by_number = std::find_if(devices.begin(), devices.end(), [&](const DiskReading& disk) {
    return disk.major == mount.major && disk.minor == mount.minor;
  });
  if (by_number != devices.end()) return &*by_number;
  const std::string_view source = mount.source.view();
  if (source.starts_with(kMapped)) return mapped_device(source.substr(kMapped.size()));
  if (!source.starts_with(kDevices)) return nullptr;
  const auto by_name = std::find_if(devices.begin(), devices.end(), [&](const DiskReading& disk) {
    return disk.name.view() == source.substr(kDevices.size());
  });
  return by_name != devices.end() ? &*by_name : nullptr;
}

void FileSystemReader::read(const Mount& mount) {
  const DiskReading* const device = device_of(mount);
  if (device == nullptr && !is_root(mount.point)) return;
  FileSystemReading reading;
  reading.name = mount.point;
  const std::uint32_t major = device != nullptr ? device->major : mount.major;
  const std::uint32_t minor = device != nullptr ? device->minor : mount.minor;
  reading.life = std::uint64_t{major} << 32U | minor;
  const auto space = files_.space(mount.point.view());
  if (!space) return;
  if (device != nullptr) reading.values = device->values;
  set_space(*space, reading.values);
  now_.push_back(reading);
}

bool FileSystemReader::sample() {
  const auto text = files_.read("proc/self/mountinfo");
  if (!text) return false;
  list_mounts(*text);
  std::swap(before_, now_);
  now_.clear();
  for (const Mount& mount : mounts_) read(mount);
  total_.advance<FileSystemReading>(before_, now_);
  return true;
}

}  // namespace meterbank::host
