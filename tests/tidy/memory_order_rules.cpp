// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kCommentReach = 6;  // lines above a fence where its label may stand

constexpr std::array<std::string_view, 13> kMembers = {"load",
                                                       "store",
                                                       "exchange",
                                                       "compare_exchange_weak",
                                                       "compare_exchange_strong",
                                                       "fetch_add",
                                                       "fetch_sub",
                                                       "fetch_and",
                                                       "fetch_or",
                                                       "fetch_xor",
                                                       "fetch_max",
                                                       "fetch_min",
                                                       "test_and_set"};

// The free functions have no order parameter unless their name ends in _explicit.
constexpr std::array<std::string_view, 8> kFreeFunctions = {
    "atomic_load",      "atomic_store",     "atomic_exchange", "atomic_fetch_add",
    "atomic_fetch_sub", "atomic_fetch_and", "atomic_fetch_or", "atomic_fetch_xor"};

std::size_t skip_blanks(std::string_view code, std::size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  return at;
}

// What stands before `at`, blanks left out.
std::string_view text_before(std::string_view code, std::size_t at) {
  while (at > 0 && std::isspace(static_cast<unsigned char>(code[at - 1])) != 0) --at;
  return code.substr(0, at);
}

bool is_member_access(std::string_view before) {
  return before.ends_with("->") || (before.ends_with('.') && !before.ends_with(".."));
}

// The orders as the race explorer of tests/model spells them.
constexpr std::array<std::string_view, 6> kExplorerOrders = {
    "mo_relaxed", "mo_consume", "mo_acquire", "mo_release", "mo_acq_rel", "mo_seq_cst"};

// Any word that ends in "order", belongs to std::memory_order or is an order of the race explorer.
bool names_an_order(std::string_view arguments) {
  for (std::size_t at = 0; at < arguments.size();) {
    std::size_t end = at;
    while (end < arguments.size() && is_word_character(arguments[end])) ++end;
    const std::string_view word = arguments.substr(at, end - at);
    if (word.ends_with("order") || word.ends_with("order_") || word.ends_with("Order")) return true;
    if (word.starts_with("memory_order")) return true;
    if (std::find(kExplorerOrders.begin(), kExplorerOrders.end(), word) != kExplorerOrders.end()) {
      return true;
    }
    at = std::max(end, at + 1);
  }
  return false;
}

// The arguments of the call whose name ends at `end`; nothing when it is no call.
std::optional<std::string_view> arguments_behind(std::string_view code, std::size_t end) {
  const std::size_t open = skip_blanks(code, end);
  if (open >= code.size() || code[open] != '(') return std::nullopt;
  const std::size_t close = behind_closing_bracket(code, open);
  if (close == kNone) return std::nullopt;
  return code.substr(open + 1, close - open - 2);
}

// An atomic's load takes nothing but an order, so a load with other arguments is another function.
bool leaves_order_to_default(std::string_view name, std::string_view arguments) {
  if (names_an_order(arguments)) return false;
  const bool is_empty = skip_blanks(arguments, 0) == arguments.size();
  if (name == "load" || name == "test_and_set") return is_empty;
  return !is_empty;
}

struct Label {
  std::string name;
  std::size_t begin, end;  // in the text that was looked at
};

// Labels look like [W1]: one or two capitals, one or two digits.
std::vector<Label> labels_in(std::string_view comments) {
  std::vector<Label> labels;
  for (std::size_t open = comments.find('['); open != kNone; open = comments.find('[', open + 1)) {
    std::size_t at = open + 1;
    const auto count = [&](auto matches) {
      const std::size_t begin = at;
      while (at < comments.size() && matches(static_cast<unsigned char>(comments[at])) != 0) ++at;
      return at - begin;
    };
    const std::size_t capitals = count([](int c) { return std::isupper(c); });
    const std::size_t digits = count([](int c) { return std::isdigit(c); });
    const bool is_closed = at < comments.size() && comments[at] == ']';
    if (is_closed && capitals >= 1 && capitals <= 2 && digits >= 1 && digits <= 2) {
      labels.push_back({std::string(comments.substr(open, at + 1 - open)), open, at + 1});
    }
  }
  return labels;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(skip_blanks(text, 0));
  return text_before(text, text.size());
}

// Offset of the first order that stands in a column of its own, two blanks before it.
std::size_t order_column(std::string_view comment) {
  constexpr std::array<std::string_view, 5> kOrders = {"relaxed", "acquire", "release", "acq_rel",
                                                       "seq_cst"};
  std::size_t first = kNone;
  for (const std::string_view order : kOrders) {
    for (const std::size_t at : find_words(comment, order)) {
      if (comment.substr(0, at).ends_with("  ")) first = std::min(first, at);
    }
  }
  return first;
}

// The labels that a whole line of comment defines: the first and the last thing on it, if an order
// has a column there.
std::vector<std::string> labels_defined_in(std::string_view comment) {
  comment = without_blanks(comment);
  if (!comment.starts_with("//") || order_column(comment) == kNone) return {};
  comment = without_blanks(comment.substr(2));
  std::vector<std::string> defined;
  for (const Label& label : labels_in(comment)) {
    if (label.begin == 0 || label.end == comment.size()) defined.push_back(label.name);
  }
  return defined;
}

