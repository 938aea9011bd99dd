// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "generator/manifest/check.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "generator/manifest/vocabulary.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::generator {
namespace {

constexpr std::string_view kNewId =
    "readers would take one for the other: keep it, or give the new one another id";

std::string_view word_of(ValueForm form) noexcept {
  if (form == ValueForm::kText) return "a text";
  if (form == ValueForm::kDistribution) return "a distribution";
  return word_for(kFormWords, form, Language::kToml);
}

std::string unit_of(const Counter& counter) {
  return counter.unit.value.empty() ? std::string("no unit")
                                    : "the unit " + in_quotes(counter.unit.value);
}

class Comparison {
 public:
  Comparison(const Manifest& now, const Manifest& old, Problems& problems)
      : now_(now), old_(old), problems_(problems) {}

  void compare() {
    const Placed<Guid>& guid = now_.provider.guid;
    const Guid had = old_.provider.guid.value;
    if (!had.is_zero() && guid.value != had) {
      problems_.add(first_known({guid.place, now_.provider.place}),
                    fmt::format("the provider had the GUID {}", had.text()),
                    "it is how consumers find it: put it back");
    }
    std::map<Guid, const Counterset*> by_guid;
    std::unordered_map<std::string_view, const Counterset*, KeyedFoldedHash, FoldedEqual> by_name;
    for (const Counterset& set : now_.countersets) {
      by_guid.try_emplace(guid_of(now_, set), &set);
      by_name.try_emplace(set.name.value, &set);
    }
    for (const Counterset& old : old_.countersets) {
      if (const auto same = by_guid.find(guid_of(old_, old)); same != by_guid.end()) {
        compare_sets(*same->second, old);
      } else if (const auto named = by_name.find(old.name.value); named != by_name.end()) {
        compare_sets(*named->second, old);
      } else {
        problems_.add(
            now_.provider.place, which(old) + " is gone",
            fmt::format("it was {}; readers of it would find nothing", in_old(old.place)));
      }
    }
  }

 private:
  [[nodiscard]] std::string in_old(Place place) const {
    return fmt::format("{}:{}", old_.file, place.line);
  }

  void compare_sets(const Counterset& now, const Counterset& old) {
    const Guid guid = guid_of(old_, old);
    if (guid_of(now_, now) != guid) {
      problems_.add(first_known({now.guid.place, now.place}),
                    fmt::format("{} had the GUID {}", which(now), guid.text()),
                    old.guid.is_said() ? "consumers know it by that: put it back"
                                       : "it was derived from the names of provider and set: say "
                                         "that one, if a name has to change");
    }
    if (!equal_folded(now.name.value, old.name.value)) {
      problems_.add(now.name.place,
                    fmt::format("{} was named {}", which(now), in_quotes(old.name.value)),
                    "paths begin with the name: put it back, or make a set with another GUID");
    }
    if (now.word != old.word) {
      problems_.add(first_known({now.symbol.place, now.name.place, now.place}),
                    fmt::format("the metric word of {} was {}, and would be {}", which(now),
                                old.word, now.word),
                    fmt::format("metrics and short paths begin with it: say {} as its symbol",
                                in_quotes(old.word)));
    }
    if (now.instances.value != old.instances.value) {
      problems_.add(first_known({now.instances.place, now.place}),
                    fmt::format("the instances of {} were {}, and would be {}", which(now),
                                word_for(kInstanceWords, old.instances.value, now_.language),
                                word_for(kInstanceWords, now.instances.value, now_.language)),
                    "paths to them would change: make a set with another name and GUID");
    }
    compare_all_counters(now, old);
  }

