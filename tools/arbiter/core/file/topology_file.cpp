// SPDX-License-Identifier: Apache-2.0
//
// What the lines of a topology file mean.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "arbiter/core/file/foreign_text.hpp"
#include "arbiter/core/file/rule_line.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

namespace {

enum class Kind : std::uint8_t { kPmu, kCores, kClass, kBlock, kUnit, kExtra, kEvent, kForeign };

struct Rule {
  Kind kind;
  RuleForm form;
};

constexpr std::array kRules{
    Rule{Kind::kPmu,
         {"pmu", 1, "cpus gp", "fixed width flags",
          "pmu NAME cpus=LIST gp=N [fixed=N] [width=BITS] [flags=overflow,userread,named,closed]"}},
    Rule{Kind::kCores, {"cores", 1, "siblings", "", "cores PMU siblings=LIST"}},
    Rule{Kind::kClass, {"class", 2, "", "gp fixed", "class NAME PMU [gp=MASK] [fixed=N,...]"}},
    Rule{Kind::kBlock, {"block", 2, "len", "align", "block NAME PMU len=N [align=N]"}},
    Rule{Kind::kUnit,
         {"unit", 2, "", "scope n shareable conflicts",
          "unit NAME PMU [scope=cpu|core|pmu] [n=N] [shareable=threshold-min] "
          "[conflicts=NAME,...]"}},
    Rule{Kind::kExtra,
         {"extra", 2, "share", "scope n",
          "extra NAME PMU [scope=cpu|core|pmu] [n=N] share=same-config"}},
    Rule{Kind::kEvent, {"event", 4, "", "", "event PMU CODE[-CODE][:MASK] -> CLASS"}},
    Rule{Kind::kForeign,
         {"foreign", 2, "cpus event", "", "foreign NAME PMU cpus=LIST event=CODE[:MASK]"}},
};

constexpr std::array kFlags{
    std::pair<std::string_view, bool Pmu::*>{"overflow", &Pmu::has_overflow},
    std::pair<std::string_view, bool Pmu::*>{"userread", &Pmu::has_user_read},
    std::pair<std::string_view, bool Pmu::*>{"named", &Pmu::is_named_only},
    std::pair<std::string_view, bool Pmu::*>{"closed", &Pmu::is_closed}};

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

struct EventCodes {
  std::uint32_t first = 0, last = 0;
  std::optional<std::uint32_t> unit_mask;
};

class TopologyReader {
 public:
  explicit TopologyReader(const std::string& file) : line_(file) {}

  Result<Topology> read(std::string_view text);

 private:
  void read_line(std::string_view line);
  void read_rule(Kind kind);
  void read_pmu();
  void read_cores();
  void read_class();
  void read_block();
  void read_unit();
  void read_extra();
  void read_event();
  void read_foreign();
  void resolve_conflicts();
  void resolve_foreign();

  CpuSet cpus(std::string_view key);
  CpuSet cpus_of(PmuIndex pmu, std::string_view key);
  Scope scope();
  EventCodes codes(std::string_view text);
  PmuIndex pmu(std::string_view name);
  std::string name(Kind kind, PmuIndex pmu, std::size_t index);

  RuleLine line_;
  std::size_t rules_ = 0;
  Topology topology_;
  CpuSet in_cores_;
  std::map<std::tuple<Kind, PmuIndex, std::string>, std::size_t> places_;  // of what has a name
  std::map<std::tuple<PmuIndex, std::uint32_t, std::uint32_t, std::optional<std::uint32_t>>,
           std::size_t>
      event_lines_;
  std::vector<std::size_t> unit_lines_;
  std::vector<std::pair<std::size_t, EventCodes>> foreign_events_;  // line, and what it counts
};

Result<Topology> TopologyReader::read(std::string_view text) {
  if (text.size() > kTopologyBytesMax) {
    line_.return_to(1);
    line_.refuse(ErrorCode::kLimit,
                 fmt::format("{} bytes are too many for a topology", text.size()),
                 fmt::format("stay within {} bytes", kTopologyBytesMax));
    return tl::make_unexpected(line_.error());
  }
  for (const std::string_view line : parts_of(text, '\n')) {
    read_line(line);
    if (line_.is_refused()) return tl::make_unexpected(line_.error());
  }
  resolve_conflicts();
  resolve_foreign();
  if (line_.is_refused()) return tl::make_unexpected(line_.error());
  return std::move(topology_);
}

void TopologyReader::read_line(std::string_view line) {
  if (!line_.next(line)) return;
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [this](const Rule& known) {
    return known.form.keyword == line_.keyword();
  });
  if (rule == kRules.end()) {
    return line_.refuse(fmt::format("{} is no kind of line", quoted(line_.keyword())),
                        "begin with pmu, cores, class, block, unit, extra, event or foreign");
  }
  if (++rules_ > kTopologyRulesMax) {
    return line_.refuse(ErrorCode::kLimit, "too many rules",
                        fmt::format("stay within {} lines that say something", kTopologyRulesMax));
  }
  line_.check(rule->form);
  if (!line_.is_refused()) read_rule(rule->kind);
}

