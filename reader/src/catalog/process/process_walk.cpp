// SPDX-License-Identifier: Apache-2.0
#include "process_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/directory_stream.hpp"
#include "meterbank/base/process_facts.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/segment_layout.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// As a share of one processor.
constexpr std::uint64_t kRestPerTime = 1000;
constexpr std::uint64_t kYoungNs = 60ULL * 1'000'000'000;
constexpr std::uint64_t kOldOneIn = 16;
constexpr std::size_t kProcessesMax = 1U << 17;
constexpr std::size_t kDescriptorsMax = 1U << 16;  // that are looked at in one process
constexpr std::size_t kMemoriesMax = 1U << 16;
constexpr std::string_view kMemfdPrefix = "/memfd:meterbank:";

template <typename Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What the process calls itself: the last number of the line NSpid in its status. 0: not known.
std::uint32_t own_pid_of(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  const auto count = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  if (count <= 0) return 0;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  const auto line = text.find("\nNSpid:");
  if (line == std::string_view::npos) return 0;
  const auto numbers = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
  return parse_number<std::uint32_t>(numbers.substr(numbers.find_last_of(" \t") + 1)).value_or(0);
}

std::uint64_t pid_namespace_of(std::uint32_t pid) {
  struct stat facts {};
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/pid";
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

// Whether a call failed for another reason than that this process may not make it.
bool is_allowed(int reason) noexcept { return reason != EACCES && reason != EPERM; }

bool is_kernel_thread(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char first = 0;
  return !file || ::read(file.get(), &first, 1) <= 0;
}

// The header of a segment, as bytes: a copy that no other process changes any more.
struct HeaderBytes {
  alignas(SegmentHeader) std::array<std::byte, offsetof(SegmentHeader, reserved0)> bytes{};

  template <typename T>
  [[nodiscard]] T at(std::size_t offset) const noexcept {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
};
#define METERBANK_FIELD(header, member) \
  (header).at<decltype(SegmentHeader::member)>(offsetof(SegmentHeader, member))

// The record that the provider of this header could have written.
std::optional<PointerRecord> record_of(const HeaderBytes& header) {
  if (header.at<std::uint64_t>(offsetof(SegmentHeader, magic)) != kSegmentMagic)
    return std::nullopt;
  PointerRecord record;
  const auto name = METERBANK_FIELD(header, name);
  const std::size_t bytes =
      std::min<std::size_t>(METERBANK_FIELD(header, name_bytes), kProviderNameBytesMax);
  record.name =
      repair_utf8({name.data(), std::min(bytes, name.size())}, kProviderNameBytesMax).text;
  record.pid = METERBANK_FIELD(header, pid);
  record.start_time = METERBANK_FIELD(header, start_time);
  record.boot_id = METERBANK_FIELD(header, boot_id);
  record.time_namespace = METERBANK_FIELD(header, time_namespace);
  record.layout_major = METERBANK_FIELD(header, layout_major);
  record.layout_minor = METERBANK_FIELD(header, layout_minor);
  return record;
}
#undef METERBANK_FIELD

}  // namespace

bool ProcessWalk::take(ProcessHere process, int descriptors, const char* number) {
  std::array<char, 64> target{};
  const auto length = ::readlinkat(descriptors, number, target.data(), target.size());
  // CAP_DAC_READ_SEARCH alone lists the descriptors, but shows none of them.
  if (length <= 0) return length == 0 || is_allowed(errno);
  if (!std::string_view(target.data(), static_cast<std::size_t>(length))
           .starts_with(kMemfdPrefix)) {
    return true;
  }
  // Held by path first: a file of such a name could be anything that acts when it is opened.
  struct stat facts {};
  const UniqueFd held(::openat(descriptors, number, O_PATH | O_CLOEXEC));
  if (!held || ::fstat(held.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return true;
  if (const auto known = memories_.find(facts.st_ino); known != memories_.end()) {
    if (known->second.process == process) return true;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(held.get());
  const UniqueFd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) return is_allowed(errno);
  HeaderBytes header;
  if (::pread(opened.get(), header.bytes.data(), header.bytes.size(), 0) !=
      static_cast<ssize_t>(header.bytes.size())) {
    return true;
  }
  auto record = record_of(header);
  if (!record || record->pid != own_pid_of(process.pid)) return true;
  const auto descriptor = parse_number<std::uint32_t>(number);
  if (!descriptor || memories_.size() >= kMemoriesMax) return true;
  record->descriptor = *descriptor;
  record->inode = facts.st_ino;
  record->bytes = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  record->pid_namespace = pid_namespace_of(process.pid);
  memories_.insert_or_assign(
      facts.st_ino,
      WalkedMemory{process, facts.st_uid, {facts.st_dev, facts.st_ino}, *std::move(record)});
  return true;
}

bool ProcessWalk::look_into(ProcessHere process) {
  const std::string path = "/proc/" + std::to_string(process.pid) + "/fd";
  const DirectoryStream directory(::opendir(path.c_str()));
  if (directory == nullptr) return is_allowed(errno);
  std::size_t looked = 0;
  bool may_look = true;
  while (const dirent* item = ::readdir(directory.get())) {
    if (item->d_name[0] == '.') continue;
    if (++looked > kDescriptorsMax) break;
    if (!take(process, ::dirfd(directory.get()), item->d_name)) may_look = false;
  }
  return may_look;
}

void ProcessWalk::visit(std::uint32_t pid, std::uint64_t now_ns) {
  const auto stat = read_process_stat(pid);
  if (!stat) return;
  auto found = known_.find(pid);
  const bool is_new = found == known_.end() || found->second.start_time != stat->start_time;
  if (is_new) {
    if (known_.size() >= kProcessesMax) return;
    found = known_.insert_or_assign(pid, Known{stat->start_time, now_ns}).first;
  }
  Known& known = found->second;
  known.seen_in = walks_;
  const bool is_young = now_ns - known.first_seen_ns < kYoungNs;
  if (!is_new && !is_young && (pid + walks_) % kOldOneIn != 0) return;
  known.refused = !look_into({pid, stat->start_time}) && !is_kernel_thread(pid);
  if (!known.refused) return;
  // Procfs refuses to show what a process had that has just ended.
  const auto still = read_process_stat(pid);
  known.refused = still && still->start_time == stat->start_time && still->state != 'Z';
  if (!known.refused) return;
  struct stat facts {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &facts) == 0) known.uid = facts.st_uid;
}

void ProcessWalk::walk() {
  const std::uint64_t started = clock_ns(CLOCK_MONOTONIC);
  if (started < rests_until_ns_) return;
  const DirectoryStream processes(::opendir("/proc"));
  if (processes == nullptr) return;
  ++walks_;
  while (const dirent* item = ::readdir(processes.get())) {
    if (const auto pid = parse_number<std::uint32_t>(item->d_name)) visit(*pid, started);
  }
  std::erase_if(known_, [this](const auto& each) { return each.second.seen_in != walks_; });
  std::erase_if(memories_, [this](const auto& each) {
    const ProcessHere& process = each.second.process;
    const auto known = known_.find(process.pid);
    return known == known_.end() || known->second.start_time != process.start_time;
  });
  refused_.clear();
  for (const auto& [pid, known] : known_) {
    if (known.refused) ++refused_[known.uid];
  }
  const std::uint64_t ended = clock_ns(CLOCK_MONOTONIC);
  rests_until_ns_ = ended + (ended - started) * kRestPerTime;
}

}  // namespace meterbank
