// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/windows_grammar.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/compat/option_words.hpp"
#include "cli/format/time_text.hpp"
#include "meterbank/base/machine_name.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

using Takes = OptionForm::Takes;

constexpr std::array kTypeperfForms{
    OptionForm{"f", Takes::kValue},          OptionForm{"cf", Takes::kValue},
    OptionForm{"si", Takes::kValue},         OptionForm{"o", Takes::kValue},
    OptionForm{"q", Takes::kValueOrNothing}, OptionForm{"qx", Takes::kValueOrNothing},
    OptionForm{"sc", Takes::kValue},         OptionForm{"config", Takes::kValue},
    OptionForm{"s", Takes::kValue},          OptionForm{"y", Takes::kNothing}};

constexpr std::array kRelogForms{
    OptionForm{"a", Takes::kNothing},    OptionForm{"c", Takes::kValues},
    OptionForm{"cf", Takes::kValue},     OptionForm{"f", Takes::kValue},
    OptionForm{"t", Takes::kValue},      OptionForm{"o", Takes::kValue},
    OptionForm{"b", Takes::kTime},       OptionForm{"e", Takes::kTime},
    OptionForm{"config", Takes::kValue}, OptionForm{"q", Takes::kNothing},
    OptionForm{"y", Takes::kNothing}};

constexpr std::string_view kTypeperfHelp =
    R"(usage: meterbank typeperf [OPTION...] {PATH... | -cf FILE | -q [OBJECT] | -qx [OBJECT]}

Writes samples as a text log, with the options of the Windows tool of the same name. Options may
begin with a slash and be written in any case. See also: meterbank help paths

Options:
  -cf FILE           Read paths from FILE, one per line; # begins a comment
  -q [OBJECT]        List the counters of OBJECT, or all; instances as *
  -qx [OBJECT]       Like -q, with a path for each instance
  -f CSV|TSV         Format of the log, default CSV
  -si [[HH:]MM:]SS   Time between samples, default 1 second
  -sc N              Number of samples, default: until stopped
  -o FILE            Write FILE; it appears when it is complete
  -y                 Replace FILE without asking
  -config FILE       Read options from a file: sections like [si], values on the lines below
  -s HOST            Only the name of this machine is accepted
  --across-users     Include other users' providers in totals
  --log FILE|DIR     Read a recording; --at TIME, or --from TIME and --to TIME: a part of it
  -?, --help         This text

With every verb:
  --dir DIR          Where providers are found (METERBANK_DIR)
  --timeout SPAN     Give up after SPAN with exit code 124

Examples:
  meterbank typeperf '\Processor Information(_Total)\% Processor Time'
  meterbank typeperf -cf counters.txt -si 5 -sc 50 -f TSV -o counters.tsv
  meterbank typeperf -qx 'Processor Information' -o counters.txt
)";

constexpr std::string_view kRelogHelp =
    R"(usage: meterbank relog FILE... [OPTION...]

Cuts, thins, filters and converts text logs of typeperf, with the options of the Windows tool of the
same name. Several files with the same counters become one log in time order.

Options:
  -c PATH...         Keep these counters; * and ? in every part
  -cf FILE           Read these paths from FILE, one per line
  -f CSV|TSV         Format of the result, default that of the first file
  -t N               Keep every Nth record, from the first on
  -b TIME, -e TIME   Begin and end, both included: M/D/YYYY [HH:MM:SS]
  -q                 Print the counters and the time range; with -o, write the counters
  -o FILE            Write FILE when it is complete, default standard output
  -y                 Replace FILE without asking
  -config FILE       Read options from a file: sections like [cf], values on the lines below
  -?, --help         This text

Examples:
  meterbank relog day.csv -c '\Processor Information(_Total)\*' -o cpu.csv
  meterbank relog day.csv -f tsv -t 30 -o day.tsv -y
  meterbank relog day.csv -q
)";

// Which format -f means. What only Windows writes is refused by name.
Result<LogFormat> read_format(std::string_view verb, const std::string& word) {
  if (equal_folded(word, "csv")) return LogFormat::kCsv;
  if (equal_folded(word, "tsv")) return LogFormat::kTsv;
  if (equal_folded(word, "bin") || equal_folded(word, "bincirc")) {
    return usage(fmt::format("{} -f {}: binary logs are not written here", verb, word),
                 "-f CSV or -f TSV, which the Windows tools read");
  }
  if (equal_folded(word, "sql")) {
    return usage(fmt::format("{} -f {}: databases are not written to", verb, word),
                 "-f CSV, and import the file");
  }
  return usage(fmt::format("{} -f: no format '{}'", verb, word), "CSV or TSV");
}

// Where -f is absent, a file name may still ask for a binary log.
Result<void> refuse_binary_name(std::string_view verb, const OptionWords& words) {
  const auto file = words.value("o");
  if (words.has("f") || words.has("q") || words.has("qx") || !file) return {};
  if (file->size() < 4 || !equal_folded(std::string_view(*file).substr(file->size() - 4), ".blg")) {
    return {};
  }
  return usage(fmt::format("{} -o {}: binary logs are not written here", verb, *file),
               "a name in .csv, or say -f CSV");
}

