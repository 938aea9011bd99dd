// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::generator {
namespace {

using Exact = std::map<std::string_view, Place>;
// Names come from strangers, who must not be able to make this slow.
using Folded = std::unordered_map<std::string_view, Place, KeyedFoldedHash, FoldedEqual>;

// Where the first of this key is, if this is not the first.
template <typename Map, typename Key>
std::optional<Place> earlier(Map& map, const Key& key, Place place) {
  const auto [at, is_first] = map.try_emplace(key, place);
  if (is_first) return std::nullopt;
  return at->second;
}

template <typename Map>
bool refuse_second(Map& map, const Placed<std::string>& text, Place element, std::string_view what,
                   Problems& problems) {
  if (text.value.empty()) return false;
  const Place place = first_known({text.place, element});
  const auto first = earlier(map, text.value, place);
  if (!first) return false;
  problems.add(place, fmt::format("{} {} is used twice", what, in_quotes(text.value)),
               fmt::format("the first is {}; give this one another", line_of(*first)));
  return true;
}

// Words are made of symbols and names, and can meet where these do not: "Square Wave",
// "SquareWave".
class Words {
 public:
  explicit Words(std::string_view kind) : kind_(kind) {}

  // Of a set or of a counter.
  template <typename Element>
  void add(const Element& element, Problems& problems) {
    if (element.word.empty()) return;
    const bool has_symbol = !element.symbol.value.empty();
    const Placed<std::string>& source = has_symbol ? element.symbol : element.name;
    const std::string_view spelled = source.value.empty() ? element.word : source.value;
    const Place place = first_known({source.place, element.place});
    const auto [at, is_first] = met_.try_emplace(element.word, Met{spelled, has_symbol, place});
    const Met& first = at->second;
    // The same symbol again is refused as such.
    if (is_first || (has_symbol && first.has_symbol && first.spelled == spelled)) return;
    problems.add(
        place,
        fmt::format("{} {} and {} have the same metric word, {}", kind_, in_quotes(first.spelled),
                    in_quotes(spelled), element.word),
        fmt::format("the first is {}; give this one another symbol", line_of(first.place)));
  }

 private:
  struct Met {
    std::string_view spelled;
    bool has_symbol;
    Place place;
  };
  std::string_view kind_;
  std::map<std::string_view, Met> met_;
};

void check_countersets(const Manifest& manifest, Problems& problems) {
  Folded names;
  Exact symbols;
  Exact uris;
  std::map<Guid, Place> guids;
  Words words("countersets");
  for (const Counterset& set : manifest.countersets) {
    const bool name_twice = refuse_second(names, set.name, set.place, "counterset name", problems);
    refuse_second(symbols, set.symbol, set.place, "counterset symbol", problems);
    if (!name_twice) words.add(set, problems);
    refuse_second(uris, set.uri, set.place, "counterset uri", problems);
    if (set.guid.is_said() && set.guid.value.is_zero()) {
      problems.add(set.guid.place, which(set) + " has a GUID of zero", "uuidgen makes a new one");
      continue;
    }
    if (name_twice && !set.guid.is_said()) continue;  // the derived ones are equal, then
    const Place place = first_known({set.guid.place, set.place});
    if (const auto first = earlier(guids, guid_of(manifest, set), place)) {
      problems.add(place, fmt::format("GUID {} is used twice", guid_of(manifest, set).text()),
                   fmt::format("the first is {}; uuidgen makes a new one", line_of(*first)));
    }
  }
  const Placed<Guid>& own = manifest.provider.guid;
  if (const auto at = guids.find(own.value); at != guids.end() && !own.value.is_zero()) {
    problems.add(at->second, "a counterset has the GUID of its provider",
                 "uuidgen makes a new one");
  }
}

void check_counters(const Manifest& manifest, const Counterset& set, Problems& problems) {
  std::map<std::uint32_t, Place> ids;
  Folded names;
  Exact symbols;
  Exact uris;  // CTRPP takes them again in another set
  Words words("counters");
  for (const Counter& counter : set.counters) {
    const Place place = first_known({counter.id.place, counter.place});
    if (counter.id.value == kNoCounter) {
      problems.add(place, fmt::format("counter id {} is reserved", kNoCounter),
                   "it stands for no counter; take another");
    } else if (const auto first = earlier(ids, counter.id.value, place)) {
      problems.add(place, fmt::format("counter id {} is used twice", counter.id.value),
                   fmt::format("the first is {}; give this one another id", line_of(*first)));
    }
    const bool name_twice =
        refuse_second(names, counter.name, counter.place, "counter name", problems);
    refuse_second(uris, counter.uri, counter.place, "counter uri", problems);
    if (manifest.language == Language::kToml) {
      refuse_second(symbols, counter.symbol, counter.place, "counter symbol", problems);
    }
    const bool is_nameless = is_base(counter.type.value) && counter.symbol.value.empty();
    if (!name_twice && !is_nameless) words.add(counter, problems);
  }
}

// In XML a counter's symbol becomes a macro of its own, whichever set it is in, and would change
// what is called by the symbols of the provider and of the sets.
void check_document(const Manifest& manifest, Problems& problems) {
  const bool has_macros = manifest.language == Language::kXml;
  Exact symbols;
  Exact variables;
  const Placed<std::string>& provider = manifest.provider.symbol;
  variables.try_emplace(provider.value, provider.place);
  for (const Counterset& set : manifest.countersets) {
    variables.try_emplace(set.symbol.value, set.symbol.place);
  }
  for (const Counterset& set : manifest.countersets) {
    for (const Counter& counter : set.counters) {
      if (!has_macros || counter.symbol.value.empty()) continue;
      if (refuse_second(symbols, counter.symbol, counter.place, "counter symbol", problems)) {
        continue;
      }
      const auto variable = variables.find(counter.symbol.value);
      if (variable == variables.end()) continue;
      problems.add(first_known({counter.symbol.place, counter.place}),
                   fmt::format("counter symbol {} is also that of the provider or of a counterset",
                               in_quotes(counter.symbol.value)),
                   fmt::format("the other is {}; a macro and a variable cannot share a name",
                               line_of(variable->second)));
    }
  }
}

}  // namespace

void check_unique(const Manifest& manifest, Problems& problems) {
  check_countersets(manifest, problems);
  for (const Counterset& set : manifest.countersets) check_counters(manifest, set, problems);
  check_document(manifest, problems);
}

}  // namespace meterbank::generator
