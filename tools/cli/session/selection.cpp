// SPDX-License-Identifier: Apache-2.0
#include "cli/session/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>

#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/log_selection.hpp"
#include "cli/session/runtime_directory.hpp"
#include "cli/session/unmatched.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

constexpr auto kWaitStep = std::chrono::milliseconds(50);
// New providers do not announce themselves, so the directory is read periodically.
constexpr auto kRefreshPeriod = std::chrono::seconds(1);

Result<void> read_paths(const std::string& file, std::vector<std::string>& paths) {
  std::ifstream opened;
  errno = 0;
  if (file != "-") opened.open(file);
  if (file != "-" && !opened) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("cannot read {}", file),
                "a file with one path a line", errno);
  }
  std::istream& lines = file == "-" ? std::cin : opened;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    paths.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  return {};
}

bool is_readable(const ProviderView& provider) { return provider.segment != nullptr; }

// Runs, as far as can be told, and nothing can be read from it.
bool is_unreadable(const ProviderView& provider) {
  return !is_readable(provider) && !has_ended(provider.state);
}

// There is more of it than could be read, such as memory that could not be mapped.
bool lacks_parts(const ProviderView& provider) {
  const bool is_here =
      provider.state == ProviderState::kLive || provider.state == ProviderState::kHung;
  return is_here && !provider.error.what.empty();
}

// The provider that `pattern` names, if it names one that cannot be read.
bool names_unreadable(const std::string& pattern, const Catalog& catalog) {
  const auto path = parse_path(pattern);
  if (!path || !path->provider) return false;
  const Glob glob(*path->provider, {.backslash_escapes = true});
  if (glob.matches_everything()) return false;
  const auto& providers = catalog.providers();
  return std::any_of(providers.begin(), providers.end(), [&](const auto& provider) {
    return is_unreadable(*provider) && glob.matches(provider->name);
  });
}

// Names providers that cannot be read, few for each kind of reason, and counts the others: on a
// machine of thousands a line for each would hide everything else.
class Unreadable {
 public:
  explicit Unreadable(const Console& console) : console_(console) {}

  void name(const ProviderView& provider) {
    constexpr unsigned kNamedMost = 10;
    if (++counts_[provider.error.code] > kNamedMost) {
      ++unnamed_[provider.error.code];
      return;
    }
    complain(console_, fmt::format("{}: {}", escape_for_terminal(provider.label()),
                                   named_message(provider.error)));
  }
  void count_others() const {
    for (const auto& [code, count] : unnamed_) {
      complain(console_, fmt::format("and {} more providers [{}]; try: meterbank list --providers",
                                     count, name_of(code)));
    }
  }

 private:
  const Console& console_;
  std::map<ErrorCode, std::size_t> counts_, unnamed_;
};

// Names the providers that nothing can be read from. Returns the exit code that this means:
// kExitDone if there is none, kExitNo if they have all ended.
int report_unreadable(const Catalog& catalog, const Console& console) {
  int code = kExitDone;
  Unreadable unreadable(console);
  for (const auto& provider : catalog.providers()) {
    if (is_readable(*provider) && !lacks_parts(*provider)) continue;
    if (provider->limited_by != ReadLimit::kNone) {  // report_left_out() names it
      code = kExitEnvironment;
    } else if (is_unreadable(*provider) || lacks_parts(*provider)) {
      unreadable.name(*provider);
      code = kExitEnvironment;
    } else {
      complain(console, fmt::format("{} has ended, and its counters with it; try: meterbank "
                                    "doctor --clean",
                                    escape_for_terminal(provider->label())));
      code = std::max(code, kExitNo);
    }
  }
  unreadable.count_others();
  return code;
}

// Names what keeps providers from being found at all. kExitDone if there is nothing like that.
int report_odd_records(const Catalog& catalog, const Console& console) {
  int code = kExitDone;
  for (const auto& error : catalog.directory_errors()) {
    complain(console, error);
    code = kExitEnvironment;
  }
  for (const auto& directory : catalog.directories()) {
    if (!catalog.directory_errors().empty()) break;
    if (const auto fault = directory_fault(directory)) {
      complain(console, *fault);
      code = kExitEnvironment;
    }
    if (catalog.skipped() == 0) continue;
    for (const auto& object : odd_objects(directory)) {
      if (!object.poses_as_record) continue;
      complain(console, object.error);
      code = kExitEnvironment;
    }
  }
  return code;
}

