// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pointer_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <climits>
#include <cstdio>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {
namespace {

template <typename T>
bool parse_number(std::string_view text, T& number, int base = 10) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool parse_layout(std::string_view text, PointerRecord& record) noexcept {
  const auto dot = text.find('.');
  return dot != std::string_view::npos && parse_number(text.substr(0, dot), record.layout_major) &&
         parse_number(text.substr(dot + 1), record.layout_minor);
}

bool parse_id(std::string_view text, std::array<std::uint64_t, 2>& id) noexcept {
  return text.size() == 32 && parse_number(text.substr(0, 16), id[0], 16) &&
         parse_number(text.substr(16), id[1], 16);
}

// The name of a socket beside the record: nothing that leads anywhere else.
bool is_plain_name(std::string_view value) noexcept {
  return !value.empty() && value.size() <= NAME_MAX && value.front() != '.' &&
         value.find('/') == std::string_view::npos;
}

// The bits of the required lines.
constexpr unsigned kRequired = 0xff;

// One "key value" line. False: the value is malformed, or the key was there before. Sets the key's
// bit in `seen`.
bool parse_line(std::string_view key, std::string_view value, PointerRecord& record,
                unsigned& seen) {
  const auto take = [&seen](unsigned bit, bool good) {
    const bool is_new = (seen & 1U << bit) == 0;
    seen |= 1U << bit;
    return good && is_new;
  };
  if (key == "name") {
    record.name = value;
    return take(0, !value.empty() && value.size() <= kProviderNameBytesMax);
  }
  if (key == "pid") return take(1, parse_number(value, record.pid) && record.pid != 0);
  if (key == "start") return take(2, parse_number(value, record.start_time));
  if (key == "boot") return take(3, parse_id(value, record.boot_id));
  if (key == "descriptor") return take(4, parse_number(value, record.descriptor));
  if (key == "inode") return take(5, parse_number(value, record.inode));
  if (key == "bytes") return take(6, parse_number(value, record.bytes));
  if (key == "layout") return take(7, parse_layout(value, record));
  if (key == "pidns") return take(8, parse_number(value, record.pid_namespace));
  if (key == "timens") return take(9, parse_number(value, record.time_namespace));
  if (key == "socket") {
    record.socket = value;
    return take(10, is_plain_name(value));
  }
  if (key == "door") {
    record.door = value;
    return take(11, is_plain_name(value));
  }
  return true;
}

// Without the provider's name, because a socket's address has room for 107 bytes.
std::string beside(std::uint32_t pid, std::uint64_t inode, std::string_view suffix) {
  char name[48] = {};
  std::snprintf(name, sizeof name, "%" PRIu32 "-%" PRIx64, pid, inode);
  return name + std::string(suffix);
}

}  // namespace

std::string PointerRecord::text() const {
  char lines[512] = {};
  std::snprintf(lines, sizeof lines,
                "pid %" PRIu32 "\nstart %" PRIu64 "\nboot %016" PRIx64 "%016" PRIx64
                "\ndescriptor %" PRIu32 "\ninode %" PRIu64 "\nbytes %" PRIu64 "\nlayout %u.%u\n",
                pid, start_time, boot_id[0], boot_id[1], descriptor, inode, bytes,
                unsigned{layout_major}, unsigned{layout_minor});
  std::string text = "meterbank 1\nname " + name + "\n" + lines;
  if (pid_namespace != 0) text += "pidns " + std::to_string(pid_namespace) + "\n";
  if (time_namespace != 0) text += "timens " + std::to_string(time_namespace) + "\n";
  if (!socket.empty()) text += "socket " + socket + "\n";
  if (!door.empty()) text += "door " + door + "\n";
  return text;
}

