// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/names.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

// What the types and constants of a counterset are called behind its own name.
constexpr std::array<std::string_view, 7> kEnds{"",        "Counter", "Counters", "Set",
                                                "Handles", "Update",  "Instance"};

// Names that are macros with some compilers, or namespaces that this one must not be.
constexpr std::array<std::string_view, 12> kTaken{"std",    "meterbank", "tl",    "linux",
                                                  "unix",   "i386",      "errno", "stdin",
                                                  "stdout", "stderr",    "major", "minor"};

// "name", or the first of "name_2", "name_3" ... that `is_free`.
template <typename IsFree>
std::string first_free(const std::string& name, IsFree&& is_free) {
  if (is_free(name)) return name;
  for (std::size_t number = 2;; ++number) {
    if (auto next = name + "_" + std::to_string(number); is_free(next)) return next;
  }
}

std::string word_of(const Counterset& set, const Counter& counter) {
  if (!counter.word.empty()) return counter.word;
  const auto serves = [&](const Placed<std::uint32_t> Counter::*link, const char* as) {
    const auto served =
        std::find_if(set.counters.begin(), set.counters.end(), [&](const Counter& each) {
          return (each.*link).value == counter.id.value && !each.word.empty();
        });
    return served == set.counters.end() ? std::string() : served->word + as;
  };
  for (auto word : {serves(&Counter::base, "_base"), serves(&Counter::time, "_time"),
                    serves(&Counter::frequency, "_frequency"), serves(&Counter::multi, "_count")}) {
    if (!word.empty()) return word;
  }
  return "counter_" + std::to_string(counter.id.value);
}

std::vector<CounterNames> counter_names(const Counterset& set) {
  std::vector<CounterNames> all;
  // Words that counters have of themselves come before those that bases are given.
  std::set<std::string> words;
  for (const Counter& counter : set.counters) words.insert(counter.word);
  std::set<std::string> enumerators;
  for (const Counter& counter : set.counters) {
    CounterNames names{counter.word, {}};
    if (names.word.empty()) {
      names.word = first_free(word_of(set, counter),
                              [&](const auto& word) { return !words.contains(word); });
      words.insert(names.word);
    }
    names.enumerator = first_free("k" + camel_case(names.word),
                                  [&](const auto& name) { return !enumerators.contains(name); });
    enumerators.insert(names.enumerator);
    all.push_back(std::move(names));
  }
  return all;
}

}  // namespace

std::vector<CountersetNames> names_of(const Manifest& manifest) {
  std::vector<CountersetNames> all;
  std::set<std::string> taken;
  for (const Counterset& set : manifest.countersets) {
    std::string name = first_free(camel_case(set.word), [&](const std::string& free) {
      return std::none_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
        return taken.contains(free + std::string(end));
      });
    });
    for (const std::string_view end : kEnds) taken.insert(name + std::string(end));
    all.push_back({std::move(name), counter_names(set)});
  }
  return all;
}

bool is_free_name(std::string_view name) noexcept {
  return is_identifier(name) && std::find(kTaken.begin(), kTaken.end(), name) == kTaken.end();
}

std::string name_space_of(const Manifest& manifest, const OutputOptions& options) {
  if (!options.name_space.empty()) return options.name_space;
  std::string name = manifest.provider.symbol.value;
  if (name.empty()) name = snake_case(manifest.provider.name.value);
  return is_free_name(name) ? name : name + "_counters";
}

}  // namespace meterbank::generator