void TopologyReader::read_rule(Kind kind) {
  switch (kind) {
    case Kind::kPmu:
      return read_pmu();
    case Kind::kCores:
      return read_cores();
    case Kind::kClass:
      return read_class();
    case Kind::kBlock:
      return read_block();
    case Kind::kUnit:
      return read_unit();
    case Kind::kExtra:
      return read_extra();
    case Kind::kEvent:
      return read_event();
    case Kind::kForeign:
      return read_foreign();
  }
}

CpuSet TopologyReader::cpus(std::string_view key) {
  const auto set = CpuSet::parse(line_.field(key));
  if (set) return *set;
  line_.refuse(set.error().what, set.error().remedy);
  return {};
}

CpuSet TopologyReader::cpus_of(PmuIndex pmu, std::string_view key) {
  CpuSet set = cpus(key);
  if (!line_.is_refused() && !set.is_within(topology_.pmus[pmu].cpus)) {
    line_.refuse(fmt::format("{}={} goes beyond the CPUs of {}", key, quoted(set.text()),
                             topology_.pmus[pmu].name),
                 fmt::format("stay within {}", quoted(topology_.pmus[pmu].cpus.text())));
  }
  return set;
}

Scope TopologyReader::scope() {
  const std::string_view text = line_.field("scope");
  if (text == "core") return Scope::kCore;
  if (text == "pmu") return Scope::kPmu;
  if (!text.empty() && text != "cpu") {
    line_.refuse(fmt::format("scope={} is unknown", quoted(text)), "write cpu, core or pmu");
  }
  return Scope::kCpu;
}

EventCodes TopologyReader::codes(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  const auto first = read_number<std::uint32_t>(range.substr(0, dash));
  auto last = first;
  if (dash != std::string_view::npos) last = read_number<std::uint32_t>(range.substr(dash + 1));
  EventCodes codes;
  if (colon != std::string_view::npos) {
    codes.unit_mask = read_number<std::uint32_t>(text.substr(colon + 1));
  }
  if (!first || !last || (colon != std::string_view::npos && !codes.unit_mask)) {
    line_.refuse(fmt::format("{} is no event", quoted(text)), "write 0x3c, 0x80-0x8f or 0x3c:0x00");
    return {};
  }
  if (*first > *last) {
    line_.refuse(fmt::format("{} ends before it begins", quoted(text)),
                 "write the lower code first");
  }
  codes.first = *first;
  codes.last = *last;
  return codes;
}

PmuIndex TopologyReader::pmu(std::string_view name) {
  const auto found = topology_.find_pmu(name);
  if (!found) {
    line_.refuse(fmt::format("no PMU {} above this line", quoted(name)),
                 "describe it in a pmu line first");
  }
  return found.value_or(0);
}

// The first word, as the name of what will stand at `index`.
std::string TopologyReader::name(Kind kind, PmuIndex pmu, std::size_t index) {
  std::string name(line_.operand(0));
  if (!is_name(name)) {
    line_.refuse(fmt::format("{} is no name", quoted(name)),
                 "use letters, digits, _, - and . only");
  } else if (name.size() > kNameBytesMax) {
    line_.refuse(ErrorCode::kLimit, fmt::format("a name of {} bytes", name.size()),
                 fmt::format("stay within {} bytes", kNameBytesMax));
  } else if (!line_.is_refused() && !places_.emplace(std::tuple(kind, pmu, name), index).second) {
    line_.refuse(fmt::format("{} is there already", quoted(name)), "take another name");
  }
  return name;
}

