// SPDX-License-Identifier: Apache-2.0
#include "exposition/family/metric_name.hpp"

#include <array>
#include <optional>
#include <utility>

#include "units/base_unit.hpp"

namespace meterbank::exposition {
namespace {

struct Word {
  std::string_view code, word;
};
constexpr std::array kBaseWords{Word{"s", "seconds"}, Word{"By", "bytes"},   Word{"bit", "bits"},
                                Word{"Hz", "hertz"},  Word{"V", "volts"},    Word{"A", "amperes"},
                                Word{"J", "joules"},  Word{"W", "watts"},    Word{"m", "meters"},
                                Word{"g", "grams"},   Word{"Cel", "celsius"}};
constexpr std::array kStoredWords{
    Word{"ns", "nanoseconds"}, Word{"us", "microseconds"}, Word{"ms", "milliseconds"},
    Word{"min", "minutes"},    Word{"h", "hours"},         Word{"d", "days"},
    Word{"kBy", "kilobytes"},  Word{"MBy", "megabytes"},   Word{"KiBy", "kibibytes"},
    Word{"MiBy", "mebibytes"}, Word{"GiBy", "gibibytes"},  Word{"kHz", "kilohertz"},
    Word{"MHz", "megahertz"},  Word{"%", "percent"}};
// Words of names, and the base unit that takes their place.
constexpr std::array kScaledWords{
    Word{"kbytes", "bytes"},    Word{"mbytes", "bytes"},    Word{"gbytes", "bytes"},
    Word{"kilobytes", "bytes"}, Word{"megabytes", "bytes"}, Word{"gigabytes", "bytes"},
    Word{"kb", "bytes"},        Word{"mb", "bytes"},        Word{"gb", "bytes"},
    Word{"sec", "seconds"},     Word{"secs", "seconds"},    Word{"msec", "seconds"},
    Word{"usec", "seconds"},    Word{"nsec", "seconds"},    Word{"ms", "seconds"},
    Word{"us", "seconds"},      Word{"ns", "seconds"},      Word{"milliseconds", "seconds"},
    Word{"khz", "hertz"},       Word{"mhz", "hertz"},       Word{"hz", "hertz"}};
constexpr std::string_view kPerSecond = "_per_second";
constexpr double kPercent = 100;

template <typename Words>
std::optional<std::string> find(const Words& words, std::string_view code) {
  for (const Word& word : words) {
    if (word.code == code) return std::string(word.word);
  }
  return std::nullopt;
}

// "By/s": the word of "By", and that it is one per second.
template <typename WordOf>
std::string with_rate(std::string_view unit, WordOf word_of) {
  const std::string_view per = per_second(unit);
  std::string word = word_of(unit.substr(0, unit.size() - per.size()));
  if (!word.empty()) word.append(per.empty() ? std::string_view() : kPerSecond);
  return word;
}

bool is_word_character(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
}

// Where the words of `part` stand in `name`, whole words only; npos: nowhere.
std::size_t find_words(std::string_view name, std::string_view part) noexcept {
  for (std::size_t at = name.rfind(part); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : name.rfind(part, at - 1)) {
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || name[at - 1] == '_';
    const bool ends = end == name.size() || name[end] == '_';
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

// The last occurrence, with one '_' beside it.
void remove_words(std::string& name, std::string_view part) {
  const std::size_t at = find_words(name, part);
  if (at == std::string_view::npos) return;
  const bool is_last = at + part.size() == name.size();
  const std::size_t from = is_last && at != 0 ? at - 1 : at;
  name.erase(from, part.size() + (name.size() > part.size() ? 1 : 0));
}

}  // namespace

std::string snake_case(std::string_view text) {
  std::string name;
  name.reserve(text.size());
  for (const char character : text) {
    const bool is_upper = character >= 'A' && character <= 'Z';
    const char lower = is_upper ? static_cast<char>(character - 'A' + 'a') : character;
    if (is_word_character(lower)) {
      name += lower;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

UnitWord unit_word_of(std::string_view ucum) {
  if (ucum == "%") return {"ratio", 1, kPercent, "1"};
  const BaseUnit base = base_unit_of(ucum);
  const auto word_of = [](std::string_view code) {
    return find(kBaseWords, code).value_or(std::string());
  };
  return {with_rate(base.unit, word_of), base.factor, base.divisor, base.unit};
}

UnitWord stored_unit_word_of(std::string_view ucum) {
  std::string word = with_rate(ucum, [](std::string_view code) {
    auto base = find(kBaseWords, code);
    return base ? *base : find(kStoredWords, code).value_or(std::string());
  });
  return {std::move(word), 1, 1, std::string(ucum)};
}

std::string with_unit_last(std::string_view name, std::string_view unit) {
  std::string result(name);
  if (unit.empty()) return result;
  remove_words(result, unit);
  if (!result.empty()) result += '_';
  return result.append(unit);
}

std::string with_unit_instead(std::string_view name, std::string_view unit) {
  std::string result(name);
  for (const Word& scaled : kScaledWords) {
    if (scaled.word == unit) remove_words(result, scaled.code);
  }
  return with_unit_last(result, unit);
}

}  // namespace meterbank::exposition
