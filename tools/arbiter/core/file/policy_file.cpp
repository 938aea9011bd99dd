// SPDX-License-Identifier: Apache-2.0
//
// What the lines of a policy file mean.
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "arbiter/core/file/foreign_text.hpp"
#include "arbiter/core/file/rule_line.hpp"
#include "arbiter/core/policy.hpp"
#include "arbiter/core/policy_words.hpp"
#include "meterbank/shm/lease_ledger.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::string_view kSubjects = "user group executable cgroup";
constexpr std::string_view kRights = "whole-cpu kernel exclusive buffer delegate";

// The entry of `name` in the system's users or groups. `find` is getpwnam_r or getgrnam_r.
template <typename Entry, typename Find>
[[nodiscard]] std::optional<Entry> entry_of(const std::string& name, Find find,
                                            std::vector<char>& room) {
  constexpr std::size_t kRoomMax = std::size_t{1} << 20;
  room.resize(4096);
  for (;;) {
    Entry entry{};
    Entry* found = nullptr;
    const int failed = find(name.c_str(), &entry, room.data(), room.size(), &found);
    if (failed == 0 && found != nullptr) return entry;
    if (failed != ERANGE || room.size() >= kRoomMax) return std::nullopt;
    room.resize(room.size() * 2);
  }
}

class PolicyReader {
 public:
  explicit PolicyReader(const std::string& file) : line_(file) {}

  [[nodiscard]] Result<Policy> read(std::string_view text) {
    if (text.size() > kPolicyBytesMax) {
      line_.return_to(1);
      line_.refuse(ErrorCode::kLimit,
                   fmt::format("{} bytes are too many for a policy", text.size()),
                   fmt::format("stay within {} bytes", kPolicyBytesMax));
      return tl::make_unexpected(line_.error());
    }
    for (const std::string_view line : parts_of(text, '\n')) {
      if (line_.next(line)) read_line();
      if (line_.is_refused()) return tl::make_unexpected(line_.error());
    }
    return std::move(policy_);
  }

 private:
  struct Kind {
    RuleForm form;
    void (PolicyReader::*read)();
  };
  [[nodiscard]] static const std::array<Kind, 8>& kinds();

  void read_line();
  void read_allow();
  void read_deny();
  void read_admin();
  void read_class();
  void read_whole() { policy_.whole_hold_ns_max = hold(); }
  void read_reserve();
  void read_guard();
  void read_outsiders();

  [[nodiscard]] PolicyRule subject();
  [[nodiscard]] std::uint32_t uid_of(std::string_view name);
  [[nodiscard]] std::uint32_t gid_of(std::string_view name);
  [[nodiscard]] std::optional<pmu::Priority> priority(std::string_view text);
  [[nodiscard]] CpuSet cpus();
  [[nodiscard]] std::uint64_t hold();
  [[nodiscard]] std::uint32_t quota();

  RuleLine line_;
  Policy policy_ = Policy::standard();
};

const std::array<PolicyReader::Kind, 8>& PolicyReader::kinds() {
  static constexpr std::array<Kind, 8> kKinds{{
      {{"allow", 0, "", "user group executable cgroup priority counters leases waits cpus",
        "allow [user=U] [group=G] [executable=GLOB] [cgroup=GLOB] [priority=CLASS] [counters=N] "
        "[leases=N] [waits=N] [cpus=LIST] [whole-cpu] [kernel] [exclusive] [buffer] [delegate]",
        kRights},
       &PolicyReader::read_allow},
      {{"deny", 0, "", kSubjects,
        "deny [user=U] [group=G] [executable=GLOB] [cgroup=GLOB] [whole-cpu] [kernel] [exclusive] "
        "[buffer] [delegate]",
        kRights},
       &PolicyReader::read_deny},
      {{"admin", 0, "", kSubjects, "admin [user=U] [group=G] [executable=GLOB] [cgroup=GLOB]"},
       &PolicyReader::read_admin},
      {{"class", 1, "hold", "quota", "class NAME hold=TIME [renewable] [preemptible] [quota=N%]",
        "renewable preemptible"},
       &PolicyReader::read_class},
      {{"whole", 0, "hold", "", "whole hold=TIME"}, &PolicyReader::read_whole},
      {{"reserve", 0, "pmu cpus counters", "", "reserve pmu=NAME cpus=LIST counters=N"},
       &PolicyReader::read_reserve},
      {{"guard", 0, "pmu cpus", "", "guard pmu=NAME cpus=LIST"}, &PolicyReader::read_guard},
      {{"outsiders", 1, "", "", "outsiders refuse, or outsiders allow"},
       &PolicyReader::read_outsiders},
  }};
  return kKinds;
}

void PolicyReader::read_line() {
  const auto kind = std::find_if(kinds().begin(), kinds().end(), [this](const Kind& known) {
    return known.form.keyword == line_.keyword();
  });
  if (kind == kinds().end()) {
    return line_.refuse(fmt::format("{} is no kind of line", quoted(line_.keyword())),
                        "begin with allow, deny, admin, class, whole, reserve, guard or outsiders");
  }
  line_.check(kind->form);
  if (!line_.is_refused()) (this->*kind->read)();
}

PolicyRule PolicyReader::subject() {
  PolicyRule rule;
  if (const auto user = line_.field("user"); !user.empty()) rule.uid = uid_of(user);
  if (const auto group = line_.field("group"); !group.empty()) rule.gid = gid_of(group);
  rule.executable = line_.field("executable");
  rule.cgroup = line_.field("cgroup");
  for (const std::string* path : {&rule.executable, &rule.cgroup}) {
    if (path->empty() || path->front() == '/' || path->front() == '*') continue;
    line_.refuse(fmt::format("{} is no path from the root", quoted(*path)), "begin it with / or *");
  }
  return rule;
}

