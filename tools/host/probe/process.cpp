// SPDX-License-Identifier: Apache-2.0
#include "host/probe/process.hpp"

#include <array>
#include <optional>

namespace meterbank::host {
namespace {

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::uint64_t kKernelThreadFlag = 0x0020'0000;  // PF_KTHREAD

struct Key {
  std::string_view name;
  ProcessField field;
};

constexpr std::array<Key, 8> kStatusKeys = {{
    {"VmPeak", ProcessField::kVirtualPeakBytes},
    {"VmSize", ProcessField::kVirtualBytes},
    {"VmHWM", ProcessField::kResidentPeakBytes},
    {"VmRSS", ProcessField::kResidentBytes},
    {"RssAnon", ProcessField::kResidentPrivateBytes},
    {"VmSwap", ProcessField::kSwapBytes},
    {"VmData", ProcessField::kPrivateDataBytes},
    {"VmStk", ProcessField::kPrivateStackBytes},
}};

constexpr std::array<Key, 6> kIoKeys = {{
    {"rchar", ProcessField::kReadBytes},
    {"wchar", ProcessField::kWriteBytes},
    {"syscr", ProcessField::kReadOperations},
    {"syscw", ProcessField::kWriteOperations},
    {"read_bytes", ProcessField::kStorageReadBytes},
    {"write_bytes", ProcessField::kStorageWriteBytes},
}};

// Calls `visit(field, rest of the line)` for each line "key: rest" with a known key.
template <typename Keys, typename Visit>
void visit_keys(std::string_view text, const Keys& keys, Visit visit) {
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    for (const Key& key : keys) {
      if (key.name == name) visit(key.field, FieldScanner(line.substr(colon + 1)));
    }
  }
}

// The fields of /proc/PID/stat that follow the state, in order; proc(5) numbers them from 4.
struct StatNumbers {
  std::uint64_t parent = 0;
  std::uint64_t flags = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::int32_t priority = 0;
  std::int32_t nice = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};

template <typename Integer>
bool take(FieldScanner& fields, Integer& target) noexcept {
  const auto value = parse_integer<Integer>(fields.next());
  if (value) target = *value;
  return value.has_value();
}

bool scan_stat(FieldScanner fields, StatNumbers& target) noexcept {
  return take(fields, target.parent) &&                                              // 4
         fields.skip(4) && take(fields, target.flags) &&                             // 9
         take(fields, target.minor_faults) && fields.skip(1) &&                      // 10, 11
         take(fields, target.major_faults) && fields.skip(1) &&                      // 12, 13
         take(fields, target.user_ticks) && take(fields, target.system_ticks) &&     // 14, 15
         fields.skip(2) && take(fields, target.priority) &&                          // 18
         take(fields, target.nice) && take(fields, target.threads) &&                // 19, 20
         fields.skip(1) && take(fields, target.start_ticks) &&                       // 22
         take(fields, target.virtual_bytes) && take(fields, target.resident_pages);  // 23, 24
}

void clear_memory(ProcessValues& values) noexcept {
  for (const Key& key : kStatusKeys) values.set(key.field, 0);
}

// The length of the well-formed UTF-8 sequence at the start, or zero.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  // The second byte has a narrower range where a wider one would encode a number twice, a
  // surrogate, or a number above the last one of Unicode.
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

// C0, DEL, and C1 (U+0080 to U+009F).
bool is_control(std::string_view character) noexcept {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

bool parse_process_stat(std::string_view text, const MachineUnits& units,
                        ProcessReading& target) noexcept {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return false;
  if (close < open) return false;
  LineScanner lines(text.substr(close + 1));
  std::string_view line;
  if (!lines.next(line)) return false;
  FieldScanner fields(line);
  const std::string_view state = fields.next();
  StatNumbers numbers;
  if (state.size() != 1 || !scan_stat(fields, numbers)) return false;

  ProcessName name;
  name.append(text.substr(open + 1, close - open - 1));
  if (name.is_cut()) return false;
  target.name = name;
  target.state = state[0];
  target.start_ticks = numbers.start_ticks;
  target.is_kernel_thread = (numbers.flags & kKernelThreadFlag) != 0;
  target.priority = numbers.priority;
  target.nice = numbers.nice;
  ProcessValues& values = target.values;
  const std::uint64_t ticks = units.ticks_per_second;
  values.set(ProcessField::kUser100ns, ticks_to_100ns(numbers.user_ticks, ticks));
  values.set(ProcessField::kSystem100ns, ticks_to_100ns(numbers.system_ticks, ticks));
  values.set(ProcessField::kPageFaults, add_saturated(numbers.minor_faults, numbers.major_faults));
  values.set(ProcessField::kMajorPageFaults, numbers.major_faults);
  values.set(ProcessField::kVirtualBytes, numbers.virtual_bytes);
  values.set(ProcessField::kResidentBytes,
             multiply_saturated(numbers.resident_pages, units.page_bytes));
  values.set(ProcessField::kThreads, numbers.threads);
  values.set(ProcessField::kParentPid, numbers.parent);
  values.set(ProcessField::kStartedAfterBoot100ns, ticks_to_100ns(numbers.start_ticks, ticks));
  return true;
}

// Private here means "not shared with a file", which is what kernels before 4.5 can tell.
bool parse_process_statm(std::string_view text, const MachineUnits& units,
                         ProcessReading& target) noexcept {
  FieldScanner fields(trim(text));
  const auto size = fields.next_u64();
  const auto resident = fields.next_u64();
  const auto shared = fields.next_u64();
  if (!size || !resident || !shared) return false;
  const std::uint64_t own = *resident > *shared ? *resident - *shared : 0;
  ProcessValues& values = target.values;
  values.set(ProcessField::kVirtualBytes, multiply_saturated(*size, units.page_bytes));
  values.set(ProcessField::kResidentBytes, multiply_saturated(*resident, units.page_bytes));
  values.set(ProcessField::kResidentPrivateBytes, multiply_saturated(own, units.page_bytes));
  return true;
}

bool parse_process_status(std::string_view text, ProcessReading& target) noexcept {
  ProcessValues found;
  visit_keys(text, kStatusKeys, [&](ProcessField field, FieldScanner fields) {
    const auto value = fields.next_u64();
    if (!value || fields.next() != "kB") return;
    found.set(field, multiply_saturated(*value, kKibibyte));
  });
  target.values.merge(found);
  return found.present() != 0;
}

bool parse_process_io(std::string_view text, ProcessReading& target) noexcept {
  ProcessValues found;
  visit_keys(text, kIoKeys,
             [&](ProcessField field, FieldScanner fields) { found.set(field, fields.next_u64()); });
  target.values.merge(found);
  return found.present() != 0;
}

ProcessName displayable_name(std::string_view raw) noexcept {
  ProcessName name;
  while (!raw.empty() && !name.is_cut()) {
    const std::size_t length = utf8_length(raw);
    const std::string_view character = raw.substr(0, length == 0 ? 1 : length);
    const bool is_kept = length != 0 && !is_control(character);
    name.append(is_kept ? character : std::string_view("_"));
    raw.remove_prefix(character.size());
  }
  return name;
}

ProcessReader::ProcessReader(FileReader& files, ProcessSources sources, MachineUnits units)
    : files_(files), sources_(sources), units_(units) {}

// A missing file may be one this kernel does not have; a dead process misses all of them.
bool ProcessReader::is_alive_after_miss(const DirectoryHandle& process) {
  if (files_.status() == ReadStatus::kGone) return false;
  if (files_.status() != ReadStatus::kAbsent) return true;
  return files_.exists(process, "stat");
}

bool ProcessReader::read_process(std::uint32_t pid, ProcessReading& target) {
  const DirectoryHandle process = files_.open_directory(PathText("proc/").append(pid).view());
  if (!process.is_open()) return false;
  target = ProcessReading{};
  target.pid = pid;
  const auto stat = files_.read(process, "stat");
  if (!stat || !parse_process_stat(*stat, units_, target)) return false;
  if (sources_.status) {
    // Neither kernel threads nor zombies have an address space, so the kernel says nothing of its
    // size: that is zero. A process may lose its own between two files.
    bool has_memory = target.values.get(ProcessField::kVirtualBytes) != 0;
    if (const auto text = files_.read(process, "status")) {
      has_memory = parse_process_status(*text, target) && has_memory;
    } else if (!is_alive_after_miss(process)) {
      return false;
    }
    if (!has_memory) {
      clear_memory(target.values);
    } else if (!target.values.has(ProcessField::kResidentPrivateBytes)) {
      // The older source.
      if (const auto text = files_.read(process, "statm")) {
        parse_process_statm(*text, units_, target);
      }
    }
  }
  if (sources_.io) {
    if (const auto text = files_.read(process, "io")) {
      parse_process_io(*text, target);
    } else if (!is_alive_after_miss(process)) {
      return false;
    }
  }
  if (sources_.handles) {
    const auto handles = files_.count_names(process, "fd");
    if (!handles && !is_alive_after_miss(process)) return false;
    target.values.set(ProcessField::kHandles, handles);
  }
  return true;
}

bool ProcessReader::sample() {
  if (!files_.list_numbers("proc", pids_)) return false;
  std::size_t count = 0;
  for (const std::uint32_t pid : pids_) {
    if (count == processes_.size()) processes_.emplace_back();
    if (read_process(pid, processes_[count])) ++count;
  }
  count_ = count;
  return true;
}

}  // namespace meterbank::host
