// SPDX-License-Identifier: Apache-2.0
#include "cli/check/provider_health.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/format/row_writer.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/hung.hpp"
#include "cli/session/unmatched.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank::cli {
namespace {

using Providers = std::set<std::string>;  // by their records

Providers providers_read(const Selection& selection, const std::vector<RuleHistory>& rules) {
  Providers records;
  if (rules.empty()) {
    for (const SelectedSet& one : selection.query.selected()) {
      records.insert(one.provider().record);
    }
  }
  for (const RuleHistory& rule : rules) {
    for (const auto* provider : rule.source().providers(selection)) {
      records.insert(provider->record);
    }
  }
  return records;
}

// Whether the pattern names this provider, and not just any.
bool names(const std::string& pattern, const ProviderView& provider) {
  const auto path = parse_path(pattern);
  if (!path || !path->provider) return false;
  if (path->provider_pid && *path->provider_pid != provider.named_pid()) return false;
  const Glob glob(*path->provider, {.backslash_escapes = true});
  return !glob.matches_everything() && glob.matches(provider.name);
}

// What a provider without readable memory has, nothing says: it may be what was asked for if it
// was asked for by name, or if nothing else was found.
bool may_be_meant(const ProviderView& provider, const Selection& selection,
                  const std::vector<RuleHistory>& rules) {
  const auto any_names = [&](const std::vector<std::string>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return names(pattern, provider); });
  };
  if (rules.empty()) return selection.patterns.empty() || any_names(selection.patterns);
  return std::any_of(rules.begin(), rules.end(), [&](const RuleHistory& rule) {
    const auto& patterns = rule.source().patterns();
    const bool is_open = std::any_of(patterns.begin(), patterns.end(), [](const auto& pattern) {
      const auto path = parse_path(pattern);
      return path && !path->provider;
    });
    return any_names(patterns) || (is_open && rule.rows().empty());
  });
}

std::string age_text(const ProviderView& provider) {
  return print_duration(std::floor(static_cast<double>(provider.heartbeat_age_ns()) / 1e9));
}

std::string hung_text(const ProviderView& provider, bool recorded) {
  if (recorded) {
    return fmt::format("{} was hung, silent for {}", label_on_host(provider), age_text(provider));
  }
  const HungCause cause = cause_of_hang(provider);
  return fmt::format("{} is hung: {}; try: {}", label_on_host(provider), cause.what, cause.remedy);
}

std::optional<CheckProblem> problem_of(const ProviderView& provider, bool recorded,
                                       std::optional<std::chrono::nanoseconds> stale) {
  const CheckState bad = stale ? CheckState::kCritical : CheckState::kUnknown;
  switch (provider.state) {
    case ProviderState::kDead:
      return CheckProblem{bad, fmt::format("{} is dead", label_on_host(provider))};
    case ProviderState::kClosed:
      return CheckProblem{bad, fmt::format("{} has ended", label_on_host(provider))};
    case ProviderState::kHung:
      return CheckProblem{bad, hung_text(provider, recorded)};
    case ProviderState::kLive:
    case ProviderState::kForeign:
    case ProviderState::kUnreadable:
      break;
  }
  // Not read, or not wholly. A foreign provider has an error and is read all the same.
  const bool is_read = provider.segment != nullptr;
  const bool lacks_parts = is_read && provider.state == ProviderState::kLive;
  if (!provider.error.what.empty() && (!is_read || lacks_parts)) {
    return CheckProblem{CheckState::kUnknown, fmt::format("{}: {}", label_on_host(provider),
                                                          named_message(provider.error))};
  }
  if (!stale || !is_read) return std::nullopt;
  const auto age = std::chrono::nanoseconds(provider.heartbeat_age_ns());
  if (age <= *stale) return std::nullopt;
  return CheckProblem{
      CheckState::kCritical,
      fmt::format("{} has had no heartbeat for {}, longer than {}", label_on_host(provider),
                  age_text(provider), print_interval(*stale))};
}

std::string why_no_row(const RuleHistory& rule, const Selection& selection) {
  const auto& patterns = rule.source().patterns();
  for (const Unmatched& miss : selection.query.unmatched()) {
    if (std::find(patterns.begin(), patterns.end(), miss.pattern) == patterns.end()) continue;
    return unmatched_text(miss, selection.catalog(), selection.log_path, Asker::kCondition);
  }
  if (rule.condition().percentile()) {
    return fmt::format("'{}' is not a distribution with rows", rule.condition().path());
  }
  return fmt::format("no row of '{}'; try: {}", rule.condition().left(),
                     list_command(selection.log_path));
}

}  // namespace

std::vector<CheckProblem> provider_problems(const Selection& selection,
                                            const std::vector<RuleHistory>& rules,
                                            std::optional<std::chrono::nanoseconds> stale) {
  std::vector<CheckProblem> problems;
  const Providers read = providers_read(selection, rules);
  for (const auto& provider : selection.catalog().providers()) {
    const bool is_meant = provider->segment == nullptr ? may_be_meant(*provider, selection, rules)
                                                       : read.contains(provider->record);
    if (!is_meant) continue;
    if (auto problem = problem_of(*provider, selection.log != nullptr, stale)) {
      problems.push_back(*std::move(problem));
    }
  }
  return problems;
}

std::vector<CheckProblem> unmatched_problems(const Selection& selection,
                                             const std::vector<RuleHistory>& rules) {
  std::vector<CheckProblem> problems;
  const auto add = [&problems](std::string text) {
    const bool is_known =
        std::any_of(problems.begin(), problems.end(),
                    [&](const CheckProblem& known) { return known.text == text; });
    if (!is_known) problems.push_back({CheckState::kUnknown, std::move(text)});
  };
  const auto& providers = selection.catalog().providers();
  const bool any_read = std::any_of(providers.begin(), providers.end(), [](const auto& provider) {
    return provider->segment != nullptr;
  });
  for (const RuleHistory& rule : rules) {
    const auto& rows = rule.rows();
    const bool has_value = std::any_of(
        rows.begin(), rows.end(), [](const RowHistory& row) { return row.unknown < row.samples; });
    if (has_value || (!rows.empty() && !rule.condition().expression())) continue;
    if (!any_read && selection.log == nullptr) {
      add(fmt::format("no provider found in {}; try: meterbank doctor",
                      fmt::join(selection.catalog().directories(), " or ")));
      continue;
    }
    if (rule.samples() == 0) {
      add(fmt::format("no sample with '{}' in this range; try: meterbank log info {}",
                      rule.condition().left(), selection.log_path));
      continue;
    }
    if (rows.empty() || !selection.query.unmatched().empty()) add(why_no_row(rule, selection));
  }
  return problems;
}

}  // namespace meterbank::cli
