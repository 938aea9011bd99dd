// SPDX-License-Identifier: Apache-2.0
//
// What the tables of a topology file mean.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "arbiter/core/file/foreign_text.hpp"
#include "arbiter/core/file/toml_table.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

namespace {

constexpr TableForm kTopologyForm{"", "", "", "pmu"};
constexpr TableForm kPmuForm{"name cpus general", "fixed width flags cores",
                             "class block unit extra foreign", "event"};
constexpr TableForm kEventClassForm{"", "general fixed"};
constexpr TableForm kBlockForm{"length", "align"};
constexpr TableForm kUnitForm{"", "scope count shareable conflicts"};
constexpr TableForm kExtraForm{"", "scope count"};
constexpr TableForm kEventForm{"code class", "mask"};
constexpr TableForm kForeignForm{"cpus code", "mask"};

constexpr std::array kFlags{
    std::pair<std::string_view, bool Pmu::*>{"overflow", &Pmu::has_overflow},
    std::pair<std::string_view, bool Pmu::*>{"userread", &Pmu::has_user_read},
    std::pair<std::string_view, bool Pmu::*>{"named", &Pmu::is_named_only},
    std::pair<std::string_view, bool Pmu::*>{"closed", &Pmu::is_closed}};

constexpr std::uint32_t kCodeMax = 0xffff'ffff;

[[nodiscard]] bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

void check_name(const TomlTable& table, std::string_view key, std::string_view name) {
  if (!is_name(name)) {
    table.refuse(key, fmt::format("{} is not a name", in_quotes(name)),
                 "use letters, digits, _, - and . only");
  } else if (name.size() > kNameBytesMax) {
    table.refuse(key, fmt::format("a name of {} bytes", name.size()),
                 fmt::format("stay within {} bytes", kNameBytesMax), ErrorCode::kLimit);
  }
}

[[nodiscard]] CpuSet cpus_within(const TomlTable& table, const Pmu& pmu) {
  CpuSet cpus = table.cpus("cpus");
  if (!cpus.is_within(pmu.cpus)) {
    table.refuse(
        "cpus",
        fmt::format("cpus = {} goes beyond the CPUs of {}", in_quotes(cpus.text()), pmu.name),
        fmt::format("stay within {}", in_quotes(pmu.cpus.text())));
  }
  return cpus;
}

[[nodiscard]] Scope scope_of(const TomlTable& table) {
  if (!table.has("scope")) return Scope::kCpu;
  const std::string text = table.text("scope");
  if (text == "core") return Scope::kCore;
  if (text == "pmu") return Scope::kPmu;
  if (text != "cpu") {
    table.refuse("scope", fmt::format("scope = {} is unknown", in_quotes(text)),
                 R"(write "cpu", "core" or "pmu")");
  }
  return Scope::kCpu;
}

[[nodiscard]] std::optional<std::uint32_t> mask_of(const TomlTable& table) {
  if (!table.has("mask")) return std::nullopt;
  return table.number("mask", 0, 0, kCodeMax);
}

// Fills a topology. Later steps refer to what earlier ones have read, so each begins only where
// those found no fault.
class TopologyReader {
 public:
  explicit TopologyReader(Faults& faults) : faults_(faults) {}

  [[nodiscard]] Topology read(const TomlTable& file);

 private:
  void read_pmu(const TomlTable& table);
  void read_cores(const TomlTable& table, const Pmu& pmu);
  void read_class(const TomlTable& table, PmuIndex index);
  void read_block(const TomlTable& table, PmuIndex index);
  void read_unit(const TomlTable& table, PmuIndex index);
  void read_extra(const TomlTable& table, PmuIndex index);
  void read_event(const TomlTable& table, PmuIndex index);
  void read_foreign(const TomlTable& table, PmuIndex index);
  void join_conflicts(const TomlTable& table, PmuIndex index);
  void count_rule(const TomlTable& table);