std::uint32_t PolicyReader::uid_of(std::string_view name) {
  if (const auto number = read_number<std::uint32_t>(name)) return *number;
  std::vector<char> room;
  if (const auto user = entry_of<passwd>(std::string(name), ::getpwnam_r, room)) {
    return user->pw_uid;
  }
  line_.refuse(fmt::format("there is no user {}", quoted(name)),
               "name one of this machine, or write its number");
  return std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t PolicyReader::gid_of(std::string_view name) {
  if (const auto number = read_number<std::uint32_t>(name)) return *number;
  std::vector<char> room;
  if (const auto found = entry_of<group>(std::string(name), ::getgrnam_r, room)) {
    return found->gr_gid;
  }
  line_.refuse(fmt::format("there is no group {}", quoted(name)),
               "name one of this machine, or write its number");
  return std::numeric_limits<std::uint32_t>::max();
}

std::optional<pmu::Priority> PolicyReader::priority(std::string_view text) {
  for (const pmu::Priority priority : {pmu::Priority::kBatch, pmu::Priority::kMonitoring,
                                       pmu::Priority::kInteractive, pmu::Priority::kCritical}) {
    if (pmu::name_of(priority) == text) return priority;
  }
  line_.refuse(fmt::format("there is no class {}", quoted(text)),
               "classes are batch, monitoring, interactive and critical");
  return std::nullopt;
}

CpuSet PolicyReader::cpus() {
  auto set = CpuSet::parse(line_.field("cpus"));
  if (set) return std::move(*set);
  line_.refuse(set.error().what, set.error().remedy);
  return {};
}

// 0, or a number and its unit.
std::uint64_t PolicyReader::hold() {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
      {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}}};
  const std::string_view text = line_.field("hold");
  if (text == "0") return 0;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = read_number<std::uint32_t>(text.substr(0, digits));
  for (const auto& [unit, nanoseconds] : kUnits) {
    if (number && text.substr(digits) == unit) return *number * nanoseconds;
  }
  line_.refuse(fmt::format("hold={} is not a time", quoted(text)),
               "write 0, 500ms, 30s, 15m or 2h");
  return 0;
}

// In thousandths.
std::uint32_t PolicyReader::quota() {
  std::string_view text = line_.field("quota");
  if (text.empty()) return 1000;
  std::optional<std::uint32_t> percent;
  if (text.ends_with('%')) percent = read_number<std::uint32_t>(text.substr(0, text.size() - 1));
  if (!percent || *percent > 100) {
    line_.refuse(fmt::format("quota={} is no share", quoted(text)), "write 0% to 100%");
    return 0;
  }
  return *percent * 10;
}

void PolicyReader::read_allow() {
  PolicyRule rule = subject();
  Rights& rights = rule.rights;
  rule.says = kSaysDenied;  // that it is not
  const auto number = [&](std::string_view key, std::uint32_t bit, std::uint32_t& value,
                          std::uint32_t most) {
    if (line_.field(key).empty()) return;
    value = line_.number(key, 0, 0, most);
    rule.says |= bit;
  };
  number("counters", kSaysCounters, rights.counters_max, 64);
  number("leases", kSaysLeases, rights.leases_max, pmu::kLedgerLeasesMax);
  number("waits", kSaysWaits, rights.waits_max, pmu::kLedgerLeasesMax);
  if (const auto text = line_.field("priority"); !text.empty()) {
    rights.priority_max = priority(text).value_or(pmu::Priority::kBatch);
    rule.says |= kSaysPriority;
  }
  if (!line_.field("cpus").empty()) {
    rights.cpus = cpus();
    rule.says |= kSaysCpus;
  }
  for (const RightWord& word : kRightWords) {
    if (!line_.has(word.word)) continue;
    rights.*word.right = true;
    rule.says |= word.bit;
  }
  policy_.rules.push_back(std::move(rule));
}

void PolicyReader::read_deny() {
  PolicyRule rule = subject();
  for (const RightWord& word : kRightWords) {
    if (line_.has(word.word)) rule.says |= word.bit;
  }
  if (rule.says == 0) {
    rule.rights.is_denied = true;
    rule.says = kSaysDenied | kSaysAdministrator;
  }
  policy_.rules.push_back(std::move(rule));
}

void PolicyReader::read_admin() {
  PolicyRule rule = subject();
  rule.rights.is_administrator = true;
  rule.says = kSaysAdministrator;
  policy_.rules.push_back(std::move(rule));
}

void PolicyReader::read_class() {
  const auto priority = this->priority(line_.operand(0));
  if (!priority) return;
  policy_.classes.at(static_cast<std::size_t>(*priority)) = {
      .hold_ns_max = hold(),
      .is_renewable = line_.has("renewable"),
      .is_preemptible = line_.has("preemptible"),
      .quota_permille = quota()};
}

void PolicyReader::read_reserve() {
  policy_.reserves.push_back({.pmu = std::string(line_.field("pmu")),
                              .cpus = cpus(),
                              .counters = line_.number("counters", 0, 1, 64)});
}

void PolicyReader::read_guard() {
  policy_.guards.push_back({.pmu = std::string(line_.field("pmu")), .cpus = cpus()});
}

void PolicyReader::read_outsiders() {
  const std::string_view word = line_.operand(0);
  if (word != "refuse" && word != "allow") {
    return line_.refuse(fmt::format("outsiders {} is unknown", quoted(word)),
                        "write refuse or allow");
  }
  policy_.mixes_exact_with_outsiders = word == "allow";
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& file) {
  return PolicyReader(file).read(text);
}

}  // namespace meterbank::arbiter