// A process on two processors has 200 % of one, so shares are not cut at 100. But the kernel counts
// in ticks, and a share that is beyond its bounds by no more than two of them is at its bound.
void round_share(double& percent, double seconds) {
  constexpr double kTwoTicks = 0.02;
  if (percent < 0) percent = 0;
  if (percent <= 100 || seconds <= 0) return;
  if (percent - 100 <= 100 * kTwoTicks / seconds) percent = 100;
}

}  // namespace

CatalogOptions catalog_options(const SelectionOptions& options) {
  CatalogOptions catalog;
  catalog.directory = options.directory;
  catalog.all_namespaces = options.all_namespaces;
  catalog.outside_labels = options.outside_labels;
  catalog.where = options.where;
  if (options.across_users) catalog.trust = UserPolicy::kEveryone;
  if (options.providers_max) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    catalog.providers_per_user_max =
        static_cast<std::uint32_t>(std::min(*options.providers_max, kMost));
  }
  catalog.segment_bytes_max = options.segment_bytes_max.value_or(catalog.segment_bytes_max);
  catalog.user_bytes_max = options.user_bytes_max.value_or(catalog.user_bytes_max);
  return catalog;
}

NotInTotals not_in_totals_of(std::span<const std::shared_ptr<const ProviderView>> left_out) {
  NotInTotals records;
  for (const auto& provider : left_out) records.insert(provider->record);
  return records;
}

std::string not_in_totals_text(const NotInTotals& providers) {
  if (providers.empty()) return {};
  const bool one = providers.size() == 1;
  return fmt::format("totals leave out {} {}; --across-users adds {}", providers.size(),
                     one ? "provider of another user" : "providers of other users",
                     one ? "it" : "them");
}

Result<std::vector<std::string>> gather_paths(const SelectionOptions& options) {
  auto paths = options.paths;
  if (!options.paths_from.empty()) {
    if (auto read = read_paths(options.paths_from, paths); !read) {
      return tl::make_unexpected(read.error());
    }
    if (paths.empty()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} holds no paths", options.paths_from),
                  "one path a line");
    }
  }
  if (options.provider.empty()) return paths;
  const auto scope = parse_path(options.provider + ":*");
  if (!scope || !scope->provider) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a provider name", options.provider), "NAME or NAME@PID");
  }
  if (paths.empty()) paths.emplace_back("*");
  for (auto& text : paths) {
    auto path = parse_path(text);
    if (!path) return tl::make_unexpected(path.error());
    if (path->provider) continue;
    path->provider = scope->provider;
    path->provider_pid = scope->provider_pid;
    text = print_path(*path);
  }
  return paths;
}

Result<Selection> Selection::open(const SelectionOptions& options, Waiter& waiter) {
  auto patterns = gather_paths(options);
  if (!patterns) return tl::make_unexpected(patterns.error());
  if (!options.log.path.empty()) return open_log(options, *std::move(patterns), waiter);
  const auto deadline = Clock::now() + options.wait.value_or(std::chrono::nanoseconds(0));
  for (;;) {
    // The wait includes a missing directory.
    auto catalog = Catalog::open(catalog_options(options));
    const bool last = Clock::now() >= deadline;
    if (catalog) {
      auto query = Query::compile(*catalog, *patterns, options.excluded);
      if (!query) return tl::make_unexpected(query.error());
      if (query->asks()) query->enumerate(options.callback_timeout);
      const bool complete = query->unmatched().empty() && !query->selected().empty();
      if (complete || last) {
        return Selection{std::move(*catalog),     nullptr, 0, 0, std::move(*query), *patterns,
                         options.callback_timeout};
      }
    } else if (last) {
      return tl::make_unexpected(catalog.error());
    }
    const auto wake = waiter.wait_until(std::min(deadline, Clock::now() + kWaitStep));
    if (wake == Wake::kStop) return fail(ErrorCode::kGone, "stopped while waiting");
    if (wake == Wake::kTimeout) return fail(ErrorCode::kGone, "timed out while waiting");
  }
}