void TopologyReader::read_pmu() {
  Pmu pmu;
  pmu.name = name(Kind::kPmu, 0, topology_.pmus.size());
  pmu.cpus = cpus("cpus");
  pmu.general = line_.number("gp", 0, 0, kGeneralMax);
  pmu.fixed = line_.number("fixed", 0, 0, kFixedMax);
  pmu.width = line_.number("width", pmu.width, 1, 64);
  if (!line_.field("flags").empty()) {
    for (const std::string_view flag : parts_of(line_.field("flags"), ',')) {
      const auto known = std::find_if(kFlags.begin(), kFlags.end(),
                                      [&](const auto& entry) { return entry.first == flag; });
      if (known == kFlags.end()) {
        return line_.refuse(fmt::format("flag {} is unknown", quoted(flag)),
                            "flags are overflow, userread, named and closed");
      }
      pmu.*known->second = true;
    }
  }
  if (topology_.pmus.size() == kTopologyPmusMax) {
    line_.refuse(ErrorCode::kLimit, "too many PMUs",
                 fmt::format("stay within {}", kTopologyPmusMax));
  }
  topology_.pmus.push_back(std::move(pmu));
}

void TopologyReader::read_cores() {
  const PmuIndex index = pmu(line_.operand(0));
  if (line_.is_refused()) return;
  const CpuSet siblings = cpus_of(index, "siblings");
  const CpuSet again = siblings.common_with(in_cores_);
  if (!again.empty()) {
    line_.refuse(fmt::format("CPU {} is in a core already", quoted(again.text())),
                 "name each CPU in one line");
  }
  for (const std::uint32_t cpu : siblings.numbers()) in_cores_.add(cpu);
  topology_.cores.push_back(siblings);
}

void TopologyReader::read_class() {
  EventClass added;
  added.pmu = pmu(line_.operand(1));
  if (line_.is_refused()) return;
  const Pmu& pmu = topology_.pmus[added.pmu];
  added.name = name(Kind::kClass, added.pmu, topology_.classes.size());
  const std::string_view gp = line_.field("gp");
  const auto mask = gp.empty() ? 0 : read_number<std::uint64_t>(gp);
  if (!mask) {
    return line_.refuse(fmt::format("gp={} is no mask", quoted(gp)),
                        "write 0x and hexadecimal digits");
  }
  if ((*mask >> pmu.general) != 0) {
    return line_.refuse(fmt::format("gp={:#x} has more than the {} general counters of {}", *mask,
                                    pmu.general, pmu.name),
                        "leave the higher bits out");
  }
  added.counters = *mask;
  if (!line_.field("fixed").empty()) {
    for (const std::string_view text : parts_of(line_.field("fixed"), ',')) {
      const auto fixed = read_number<std::uint32_t>(text);
      if (!fixed || *fixed >= pmu.fixed) {
        return line_.refuse(fmt::format("{} has no fixed counter {}", pmu.name, quoted(text)),
                            fmt::format("it has {}; the first is 0", pmu.fixed));
      }
      added.counters |= CounterMask{1} << (kFixedFirst + *fixed);
    }
  }
  if (added.counters == 0) line_.refuse("a class without counters", "name some with gp= or fixed=");
  topology_.classes.push_back(std::move(added));
}

void TopologyReader::read_block() {
  BlockRule rule;
  rule.pmu = pmu(line_.operand(1));
  if (line_.is_refused()) return;
  rule.name = name(Kind::kBlock, rule.pmu, topology_.blocks.size());
  rule.length = line_.number("len", 1, 1, kGeneralMax);
  rule.alignment = line_.number("align", 1, 1, kGeneralMax);
  const Pmu& pmu = topology_.pmus[rule.pmu];
  if (rule.length > pmu.general) {
    line_.refuse(fmt::format("a block of {} does not fit {}", rule.length, pmu.name),
                 fmt::format("it has {} general counters", pmu.general));
  }
  topology_.blocks.push_back(std::move(rule));
}

void TopologyReader::read_unit() {
  UnitRule rule;
  rule.pmu = pmu(line_.operand(1));
  if (line_.is_refused()) return;
  rule.name = name(Kind::kUnit, rule.pmu, topology_.units.size());
  rule.scope = scope();
  rule.count = line_.number("n", 1, 1, kUnitCountMax);
  line_.only("shareable", "threshold-min");
  rule.is_shareable = !line_.field("shareable").empty();
  if (!line_.field("conflicts").empty()) {
    for (const std::string_view other : parts_of(line_.field("conflicts"), ',')) {
      if (other == rule.name) line_.refuse("a unit in conflict with itself", "say n=1");
      rule.conflicts.emplace_back(other);
    }
  }
  if (rule.conflicts.size() > kTopologyConflictsMax) {
    line_.refuse(ErrorCode::kLimit, "too many conflicts",
                 fmt::format("stay within {} in a line", kTopologyConflictsMax));
  }
  if (topology_.units.size() == kTopologyUnitsMax) {
    line_.refuse(ErrorCode::kLimit, "too many units",
                 fmt::format("stay within {}", kTopologyUnitsMax));
  }
  topology_.units.push_back(std::move(rule));
  unit_lines_.push_back(line_.line_number());
}

