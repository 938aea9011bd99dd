// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/process_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <string>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank {
namespace {

// Its first bytes; nothing: an errno.
tl::expected<std::string_view, int> read_file(const char* path, std::span<char> target) noexcept {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return tl::make_unexpected(errno);
  const auto count = ::read(file.get(), target.data(), target.size());
  if (count < 0) return tl::make_unexpected(errno);
  return std::string_view(target.data(), static_cast<std::size_t>(count));
}

std::uint64_t inode_of(const char* path) noexcept {
  struct stat facts {};
  return ::stat(path, &facts) == 0 ? facts.st_ino : 0;
}

tl::expected<ProcessStat, int> read_stat(const char* path) noexcept {
  std::array<char, 1024> buffer;
  const auto text = read_file(path, buffer);
  if (!text) return tl::make_unexpected(text.error());
  const auto fields = parse_process_stat(*text);
  if (!fields) return tl::make_unexpected(EINVAL);
  return *fields;
}

template <typename T>
bool parse_field(std::string_view text, T& number) noexcept {
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  ProcessStat stat;
  for (int field = 3; field <= 22; ++field) {
    const auto start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
    const auto value = text.substr(0, text.find_first_of(" \n"));
    if (field == 3) stat.state = value.front();
    if (field == 20 && !parse_field(value, stat.threads)) return std::nullopt;
    if (field == 22 && !parse_field(value, stat.start_time)) return std::nullopt;
    text.remove_prefix(value.size());
  }
  return stat;
}

tl::expected<ProcessStat, int> read_process_stat(std::uint32_t pid) noexcept {
  char path[40] = "/proc/";
  const auto end = std::to_chars(path + 6, path + 30, pid).ptr;
  std::copy_n("/stat", 6, end);
  return read_stat(path);
}

std::uint64_t process_start_time(std::uint32_t pid) noexcept {
  const auto stat = read_process_stat(pid);
  return stat ? stat->start_time : 0;
}

std::uint64_t own_start_time() noexcept {
  const auto stat = read_stat("/proc/self/stat");
  return stat ? stat->start_time : 0;
}

std::uint64_t own_pid_namespace() noexcept { return inode_of("/proc/self/ns/pid"); }

std::uint64_t own_time_namespace() noexcept { return inode_of("/proc/self/ns/time"); }

tl::expected<bool, int> procfs_has_own_pids() noexcept {
  std::array<char, 4096> buffer;
  const auto text = read_file("/proc/self/status", buffer);
  if (!text) return tl::make_unexpected(text.error());
  // One number a pid namespace, from that of procfs down to our own.
  constexpr std::string_view kKey = "\nNSpid:\t";
  const auto at = text->find(kKey);
  if (at == std::string_view::npos) return false;
  const auto begin = at + kKey.size();
  const auto line = text->substr(begin, text->find('\n', begin) - begin);
  return line.find('\t') == std::string_view::npos;
}

bool is_in_user_namespace() noexcept {
  std::array<char, 256> buffer;
  const auto text = read_file("/proc/self/uid_map", buffer);
  if (!text) return false;
  // First number inside, first number outside, how many.
  constexpr std::array<std::string_view, 3> kWholeMachine{"0", "0", "4294967295"};
  std::string_view rest = *text;
  for (const std::string_view wanted : kWholeMachine) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    if (rest.substr(0, rest.find_first_of(" \n")) != wanted) return true;
    rest.remove_prefix(wanted.size());
  }
  return false;
}

std::array<std::uint64_t, 2> boot_id() noexcept {
  std::array<std::uint64_t, 2> id{};
  std::array<char, 64> buffer;
  const auto text = read_file("/proc/sys/kernel/random/boot_id", buffer);
  if (!text) return id;
  std::array<char, 32> digits;
  std::size_t count = 0;
  for (const char c : *text) {
    if (c == '-' || c == '\n') continue;
    if (count == digits.size()) return id;
    digits[count++] = c;
  }
  if (count != digits.size()) return id;
  std::from_chars(digits.data(), digits.data() + 16, id[0], 16);
  std::from_chars(digits.data() + 16, digits.data() + 32, id[1], 16);
  return id;
}

}  // namespace meterbank
