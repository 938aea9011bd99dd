// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/diff_grammar.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/arguments/common_options.hpp"
#include "cli/arguments/option_values.hpp"
#include "cli/arguments/verb_parser.hpp"
#include "cli/diff/diff_words.hpp"

namespace meterbank::cli {
namespace {

class DiffGrammar {
 public:
  DiffGrammar() : parser_({}) {
    add_common_options(parser_.options_of_all(), common_, invocation_, {});
    parser_.add(kDiffText, [this](OptionTable own) { add_options(own); });
  }

  Result<Invocation> parse(std::span<const std::string> arguments) {
    const auto parsed = parser_.parse(arguments);
    if (!parsed) return tl::make_unexpected(parsed.error());
    if (parsed->wants_help) {
      invocation_.topic = kDiff;
      return invocation_;
    }
    invocation_.verb = Verb::kDiff;
    if (auto read = common_.understand(invocation_); !read) {
      return tl::make_unexpected(read.error());
    }
    for (auto read :
         {read_range(a_, "--a", invocation_.diff.a), read_range(b_, "--b", invocation_.diff.b),
          check_operands(), read_least(), read_format()}) {
      if (!read) return tl::make_unexpected(read.error());
    }
    return invocation_;
  }

  [[nodiscard]] std::string help() { return parser_.help_of(kDiffText); }

 private:
  void add_options(OptionTable options) {
    auto& selection = invocation_.selection;
    options.operands(selection.paths);
    options.text("--a", a_, "FROM..TO", "Samples of A in this range (02:00..02:10, -15m.., ...)");
    options.text("--b", b_, "FROM..TO", "Samples of B in this range");
    options.text("--least", least_, "SHARE", "Leave out smaller changes, default 2%");
    options.flag("--all", invocation_.diff.shows_all,
                 "Print what did not change, and what could not be compared");
    options.text("-f,--format", format_, "FORMAT", "text (default) or json");
    options.text("-c,--paths-from", selection.paths_from, "FILE",
                 "Read paths from FILE, one per line");
    options.texts("-X,--exclude", selection.excluded, "PATH", "Exclude PATH (repeatable)");
    options.text("--provider", selection.provider, "NAME", "Only this provider: NAME or NAME@PID");
    options.text("-o,--output", invocation_.output, "FILE",
                 "Write FILE; it appears when it is complete");
  }

  static Result<void> read_range(const std::string& word, const char* option,
                                 DiffOptions::Side& side) {
    if (word.empty()) return {};
    const auto dots = word.find("..");
    if (dots == std::string::npos || word.size() == 2) {
      return usage(fmt::format("{}: '{}' is not FROM..TO", option, word),
                   fmt::format("{} 02:00..02:10", option));
    }
    side.from = word.substr(0, dots);
    side.to = word.substr(dots + 2);
    return {};
  }

  // Whether the second word is B or a path of a counter depends on which files there are.
  [[nodiscard]] Result<void> check_operands() const {
    const auto& words = invocation_.selection.paths;
    if (words.empty()) return usage("diff: which recordings?", "A and B");
    const bool has_two_ranges = !a_.empty() && !b_.empty();
    if (words.size() == 1 && !has_two_ranges) {
      return usage("diff: what is B?", "another file, or --a and --b");
    }
    return {};
  }

  Result<void> read_least() {
    if (least_.empty()) return {};
    std::string_view digits = least_;
    const bool is_percent = digits.ends_with('%');
    if (is_percent) digits.remove_suffix(1);
    double value = -1;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                               std::chars_format::fixed);
    const bool is_number = error == std::errc{} && rest == digits.data() + digits.size();
    // "inf" and "nan" are numbers to from_chars.
    if (!is_number || !is_percent || !(value >= 0) || !(value <= kLeastMax)) {
      return usage(fmt::format("--least: '{}' is not a share", least_), "--least 5%");
    }
    invocation_.diff.least = value / 100;
    return {};
  }

  Result<void> read_format() {
    if (format_.empty() || format_ == "text") return {};
    if (format_ != "json") {
      return usage(fmt::format("-f: no format '{}' here", format_), "-f text or -f json");
    }
    invocation_.format = Format::kJson;
    return {};
  }

  static constexpr double kLeastMax = 1e6;

  VerbParser parser_;
  Invocation invocation_;
  CommonWords common_;
  std::string a_, b_, least_, format_;
};

}  // namespace

std::optional<Result<Invocation>> parse_diff_arguments(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front() != kDiff) return std::nullopt;
  return std::make_unique<DiffGrammar>()->parse(arguments);
}

std::string diff_help() { return std::make_unique<DiffGrammar>()->help(); }

}  // namespace meterbank::cli
