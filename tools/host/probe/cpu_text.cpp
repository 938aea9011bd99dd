// SPDX-License-Identifier: Apache-2.0
#include "host/probe/cpu_text.hpp"

#include <algorithm>
#include <array>

namespace meterbank::host {
namespace {

constexpr std::array<CpuField, 10> kStatColumns = {
    CpuField::kUser100ns,      CpuField::kNice100ns,   CpuField::kSystem100ns,
    CpuField::kIdle100ns,      CpuField::kIowait100ns, CpuField::kIrq100ns,
    CpuField::kSoftirq100ns,   CpuField::kSteal100ns,  CpuField::kGuest100ns,
    CpuField::kGuestNice100ns,
};
constexpr std::size_t kStatColumnsAtLeast = 4;  // user, nice, system, idle

std::optional<std::uint32_t> parse_cpu_name(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  return parse_integer<std::uint32_t>(name.substr(prefix.size()));
}

// A row that lacks its first four numbers would be read as a processor that is never idle.
void parse_stat_row(std::uint32_t index, FieldScanner fields, std::uint64_t ticks_per_second,
                    CpuTable& cpus) {
  CpuValues values;
  std::size_t count = 0;
  while (count < kStatColumns.size()) {
    const auto ticks = fields.next_u64();
    if (!ticks) break;
    values.set(kStatColumns[count], ticks_to_100ns(*ticks, ticks_per_second));
    ++count;
  }
  if (count < kStatColumnsAtLeast) return;
  if (CpuReading* const row = cpus.append(index)) row->values = values;
}

// The number of leading "CPUn" titles; zero: this is not a header.
std::size_t count_columns(std::string_view header) noexcept {
  FieldScanner titles(header);
  std::size_t count = 0;
  while (count < kCpusMax && parse_cpu_name(titles.next(), "CPU")) ++count;
  return count;
}

// A row with fewer numbers than processors is a total ("ERR", "MIS") and belongs to none of them.
bool has_columns(FieldScanner fields, std::size_t columns) noexcept {
  for (std::size_t i = 0; i < columns; ++i) {
    if (!fields.next_u64()) return false;
  }
  return true;
}

// Calls `add(row, count)` for each number of a line. Header and line are walked side by side, so
// no map from column to processor has to be kept.
template <typename Add>
void visit_columns(std::string_view header, FieldScanner fields, std::size_t columns,
                   CpuTable& cpus, Add add) {
  FieldScanner titles(header);
  std::size_t hint = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto index = parse_cpu_name(titles.next(), "CPU");
    const auto count = fields.next_u64();
    if (!index || !count) return;
    if (CpuReading* const row = cpus.find(*index, hint)) add(*row, *count);
  }
}

// Shootdowns are function calls and counted there already; "ERR" and "MIS" are machine totals
// that a machine with one processor shows in the only column.
bool is_counted_elsewhere(std::string_view label) noexcept {
  return label == "TLB" || label == "ERR" || label == "MIS";
}

template <typename Visit>
bool visit_table(std::string_view text, Visit visit) {
  LineScanner lines(text);
  std::string_view header;
  if (!lines.next(header)) return false;
  const std::size_t columns = count_columns(header);
  if (columns == 0) return false;
  std::string_view line;
  while (lines.next(line)) {
    FieldScanner fields(line);
    std::string_view label = fields.next();
    if (label.empty() || label.back() != ':') continue;
    label.remove_suffix(1);
    if (has_columns(fields, columns)) visit(header, label, fields, columns);
  }
  return true;
}

}  // namespace

GroupRule group_rule(CpuField field) noexcept {
  switch (field) {
    case CpuField::kInterrupts:
    case CpuField::kClockInterrupts:
    case CpuField::kSoftirqs:
    case CpuField::kC1Entries:
    case CpuField::kC2Entries:
    case CpuField::kC3Entries:
    case CpuField::kIdleEntries:
      return GroupRule::kSumOfSteps;
    case CpuField::kFrequencyKhz:
    case CpuField::kFrequencyMaximumKhz:
    case CpuField::kFrequencyLimitKhz:
    case CpuField::kFrequencyNominalKhz:
      return GroupRule::kMeanOfLevels;
    default:
      return GroupRule::kMeanOfSteps;
  }
}

std::uint64_t user_100ns(const CpuValues& values) noexcept {
  return add_saturated(values.get(CpuField::kUser100ns), values.get(CpuField::kNice100ns));
}

std::uint64_t privileged_100ns(const CpuValues& values) noexcept {
  const std::uint64_t interrupts =
      add_saturated(values.get(CpuField::kIrq100ns), values.get(CpuField::kSoftirq100ns));
  return add_saturated(values.get(CpuField::kSystem100ns), interrupts);
}

