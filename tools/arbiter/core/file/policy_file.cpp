// SPDX-License-Identifier: Apache-2.0
//
// What the tables of a policy file mean.
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
#include "arbiter/core/file/toml_table.hpp"
#include "arbiter/core/policy.hpp"
#include "arbiter/core/policy_words.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"

namespace meterbank::arbiter {
namespace {

constexpr TableForm kPolicyForm{"", "outsiders", "class whole", "rule reserve guard"};
constexpr TableForm kAllowForm{"allow",
                               "user group executable cgroup priority counters leases waits cpus"};
constexpr TableForm kDenyForm{"deny", "user group executable cgroup"};
constexpr TableForm kAdminForm{"admin", "user group executable cgroup"};
constexpr TableForm kClassesForm{"", "", "batch monitoring interactive critical"};
constexpr TableForm kClassForm{"hold", "renewable preemptible quota"};
constexpr TableForm kWholeForm{"hold", ""};
constexpr TableForm kReserveForm{"pmu cpus counters", ""};
constexpr TableForm kGuardForm{"pmu cpus", ""};

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

[[nodiscard]] std::optional<std::uint32_t> uid_of(const std::string& name) {
  std::vector<char> room;
  const auto user = entry_of<passwd>(name, ::getpwnam_r, room);
  return user ? std::optional(user->pw_uid) : std::nullopt;
}

[[nodiscard]] std::optional<std::uint32_t> gid_of(const std::string& name) {
  std::vector<char> room;
  const auto found = entry_of<group>(name, ::getgrnam_r, room);
  return found ? std::optional(found->gr_gid) : std::nullopt;
}

// A name that `find` knows, or a number.
template <typename Find>
[[nodiscard]] std::optional<std::uint32_t> id_of(const TomlTable& rule, std::string_view key,
                                                 Find find) {
  constexpr auto kIdMax = std::numeric_limits<std::uint32_t>::max();
  if (!rule.has(key)) return std::nullopt;
  if (rule.has_number(key)) return rule.number(key, kIdMax, 0, kIdMax);
  const std::string name = rule.text(key);
  const auto id = find(name);
  if (!id) {
    rule.refuse(key, fmt::format("{} {} is unknown", key, in_quotes(name)),
                "name one of this machine, or write its number without quotation marks");
  }
  return id;
}

[[nodiscard]] PolicyRule subject_of(const TomlTable& table) {
  PolicyRule rule;
  rule.uid = id_of(table, "user", uid_of);
  rule.gid = id_of(table, "group", gid_of);
  const auto glob = [&table](std::string_view key) {
    std::string path = table.text(key);
    if (!path.empty() && path.front() != '/' && path.front() != '*') {
      table.refuse(key, fmt::format("{} is not a path from the root", in_quotes(path)),
                   "begin it with / or *");
    }
    return path;
  };
  rule.executable = glob("executable");
  rule.cgroup = glob("cgroup");
  return rule;
}

// The rights in a list of their words.
[[nodiscard]] std::vector<RightWord> rights_in(const TomlTable& rule, std::string_view key) {
  std::vector<RightWord> all;
  for (const std::string& word : rule.texts(key)) {
    const auto right = std::ranges::find(kRightWords, word, &RightWord::word);
    if (right == kRightWords.end()) {
      rule.refuse(key, fmt::format("right {} is unknown", in_quotes(word)),
                  "rights are whole-cpu, kernel, exclusive, buffer and delegate");
    } else if (std::ranges::find(all, word, &RightWord::word) != all.end()) {
      rule.refuse(key, fmt::format("{} twice", in_quotes(word)), "name each right once");
    } else {
      all.push_back(*right);
    }
  }
  return all;
}

[[nodiscard]] std::optional<pmu::Priority> priority_of(std::string_view name) {
  for (const pmu::Priority priority : {pmu::Priority::kBatch, pmu::Priority::kMonitoring,
                                       pmu::Priority::kInteractive, pmu::Priority::kCritical}) {
    if (pmu::name_of(priority) == name) return priority;
  }
  return std::nullopt;
}

[[nodiscard]] PolicyRule allow_rule(const TomlTable& table) {
  table.check(kAllowForm);
  PolicyRule rule = subject_of(table);
  Rights& rights = rule.rights;
  rule.says = kSaysDenied;  // that it is not
  const auto number = [&](std::string_view key, std::uint32_t bit, std::uint32_t& value,
                          std::uint32_t most) {
    if (!table.has(key)) return;
    value = table.number(key, 0, 0, most);
    rule.says |= bit;
  };
  number("counters", kSaysCounters, rights.counters_max, 64);
  number("leases", kSaysLeases, rights.leases_max, pmu::kLedgerLeasesMax);
  number("waits", kSaysWaits, rights.waits_max, pmu::kLedgerLeasesMax);
  if (table.has("priority")) {
    const std::string name = table.text("priority");
    const auto priority = priority_of(name);
    if (!priority) {
      table.refuse("priority", fmt::format("priority = {} is unknown", in_quotes(name)),
                   "classes are batch, monitoring, interactive and critical");
    }
    rights.priority_max = priority.value_or(pmu::Priority::kBatch);
    rule.says |= kSaysPriority;
  }
  if (table.has("cpus")) {
    rights.cpus = table.cpus("cpus");
    rule.says |= kSaysCpus;
  }
  for (const RightWord& word : rights_in(table, "allow")) {
    rights.*word.right = true;
    rule.says |= word.bit;
  }
  return rule;
}

[[nodiscard]] PolicyRule deny_rule(const TomlTable& table) {
  table.check(kDenyForm);
  PolicyRule rule = subject_of(table);
  if (table.has_text("deny")) {
    if (const std::string word = table.text("deny"); word != "everything") {
      table.refuse("deny", fmt::format("deny = {} is unknown", in_quotes(word)),
                   R"(write deny = "everything", or a list of rights)");
    }
    rule.rights.is_denied = true;
    rule.says = kSaysDenied | kSaysAdministrator;
    return rule;
  }
  for (const RightWord& word : rights_in(table, "deny")) rule.says |= word.bit;
  if (table.is_empty_list("deny")) {
    table.refuse("deny", "deny names no right",
                 R"(write deny = "everything", or a list of rights)");
  }
  return rule;
}

[[nodiscard]] PolicyRule admin_rule(const TomlTable& table) {
  table.check(kAdminForm);
  PolicyRule rule = subject_of(table);
  if (!table.flag("admin")) {
    table.refuse("admin", "admin is false", R"(leave the rule out, or write deny = "everything")");
  }
  rule.rights.is_administrator = true;
  rule.says = kSaysAdministrator;
  return rule;
}

[[nodiscard]] PolicyRule rule_of(const TomlTable& table) {
  const bool allows = table.has("allow");
  const bool denies = table.has("deny");
  const bool makes_admin = table.has("admin");
  if (int{allows} + int{denies} + int{makes_admin} != 1) {
    table.refuse({}, "a rule says one of allow, deny and admin",
                 "write allow = [] for a rule that only sets limits");
    return {};
  }
  return allows ? allow_rule(table) : denies ? deny_rule(table) : admin_rule(table);
}

// 0, or a text of a number and its unit.
[[nodiscard]] std::uint64_t hold_of(const TomlTable& table) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
      {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}}};
  constexpr const char* kRemedy = R"(write 0 for no end, or "500ms", "30s", "15m" or "2h")";
  if (!table.has("hold")) return 0;
  if (table.has_number("hold")) {
    if (table.number("hold", 1, 0, std::numeric_limits<std::uint32_t>::max()) != 0) {
      table.refuse("hold", "hold is a number without a unit", kRemedy);
    }
    return 0;
  }
  const std::string text = table.text("hold");
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = read_number<std::uint32_t>(std::string_view(text).substr(0, digits));
  for (const auto& [unit, nanoseconds] : kUnits) {
    if (number && text.substr(digits) == unit) return *number * nanoseconds;
  }
  table.refuse("hold", fmt::format("hold = {} is not a time", in_quotes(text)), kRemedy);
  return 0;
}