void TopologyReader::read_extra() {
  ExtraRule rule;
  rule.pmu = pmu(line_.operand(1));
  if (line_.is_refused()) return;
  rule.name = name(Kind::kExtra, rule.pmu, topology_.extras.size());
  rule.scope = scope();
  rule.count = line_.number("n", 1, 1, kUnitCountMax);
  line_.only("share", "same-config");
  topology_.extras.push_back(std::move(rule));
}

void TopologyReader::read_event() {
  const PmuIndex index = pmu(line_.operand(0));
  const EventCodes event = codes(line_.operand(1));
  if (line_.operand(2) != "->") {
    line_.refuse(fmt::format("{} instead of ->", quoted(line_.operand(2))),
                 "write event PMU CODE[-CODE][:MASK] -> CLASS");
  }
  if (line_.is_refused()) return;
  const auto found = places_.find(std::tuple(Kind::kClass, index, std::string(line_.operand(3))));
  if (found == places_.end()) {
    return line_.refuse(fmt::format("no class {} of {} above this line", quoted(line_.operand(3)),
                                    topology_.pmus[index].name),
                        "describe it in a class line first");
  }
  const auto [earlier, is_new] = event_lines_.emplace(
      std::tuple(index, event.first, event.last, event.unit_mask), line_.line_number());
  if (!is_new) {
    return line_.refuse(
        fmt::format("{} has a class since line {}", quoted(line_.operand(1)), earlier->second),
        "leave one of the lines out");
  }
  topology_.events.push_back(
      {index, event.first, event.last, event.unit_mask, static_cast<std::uint32_t>(found->second)});
}

void TopologyReader::read_foreign() {
  ForeignHolder holder;
  holder.pmu = pmu(line_.operand(1));
  if (line_.is_refused()) return;
  holder.name = name(Kind::kForeign, holder.pmu, topology_.foreign.size());
  holder.cpus = cpus_of(holder.pmu, "cpus");
  const EventCodes event = codes(line_.field("event"));
  if (event.first != event.last) {
    line_.refuse(fmt::format("event={} is more than one", quoted(line_.field("event"))),
                 "write one code");
  }
  topology_.foreign.push_back(std::move(holder));
  foreign_events_.emplace_back(line_.line_number(), event);
}

// At the end, because units stand in each other's way and one of them has to come first.
void TopologyReader::resolve_conflicts() {
  for (std::size_t i = 0; i < topology_.units.size(); ++i) {
    const UnitRule& unit = topology_.units[i];
    line_.return_to(unit_lines_[i]);
    const std::vector<std::string> said = unit.conflicts;
    for (const std::string& other : said) {
      const auto found = places_.find(std::tuple(Kind::kUnit, unit.pmu, other));
      if (found == places_.end()) {
        return line_.refuse(
            fmt::format("no unit {} of {}", quoted(other), topology_.pmus[unit.pmu].name),
            "describe it in a unit line, or leave the conflict out");
      }
      std::vector<std::string>& back = topology_.units[found->second].conflicts;
      if (std::find(back.begin(), back.end(), unit.name) == back.end()) back.push_back(unit.name);
    }
  }
}

// At the end, because an event line below may be nearer to the event.
void TopologyReader::resolve_foreign() {
  for (std::size_t i = 0; i < topology_.foreign.size() && !line_.is_refused(); ++i) {
    ForeignHolder& holder = topology_.foreign[i];
    const auto& [line, event] = foreign_events_[i];
    line_.return_to(line);
    const auto found = topology_.class_of(holder.pmu, event.first, event.unit_mask.value_or(0));
    if (!found) {
      line_.refuse(fmt::format("event {:#x} of {} has no class", event.first,
                               topology_.pmus[holder.pmu].name),
                   "say in an event line which counters it may be on");
    }
    holder.event_class = found.value_or(0);
  }
}

}  // namespace

Result<Topology> parse_topology(std::string_view text, const std::string& file) {
  return TopologyReader(file).read(text);
}

}  // namespace meterbank::arbiter