Result<PointerRecord> PointerRecord::parse(std::string_view text) {
  constexpr std::string_view kFirstLine = "meterbank 1\n";
  if (text.size() > kPointerRecordBytesMax || !text.starts_with(kFirstLine)) {
    return fail(ErrorCode::kCorrupt, "not a pointer record");
  }
  text.remove_prefix(kFirstLine.size());
  PointerRecord record;
  unsigned seen = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return fail(ErrorCode::kCorrupt, "pointer record cut short");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    if (!parse_line(line.substr(0, space), line.substr(space + 1), record, seen)) {
      return fail(ErrorCode::kCorrupt,
                  "pointer record: malformed " + std::string(line.substr(0, space)));
    }
  }
  if ((seen & kRequired) != kRequired)
    return fail(ErrorCode::kCorrupt, "pointer record: a line is missing");
  return record;
}

std::string socket_name(std::uint32_t pid, std::uint64_t inode) {
  return beside(pid, inode, kSocketSuffix);
}

std::string door_name(std::uint32_t pid, std::uint64_t inode) {
  return beside(pid, inode, kDoorSuffix);
}

bool is_called_like_socket(std::string_view name) noexcept {
  return name.ends_with(kSocketSuffix) || name.ends_with(kDoorSuffix);
}

std::string record_file_name(const PointerRecord& record) {
  char id[48] = {};
  std::snprintf(id, sizeof id, "@%" PRIu32 "-%" PRIx64, record.pid, record.inode);
  std::string name;
  for (const char c : record.name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name + id + std::string(kPointerRecordSuffix);
}

namespace {

// `where`: for people. Names are relative to the descriptor, or paths where that is AT_FDCWD.
Result<void> write_file(int directory, const std::string& path, const std::string& temporary,
                        const std::string& text, const std::string& where) {
  const auto refused = [&](const char* what) {
    const int reason = errno;
    ::unlinkat(directory, temporary.c_str(), 0);
    const ErrorCode code =
        reason == ENOSPC || reason == EDQUOT || reason == EFBIG  ? ErrorCode::kNoSpace
        : reason == EACCES || reason == EPERM || reason == EROFS ? ErrorCode::kDenied
        : reason == ENOENT                                       ? ErrorCode::kNoDirectory
                                                                 : ErrorCode::kSystem;
    const bool out_of_files = reason == EMFILE || reason == ENFILE;
    return fail(code, std::string(what) + " " + temporary,
                out_of_files ? "raise the limit of open files: ulimit -n"
                             : "check space and permissions of " + where + ", or set METERBANK_DIR",
                reason);
  };
  // Of a predecessor with our pid that died in between.
  ::unlinkat(directory, temporary.c_str(), 0);
  UniqueFd file(::openat(directory, temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return refused("create");
  const auto written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return refused("write");
  if (static_cast<std::size_t>(written) != text.size()) {
    errno = ENOSPC;  // a short write to a regular file means exactly this
    return refused("write");
  }
  if (::fchmod(file.get(), 0644) != 0) return refused("mode of");  // whatever the umask says
  if (::renameat(directory, temporary.c_str(), directory, path.c_str()) != 0) {
    return refused("rename");
  }
  return {};
}

std::string text_with_socket(PointerRecord record) {
  record.socket = socket_name(record.pid, record.inode);
  return record.text();
}

std::string temporary_name(const std::string& name) {
  return "." + name.substr(0, name.size() - kPointerRecordSuffix.size()) + ".new";
}

}  // namespace

// All that can run out of memory comes before the first file.
Result<std::string> write_record(const std::string& directory, const PointerRecord& record) {
  const std::string name = record_file_name(record);
  std::string path = directory + "/" + name;
  const std::string temporary = directory + "/" + temporary_name(name);
  const std::string text = text_with_socket(record);
  if (auto good = write_file(AT_FDCWD, path, temporary, text, directory); !good) {
    return tl::make_unexpected(std::move(good.error()));
  }
  return path;
}

Result<void> write_record_at(int directory, const PointerRecord& record) {
  const std::string name = record_file_name(record);
  return write_file(directory, name, temporary_name(name), text_with_socket(record),
                    "the directory");
}

}  // namespace meterbank
