// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "../beside/healthy.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kNone = std::string_view::npos;

std::string shown(std::string_view text, std::size_t at) {
  const std::size_t begin = at < 20 ? 0 : at - 20;
  std::string out = "'";
  for (const char c : text.substr(begin, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", byte);
    const bool plain = byte >= 0x20 && byte < 0x7f;
    out += plain ? std::string(1, c) : std::string(code);
  }
  return out + "'";
}

// The code point that begins at `at`, and its length. Nothing: not UTF-8.
std::optional<std::pair<std::uint32_t, std::size_t>> code_point(std::string_view text,
                                                                std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || at + size > text.size()) return {};
  std::uint32_t code = size == 1 ? first : first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[size] || code > 0x10ffff || surrogate) return {};
  return std::pair{code, size};
}

bool steers(std::uint32_t code) {
  if (code < 0x20) return code != '\n' && code != '\t' && code != '\r';
  const bool c1 = code >= 0x7f && code < 0xa0;
  const bool bidi = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                    code == 0x200e || code == 0x200f || code == 0x061c;
  const bool lines = code == 0x2028 || code == 0x2029;
  return c1 || bidi || lines;
}

// The length of a sequence that draws, as ncurses does on an xterm: ESC [ parameters, and one of a
// few letters; ESC ( B and ESC with one more character, for looks and modes. 0: it is not one.
std::size_t drawing(std::string_view text, std::size_t at) {
  constexpr std::string_view kLetters = "HJKmhlABCDGdPLMSTXr@bt";
  constexpr std::string_view kShort = "=>M78";
  if (at + 1 == text.size()) return 1;  // cut by the end of the run
  if (kShort.find(text[at + 1]) != kNone) return 2;
  if (text[at + 1] == '(') return std::min<std::size_t>(3, text.size() - at);
  if (text[at + 1] != '[') return 0;
  std::size_t end = at + 2;
  while (end < text.size() &&
         (text[end] == '?' || text[end] == ';' || (text[end] >= '0' && text[end] <= '9'))) {
    ++end;
  }
  if (end == text.size()) return text.size() - at;
  return kLetters.find(text[end]) == kNone ? 0 : end + 1 - at;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != kNone; }

std::string path_of(const HealthyRow& row) {
  std::string path(row.set);
  if (!row.instance.empty()) path += "/" + std::string(row.instance);
  return path + "/level";
}
std::string_view name_of_set(const HealthyRow& row) {
  return row.set == kHealthyVenues.symbol    ? kHealthyVenues.name
         : row.set == kHealthyMachine.symbol ? kHealthyMachine.name
                                             : kHealthyPools.name;
}

// One object of JSON that has all of these.
bool has_object(std::string_view text, const std::string& path,
                const std::vector<std::string>& parts) {
  const std::string begin = path + "\",\"time\"";
  for (std::size_t at = text.find(begin); at != kNone; at = text.find(begin, at + 1)) {
    const std::string_view object = text.substr(at, text.find('}', at) - at);
    const auto is_there = [&](const std::string& part) { return contains(object, part); };
    if (std::all_of(parts.begin(), parts.end(), is_there)) return true;
  }
  return false;
}

// The fields of one line of a Windows log.
std::vector<std::string_view> fields(std::string_view line, char separator) {
  const std::array<char, 3> between{'"', separator, '"'};
  const std::string_view word(between.data(), between.size());
  std::vector<std::string_view> found;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() >= 2) line = line.substr(1, line.size() - 2);
  for (;;) {
    const std::size_t end = line.find(word);
    found.push_back(line.substr(0, end));
    if (end == kNone) return found;
    line.remove_prefix(end + word.size());
  }
}

// A column that is called so and has the value in the last record.
bool has_column(std::string_view text, char separator, const std::string& object,
                const std::string& value) {
  const auto header = fields(text.substr(0, text.find('\n')), separator);
  const std::string_view body = text.substr(std::min(text.size(), text.find('\n') + 1));
  const std::string_view first = body.substr(0, body.find('\n'));
  const auto values = fields(first, separator);
  for (std::size_t i = 1; i < header.size() && i < values.size(); ++i) {
    if (contains(header[i], object) && header[i].ends_with("\\Level") && values[i] == value) {
      return true;
    }
  }
  return false;
}