bool Selection::refresh() {
  static_cast<void>(catalog().refresh());
  return query.update(catalog());
}

int report_hidden(const Catalog& catalog, const Console& console) {
  int code = kExitDone;
  Unreadable unreadable(console);
  for (const auto& provider : catalog.providers()) {
    if (!is_unreadable(*provider) && !lacks_parts(*provider)) continue;
    code = kExitEnvironment;
    if (provider->limited_by != ReadLimit::kNone) continue;  // report_left_out() names it
    unreadable.name(*provider);
  }
  unreadable.count_others();
  return std::max(code, report_odd_records(catalog, console));
}

int report_no_provider(const Catalog& catalog, const Console& console) {
  int code = report_unreadable(catalog, console);
  code = std::max(code, report_odd_records(catalog, console));
  if (code != kExitDone) return code;
  if (catalog.unchosen() > 0) {
    complain(console, fmt::format("none of {} providers matches --where; try: meterbank list "
                                  "--providers -l",
                                  catalog.unchosen()));
    return kExitNo;
  }
  // There may be some among what is left out, which the caller reports.
  const auto remedy = left_out_of(catalog).notes.empty() ? "; try: meterbank demo" : "";
  complain(console, fmt::format("no provider found in {}{}",
                                fmt::join(catalog.directories(), " or "), remedy));
  return kExitNo;
}

std::string complaint_about(const CallbackAnswer& answer) {
  std::string_view remedy = "meterbank doctor";
  switch (answer.outcome) {
    case AnswerOutcome::kTimeout:
    case AnswerOutcome::kBusy:
      remedy = "--callback-timeout 10s";
      break;
    case AnswerOutcome::kDenied:
      remedy = "run as the provider's user or as root";
      break;
    case AnswerOutcome::kReturnedCode:
    case AnswerOutcome::kThrew:
    case AnswerOutcome::kNoMemory:
    case AnswerOutcome::kIncomplete:
      remedy = "the provider's own log";
      break;
    default:
      break;
  }
  const auto what =
      fmt::format("{} {}: {}", answer.provider->label(), answer.set->set->name, answer.reason());
  return fmt::format("{}; try: {}", escape_for_terminal(what), remedy);
}

int report_answers(const std::shared_ptr<const std::vector<CallbackAnswer>>& answers,
                   const Console& console, std::set<std::string>& said) {
  if (answers == nullptr) return kExitDone;
  int code = kExitDone;
  std::set<std::string> now;
  for (const CallbackAnswer& answer : *answers) {
    if (answer.outcome == AnswerOutcome::kAnswered) continue;
    code = kExitNo;
    auto text = complaint_about(answer);
    if (!said.contains(text)) complain(console, text);
    now.insert(std::move(text));
  }
  said = std::move(now);
  return code;
}

int report_unmatched(const Selection& selection, const Console& console,
                     const std::vector<std::string>& explained) {
  const auto& providers = selection.catalog().providers();
  const bool has_readable =
      std::any_of(providers.begin(), providers.end(),
                  [](const auto& provider) { return is_readable(*provider); });
  if (!has_readable && selection.log != nullptr && selection.matched_later.empty()) {
    complain(console, "the recording has no counters at that time; try: meterbank log info " +
                          escape_for_terminal(selection.log_path));
    return kExitNo;
  }
  if (!has_readable && selection.log == nullptr) {
    return report_no_provider(selection.catalog(), console);
  }
  if (selection.query.unmatched().empty()) {
    if (!selection.query.selected().empty()) {
      // Why providers cannot be read now is no matter of a recording.
      const bool says_hidden = selection.patterns.empty() && selection.log == nullptr;
      return says_hidden ? report_hidden(selection.catalog(), console) : kExitDone;
    }
    complain(console, "nothing is left to read; try: " + list_command(selection.log_path));
    return kExitNo;
  }
  bool unreadable = false;
  int code = kExitDone;
  for (const auto& miss : selection.query.unmatched()) {
    const auto is_miss = [&miss](const std::string& pattern) { return pattern == miss.pattern; };
    if (std::any_of(explained.begin(), explained.end(), is_miss)) continue;
    const auto& later = selection.matched_later;
    if (std::any_of(later.begin(), later.end(), is_miss)) continue;
    code = kExitNo;
    complain_of(miss, selection.catalog(), console, selection.log_path);
    unreadable = unreadable || names_unreadable(miss.pattern, selection.catalog());
  }
  if (!unreadable || selection.log != nullptr) return code;
  report_unreadable(selection.catalog(), console);
  return kExitEnvironment;
}