Result<std::uint64_t> read_count(const char* option, const std::string& word) {
  const auto count = whole_number(word);
  if (count && *count > 0) return *count;
  return usage(fmt::format("{}: '{}' is not a number of records", option, word), "1, 2, 3 ...");
}

Result<void> read_moments(const OptionWords& words, Invocation& v) {
  v.samples = 0;
  if (const auto count = words.value("sc")) {
    const auto read = read_count("-sc", *count);
    if (!read) return tl::make_unexpected(read.error());
    v.samples = *read;
  }
  const auto span = words.value("si");
  if (!span) return {};
  const auto interval = parse_duration(*span);
  if (!interval) {
    return usage(fmt::format("-si: '{}' is not a time span", *span), "5, 1:30 or 00:01:30");
  }
  if (*interval < std::chrono::microseconds(100)) {
    return usage("-si: too short an interval", "100us or more");
  }
  v.interval = *interval;
  if (!v.selection.log.path.empty()) v.selection.log.every = *interval;
  return {};
}

Result<void> understand_typeperf(const OptionWords& words, Invocation& v) {
  v.verb = Verb::kTypeperf;
  const auto format = read_format("typeperf", words.value("f").value_or("CSV"));
  if (!format) return tl::make_unexpected(format.error());
  v.format = *format == LogFormat::kTsv ? Format::kPdhTsv : Format::kPdhCsv;
  if (auto read = refuse_binary_name("typeperf", words); !read) return read;
  if (const auto host = words.value("s"); host && !names_this_machine(*host)) {
    return usage(
        fmt::format("typeperf -s {}: only this machine, {}, can be read", *host, machine_name()),
        "the same command there, by ssh");
  }
  v.selection.paths = words.operands;
  v.selection.paths_from = words.value("cf").value_or("");
  const bool lists = words.has("q") || words.has("qx");
  const bool samples = !words.operands.empty() || words.has("cf");
  if (lists == samples || (words.has("q") && words.has("qx"))) {
    return usage(
        lists ? "typeperf: counters, -q and -qx exclude each other" : "typeperf: no counter",
        "meterbank typeperf --help");
  }
  v.typeperf.lists = lists;
  v.typeperf.with_instances = words.has("qx");
  v.typeperf.object = words.value(words.has("qx") ? "qx" : "q").value_or("*");
  return read_moments(words, v);
}

Result<void> read_time(const OptionWords& words, const char* option,
                       std::optional<LogTime>& target) {
  const auto given = words.options.find(option);
  if (given == words.options.end()) return {};
  const auto text = fmt::format("{}", fmt::join(given->second, " "));
  target = parse_log_time(text);
  if (target) return {};
  return usage(fmt::format("-{}: '{}' is not a time", option, text), "M/D/YYYY HH:MM:SS");
}

Result<void> understand_relog(const OptionWords& words, Invocation& v) {
  v.verb = Verb::kRelog;
  if (words.has("a")) {
    return usage("relog -a: a text log cannot be added to, because its columns are fixed",
                 "both files in front, and -o a third");
  }
  auto& relog = v.relog;
  if (const auto word = words.value("f")) {
    const auto format = read_format("relog", *word);
    if (!format) return tl::make_unexpected(format.error());
    relog.format = *format;
  }
  if (auto read = refuse_binary_name("relog", words); !read) return read;
  if (const auto word = words.value("t")) {
    const auto every = read_count("-t", *word);
    if (!every) return tl::make_unexpected(every.error());
    relog.every = *every;
  }
  if (auto read = read_time(words, "b", relog.begin); !read) return read;
  if (auto read = read_time(words, "e", relog.end); !read) return read;
  if (relog.begin && relog.end && *relog.end < *relog.begin) {
    return usage("relog: -e is before -b", "the later time behind -e");
  }
  relog.inputs = words.operands;
  if (relog.inputs.empty()) return usage("relog: no file", "meterbank relog --help");
  if (relog.inputs.size() > kRelogInputsMax) {
    return usage(fmt::format("relog: {} files at once", relog.inputs.size()),
                 fmt::format("at most {}, then their results", kRelogInputsMax));
  }
  relog.lists = words.has("q");
  const auto paths = words.options.find("c");
  if (paths != words.options.end()) v.selection.paths = paths->second;
  v.selection.paths_from = words.value("cf").value_or("");
  return {};
}

// What the settings file says, and on top of it what was typed.
Result<OptionWords> with_settings(std::string_view verb, std::span<const OptionForm> forms,
                                  OptionWords typed) {
  const auto file = typed.value("config");
  if (!file) return typed;
  constexpr std::array<std::string_view, 2> kPathSections{"c", "counter"};
  constexpr std::array<std::string_view, 1> kFileSections{"i"};
  const auto sections = verb == "relog" ? std::span<const std::string_view>(kFileSections)
                                        : std::span<const std::string_view>(kPathSections);
  const auto lines = read_settings(verb, forms, sections, *file);
  if (!lines) return tl::make_unexpected(lines.error());
  auto words = read_option_words(verb, forms, *lines);
  if (!words) return words;
  if (!typed.operands.empty()) words->operands = std::move(typed.operands);
  for (auto& [name, values] : typed.options) words->options[name] = std::move(values);
  return words;
}