bool borrows_its_argument(std::string_view comment, const Label& label) {
  const std::string_view before = without_blanks(comment.substr(0, label.begin));
  const std::string_view behind = without_blanks(comment.substr(label.end));
  return before.ends_with(" as") || before.ends_with(" As") || behind.starts_with("as in ") ||
         behind.starts_with("as above") || behind.starts_with("see ");
}

// A call of a policy's fence is qualified; its definition, which is not, orders nothing by itself.
// That of C is not qualified, but its definition has a type.
bool is_fence_call(std::string_view code, std::size_t at, std::string_view name) {
  if (!arguments_behind(code, at + name.size())) return false;
  const std::string_view before = text_before(code, at);
  if (name.starts_with("mb_")) return !before.ends_with("void");
  return name.starts_with("atomic") || name.starts_with("__atomic") || before.ends_with("::");
}

}  // namespace

Findings find_default_orders(const SourceFile& file) {
  Findings findings;
  const std::string code = split_layers(file.text).code;
  const auto report = [&](std::size_t at, std::string_view name) {
    findings.push_back(
        {file.path, line_at(code, at), std::string(name) + " without a memory order"});
  };
  for (const std::string_view name : kMembers) {
    for (const std::size_t at : find_words(code, name)) {
      if (!is_member_access(text_before(code, at))) continue;
      const auto arguments = arguments_behind(code, at + name.size());
      if (arguments && leaves_order_to_default(name, *arguments)) report(at, name);
    }
  }
  for (const std::string_view name : kFreeFunctions) {
    for (const std::size_t at : find_words(code, name)) {
      if (arguments_behind(code, at + name.size())) report(at, name);
    }
  }
  return findings;
}

Findings find_unlabelled_fences(const SourceFile& file) {
  constexpr std::array<std::string_view, 6> kFences = {
      "atomic_thread_fence", "__atomic_thread_fence", "atomic_signal_fence",
      "fence_release",       "fence_acquire",         "mb_fence_release"};
  Findings findings;
  const Layers layers = split_layers(file.text);
  const auto comments = lines_of(layers.comments);
  for (const std::string_view name : kFences) {
    for (const std::size_t at : find_words(layers.code, name)) {
      if (!is_fence_call(layers.code, at, name)) continue;
      const std::size_t line = line_at(layers.code, at);
      const std::size_t first = line > kCommentReach ? line - kCommentReach : 1;
      bool is_labelled = false;
      for (std::size_t above = first; above <= line; ++above) {
        is_labelled = is_labelled || !labels_in(comments[above - 1]).empty();
      }
      if (!is_labelled) findings.push_back({file.path, line, std::string(name) + " has no label"});
    }
  }
  return findings;
}

Findings find_single_labels(std::span<const SourceFile> files) {
  using Place = std::pair<std::string, std::size_t>;
  std::map<std::string, std::set<Place>> places;
  for (const SourceFile& file : files) {
    const std::string comments = split_layers(file.text).comments;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(comments)) {
      ++number;
      for (const Label& label : labels_in(line)) places[label.name].insert({file.path, number});
    }
  }
  Findings findings;
  for (const auto& [label, where] : places) {
    if (where.size() > 1) continue;
    findings.push_back({where.begin()->first, where.begin()->second, label + " has no mate"});
  }
  return findings;
}

Findings find_label_mistakes(std::span<const SourceFile> files) {
  std::map<std::string, Finding> used, defined;
  Findings findings;
  for (const SourceFile& file : files) {
    const Layers layers = split_layers(file.text);
    const auto code = lines_of(layers.code);
    const auto comments = lines_of(layers.comments);
    for (std::size_t i = 0; i < comments.size(); ++i) {
      const auto report = [&](const std::string& label, std::string_view what) {
        return Finding{file.path, i + 1, label + std::string(what)};
      };
      for (const Label& label : labels_in(comments[i])) {
        used.try_emplace(label.name, report(label.name, " is defined in no drawing"));
        if (borrows_its_argument(comments[i], label)) {
          findings.push_back(report(label.name, " borrows its argument from another place"));
        }
      }
      if (!without_blanks(code[i]).empty()) continue;
      for (const std::string& label : labels_defined_in(comments[i])) {
        const Finding again = report(label, " is defined in two drawings");
        if (!defined.try_emplace(label, again).second) findings.push_back(again);
      }
    }
  }
  for (const auto& [label, first_use] : used) {
    if (!defined.contains(label)) findings.push_back(first_use);
  }
  return findings;
}

Findings find_volatile(const SourceFile& file) {
  // Windows declares these functions with pointers to volatile, and each of them is an atomic
  // access.
  if (file.path == "shm/windows/include/meterbank/windows/interlocked.h") return {};
  Findings findings;
  const std::string code = split_layers(file.text).code;
  for (const std::size_t at : find_words(code, "volatile")) {
    const std::string_view before = text_before(code, at);
    if (before.ends_with("asm") || before.ends_with("__asm__")) continue;
    const std::string_view behind =
        std::string_view(code).substr(skip_blanks(code, at + std::string_view("volatile").size()));
    if (behind.starts_with("std::sig_atomic_t") || behind.starts_with("sig_atomic_t")) continue;
    findings.push_back({file.path, line_at(code, at), "volatile orders nothing; use an atomic"});
  }
  return findings;
}

}  // namespace meterbank::tidy