  void compare_all_counters(const Counterset& now, const Counterset& old) {
    std::map<std::uint32_t, const Counter*> by_id;
    std::unordered_map<std::string_view, const Counter*, KeyedFoldedHash, FoldedEqual> by_name;
    std::map<std::string_view, const Counter*> by_word;
    for (const Counter& counter : now.counters) {
      by_id.try_emplace(counter.id.value, &counter);
      if (!counter.name.value.empty()) by_name.try_emplace(counter.name.value, &counter);
      if (!counter.word.empty()) by_word.try_emplace(counter.word, &counter);
    }
    for (const Counter& each : old.counters) {
      const auto same_id = by_id.find(each.id.value);
      if (same_id != by_id.end() && is_same(*same_id->second, each)) {
        compare_counters(*same_id->second, each);
        continue;
      }
      if (same_id != by_id.end()) {
        const Counter& other = *same_id->second;
        problems_.add(first_known({other.id.place, other.place}),
                      fmt::format("id {} was that of {}", each.id.value, label(each)),
                      std::string(kNewId));
      }
      const auto named = by_name.find(each.name.value);
      const auto worded = by_word.find(each.word);
      const Counter* const moved = named != by_name.end()    ? named->second
                                   : worded != by_word.end() ? worded->second
                                                             : nullptr;
      if (moved != nullptr) {
        problems_.add(first_known({moved->id.place, moved->place}),
                      fmt::format("{} had the id {}", which(*moved), each.id.value),
                      "consumers know it by that: put it back");
        compare_counters(*moved, each);
      } else if (same_id == by_id.end()) {
        problems_.add(
            now.place, fmt::format("{} has lost its {}", which(now), which(each)),
            fmt::format("it was {}; keep it, whether it still counts or not", in_old(each.place)));
      }
    }
  }

  [[nodiscard]] static std::string label(const Counter& counter) {
    if (!counter.name.value.empty()) return in_quotes(counter.name.value);
    return counter.word.empty() ? std::string("a base counter") : in_quotes(counter.word);
  }

  [[nodiscard]] static bool is_same(const Counter& now, const Counter& old) noexcept {
    if (equal_folded(now.name.value, old.name.value)) return true;
    if (!now.word.empty() && now.word == old.word) return true;
    // A base that gets a name, or loses it, is still that base.
    return is_base(now.type.value) && now.type.value == old.type.value &&
           (now.name.value.empty() || old.name.value.empty());
  }

  void compare_counters(const Counter& now, const Counter& old) {
    if (!old.name.value.empty() && !equal_folded(now.name.value, old.name.value)) {
      problems_.add(first_known({now.name.place, now.place}),
                    fmt::format("{} was named {}", which(now), in_quotes(old.name.value)),
                    "paths end with the name: put it back, or add a counter with another id");
    }
    if (!old.word.empty() && now.word != old.word && is_shown(old)) {
      problems_.add(first_known({now.symbol.place, now.name.place, now.place}),
                    fmt::format("the metric word of {} was {}, and would be {}", which(now),
                                old.word, now.word.empty() ? "none" : now.word),
                    fmt::format("metrics end with it: say {} as its symbol", in_quotes(old.word)));
    }
    if (now.type.value != old.type.value) {
      problems_.add(
          first_known({now.type.place, now.place}),
          fmt::format("{} was of type {}", which(now), type_word(now_.language, old.type.value)),
          "readers would compute with it as before: add a counter with another id");
    } else if (now.form.value != old.form.value) {
      problems_.add(first_known({now.form.place, now.type.place, now.place}),
                    fmt::format("{} was {}, and would be {}", which(now), word_of(old.form.value),
                                word_of(now.form.value)),
                    "readers would compute with it as before: add a counter with another id");
    }
    if (now.unit.value != old.unit.value) {
      problems_.add(
          first_known({now.unit.place, now.place}),
          fmt::format("{} had {}, and would have {}", which(now), unit_of(old), unit_of(now)),
          "old and new values would be taken for the same: add a counter with another id");
    }
  }

  [[nodiscard]] static bool is_shown(const Counter& counter) noexcept {
    return !is_base(counter.type.value) || !counter.symbol.value.empty();
  }

  const Manifest& now_;
  const Manifest& old_;
  Problems& problems_;
};

}  // namespace

void check_against(const Manifest& manifest, const Manifest& old, Problems& problems) {
  Comparison(manifest, old, problems).compare();
}

}  // namespace meterbank::generator
