// SPDX-License-Identifier: Apache-2.0
//
// Which counter needs which other one: a fraction its denominator, a timer of an object's clock
// that clock, a timer over several components their number.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"

namespace meterbank::generator {
namespace {

enum class Need { kNone, kMay, kMust };

struct LinkRule {
  Need need = Need::kNone;
  // What it may lead to; the second may repeat the first.
  std::array<CounterType, 2> targets{};
};

constexpr LinkRule to(Need need, CounterType type) noexcept { return {need, {type, type}}; }

constexpr LinkRule base_rule(CounterType type) noexcept {
  switch (type) {
    case CounterType::kAverageTimer:
    case CounterType::kAverageBulk:
      return to(Need::kMust, CounterType::kAverageBase);
    case CounterType::kSampleFraction:
      return to(Need::kMust, CounterType::kSampleBase);
    case CounterType::kSampleCounter:  // computed without, but some manifests have one
      return to(Need::kMay, CounterType::kSampleBase);
    case CounterType::kRawFraction:
      return to(Need::kMust, CounterType::kRawBase);
    case CounterType::kLargeRawFraction:
    case CounterType::kPrecisionSystemTimer:
    case CounterType::kPrecision100NsTimer:
    case CounterType::kPrecisionObjectTimer:
      return to(Need::kMust, CounterType::kLargeRawBase);
    case CounterType::kMultiTimer:  // the number of components, see multi_rule()
    case CounterType::kMultiTimerInverse:
    case CounterType::kMultiTimer100Ns:
    case CounterType::kMultiTimer100NsInverse:
      return to(Need::kMay, CounterType::kMultiBase);
    default:
      return {};
  }
}

// The object's own clock, and how fast it runs. Without one a reader takes CLOCK_MONOTONIC, which a
// manifest for Windows cannot mean.
constexpr LinkRule clock_rule(CounterType type, Language language) noexcept {
  constexpr std::array kTargets{CounterType::kLargeRawCount, CounterType::kLargeRawBase};
  switch (type) {
    case CounterType::kTimerObject:
    case CounterType::kQueueLengthObject:
    case CounterType::kElapsedTime:
      return {language == Language::kXml ? Need::kMust : Need::kMay, kTargets};
    case CounterType::kPrecisionObjectTimer:
      return {Need::kMay, kTargets};
    default:
      return {};
  }
}

// Windows' page of the counter element has the number of components twice: as baseID, of type
// perf_counter_multi_base, and as multiCounterID, of type perf_counter_rawcount. Manifests have
// either or both.
constexpr LinkRule multi_rule(CounterType type, bool has_base) noexcept {
  switch (type) {
    case CounterType::kMultiTimer:
    case CounterType::kMultiTimerInverse:
    case CounterType::kMultiTimer100Ns:
    case CounterType::kMultiTimer100NsInverse:
      return {has_base ? Need::kMay : Need::kMust,
              {CounterType::kMultiBase, CounterType::kRawCount}};
    default:
      return {};
  }
}

struct Link {
  std::string_view word;
  const Placed<std::uint32_t>* target;
  LinkRule rule;
};

std::array<Link, 4> links_of(Language language, const Counter& counter) noexcept {
  const CounterType type = counter.type.value;
  const LinkRule clock = clock_rule(type, language);
  const bool has_base = counter.base.is_said() || counter.base.value != kNoCounter;
  return {
      {{word_of(language, "baseID", "base"), &counter.base, base_rule(type)},
       {word_of(language, "perfTimeID", "time"), &counter.time, clock},
       {word_of(language, "perfFreqID", "frequency"), &counter.frequency, clock},
       {word_of(language, "multiCounterID", "multi"), &counter.multi, multi_rule(type, has_base)}}};
}

class SetLinks {
 public:
  SetLinks(Language language, const Counterset& set, Problems& problems)
      : language_(language), set_(set), problems_(problems) {
    for (const Counter& counter : set.counters) by_id_.try_emplace(counter.id.value, &counter);
  }

  void check() {
    find_circles();
    for (const Counter& counter : set_.counters) {
      for (const Link& link : links_of(language_, counter)) check_link(counter, link);
      check_clock(counter);
    }
  }

 private:
  struct Step {
    const Counter* counter;
    std::size_t next = 0;  // of its links
  };

  [[nodiscard]] const Counter* find(std::uint32_t id) const {
    const auto at = by_id_.find(id);
    return at == by_id_.end() ? nullptr : at->second;
  }

  [[nodiscard]] std::string names_of(const LinkRule& rule) const {
    std::string names = type_word(language_, rule.targets[0]);
    if (rule.targets[1] != rule.targets[0]) {
      names += " or " + type_word(language_, rule.targets[1]);
    }
    return names;
  }

  [[nodiscard]] static bool takes(const LinkRule& rule, const Counter& target) noexcept {
    return std::ranges::find(rule.targets, target.type.value) != rule.targets.end();
  }

