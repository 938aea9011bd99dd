// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::generator {
namespace {

Place place_of(const Counter& counter) noexcept {
  return first_known({counter.form.place, counter.type.place, counter.place});
}

bool is_sharded(const Counterset& set) noexcept {
  return set.sharded.value || set.shards.value != 0;
}

bool is_raw(const Counter& counter) noexcept {
  return counter.type.value == CounterType::kLargeRawCount;
}

void check_text(const Counter& counter, Language language, Problems& problems) {
  const bool is_text = counter.form.value == ValueForm::kText;
  const std::string text = type_word(language, CounterType::kText);
  if (is_text != (counter.type.value == CounterType::kText)) {
    problems.add(
        place_of(counter),
        fmt::format("{} is half a text: its type and its form do not agree", which(counter)),
        fmt::format("the type {} alone makes a text", text));
    return;
  }
  const std::uint32_t bytes = counter.text_bytes.value;
  const Place place = first_known({counter.text_bytes.place, place_of(counter)});
  if (!is_text && bytes != 0) {
    problems.add(place, fmt::format("{} is not a text and has text_bytes", which(counter)),
                 fmt::format("leave it out, or say  type = \"{}\"", text));
  } else if (is_text && (bytes == 0 || bytes > kTextBytesMax)) {
    problems.add(place, fmt::format("text_bytes of {} is {}", which(counter), bytes),
                 fmt::format("1 to {}: the longest text it can hold", kTextBytesMax));
  } else if (!is_text && width_of(counter.type.value) == 0) {
    problems.add(place_of(counter),
                 fmt::format("{} has the type {}, which carries no value", which(counter),
                             type_word(language, counter.type.value)),
                 "take a type with a value, or leave the counter out");
  }
}

void check_number(const Counter& counter, Language language, Problems& problems) {
  const ValueForm form = counter.form.value;
  if ((form == ValueForm::kSigned || form == ValueForm::kReal) && !is_raw(counter)) {
    problems.add(place_of(counter),
                 fmt::format("{} of type {} cannot be {}", which(counter),
                             type_word(language, counter.type.value),
                             form == ValueForm::kReal ? "real" : "signed"),
                 fmt::format("only {} can: the formulas of the other types are about counts",
                             type_word(language, CounterType::kLargeRawCount)));
  }
}

void check_distribution(const Counter& counter, Problems& problems) {
  const BucketSpec& buckets = counter.buckets.value;
  const Place place = first_known({counter.buckets.place, place_of(counter)});
  if (counter.form.value != ValueForm::kDistribution) {
    if (!counter.buckets.is_said()) return;
    problems.add(place, fmt::format("{} is not a distribution and has buckets", which(counter)),
                 "leave them out, or say  type = \"histogram\"");
    return;
  }
  if (!is_raw(counter) && counter.type.value != CounterType::kBulkCount) {
    problems.add(place_of(counter),
                 fmt::format("{} is a distribution of a type that has none", which(counter)),
                 "say  type = \"histogram\"");
  }
  if (!counter.buckets.is_said() && buckets.most == 0) {
    problems.add(place, which(counter) + " is a distribution without buckets",
                 "say  buckets = { least = 1e-6, most = 10.0 }  with the values to tell apart");
  } else if (buckets.scale < kScaleMin || buckets.scale > kScaleMax) {
    problems.add(place,
                 fmt::format("the buckets of {} have the scale {}", which(counter), buckets.scale),
                 fmt::format("{} to {}; 3 tells values apart that differ by 9 percent", kScaleMin,
                             kScaleMax));
  } else if (!DistributionShape::of(buckets.scale, buckets.least, buckets.most, UINT32_MAX)) {
    problems.add(place, fmt::format("the buckets of {} have no range", which(counter)),
                 "0 < least <= most, and most is finite; smaller values are counted as such");
  } else if (!DistributionShape::of(buckets.scale, buckets.least, buckets.most, kBucketsMax)) {
    problems.add(place, fmt::format("{} has more than {} buckets", which(counter), kBucketsMax),
                 "take a smaller scale, or values that are closer together");
  }
}

void check_counter(const Manifest& manifest, const Counterset& set, const Counter& counter,
                   Problems& problems) {
  check_text(counter, manifest.language, problems);
  check_number(counter, manifest.language, problems);
  check_distribution(counter, problems);
  const ValueForm form = counter.form.value;
  const bool is_text = form == ValueForm::kText;
  const bool is_distribution = form == ValueForm::kDistribution;
  const bool is_timed = counter.timed.value;
  const bool is_block = set.consistency.value == Consistency::kBlock;
  const Place timed = first_known({counter.timed.place, counter.place});
  if (is_timed && !is_text && (is_distribution || !is_raw(counter))) {
    problems.add(timed, fmt::format("{} is counted, and only what is set is timed", which(counter)),
                 fmt::format("leave out `timed`, or say  type = \"{}\"",
                             type_word(manifest.language, CounterType::kLargeRawCount)));
  }
  if (!is_block && (is_text || is_distribution || is_timed)) {
    problems.add(
        is_timed ? timed : place_of(counter),
        fmt::format("{} has more than one word, and its set is independent", which(counter)),
        "texts, distributions and timed values need  consistency = \"block\"");
  }
  if (is_block && counter.any_thread.value) {
    problems.add(first_known({counter.any_thread.place, counter.place}),
                 fmt::format("{} is for any thread, and the blocks of its set have one writer",
                             which(counter)),
                 "say  consistency = \"independent\"  for the set, or  sharded = true  instead");
  }
  if (counter.scale.value < -10 || counter.scale.value > 10) {
    problems.add(first_known({counter.scale.place, counter.place}),
                 fmt::format("{} of {} is {}", word_of(manifest.language, "defaultScale", "scale"),
                             which(counter), counter.scale.value),
                 "-10 to 10: the power of ten by which tools multiply what they show");
  }
}

// Shards are joined by adding, or by their minimum or maximum.
void check_join(const Counter& counter, Problems& problems) {
  const ValueForm form = counter.form.value;
  const bool is_distribution = form == ValueForm::kDistribution;
  if (counter.timed.value || (form != ValueForm::kUnsigned && !is_distribution)) {
    problems.add(
        counter.timed.value ? first_known({counter.timed.place, counter.place}) : place_of(counter),
        which(counter) + " is a value that is set, and several threads cannot set one",
        "only counts and distributions can be sharded: move it to a set of its own");
    return;
  }
  const std::uint32_t aggregate = counter.aggregate.value;
  const bool has_join = aggregate == kAggregateSum || aggregate == kAggregateMinimum ||
                        aggregate == kAggregateMaximum;
  if (is_distribution || is_count(counter.type.value) || has_join) return;
  problems.add(first_known({counter.aggregate.place, counter.type.place, counter.place}),
               which(counter) + " is set, not counted, and nothing says how its shards are joined",
               "say  aggregate = \"sum\", \"min\" or \"max\"");
}

void check_shards(const Counterset& set, Problems& problems) {
  if (!is_sharded(set)) {
    if (set.by_processor.value) {
      problems.add(set.by_processor.place, which(set) + " is by_processor, and it is not sharded",
                   "say  sharded = true  too");
    }
    return;
  }
  if (set.shards.value >= kShardsMax) {
    problems.add(first_known({set.shards.place, set.place}),
                 fmt::format("{} has {} shards", which(set), set.shards.value),
                 fmt::format("at most {}", kShardsMax - 1));
  }
  if (set.stamped.value) {
    problems.add(first_known({set.stamped.place, set.place}),
                 which(set) + " is sharded and stamped, and its threads know no common moment",
                 "leave out `stamped`, or let one thread write");
  }
  if (set.cuts.value) {
    problems.add(first_known({set.cuts.place, set.place}),
                 which(set) + " is sharded, and has no cuts: its shards are joined as they are met",
                 "leave out `cuts`, or let one thread write");
  }
  if (set.many.value) {
    problems.add(first_known({set.many.place, set.place}),
                 which(set) +
                     " is sharded, so each instance has a block for each thread, and "
                     "`many` is for small ones",
                 "leave out `many`, or let one thread write");
  }
  for (const Counter& counter : set.counters) check_join(counter, problems);
}

}  // namespace

void check_forms(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  if (counterset.counters.empty()) {
    problems.add(counterset.place, which(counterset) + " has no counters",
                 "a counterset has at least one");
  }
  if (counterset.counters.size() > kCountersMax) {
    problems.add(counterset.counters[kCountersMax].place,
                 fmt::format("{} has {} counters, {} are the most", which(counterset),
                             counterset.counters.size(), kCountersMax),
                 "divide it into several sets");
  }
  for (const Counter& counter : counterset.counters) {
    check_counter(manifest, counterset, counter, problems);
  }
  if (counterset.cuts.value && counterset.consistency.value != Consistency::kBlock) {
    problems.add(first_known({counterset.cuts.place, counterset.place}),
                 which(counterset) + " has cuts, and its counters have no commits",
                 "cuts need  consistency = \"block\"");
  }
  check_shards(counterset, problems);
}

}  // namespace meterbank::generator
