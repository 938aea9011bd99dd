// SPDX-License-Identifier: Apache-2.0
#include "counterset_rules.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// The words of a set of rows that were answered, which have a time stamp behind all others.
constexpr std::uint32_t kWordsMax = kBlockWordsMax + 1;

using Rule = const char*;  // one that is broken; null: none is

bool is_name(std::string_view text) noexcept {
  return text.size() <= kNameBytesMax && is_valid_utf8(text);
}

bool is_text(std::string_view text) noexcept {
  return text.size() <= kSchemaBytesMax && is_valid_utf8(text);
}

bool is_link(const Counterset& set, std::uint32_t word) noexcept {
  return word == kNoCounter || word < set.counters.size();
}

// Whether its further words lie behind those of all counters, and are as many as its form takes.
bool has_its_words(const Counterset& set, const CounterView& counter) noexcept {
  if (counter.more_words > set.form.words) return false;
  if (counter.more > set.form.words - counter.more_words) return false;
  if (counter.more_words != 0 && counter.more < set.counters.size()) return false;
  const std::uint32_t time = counter.timed ? 1 : 0;
  if (counter.more_words < time) return false;
  const std::uint32_t others = counter.more_words - time;
  switch (counter.form) {
    case ValueForm::kUnsigned:  // further words of a newer writer mean nothing
      return true;
    case ValueForm::kSigned:
    case ValueForm::kReal:
      return others == 0;
    case ValueForm::kText:
      return others >= 1 && others <= kTextBytesMax / 8;
    case ValueForm::kDistribution:
      return others > DistributionShape::kBuckets && is_sound(counter.shape) &&
             others == counter.shape.more_words();
  }
  return false;
}

Rule broken_by(const Counterset& set, const CounterView& counter) {
  if (counter.id == kNoCounter) return "id";
  if (counter.scale < -kDisplayScaleMax || counter.scale > kDisplayScaleMax) return "scale";
  if (counter.aggregate > kAggregateMaximum) return "aggregate";
  if (counter.joined_by > kAggregateMaximum) return "joined_by";
  if (!is_name(counter.name)) return "name";
  if (!is_name(counter.symbol)) return "symbol";
  if (!is_name(counter.unit)) return "unit";
  if (!is_text(counter.help)) return "help text";
  if (counter.name.empty() && counter.symbol.empty() && !is_base(counter.type)) {
    return "neither name nor symbol";
  }
  if (!is_link(set, counter.base)) return "base";
  if (!is_link(set, counter.time)) return "object clock";
  if (!is_link(set, counter.frequency)) return "clock frequency";
  if (!is_link(set, counter.multi)) return "component count";
  return has_its_words(set, counter) ? nullptr : "words";
}

Rule broken_by(const Counterset& set) {
  if (set.name.empty() || !is_name(set.name)) return "name";
  if (!is_name(set.symbol)) return "symbol";
  if (!is_name(set.label)) return "label";
  if (!is_text(set.help)) return "help text";
  if (!is_known(set.instances)) return "kind of instances";
  const bool has_identity =
      set.identity == InstanceIdentity::kUnique ||
      (set.identity == InstanceIdentity::kNameAndId && has_instance_names(set.instances));
  if (!has_identity) return "identity of instances";
  const bool has_consistency =
      set.consistency == Consistency::kBlock || set.consistency == Consistency::kIndependent;
  if (!has_consistency) return "consistency";
  if (set.counters.empty() || set.counters.size() > kCountersMax) return "number of counters";
  if (set.form.words < set.counters.size() || set.form.words > kWordsMax) return "words";
  const bool has_stamp = set.stamp_word == kNoCounter ||
                         (set.stamp_word < set.form.words && set.stamp_word >= set.counters.size());
  if (!has_stamp) return "word of the time stamp";
  std::vector<std::uint32_t> ids;
  ids.reserve(set.counters.size());
  for (const CounterView& counter : set.counters) ids.push_back(counter.id);
  std::sort(ids.begin(), ids.end());
  const bool are_different = std::adjacent_find(ids.begin(), ids.end()) == ids.end();
  return are_different ? nullptr : "two counters have one id";
}

}  // namespace

bool is_sound(const DistributionShape& shape) noexcept {
  if (shape.scale < kScaleMin || shape.scale > kScaleMax) return false;
  const std::int32_t lowest = bucket_index(std::numeric_limits<double>::denorm_min(), shape.scale);
  const std::int32_t highest = bucket_index(std::numeric_limits<double>::max(), shape.scale);
  return shape.buckets <= kBucketsMax && shape.first >= lowest && shape.first <= highest &&
         shape.buckets - 1 <= static_cast<std::uint32_t>(highest - shape.first);
}

Result<void> check_counterset(const Counterset& set) {
  Rule rule = broken_by(set);
  for (std::uint32_t word = 0; rule == nullptr && word < set.counters.size(); ++word) {
    const CounterView& counter = set.counters[word];
    rule = counter.word == word ? broken_by(set, counter) : "word";
  }
  if (rule == nullptr) return {};
  return fail(ErrorCode::kCorrupt,
              "counterset '" + escape_for_terminal(set.name) + "' does not hold together: " + rule);
}

}  // namespace meterbank
