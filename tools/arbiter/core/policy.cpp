// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/policy.hpp"

#include <algorithm>
#include <array>

#include "arbiter/core/policy_words.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"

namespace meterbank::arbiter {
namespace {

// Whether `text` is the glob with something in place of each `*`. Goes back to the last `*` only,
// which is enough and keeps the time to the product of the lengths.
[[nodiscard]] bool fits(std::string_view glob, std::string_view text) noexcept {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (in_text < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_text = in_text;
    } else if (at < glob.size() && glob[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', at) == std::string_view::npos;
}

[[nodiscard]] bool fits(const PolicyRule& rule, const ClientIdentity& client) noexcept {
  if (rule.uid && *rule.uid != client.uid) return false;
  if (rule.gid && *rule.gid != client.gid &&
      std::find(client.groups.begin(), client.groups.end(), *rule.gid) == client.groups.end()) {
    return false;
  }
  // What is not known fits nothing, not even "*".
  const auto path_fits = [](const std::string& glob, const std::string& path) {
    return glob.empty() || (!path.empty() && fits(glob, path));
  };
  return path_fits(rule.executable, client.executable) && path_fits(rule.cgroup, client.cgroup);
}

[[nodiscard]] Rights all_rights() {
  Rights rights;
  rights.is_administrator = true;
  rights.priority_max = pmu::Priority::kCritical;
  rights.leases_max = pmu::kLedgerLeasesMax;
  rights.waits_max = pmu::kLedgerLeasesMax;
  for (const RightWord& word : kRightWords) rights.*word.right = true;
  return rights;
}

void apply(const PolicyRule& rule, Rights& rights) {
  const auto take = [&rule, &rights](std::uint32_t bit, auto right) {
    if ((rule.says & bit) != 0) rights.*right = rule.rights.*right;
  };
  if ((rule.says & kSaysAdministrator) != 0) {
    rights = rule.rights.is_administrator ? all_rights() : Rights{};
  }
  take(kSaysDenied, &Rights::is_denied);
  take(kSaysPriority, &Rights::priority_max);
  take(kSaysCounters, &Rights::counters_max);
  take(kSaysLeases, &Rights::leases_max);
  take(kSaysWaits, &Rights::waits_max);
  take(kSaysCpus, &Rights::cpus);
  for (const RightWord& word : kRightWords) take(word.bit, word.right);
}

}  // namespace

Policy Policy::standard() {
  constexpr std::uint64_t kInteractiveHold = 900'000'000'000;
  Policy policy;
  policy.classes = {
      {{.is_preemptible = true}, {.is_preemptible = true}, {.hold_ns_max = kInteractiveHold}, {}}};
  return policy;
}

Rights Policy::rights_of(const ClientIdentity& client, std::uint32_t own_uid) const {
  if (client.uid == 0 || client.uid == own_uid) return all_rights();
  Rights rights;
  for (const PolicyRule& rule : rules) {
    if (fits(rule, client)) apply(rule, rights);
  }
  return rights;
}

}  // namespace meterbank::arbiter