std::uint64_t idle_100ns(const CpuValues& values) noexcept {
  return add_saturated(values.get(CpuField::kIdle100ns), values.get(CpuField::kIowait100ns));
}

std::uint64_t busy_100ns(const CpuValues& values) noexcept {
  return add_saturated(user_100ns(values), privileged_100ns(values));
}

CpuReading* CpuTable::append(std::uint32_t index) {
  if (index >= kCpusMax) return nullptr;
  if (!rows_.empty() && rows_.back().index >= index) return nullptr;
  rows_.push_back(CpuReading{});
  rows_.back().index = index;
  return &rows_.back();
}

CpuReading* CpuTable::find(std::uint32_t index, std::size_t& hint) noexcept {
  // The row found last, or the one after it: enough for questions in ascending order.
  for (std::size_t i = hint; i < rows_.size() && i < hint + 2; ++i) {
    if (rows_[i].index == index) {
      hint = i;
      return &rows_[i];
    }
  }
  const auto found = std::lower_bound(
      rows_.begin(), rows_.end(), index,
      [](const CpuReading& row, std::uint32_t value) { return row.index < value; });
  if (found == rows_.end() || found->index != index) return nullptr;
  hint = static_cast<std::size_t>(found - rows_.begin());
  return &*found;
}

bool parse_stat(std::string_view text, std::uint64_t ticks_per_second, CpuTable& cpus,
                SystemValues& system) {
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    FieldScanner fields(line);
    const auto index = parse_cpu_name(fields.next(), "cpu");
    if (index) {
      parse_stat_row(*index, fields, ticks_per_second, cpus);
    } else {
      parse_stat_line(line, system);
    }
  }
  return !cpus.rows().empty();
}

bool parse_interrupts(std::string_view text, CpuTable& cpus) noexcept {
  return visit_table(text, [&](std::string_view header, std::string_view label, FieldScanner fields,
                               std::size_t columns) {
    if (is_counted_elsewhere(label)) return;
    const bool is_clock = label == "LOC";
    visit_columns(header, fields, columns, cpus, [&](CpuReading& row, std::uint64_t count) {
      row.values.add(CpuField::kInterrupts, count);
      if (is_clock) row.values.set(CpuField::kClockInterrupts, count);
    });
  });
}

bool parse_softirqs(std::string_view text, CpuTable& cpus) noexcept {
  return visit_table(text, [&](std::string_view header, std::string_view, FieldScanner fields,
                               std::size_t columns) {
    visit_columns(header, fields, columns, cpus, [&](CpuReading& row, std::uint64_t count) {
      row.values.add(CpuField::kSoftirqs, count);
    });
  });
}

bool parse_cpuinfo_frequency(std::string_view text, CpuTable& cpus) noexcept {
  LineScanner lines(text);
  std::string_view line;
  CpuReading* row = nullptr;
  std::size_t hint = 0;
  bool has_any = false;
  while (lines.next(line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "processor") {
      const auto index = parse_integer<std::uint32_t>(value);
      row = index ? cpus.find(*index, hint) : nullptr;
    } else if (key == "cpu MHz" && row != nullptr) {
      const auto khz = parse_fixed(value, 3);
      row->values.set(CpuField::kFrequencyKhz, khz);
      has_any |= khz.has_value();
    }
  }
  return has_any;
}

void parse_cpu_list(std::string_view text, std::uint32_t limit,
                    std::vector<std::uint32_t>& numbers) {
  numbers.clear();
  text = trim(text);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const auto first = parse_integer<std::uint32_t>(part.substr(0, dash));
    const auto last =
        dash == part.size() ? first : parse_integer<std::uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) return;
    for (std::uint32_t number = *first; number <= *last && number < limit; ++number) {
      if (!numbers.empty() && numbers.back() >= number) continue;
      numbers.push_back(number);
    }
  }
}

IdleDepth classify_idle_state(std::string_view name, unsigned hardware_position) noexcept {
  if (name == "POLL") return IdleDepth::kPoll;
  unsigned depth = hardware_position;
  if (name.size() >= 2 && name[0] == 'C' && name[1] >= '0' && name[1] <= '9') {
    // A second digit, as in "C10", only makes the state deeper.
    const bool has_second = name.size() >= 3 && name[2] >= '0' && name[2] <= '9';
    depth = has_second ? 10U : static_cast<unsigned>(name[1] - '0');
  }
  if (depth <= 1) return IdleDepth::kC1;
  return depth == 2 ? IdleDepth::kC2 : IdleDepth::kC3;
}

}  // namespace meterbank::host