bool has_row(std::string_view text, Form form, const Expected& expected, const HealthyRow& row,
             bool is_total) {
  const std::string value = std::to_string(row.level);
  const std::string label = "healthy@" + std::to_string(expected.pid);
  const std::string instance(row.instance);
  switch (form) {
    case Form::kTable:
      return contains(text, std::string(row.set) + "/level " + instance +
                                (instance.empty() ? "" : " ") + value + "\n");
    case Form::kPlain:
      return contains(text, path_of(row) + "\t" + value + "\t");
    case Form::kTsv:
    case Form::kCsv: {
      const std::string comma = form == Form::kTsv ? "\t" : ",";
      const std::string cells =
          comma + std::string(row.set) + comma + instance + comma + "level" + comma + value + comma;
      return contains(text, is_total ? cells : label + cells);
    }
    case Form::kJson: {
      std::vector<std::string> parts{"\"value\":" + value + ",", "\"counter\":\"level\""};
      if (!is_total) parts.push_back("\"provider\":\"" + label + "\"");
      return has_object(text, path_of(row), parts);
    }
    case Form::kPdhCsv:
    case Form::kPdhTsv: {
      std::string object = "\\" + std::string(name_of_set(row));
      if (!instance.empty()) object += "(" + instance;
      return has_column(text, form == Form::kPdhCsv ? ',' : '\t', object, value);
    }
    case Form::kReport:
      return is_total ? contains(text, "total " + value + " patterns\n") &&
                            contains(text, "total " + value + " items\n")
                      : contains(text, "row " + std::string(row.set) + " " + instance + " " +
                                           value + "\n");
    case Form::kPerflib:
      return contains(text, instance + " " + value + "\n");
  }
  return false;
}

}  // namespace

std::string forbidden_bytes(std::string_view text, Output output) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x7f) {
      ++at;
      continue;
    }
    if (output == Output::kTerminal && byte == 0x1b) {
      const std::size_t length = drawing(text, at);
      if (length == 0) return "a foreign escape sequence: " + shown(text, at);
      at += length;
      continue;
    }
    // Steps to the left, and the usual set of characters.
    if (output == Output::kTerminal && (byte == '\b' || byte == 0x0f)) {
      ++at;
      continue;
    }
    const auto found = code_point(text, at);
    // The end of a run on a terminal may have cut a character.
    if (!found && output == Output::kTerminal && text.size() - at < 4) return {};
    if (!found) return "bytes that are not UTF-8: " + shown(text, at);
    if (steers(found->first)) return "a control character: " + shown(text, at);
    at += found->second;
  }
  return {};
}

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ';
    if (blank && (out.empty() || out.back() == ' ' || out.back() == '\n')) continue;
    if (c == '\n' && !out.empty() && out.back() == ' ') out.pop_back();
    out += c;
  }
  return out;
}

std::string missing_rows(std::string_view text, Form form, const Expected& expected) {
  const std::string table = form == Form::kTable ? squeezed(text) : std::string();
  if (form == Form::kTable) text = table;
  std::string missing;
  for (const HealthyRow& row : kHealthyRows) {
    const bool is_asked_for = !expected.venues_only || row.set == kHealthyVenues.symbol;
    if (!is_asked_for || has_row(text, form, expected, row, false)) continue;
    missing += " " + path_of(row) + "=" + std::to_string(row.level);
  }
  const bool has_total =
      std::any_of(expected.totals.begin(), expected.totals.end(), [&](std::uint64_t total) {
        return has_row(text, form, expected, {kHealthyVenues.symbol, "_Total", total}, true);
      });
  if (!has_total) missing += " _Total=" + std::to_string(expected.totals.front());
  return missing;
}

}  // namespace meterbank::hostile
