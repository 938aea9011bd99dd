// SPDX-License-Identifier: Apache-2.0
#include "cli/session/unmatched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

// The pattern with what matched nothing replaced by what comes nearest to it.
std::string repaired(const Unmatched& miss) {
  auto path = parse_path(miss.pattern);
  if (!path) return miss.suggestion;
  const auto name = escape_glob(miss.suggestion);
  if (miss.part == "provider") {
    path->provider = name;
    path->provider_pid.reset();
  } else if (miss.part == "counterset") {
    path->set = name;
  } else if (miss.part == "counter" || path->second_word) {
    path->second_word.reset();
    path->counter = name;
  } else {
    path->instance = name;
  }
  return print_path(*path);
}

// What nothing was found for, in the words of this program.
std::string_view part_text(const Unmatched& miss, const std::optional<CounterPath>& path) {
  if (miss.part == "counter" && path && path->second_word) return "counter or instance";
  return miss.part;
}

// Whether `is_one` holds for an inserted set of this name, of any provider.
template <typename IsOne>
bool has_set(const Catalog& catalog, const std::string& pattern, const IsOne& is_one) {
  const Glob name(pattern, {.backslash_escapes = true});
  for (const auto& provider : catalog.providers()) {
    for (const RegisteredSet& registered : provider->sets) {
      if (registered.state != RegistrationState::kInserted) continue;
      const Counterset& set = *registered.set;
      if ((name.matches(set.symbol) || name.matches(set.name)) && is_one(*provider, set))
        return true;
    }
  }
  return false;
}

// "set/latency -p 99", for a path that names a percentile as if it were a counter, as rows do. A
// condition takes it from a path, and not from one in the braces of an expression.
std::optional<std::string> percentile_remedy(CounterPath path, const Catalog& catalog,
                                             Asker asker) {
  const auto word = path.second_word ? path.second_word->as_counter : path.counter.value_or("");
  const auto mark = word.rfind(".p");
  if (mark == std::string::npos || mark + 2 == word.size()) return std::nullopt;
  if (word.find_first_not_of("0123456789.", mark + 2) != std::string::npos) return std::nullopt;
  path.counter = word.substr(0, mark);
  path.second_word.reset();
  const Glob counter_name(*path.counter, {.backslash_escapes = true});
  const auto is_distribution = [&counter_name](const CounterView& counter) {
    return counter.form == ValueForm::kDistribution && counter_name.matches(counter.symbol);
  };
  const bool is_known = has_set(catalog, path.set, [&](const ProviderView&, const Counterset& set) {
    return std::any_of(set.counters.begin(), set.counters.end(), is_distribution);
  });
  if (!is_known) return std::nullopt;
  const auto percentile = word.substr(mark + 2);
  return asker == Asker::kRows
             ? fmt::format("{} -p {}", print_path(path), percentile)
             : fmt::format("{}.p{} alone, without braces", print_path(path), percentile);
}

struct NoTotal {
  std::string_view why;
  std::string remedy;
};

// Why the row `_Total` that the path names does not exist. No value: it may exist.
std::optional<NoTotal> no_total(const Unmatched& miss, const CounterPath& path,
                                const Catalog& catalog) {
  if (miss.part != "instance" && !path.second_word) return std::nullopt;
  CounterPath rows = path.second_word ? path.reading_as_instance() : path;
  if (!rows.instance || !equal_folded(*rows.instance, kTotalName)) return std::nullopt;
  const auto has_total = [](const ProviderView&, const Counterset& set) {
    return set.instances == InstanceKind::kMultipleAggregate;
  };
  const auto is_of_others = [&](const ProviderView& provider, const Counterset& set) {
    return has_total(provider, set) && !provider.trusted;
  };
  if (has_set(catalog, path.set, is_of_others)) {
    return NoTotal{"its providers are of other users", "--across-users"};
  }
  if (has_set(catalog, path.set, has_total)) return std::nullopt;
  rows.instance = "*";
  return NoTotal{"the set has no total", print_path(rows)};
}

std::string log_option(const std::string& log) { return log.empty() ? "" : " --log " + log; }

// What to try: the nearest name, or the list where it must be.
std::string remedy_of(const Unmatched& miss, const std::optional<CounterPath>& path,
                      const std::string& log) {
  if (!miss.suggestion.empty()) return repaired(miss);
  const std::string of_log = log_option(log);
  if (miss.part == "provider") return "meterbank list --providers" + of_log;
  // A name that a shell would take apart is better not part of a command.
  const bool plain = path && path->set.find_first_of(" \\'\"*?$`;&|<>()") == std::string::npos;
  if (miss.part == "counterset" || !plain) return list_command(log);
  return fmt::format("meterbank list {}{}{}", miss.part == "instance" ? "--instances " : "",
                     path->set, of_log);
}

}  // namespace

std::string list_command(const std::string& log) { return "meterbank list" + log_option(log); }

std::string unmatched_text(const Unmatched& miss, const Catalog& catalog, const std::string& log,
                           Asker asker) {
  const auto parsed = parse_path(miss.pattern);
  const auto path = parsed ? std::optional(*parsed) : std::nullopt;
  const bool lacks_row = miss.part == "instance" && miss.suggestion.empty();
  if (!log.empty() && path && lacks_row && !no_total(miss, *path, catalog)) {
    return fmt::format("the recording has no values of '{}' at that time; try: {}", miss.pattern,
                       remedy_of(miss, path, log));
  }
  if (miss.part == "instance" && path && !path->instance) {
    return fmt::format("'{}' has no instances now; try: --wait 10s", miss.pattern);
  }
  if (const auto none = path ? no_total(miss, *path, catalog) : std::nullopt) {
    return fmt::format("no {} matches '{}': {}; try: {}", part_text(miss, path), miss.pattern,
                       none->why, none->remedy);
  }
  const auto percentile = path ? percentile_remedy(*path, catalog, asker) : std::nullopt;
  return fmt::format("no {} matches '{}'; try: {}", part_text(miss, path), miss.pattern,
                     percentile ? *percentile : remedy_of(miss, path, log));
}

void complain_of(const Unmatched& miss, const Catalog& catalog, const Console& console,
                 const std::string& log) {
  complain(console, unmatched_text(miss, catalog, log));
}

}  // namespace meterbank::cli
