// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/path.hpp"

#include <charconv>
#include <utility>

#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/shm/utf8.hpp"
#include "path_syntax.hpp"

namespace meterbank {
namespace {

using path_syntax::is_index;
using path_syntax::is_number;
using path_syntax::kShortEscapable;

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::string_view kWindowsShape = R"(write '\Set(instance)\Counter')";
constexpr std::string_view kShortShape = "write set, set/counter or set/instance/counter";

// A pattern as it was cut out of the path, with the places where a number may be cut off.
struct Word {
  std::string pattern;
  std::size_t hash = kNowhere;     // last unescaped `#` in `pattern`
  std::size_t at_sign = kNowhere;  // last unescaped `@` in `pattern`
  std::size_t begin = 0;           // offset in the path
};

struct NumberedName {
  std::string name;
  std::optional<std::uint32_t> number;
};

class PathParser {
 public:
  explicit PathParser(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] Result<CounterPath> parse_windows();
  [[nodiscard]] Result<CounterPath> parse_short();
  // `expected` completes "expected ..."; the text at `offset` is what was found.
  [[nodiscard]] tl::unexpected<Error> fail_at(std::size_t offset, std::string_view expected,
                                              std::string remedy) const;

 private:
  [[nodiscard]] Result<CounterPath> parse_windows_body(CounterPath path, std::size_t begin);
  [[nodiscard]] Result<CounterPath> parse_windows_instance(CounterPath path, std::size_t begin,
                                                           std::size_t end);
  [[nodiscard]] Word windows_word(std::size_t begin, std::size_t end) const;
  // Reads up to an unescaped character out of `stops`, or the end, and leaves cursor_ there.
  [[nodiscard]] Result<Word> short_word(std::string_view stops, std::string_view expected);
  [[nodiscard]] Result<CounterPath> parse_short_instance(CounterPath path);
  [[nodiscard]] Result<NumberedName> split_index(const Word& word) const;
  [[nodiscard]] Result<CounterPath> with_provider(CounterPath path, const Word& word) const;
  [[nodiscard]] std::string remedy_if_windows(const std::string& candidate,
                                              std::string_view otherwise) const;

