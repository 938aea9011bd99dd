// SPDX-License-Identifier: Apache-2.0
#include "generator/output/layout.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "generator/output/text_width.hpp"

namespace meterbank::generator {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kContinuation = 4;

using Lines = std::vector<std::string>;

// A comment that ends like this goes on in the next line of code, for some compilers.
bool splices_lines(std::string_view line) noexcept {
  return line.ends_with('\\') || line.ends_with("?\?/");
}

bool fits(std::string_view line) noexcept { return columns_of(line) <= kColumnsMax; }

std::string_view trimmed(std::string_view text) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Walks over code, past strings and brackets with what they enclose. Calls `found(at)` for each
// other character, brackets that open or have not been opened here included, until it returns true:
// its position, or npos.
template <typename Found>
std::size_t find_outside(std::string_view code, std::size_t from, Found&& found) {
  std::size_t depth = 0;
  for (std::size_t at = from; at < code.size(); ++at) {
    const char c = code[at];
    const bool closes = c == ')' || c == ']' || c == '}';
    if (closes && depth > 0) {
      --depth;
      continue;
    }
    if (depth == 0 && found(at)) return at;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c != '"' && c != '\'') continue;
    for (++at; at < code.size() && code[at] != c; ++at) {
      if (code[at] == '\\') ++at;
    }
  }
  return std::string_view::npos;
}

std::size_t find_outside(std::string_view code, std::string_view what) {
  return find_outside(code, 0, [&](std::size_t at) { return code.substr(at).starts_with(what); });
}

class LineBreaker {
 public:
  explicit LineBreaker(std::string_view line) noexcept
      : indent_(std::min(line.find_first_not_of(' '), line.size())), code_(line.substr(indent_)) {}

  // Nothing: this cannot be broken as clang-format would.
  [[nodiscard]] std::optional<Lines> broken() const {
    if (code_.starts_with("#include")) return Lines{at(indent_, code_)};
    if (code_.starts_with("//")) return comment();
    if (code_.starts_with('#')) return std::nullopt;
    for (const auto how : {&LineBreaker::function, &LineBreaker::constructor, &LineBreaker::string,
                           &LineBreaker::assignment, &LineBreaker::list}) {
      if (auto lines = (this->*how)()) return lines;
    }
    return std::nullopt;
  }

 private:
  static std::string at(std::size_t column, std::string_view code) {
    return std::string(column, ' ').append(code);
  }
  // What is left of a line may have to be broken, too.
  static bool append(Lines& lines, const std::string& line) {
    if (fits(line)) {
      lines.push_back(line);
      return true;
    }
    const auto more = LineBreaker(line).broken();
    if (more) lines.insert(lines.end(), more->begin(), more->end());
    return more.has_value();
  }

  [[nodiscard]] std::optional<Lines> comment() const {
    Lines lines;
    std::string line = at(indent_, "//");
    const std::size_t empty = line.size();
    std::string_view text = code_.substr(2);
    while (!(text = trimmed(text)).empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      if (line.size() > empty && !fits(line + " " + std::string(word))) {
        lines.push_back(ended(std::move(line)));
        line = at(indent_, "//");
      }
      line.append(" ").append(word);
      text.remove_prefix(word.size());
    }
    lines.push_back(ended(std::move(line)));
    return lines;
  }
  static std::string ended(std::string line) {
    return splices_lines(line) ? std::move(line) + "." : line;
  }

  // head { statement; }
  [[nodiscard]] std::optional<Lines> function() const {
    const std::size_t brace = find_outside(code_, " { ");
    if (brace == std::string_view::npos || !code_.ends_with(" }")) return std::nullopt;
    Lines lines;
    const std::string_view body = trimmed(code_.substr(brace + 3, code_.size() - brace - 5));
    const bool is_done = append(lines, at(indent_, code_.substr(0, brace + 2))) &&
                         append(lines, at(indent_ + kIndent, body));
    if (!is_done) return std::nullopt;
    lines.push_back(at(indent_, "}"));
    return lines;
  }

  // head(parameters) : initialisers {
  [[nodiscard]] std::optional<Lines> constructor() const {
    const std::size_t colon = find_outside(code_, " : ");
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view head = code_.substr(0, colon);
    if (!head.ends_with(')') && !head.ends_with("noexcept")) return std::nullopt;
    Lines lines;
    if (!append(lines, at(indent_, head))) return std::nullopt;
    lines.push_back(at(indent_ + kContinuation, code_.substr(colon + 1)));
    return fits(lines.back()) ? std::optional(lines) : std::nullopt;
  }