// In thousandths.
[[nodiscard]] std::uint32_t quota_of(const TomlTable& table) {
  if (!table.has("quota")) return 1000;
  const std::string text = table.text("quota");
  std::optional<std::uint32_t> percent;
  if (text.ends_with('%')) {
    percent = read_number<std::uint32_t>(std::string_view(text).substr(0, text.size() - 1));
  }
  if (!percent || *percent > 100) {
    table.refuse("quota", fmt::format("quota = {} is not a share", in_quotes(text)),
                 R"(write "0%" to "100%")");
    return 0;
  }
  return *percent * 10;
}

void read_classes(const TomlTable& file, Policy& policy) {
  const auto classes = file.table("class");
  if (!classes) return;
  classes->check(kClassesForm);
  for (const TomlTable& table : file.named("class", "class")) {
    const auto priority = priority_of(table.name());
    if (!priority) continue;
    table.check(kClassForm);
    policy.classes.at(static_cast<std::size_t>(*priority)) = {
        .hold_ns_max = hold_of(table),
        .is_renewable = table.flag("renewable"),
        .is_preemptible = table.flag("preemptible"),
        .quota_permille = quota_of(table)};
  }
}

[[nodiscard]] Policy policy_of(const TomlTable& file) {
  Policy policy = Policy::standard();
  file.check(kPolicyForm);
  for (const TomlTable& table : file.list("rule")) policy.rules.push_back(rule_of(table));
  read_classes(file, policy);
  if (const auto whole = file.table("whole")) {
    whole->check(kWholeForm);
    policy.whole_hold_ns_max = hold_of(*whole);
  }
  for (const TomlTable& table : file.list("reserve")) {
    table.check(kReserveForm);
    policy.reserves.push_back({.pmu = table.text("pmu"),
                               .cpus = table.cpus("cpus"),
                               .counters = table.number("counters", 0, 1, 64)});
  }
  for (const TomlTable& table : file.list("guard")) {
    table.check(kGuardForm);
    policy.guards.push_back({.pmu = table.text("pmu"), .cpus = table.cpus("cpus")});
  }
  if (file.has("outsiders")) {
    const std::string word = file.text("outsiders");
    if (word != "refuse" && word != "allow") {
      file.refuse("outsiders", fmt::format("outsiders = {} is unknown", in_quotes(word)),
                  R"(write "refuse" or "allow")");
    }
    policy.mixes_exact_with_outsiders = word == "allow";
  }
  return policy;
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& file) {
  Faults faults(file);
  const auto root = read_toml_file(text, "policy", kPolicyBytesMax, faults);
  if (!root) return tl::make_unexpected(faults.error());
  Policy policy = policy_of(TomlTable(*root, "policy", faults));
  if (!faults.empty()) return tl::make_unexpected(faults.error());
  return policy;
}

}  // namespace meterbank::arbiter