  // The counter of the set that would do, if only one does. A clock looks like any other count.
  [[nodiscard]] std::string advice(const Counter& counter, const Link& link) const {
    const Counter* found = nullptr;
    bool is_only = link.target != &counter.time && link.target != &counter.frequency;
    for (const Counter& each : set_.counters) {
      if (&each == &counter || !takes(link.rule, each)) continue;
      is_only = is_only && found == nullptr;
      found = &each;
    }
    if (found == nullptr || !is_only) {
      return fmt::format("say the id of a counter of this set that has the type {}",
                         names_of(link.rule));
    }
    const bool is_xml = language_ == Language::kXml;
    return fmt::format("{} is of type {}: say  {}{}{}{}", which(*found),
                       type_word(language_, found->type.value), link.word, is_xml ? "=\"" : " = ",
                       found->id.value, is_xml ? "\"" : "");
  }

  void check_link(const Counter& counter, const Link& link) {
    const std::uint32_t id = link.target->value;
    const Place place = first_known({link.target->place, counter.type.place, counter.place});
    const std::string type = type_word(language_, counter.type.value);
    if (id == kNoCounter && !link.target->is_said()) {
      if (link.rule.need != Need::kMust) return;
      problems_.add(place, fmt::format("{} of type {} needs a {}", which(counter), type, link.word),
                    advice(counter, link));
      return;
    }
    if (circular_.contains({counter.id.value, id})) return;
    if (link.rule.need == Need::kNone) {
      problems_.add(
          place, fmt::format("{} of type {} has no use for a {}", which(counter), type, link.word),
          "leave it out, or give the counter the type that was meant");
      return;
    }
    const Counter* const target = find(id);
    if (target == nullptr) {
      problems_.add(
          place,
          fmt::format("{} {} of {} is not a counter of this set", link.word, id, which(counter)),
          advice(counter, link));
    } else if (!takes(link.rule, *target)) {
      problems_.add(
          place,
          fmt::format("{} {} of {} has the type {}, and not {}", link.word, id, which(counter),
                      type_word(language_, target->type.value), names_of(link.rule)),
          advice(counter, link));
    } else if (target->form.value != ValueForm::kUnsigned) {
      problems_.add(place,
                    fmt::format("{} {} of {} is not a plain number", link.word, id, which(counter)),
                    "a counter that others refer to is unsigned");
    }
  }

  void check_clock(const Counter& counter) {
    const bool has_time = counter.time.value != kNoCounter;
    if (clock_rule(counter.type.value, language_).need != Need::kMay ||
        has_time == (counter.frequency.value != kNoCounter)) {
      return;
    }
    const std::string_view time = word_of(language_, "perfTimeID", "time");
    const std::string_view frequency = word_of(language_, "perfFreqID", "frequency");
    problems_.add(first_known({counter.time.place, counter.frequency.place, counter.place}),
                  fmt::format("{} has a {} and no {}", which(counter), has_time ? time : frequency,
                              has_time ? frequency : time),
                  "a clock is both: what time it is, and how many of its units are a second");
  }

  // Depth first, without recursion: a file can have a hundred thousand counters.
  void find_circles() {
    std::set<const Counter*> done;
    for (const Counter& start : set_.counters) {
      std::vector<Step> path{{&start}};
      while (!path.empty()) {
        Step& last = path.back();
        const auto links = links_of(language_, *last.counter);
        if (last.next == links.size() || done.contains(last.counter)) {
          done.insert(last.counter);
          path.pop_back();
          on_path_.erase(last.counter);
          continue;
        }
        on_path_.insert(last.counter);
        const Placed<std::uint32_t>& target = *links[last.next++].target;
        const Counter* const next =
            target.is_said() || target.value != kNoCounter ? find(target.value) : nullptr;
        if (next == nullptr) continue;
        if (on_path_.contains(next)) {
          report_circle(path, *next, target.place);
        } else {
          path.push_back({next});
        }
      }
    }
  }

  void report_circle(const std::vector<Step>& path, const Counter& first, Place place) {
    const auto begin =
        std::ranges::find(path, &first, [](const Step& step) { return step.counter; });
    const Counter& last = *path.back().counter;
    for (auto each = begin; each + 1 != path.end(); ++each) {
      circular_.emplace(each->counter->id.value, (each + 1)->counter->id.value);
    }
    circular_.emplace(last.id.value, first.id.value);
    const Place where = first_known({place, last.place});
    if (&first == &last) {
      problems_.add(where, which(last) + " refers to itself",
                    "a base, a clock or a number of components is a counter of its own");
      return;
    }
    constexpr std::ptrdiff_t kShownMax = 8;
    std::string circle;
    for (auto each = begin; each != path.end() && each - begin < kShownMax; ++each) {
      circle += fmt::format("{} -> ", each->counter->id.value);
    }
    if (path.end() - begin > kShownMax) circle += "... -> ";
    problems_.add(
        where,
        fmt::format("counters refer to each other in a circle: {}{}", circle, first.id.value),
        "a base, a clock or a number of components refers to no other counter");
  }

  Language language_;
  const Counterset& set_;
  Problems& problems_;
  std::map<std::uint32_t, const Counter*> by_id_;
  std::set<const Counter*> on_path_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> circular_;
};

}  // namespace

void check_links(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  SetLinks(manifest.language, counterset, problems).check();
}

}  // namespace meterbank::generator