  Faults& faults_;
  std::size_t rules_ = 0;
  Topology topology_;
  CpuSet in_cores_;
  std::map<std::pair<PmuIndex, std::string>, std::uint32_t> classes_;  // by name
  std::map<std::pair<PmuIndex, std::string>, std::size_t> units_;
  std::map<std::tuple<PmuIndex, std::uint32_t, std::uint32_t, std::optional<std::uint32_t>>,
           std::uint32_t>
      event_lines_;
};

Topology TopologyReader::read(const TomlTable& file) {
  file.check(kTopologyForm);
  const std::vector<TomlTable> pmus = file.list("pmu");
  for (const TomlTable& table : pmus) read_pmu(table);
  const auto each = [&](std::string_view name, auto read_one) {
    for (PmuIndex index = 0; index < pmus.size(); ++index) {
      for (const TomlTable& table : pmus[index].named(name, name)) {
        count_rule(table);
        (this->*read_one)(table, index);
      }
    }
  };
  if (!faults_.empty()) return {};
  each("class", &TopologyReader::read_class);
  each("block", &TopologyReader::read_block);
  each("unit", &TopologyReader::read_unit);
  each("extra", &TopologyReader::read_extra);
  if (!faults_.empty()) return {};
  for (PmuIndex index = 0; index < pmus.size(); ++index) {
    for (const TomlTable& table : pmus[index].named("unit", "unit")) join_conflicts(table, index);
    for (const TomlTable& table : pmus[index].list("event")) read_event(table, index);
  }
  if (!faults_.empty()) return {};
  each("foreign", &TopologyReader::read_foreign);
  return std::move(topology_);
}

void TopologyReader::count_rule(const TomlTable& table) {
  if (++rules_ != kTopologyRulesMax + 1) return;
  table.refuse({}, "too many rules", fmt::format("stay within {} tables", kTopologyRulesMax),
               ErrorCode::kLimit);
}

void TopologyReader::read_pmu(const TomlTable& table) {
  count_rule(table);
  table.check(kPmuForm);
  Pmu pmu;
  pmu.name = table.text("name");
  if (table.has("name")) check_name(table, "name", pmu.name);
  if (topology_.find_pmu(pmu.name)) {
    table.refuse("name", fmt::format("{} is there already", in_quotes(pmu.name)),
                 "take another name");
  }
  pmu.cpus = table.cpus("cpus");
  pmu.general = table.number("general", 0, 0, kGeneralMax);
  pmu.fixed = table.number("fixed", 0, 0, kFixedMax);
  pmu.width = table.number("width", pmu.width, 1, 64);
  for (const std::string& flag : table.texts("flags")) {
    const auto known = std::ranges::find(kFlags, flag, [](const auto& one) { return one.first; });
    if (known == kFlags.end()) {
      table.refuse("flags", fmt::format("flag {} is unknown", in_quotes(flag)),
                   "flags are overflow, userread, named and closed");
    } else {
      pmu.*known->second = true;
    }
  }
  if (topology_.pmus.size() == kTopologyPmusMax) {
    table.refuse({}, "too many PMUs", fmt::format("stay within {}", kTopologyPmusMax),
                 ErrorCode::kLimit);
  }
  // Its errors show the name.
  if (is_name(pmu.name) && pmu.name.size() <= kNameBytesMax) read_cores(table, pmu);
  // One too many is refused, and not searched any more.
  if (topology_.pmus.size() <= kTopologyPmusMax) topology_.pmus.push_back(std::move(pmu));
}

void TopologyReader::read_cores(const TomlTable& table, const Pmu& pmu) {
  for (const auto& [place, siblings] : table.cpu_sets("cores")) {
    if (!siblings.is_within(pmu.cpus)) {
      faults_.add(
          place, ErrorCode::kInvalidArgument,
          fmt::format("core {} goes beyond the CPUs of {}", in_quotes(siblings.text()), pmu.name),
          fmt::format("stay within {}", in_quotes(pmu.cpus.text())));
    }
    const CpuSet again = siblings.common_with(in_cores_);
    if (!again.empty()) {
      faults_.add(place, ErrorCode::kInvalidArgument,
                  fmt::format("CPU {} is in a core already", in_quotes(again.text())),
                  "name each CPU in one core");
    }
    for (const std::uint32_t cpu : siblings.numbers()) in_cores_.add(cpu);
    topology_.cores.push_back(siblings);
  }
}

void TopologyReader::read_class(const TomlTable& table, PmuIndex index) {
  table.check(kEventClassForm);
  check_name(table, {}, table.name());
  const Pmu& pmu = topology_.pmus[index];
  EventClass added{.name = table.name(), .pmu = index};
  added.counters = table.number("general", 0, 0, kCodeMax);
  if ((added.counters >> pmu.general) != 0) {
    table.refuse("general",
                 fmt::format("general = {:#x} has more than the {} general counters of {}",
                             added.counters, pmu.general, pmu.name),
                 "leave the higher bits out");
  }
  for (const std::uint32_t fixed : table.numbers("fixed")) {
    if (fixed >= pmu.fixed) {
      table.refuse("fixed", fmt::format("{} has no fixed counter {}", pmu.name, fixed),
                   fmt::format("it has {}; the first is 0", pmu.fixed));
    } else {
      added.counters |= CounterMask{1} << (kFixedFirst + fixed);
    }
  }
  // Not where the counters are what was refused.
  if (added.counters == 0 && faults_.empty()) {
    table.refuse({}, "a class without counters", "name some with general or fixed");
  }
  classes_.emplace(std::pair(index, added.name), topology_.classes.size());
  topology_.classes.push_back(std::move(added));
}

void TopologyReader::read_block(const TomlTable& table, PmuIndex index) {
  table.check(kBlockForm);
  check_name(table, {}, table.name());
  const Pmu& pmu = topology_.pmus[index];
  BlockRule rule{.name = table.name(), .pmu = index};
  rule.length = table.number("length", 1, 1, kGeneralMax);
  rule.alignment = table.number("align", 1, 1, kGeneralMax);
  if (rule.length > pmu.general) {
    table.refuse("length", fmt::format("a block of {} does not fit {}", rule.length, pmu.name),
                 fmt::format("it has {} general counters", pmu.general));
  }
  topology_.blocks.push_back(std::move(rule));
}

void TopologyReader::read_unit(const TomlTable& table, PmuIndex index) {
  table.check(kUnitForm);
  check_name(table, {}, table.name());
  UnitRule rule;
  rule.name = table.name();
  rule.pmu = index;
  rule.scope = scope_of(table);
  rule.count = table.number("count", 1, 1, kUnitCountMax);
  rule.is_shareable = table.has("shareable");
  if (const std::string how = table.text("shareable"); !how.empty() && how != "threshold-min") {
    table.refuse("shareable", fmt::format("shareable = {} is unknown", in_quotes(how)),
                 R"(write "threshold-min")");
  }
  rule.conflicts = table.texts("conflicts");
  if (std::ranges::find(rule.conflicts, rule.name) != rule.conflicts.end()) {
    table.refuse("conflicts", "a unit in conflict with itself", "write count = 1");
  }
  if (rule.conflicts.size() > kTopologyConflictsMax) {
    table.refuse("conflicts", "too many conflicts",
                 fmt::format("stay within {} of a unit", kTopologyConflictsMax), ErrorCode::kLimit);
  }
  if (topology_.units.size() == kTopologyUnitsMax) {
    table.refuse({}, "too many units", fmt::format("stay within {}", kTopologyUnitsMax),
                 ErrorCode::kLimit);
  }
  units_.emplace(std::pair(index, rule.name), topology_.units.size());
  topology_.units.push_back(std::move(rule));
}

// In a step of its own, because units conflict with each other and one of them has to come first.
void TopologyReader::join_conflicts(const TomlTable& table, PmuIndex index) {
  for (const std::string& other : table.texts("conflicts")) {
    const auto found = units_.find(std::pair(index, other));
    if (found == units_.end()) {
      table.refuse("conflicts",
                   fmt::format("no unit {} of {}", in_quotes(other), topology_.pmus[index].name),
                   "describe it in [pmu.unit], or leave the conflict out");
      continue;
    }
    std::vector<std::string>& back = topology_.units[found->second].conflicts;
    if (std::ranges::find(back, table.name()) == back.end()) back.push_back(table.name());
  }
}

void TopologyReader::read_extra(const TomlTable& table, PmuIndex index) {
  table.check(kExtraForm);
  check_name(table, {}, table.name());
  topology_.extras.push_back({.name = table.name(),
                              .pmu = index,
                              .scope = scope_of(table),
                              .count = table.number("count", 1, 1, kUnitCountMax)});
}

void TopologyReader::read_event(const TomlTable& table, PmuIndex index) {
  count_rule(table);
  table.check(kEventForm);
  const auto [first, last] = table.range("code");
  const auto mask = mask_of(table);
  const std::string name = table.text("class");
  const auto found = classes_.find(std::pair(index, name));
  if (found == classes_.end()) {
    return table.refuse(
        "class", fmt::format("no class {} of {}", in_quotes(name), topology_.pmus[index].name),
        "describe it in [pmu.class]");
  }
  const auto [earlier, is_new] =
      event_lines_.emplace(std::tuple(index, first, last, mask), table.line());
  if (!is_new) {
    return table.refuse("code",
                        fmt::format("the same event has a class since line {}", earlier->second),
                        "leave one of the two out");
  }
  topology_.events.push_back({index, first, last, mask, found->second});
}

void TopologyReader::read_foreign(const TomlTable& table, PmuIndex index) {
  table.check(kForeignForm);
  check_name(table, {}, table.name());
  const Pmu& pmu = topology_.pmus[index];
  ForeignHolder holder{.name = table.name(), .pmu = index, .cpus = cpus_within(table, pmu)};
  const std::uint32_t code = table.number("code", 0, 0, kCodeMax);
  const auto found = topology_.class_of(index, code, mask_of(table).value_or(0));
  if (!found) {
    table.refuse("code", fmt::format("event {:#x} of {} has no class", code, pmu.name),
                 "say in [[pmu.event]] which counters it may be on");
  }
  holder.event_class = found.value_or(0);
  topology_.foreign.push_back(std::move(holder));
}

}  // namespace

Result<Topology> parse_topology(std::string_view text, const std::string& file) {
  Faults faults(file);
  const auto root = read_toml_file(text, "topology", kTopologyBytesMax, faults);
  if (!root) return tl::make_unexpected(faults.error());
  Topology topology = TopologyReader(faults).read(TomlTable(*root, "topology", faults));
  if (!faults.empty()) return tl::make_unexpected(faults.error());
  return topology;
}

}  // namespace meterbank::arbiter
