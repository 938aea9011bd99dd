// SPDX-License-Identifier: Apache-2.0
#include "host/probe/disk.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace meterbank::host {
namespace {

// The unit of diskstats, whatever the sector size of the device.
constexpr std::uint64_t kSectorBytes = 512;
constexpr std::uint64_t kTimeWrap100ns = (std::uint64_t{1} << 32) * k100nsPerMillisecond;

struct Column {
  DiskField field;
  std::uint64_t scale;
};

constexpr std::array<Column, 17> kColumns = {{
    {DiskField::kReads, 1},
    {DiskField::kReadsMerged, 1},
    {DiskField::kReadBytes, kSectorBytes},
    {DiskField::kReadTime100ns, k100nsPerMillisecond},
    {DiskField::kWrites, 1},
    {DiskField::kWritesMerged, 1},
    {DiskField::kWriteBytes, kSectorBytes},
    {DiskField::kWriteTime100ns, k100nsPerMillisecond},
    {DiskField::kInFlight, 1},
    {DiskField::kBusyTime100ns, k100nsPerMillisecond},
    {DiskField::kQueueTime100ns, k100nsPerMillisecond},
    {DiskField::kDiscards, 1},
    {DiskField::kDiscardsMerged, 1},
    {DiskField::kDiscardBytes, kSectorBytes},
    {DiskField::kDiscardTime100ns, k100nsPerMillisecond},
    {DiskField::kFlushes, 1},
    {DiskField::kFlushTime100ns, k100nsPerMillisecond},
}};
constexpr std::size_t kColumnsAtLeast = 11;

constexpr std::array<DiskField, 6> kTimes = {
    DiskField::kReadTime100ns,  DiskField::kWriteTime100ns,   DiskField::kBusyTime100ns,
    DiskField::kQueueTime100ns, DiskField::kDiscardTime100ns, DiskField::kFlushTime100ns};

// sysfs cannot have a slash in a name and shows '!' instead ("cciss/c0d0").
PathText block_path(const DiskReading& disk, std::string_view rest) noexcept {
  PathText path("sys/block/");
  for (const char c : disk.name.view()) {
    path.append(c == '/' ? std::string_view("!") : std::string_view(&c, 1));
  }
  return path.append(rest);
}

bool is_same_device(const DiskReading& before, const DiskReading& now) noexcept {
  return before.name.view() == now.name.view() && before.major == now.major &&
         before.minor == now.minor && before.life == now.life &&
         before.values.get(DiskField::kReads) <= now.values.get(DiskField::kReads) &&
         before.values.get(DiskField::kWrites) <= now.values.get(DiskField::kWrites);
}

}  // namespace

std::optional<DiskReading> parse_disk_line(std::string_view line) noexcept {
  FieldScanner fields(line);
  const auto major = parse_integer<std::uint32_t>(fields.next());
  const auto minor = parse_integer<std::uint32_t>(fields.next());
  const std::string_view name = fields.next();
  DiskReading disk;
  disk.name.append(name);
  if (!major || !minor || name.empty() || disk.name.is_cut()) return std::nullopt;
  if (name.find('\0') != std::string_view::npos || name == "." || name == "..") {
    return std::nullopt;
  }
  disk.major = *major;
  disk.minor = *minor;
  std::size_t count = 0;
  while (count < kColumns.size()) {
    const std::string_view text = fields.next();
    const auto value = parse_u64(text);
    const Column& column = kColumns[count];
    if (value) {
      disk.values.set(column.field, multiply_saturated(*value, column.scale));
    } else if (column.field != DiskField::kInFlight || text.empty()) {
      // Old kernels may show a negative number of requests in flight. That one is left out;
      // anything else that is not a number ends the line.
      break;
    }
    ++count;
  }
  if (count < kColumnsAtLeast) return std::nullopt;
  return disk;
}

void parse_diskstats(std::string_view text, std::vector<DiskReading>& disks) {
  disks.clear();
  LineScanner lines(text);
  std::string_view line;
  while (disks.size() < kDisksMax && lines.next(line)) {
    if (const auto disk = parse_disk_line(line)) disks.push_back(*disk);
  }
}

// Loop, RAM, mapped and striped devices have no `device` link, and partitions no folder at all. A
// hidden device is one path to a disk that is listed under its own name as well.
bool DiskReader::is_physical(const DiskReading& disk) {
  if (!files_.exists(block_path(disk, "/device").view())) return false;
  const auto hidden = files_.read_u64(block_path(disk, "/hidden").view());
  return hidden.value_or(0) == 0;
}

void DiskReader::read_life(DiskReading& disk) {
  disk.life = files_.read_u64(block_path(disk, "/diskseq").view()).value_or(0);
}

// Both samples of a time lie on one 64-bit line: the new one is the smallest value at or above
// the old one that agrees with the printed low part.
void DiskReader::carry_times(DiskReading& disk, std::size_t position) const noexcept {
  const auto is_same = [&](const DiskReading& old) { return is_same_device(old, disk); };
  auto before = devices_before_.begin();
  if (position < devices_before_.size() && is_same(devices_before_[position])) {
    before += static_cast<std::ptrdiff_t>(position);
  } else {
    before = std::find_if(devices_before_.begin(), devices_before_.end(), is_same);
  }
  if (before == devices_before_.end()) return;
  for (const DiskField field : kTimes) {
    if (!disk.values.has(field)) continue;
    const std::uint64_t old_value = before->values.get(field);
    const std::uint64_t shown = disk.values.get(field);
    if (shown >= kTimeWrap100ns) continue;  // this kernel prints more than 32 bits
    const std::uint64_t old_low = old_value % kTimeWrap100ns;
    std::uint64_t carried = old_value - old_low + shown;
    // A small step back is the kernel's rounding; half a range back is a wrap.
    if (shown < old_low) {
      const bool is_wrap = old_low - shown > kTimeWrap100ns / 2;
      carried = is_wrap ? add_saturated(carried, kTimeWrap100ns) : old_value;
    }
    disk.values.set(field, carried);
  }
}

bool DiskReader::sample() {
  const auto text = files_.read("proc/diskstats");
  if (!text) return false;
  std::swap(devices_before_, devices_);
  std::swap(disks_before_, disks_);
  parse_diskstats(*text, devices_);
  disks_.clear();
  for (std::size_t position = 0; position < devices_.size(); ++position) {
    DiskReading& device = devices_[position];
    present_fields_ |= device.values.present();
    const bool has_hardware = is_physical(device);
    if (has_hardware) read_life(device);
    carry_times(device, position);
    if (has_hardware) disks_.push_back(device);
  }
  total_.advance<DiskReading>(disks_before_, disks_);
  return true;
}

void DiskTotal::take(DiskField field, const Step& step) noexcept {
  if (step.members == 0) return;
  if (is_level(field)) {
    values_.set(field, step.sum);
  } else if (field == DiskField::kBusyTime100ns) {
    const std::uint64_t sum = add_saturated(step.sum, busy_remainder_);
    values_.add(field, sum / step.members);
    busy_remainder_ = sum % step.members;
  } else {
    values_.add(field, step.sum);
  }
}

}  // namespace meterbank::host