  std::string_view text_;
  std::size_t cursor_ = 0;  // short spelling only
};

tl::unexpected<Error> PathParser::fail_at(std::size_t offset, std::string_view expected,
                                          std::string remedy) const {
  std::string what = "path '";
  escape_for_terminal(text_, what);
  what.append("', column ");
  what.append(std::to_string(count_code_points(text_.substr(0, offset)) + 1));
  what.append(": expected ").append(expected).append(", found ");
  const std::string_view rest = text_.substr(offset);
  if (rest.empty()) {
    what.append("the end");
  } else {
    what.append("'");
    escape_for_terminal(rest.substr(0, decode_utf8(rest).length), what);
    what.append("'");
  }
  return fail(ErrorCode::kBadPath, std::move(what), std::move(remedy));
}

// Offers a corrected path only if it is one.
std::string PathParser::remedy_if_windows(const std::string& candidate,
                                          std::string_view otherwise) const {
  if (!PathParser(candidate).parse_windows()) return std::string(otherwise);
  std::string remedy = "write '";
  escape_for_terminal(candidate, remedy);
  return remedy.append("'");
}

Result<NumberedName> PathParser::split_index(const Word& word) const {
  if (word.hash == kNowhere || word.hash == 0) return NumberedName{word.pattern, {}};
  const std::string_view digits = std::string_view(word.pattern).substr(word.hash + 1);
  if (!is_index(digits)) return NumberedName{word.pattern, {}};
  NumberedName name{word.pattern.substr(0, word.hash), kAnyInstanceIndex};
  if (digits == "*") return name;
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc{} || number > kInstanceIndexMax) {
    return fail_at(word.begin, "an instance number of at most 4294967293 after '#'",
                   R"(if '#' is part of the name, write the short form with '\#')");
  }
  name.number = number;
  return name;
}

Result<CounterPath> PathParser::with_provider(CounterPath path, const Word& word) const {
  path.provider = word.pattern;
  if (word.at_sign == kNowhere || word.at_sign == 0) return path;
  const std::string_view digits = std::string_view(word.pattern).substr(word.at_sign + 1);
  if (!is_number(digits)) return path;
  std::uint32_t pid = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (parsed.ec != std::errc{}) {
    return fail_at(word.begin, "a process id of at most 4294967295 after '@'",
                   R"(if '@' is part of the name, write the short form with '\@')");
  }
  path.provider = word.pattern.substr(0, word.at_sign);
  path.provider_pid = pid;
  return path;
}

Word PathParser::windows_word(std::size_t begin, std::size_t end) const {
  Word word;
  word.begin = begin;
  for (const char character : text_.substr(begin, end - begin)) {
    if (character == '#') word.hash = word.pattern.size();
    if (character == '@') word.at_sign = word.pattern.size();
    if (character == '\\') word.pattern.push_back('\\');
    word.pattern.push_back(character);
  }
  return word;
}

Result<CounterPath> PathParser::parse_windows() {
  CounterPath path;
  path.spelling = PathSpelling::kWindows;
  if (text_.substr(0, 2) != R"(\\)") return parse_windows_body(std::move(path), 1);

  const std::size_t end = text_.find('\\', 2);
  if (end == 2 || text_.size() == 2) {
    return fail_at(2, R"(a provider after '\\')",
                   R"(write '\\provider\Set(instance)\Counter', or one backslash for all)");
  }
  if (end == kNowhere) {
    return fail_at(text_.size(), R"('\' and a counterset after the provider)",
                   R"(write '\\provider\Set(instance)\Counter', or one backslash for all)");
  }
  Result<CounterPath> named = with_provider(std::move(path), windows_word(2, end));
  if (!named) return named;
  return parse_windows_body(*std::move(named), end + 1);
}

// Where the instance's parenthesis opens: names of sets have parentheses behind spaces, as in
// "TCPIP Performance Diagnostics (Per-CPU)".
std::size_t find_instance(std::string_view head) noexcept {
  std::size_t open = head.find('(');
  while (open != kNowhere && open != 0 && head[open - 1] == ' ') open = head.find('(', open + 1);
  return open;
}

// A character that no set's name has: a backslash, a parenthesis without its other half.
std::size_t find_odd(std::string_view set) noexcept {
  std::size_t open = kNowhere;
  for (std::size_t at = 0; at < set.size(); ++at) {
    const bool is_odd = set[at] == '\\' || (set[at] == ')' && open == kNowhere);
    if (is_odd) return at;
    if (set[at] == '(') open = at;
    if (set[at] == ')') open = kNowhere;
  }
  return open;
}

// `begin` is where the counterset begins. The counter is taken off the end first, and what is left
// must be a set, or a set and an instance in parentheses.
Result<CounterPath> PathParser::parse_windows_body(CounterPath path, std::size_t begin) {
  if (begin >= text_.size()) {
    return fail_at(text_.size(), R"(a counterset after '\')", std::string(kWindowsShape));
  }
  const std::size_t last = text_.rfind('\\');
  if (last < begin) {
    std::string remedy = remedy_if_windows(std::string(text_).append(R"(\*)"), kWindowsShape);
    if (path.provider) remedy += ", or one backslash in front if no provider is meant";
    return fail_at(text_.size(), R"('\' and a counter)", std::move(remedy));
  }
  if (last == begin) return fail_at(begin, "a counterset", std::string(kWindowsShape));
  if (last + 1 == text_.size()) {
    return fail_at(text_.size(), R"(a counter after '\')",
                   remedy_if_windows(std::string(text_).append("*"), kWindowsShape));
  }
  path.counter = windows_word(last + 1, text_.size()).pattern;

  const std::string_view head = text_.substr(begin, last - begin);
  const std::size_t open = find_instance(head);
  const std::string_view set = head.substr(0, open);
  if (set.empty()) return fail_at(begin, "a counterset before '('", std::string(kWindowsShape));
  const std::size_t odd = find_odd(set);
  if (odd != kNowhere && set[odd] == '(') {
    return fail_at(begin + set.size(), "')' after the parenthesis of the counterset",
                   std::string(kWindowsShape));
  }
  if (odd != kNowhere) {
    return fail_at(begin + odd, R"('(' or the counter as the last part)",
                   std::string(kWindowsShape));
  }
  path.set = windows_word(begin, begin + set.size()).pattern;
  if (open == kNowhere) return path;
  return parse_windows_instance(std::move(path), begin + open + 1, last);
}

// The instance lies in [begin, end) with its closing parenthesis, which should be the last of it.
Result<CounterPath> PathParser::parse_windows_instance(CounterPath path, std::size_t begin,
                                                       std::size_t end) {
  const std::string_view inside = text_.substr(begin, end - begin);
  const std::size_t close = inside.rfind(')');
  if (close == kNowhere) {
    return fail_at(end, "')' after the instance", std::string(kWindowsShape));
  }
  if (close + 1 != inside.size()) {
    return fail_at(begin + close + 1, R"('\' and the counter after ')')",
                   std::string(kWindowsShape));
  }
  if (close == 0) {
    return fail_at(begin, "an instance between '(' and ')'",
                   "write (*) for all instances, or leave the parentheses out");
  }
  Result<NumberedName> name = split_index(windows_word(begin, begin + close));
  if (!name) return tl::make_unexpected(std::move(name.error()));
  path.index = name->number;
  const std::size_t slash = name->name.find('/');
  if (slash == kNowhere || slash == 0 || slash + 1 == name->name.size()) {
    path.instance = std::move(name->name);
  } else {
    path.parent = name->name.substr(0, slash);
    path.instance = name->name.substr(slash + 1);
  }
  return path;
}

Result<Word> PathParser::short_word(std::string_view stops, std::string_view expected) {
  Word word;
  word.begin = cursor_;
  for (; cursor_ < text_.size(); ++cursor_) {
    const char character = text_[cursor_];
    if (stops.find(character) != kNowhere) break;
    if (character == '\\') {
      const char next = cursor_ + 1 < text_.size() ? text_[cursor_ + 1] : '\0';
      if (kShortEscapable.find(next) == kNowhere) {
        return fail_at(cursor_ + 1, R"(one of / * ? [ ] \ : # @ after '\')",
                       remedy_if_windows("\\" + std::string(text_),
                                         R"(write a backslash that is part of a name as '\\')"));
      }
      ++cursor_;
      if (next == '*' || next == '?' || next == '\\') word.pattern.push_back('\\');
      word.pattern.push_back(next);
      continue;
    }
    if (character == '#') word.hash = word.pattern.size();
    if (character == '@') word.at_sign = word.pattern.size();
    word.pattern.push_back(character);
  }
  if (word.pattern.empty()) return fail_at(cursor_, expected, std::string(kShortShape));
  return word;
}

Result<CounterPath> PathParser::parse_short() {
  CounterPath path;
  path.spelling = PathSpelling::kShort;
  if (text_.front() == ':') ++cursor_;
  Result<Word> first = short_word(":/", "a counterset or a provider");
  if (!first) return tl::make_unexpected(std::move(first.error()));
  if (cursor_ < text_.size() && text_[cursor_] == ':') {
    Result<CounterPath> named = with_provider(std::move(path), *first);
    if (!named) return named;
    path = *std::move(named);
    ++cursor_;
    first = short_word("/", "a counterset after ':'");
    if (!first) return tl::make_unexpected(std::move(first.error()));
  }
  path.set = std::move(first->pattern);
  if (cursor_ == text_.size()) return path;
  return parse_short_instance(std::move(path));
}

// The cursor stands on the slash behind the set.
Result<CounterPath> PathParser::parse_short_instance(CounterPath path) {
  ++cursor_;
  Result<Word> second = short_word("/", "a counter or an instance after '/'");
  if (!second) return tl::make_unexpected(std::move(second.error()));
  Result<NumberedName> instance = split_index(*second);
  if (!instance) return tl::make_unexpected(std::move(instance.error()));
  if (cursor_ == text_.size()) {
    path.second_word =
        SecondWord{std::move(second->pattern), std::move(instance->name), instance->number};
    return path;
  }
  path.instance = std::move(instance->name);
  path.index = instance->number;
  ++cursor_;
  Result<Word> third = short_word("/", "a counter after the instance");
  if (!third) return tl::make_unexpected(std::move(third.error()));
  if (cursor_ != text_.size()) {
    return fail_at(cursor_, "the end after the counter",
                   R"(write a slash that is part of a name as '\/')");
  }
  path.counter = std::move(third->pattern);
  return path;
}

Result<CounterPath> parse(std::string_view text) {
  if (text.size() > kPathBytesMax) {
    return fail(ErrorCode::kBadPath,
                "path of " + std::to_string(text.size()) + " bytes: at most " +
                    std::to_string(kPathBytesMax) + " are read",
                "select with wildcards instead");
  }
  PathParser parser(text);
  if (text.empty()) return parser.fail_at(0, "a path", std::string(kShortShape));
  for (std::size_t offset = 0; offset < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text.substr(offset));
    if (!decoded.valid) return parser.fail_at(offset, "UTF-8", "convert the path to UTF-8");
    if (is_control(decoded.code_point)) {
      return parser.fail_at(offset, "no control character", "remove it, or put '?' in its place");
    }
    offset += decoded.length;
  }
  return text.front() == '\\' ? parser.parse_windows() : parser.parse_short();
}

}  // namespace

Result<CounterPath> parse_path(std::string_view text) {
  return report_no_memory([&] { return parse(text); });
}

std::optional<std::string> CounterPath::whole_instance() const {
  if (!parent || !instance) return instance;
  return *parent + "/" + *instance;
}

CounterPath CounterPath::reading_as_counter() const {
  CounterPath path = *this;
  if (second_word) {
    path.counter = second_word->as_counter;
    path.second_word.reset();
  }
  return path;
}

CounterPath CounterPath::reading_as_instance() const {
  CounterPath path = *this;
  if (second_word) {
    path.instance = second_word->as_instance;
    path.index = second_word->index;
    path.second_word.reset();
  }
  return path;
}

}  // namespace meterbank