  // something = "text";
  [[nodiscard]] std::optional<Lines> string() const {
    const std::size_t sign = find_outside(code_, "= ");
    if (sign == std::string_view::npos) return std::nullopt;
    // L"text" and its like are broken into pieces that have the letter again.
    const std::size_t quote = code_.find('"', sign);
    if (quote == std::string_view::npos || quote > sign + 4) return std::nullopt;
    const std::string_view opens = code_.substr(sign + 2, quote - sign - 1);
    if (opens.find_first_not_of("LUu8\"") != std::string_view::npos) return std::nullopt;
    const std::string_view text = code_.substr(quote + 1);
    const std::size_t end = end_of_string(text);
    const std::string_view tail = text.substr(std::min(end + 1, text.size()));
    // Members of a list in a list keep their strings beside them, others have them below.
    const bool stays = code_.starts_with('.') && indent_ >= 2 * kContinuation;
    Lines lines;
    if (!stays) lines.push_back(at(indent_, code_.substr(0, sign + 1)));
    const std::size_t column = stays ? indent_ + sign + 2 : indent_ + kContinuation;
    const std::size_t room =
        kColumnsMax - std::min(kColumnsMax, column + opens.size() + 1 + tail.size());
    const Lines pieces = pieces_of(text.substr(0, end), room);
    for (const std::string& piece : pieces) {
      const bool begins = stays && lines.empty();
      lines.push_back(begins ? at(indent_, code_.substr(0, sign + 2)) : std::string(column, ' '));
      lines.back().append(opens).append(piece).append("\"");
    }
    lines.back() += tail;
    return std::all_of(lines.begin(), lines.end(), fits) && !pieces.empty() ? std::optional(lines)
                                                                            : std::nullopt;
  }

  // Where its width is not certain it is two pieces at least, so that nothing depends on it.
  static Lines pieces_of(std::string_view text, std::size_t room) {
    const std::size_t whole = columns_of(text);
    if (!has_certain_width(text) && whole <= room) room = std::max(whole / 2, std::size_t{4});
    Lines pieces;
    while (!text.empty()) {
      const std::size_t size = size_of_piece(text, room);
      if (size == 0) return {};
      pieces.emplace_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    return pieces;
  }

  // Behind the sign, or, where that leaves too much, behind the outermost or innermost bracket.
  [[nodiscard]] std::optional<Lines> assignment() const {
    const std::size_t sign = find_outside(code_, " = ");
    if (sign == std::string_view::npos) return std::nullopt;
    for (const std::size_t where : {sign + 2, code_.find('(', sign) + 1, code_.rfind('(') + 1}) {
      if (auto lines = cut(where)) return lines;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Lines> cut(std::size_t where) const {
    if (where == 0) return std::nullopt;
    Lines lines{at(indent_, trimmed(code_.substr(0, where))),
                at(indent_ + kContinuation, trimmed(code_.substr(where)))};
    return std::all_of(lines.begin(), lines.end(), fits) ? std::optional(lines) : std::nullopt;
  }

  // something(one, two) tail: the items stand below the first one, or, where that has no room,
  // below the beginning of the line.
  [[nodiscard]] std::optional<Lines> list() const {
    const std::size_t open = code_.find('(');
    if (open == std::string_view::npos || code_.find('"') < open) return std::nullopt;
    const std::size_t close =
        find_outside(code_, open + 1, [&](std::size_t i) { return code_[i] == ')'; });
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view head = code_.substr(0, open + 1);
    const std::string_view tail = code_.substr(close);
    // A function without parameters has its qualifiers to give to the next line.
    if (close == open + 1) return cut(close + 1);
    const std::string_view inside = code_.substr(open + 1, close - open - 1);
    const Lines items = items_of(inside);
    if (items.size() > 1) {
      if (auto lines = filled(at(indent_, head), indent_ + head.size(), items, tail)) return lines;
    }
    Lines lines{at(indent_, head)};
    if (!fits(lines.front())) return std::nullopt;
    const std::size_t column = indent_ + kContinuation;
    const auto more = filled(std::string(column, ' '), column, items, tail);
    if (!more) return std::nullopt;
    lines.insert(lines.end(), more->begin(), more->end());
    return lines;
  }

  static Lines items_of(std::string_view code) {
    Lines items;
    while (!code.empty()) {
      const std::size_t comma = std::min(find_outside(code, ","), code.size() - 1);
      items.emplace_back(trimmed(code.substr(0, comma + 1)));
      code.remove_prefix(comma + 1);
    }
    return items;
  }

  // As many items a line as there is room for; the first line begins as given, others at `column`.
  static std::optional<Lines> filled(std::string first, std::size_t column, const Lines& items,
                                     std::string_view tail) {
    Lines lines{std::move(first)};
    bool begins = true;
    for (const std::string& item : items) {
      const bool is_last = &item == &items.back();
      const std::string next = (begins ? "" : " ") + item + std::string(is_last ? tail : "");
      if (!begins && !fits(lines.back() + next)) {
        lines.push_back(std::string(column, ' '));
        begins = true;
      }
      lines.back() += begins ? std::string(trimmed(next)) : next;
      begins = false;
      if (!fits(lines.back())) return std::nullopt;
    }
    return lines;
  }

  std::size_t indent_;
  std::string_view code_;
};

}  // namespace

std::string lay_out(std::string_view text) {
  std::string page;
  std::size_t end_of_head = 0;  // of the comment that the page begins with
  bool all_broken = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (line.ends_with(' ')) line.remove_suffix(1);
    const bool is_head = end_of_head == page.size() && line.starts_with("//");
    const bool is_comment = trimmed(line).starts_with("//");
    const bool is_good = fits(line) && !(is_comment && splices_lines(line));
    const auto lines = is_good ? Lines{std::string(line)} : LineBreaker(line).broken();
    all_broken = all_broken && lines.has_value();
    for (const std::string& each : lines.value_or(Lines{std::string(line)})) {
      page.append(each).append("\n");
    }
    if (is_head) end_of_head = page.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!all_broken) page.insert(end_of_head, "// clang-format off\n");
  return page;
}

}  // namespace meterbank::generator