// Takes the options that every verb has out of `words`. True: help is wanted.
Result<bool> take_global_options(std::vector<std::string>& words, Invocation& v) {
  std::vector<std::string> rest;
  CommonWords common;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "-?" || word == "/?" || word == "-h" || word == "--help") return true;
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    std::string* target = nullptr;
    if (name == "--dir") target = &common.directories.emplace_back();
    if (name == "--color") target = &common.color;
    if (name == "--timeout") target = &common.timeout;
    if (word == "--quiet" || word == "--verbose") {
      (word == "--quiet" ? v.quiet : v.verbose) = true;
      continue;
    }
    if (target == nullptr) {
      rest.push_back(word);
      continue;
    }
    const bool inside = equals != std::string::npos;
    if (!inside && i + 1 == words.size()) return usage(name + " needs a value", "--help");
    *target = inside ? word.substr(equals + 1) : words[++i];
    if (target->empty()) return usage(name + " is empty", "--help");
  }
  // Logs have no colour, but a word that means nothing is still a mistake.
  if (auto read = common.understand(v); !read) return tl::make_unexpected(read.error());
  words = std::move(rest);
  return false;
}

// Options of ours that have a value, wherever they stand.
Result<void> take_log_options(std::vector<std::string>& words, LogOptions& log) {
  struct Option {
    const char* name;
    std::string& target;
  };
  for (const Option& option : {Option{"--log", log.path}, Option{"--at", log.at},
                               Option{"--from", log.from}, Option{"--to", log.to}}) {
    const auto found = std::find(words.begin(), words.end(), option.name);
    if (found == words.end()) continue;
    if (found + 1 == words.end()) {
      return usage(fmt::format("typeperf: {} without a value", option.name),
                   "meterbank typeperf --help");
    }
    option.target = *(found + 1);
    words.erase(found, found + 2);
  }
  if (log.path.empty() && (!log.at.empty() || log.has_range())) {
    return usage("typeperf: --at, --from and --to are about a recording", "--log FILE");
  }
  return {};
}

Result<Invocation> parse_verb(const std::string& verb, std::vector<std::string> words) {
  Invocation v;
  const auto help = take_global_options(words, v);
  if (!help) return tl::make_unexpected(help.error());
  if (*help) {
    v.verb = Verb::kHelp;
    v.topic = verb;
    return v;
  }
  const bool typeperf = verb == "typeperf";
  if (typeperf) {
    v.selection.across_users = std::erase(words, "--across-users") != 0;
    if (auto taken = take_log_options(words, v.selection.log); !taken) {
      return tl::make_unexpected(taken.error());
    }
  }
  const auto forms = typeperf ? std::span<const OptionForm>(kTypeperfForms)
                              : std::span<const OptionForm>(kRelogForms);
  auto typed = read_option_words(verb, forms, words);
  if (!typed) return tl::make_unexpected(typed.error());
  const auto all = with_settings(verb, forms, std::move(*typed));
  if (!all) return tl::make_unexpected(all.error());
  v.output = all->value("o").value_or("");
  v.overwrite = all->has("y");
  const auto read = typeperf ? understand_typeperf(*all, v) : understand_relog(*all, v);
  if (!read) return tl::make_unexpected(read.error());
  return v;
}

}  // namespace

const std::vector<std::string>& windows_verbs() {
  static const std::vector<std::string> verbs{"typeperf", "relog"};
  return verbs;
}

std::optional<Result<Invocation>> parse_windows_arguments(std::span<const std::string> arguments) {
  // The verb is the first word that is neither an option nor the value of one.
  std::size_t place = 0;
  while (place < arguments.size() && arguments[place].starts_with('-')) {
    const auto& word = arguments[place];
    const bool has_value = word == "--dir" || word == "--color" || word == "--timeout";
    place += has_value ? 2 : 1;
  }
  if (place >= arguments.size()) return std::nullopt;
  const auto& verb = arguments[place];
  const auto& verbs = windows_verbs();
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) return std::nullopt;
  std::vector<std::string> words(arguments.begin(),
                                 arguments.begin() + static_cast<std::ptrdiff_t>(place));
  // In front of the verb these two belong to every verb; behind it, -q is the tool's own.
  std::replace(words.begin(), words.end(), std::string("-q"), std::string("--quiet"));
  std::replace(words.begin(), words.end(), std::string("-v"), std::string("--verbose"));
  words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(place) + 1,
               arguments.end());
  return parse_verb(verb, std::move(words));
}

std::string_view windows_verb_help(std::string_view verb) {
  if (verb == "typeperf") return kTypeperfHelp;
  return verb == "relog" ? kRelogHelp : std::string_view();
}

}  // namespace meterbank::cli