int report_missing(const Selection& selection, const Console& console) {
  // With samples to come, each names the providers that did not answer.
  if (selection.query.selected().empty()) {
    const auto left_out = not_in_totals_text(not_in_totals_of(selection.query.left_out()));
    if (!left_out.empty()) complain(console, left_out);
    std::set<std::string> said;
    const int code = report_answers(selection.query.answers(), console, said);
    if (code != kExitDone) return code;
  }
  return report_unmatched(selection, console);
}

std::string damages_text(std::span<const recording::Damage> damages) {
  if (damages.empty()) return {};
  const auto path = escape_for_terminal(damages.front().path);
  return fmt::format("{} cannot be read in {}; try: meterbank log check {}", path,
                     counted(damages.size(), "place"), path);
}

int report_damages(const Selection& selection, const Console& console) {
  if (selection.log == nullptr || selection.log->damages().empty()) return kExitDone;
  complain(console, damages_text(selection.log->damages()));
  return kExitNo;
}

void Sampler::take() {
  const auto now = Clock::now();
  // The sample before the last is not needed any more, nor is what it alone keeps of the catalog.
  samples_[1 - newest_].clear();
  // The first sample follows the opening of the catalog; later ones look around once in a while.
  if (selection_->log != nullptr) {
    selection_->refresh();
  } else if (taken_ > 0 && (selection_->catalog().stale() || now - refreshed_ >= kRefreshPeriod)) {
    selection_->refresh();
    refreshed_ = now;
  }
  newest_ = 1 - newest_;
  ++taken_;
  collect();
}

void Sampler::retake() { collect(); }

void Sampler::collect() {
  Query& query = selection_->query;
  if (selection_->log != nullptr) {
    query.collect(samples_[newest_], selection_->log->time());
  } else if (query.asks()) {
    query.collect(samples_[newest_], selection_->callback_timeout);
  } else {
    query.collect(samples_[newest_]);
  }
}

double rounded(const Value& value, double seconds) {
  double number = value.cooked.value;
  if (kind_of(value.kind()).kind == "ratio") round_share(number, seconds);
  return number;
}

void Sampler::each_row(ValueSink take) const {
  const double seconds = interval();
  for (const Row& row : newer().since(older(), kUncapped)) {
    for (const Value& cooked : row) {
      Value value = cooked;
      value.cooked.value = rounded(cooked, seconds);
      if (!take(value)) return;
    }
  }
}

bool Sampler::has_row(bool (*is_so)(const Value&)) const {
  bool found = false;
  each_row([&](const Value& row) {
    found = is_so(row);
    return !found;
  });
  return found;
}

double Sampler::interval() const noexcept {
  if (taken_ < 2) return 0;
  return static_cast<double>(samples_[newest_].time.monotonic_ns -
                             samples_[1 - newest_].time.monotonic_ns) /
         1e9;
}

bool Sampler::needs_another() const {
  return has_row([](const Value& row) {
    return row.cooked.status == CookStatus::kFirstSample && row.status() != RowStatus::kDead;
  });
}

bool Sampler::awaits_provider() const {
  return has_row([](const Value& row) {
    return row.cooked.status == CookStatus::kNoNewSample && row.status() == RowStatus::kFresh;
  });
}

}  // namespace meterbank::cli
