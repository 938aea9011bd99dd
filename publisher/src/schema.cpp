// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/schema.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>

#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/distribution.hpp"
#include "meterbank/shm/names.hpp"

namespace meterbank {
namespace {

tl::unexpected<Error> broken(const CountersetSpec& spec, const std::string& rule) {
  return fail(ErrorCode::kInvalidArgument, "counterset '" + std::string(spec.name) + "': " + rule,
              "correct the schema");
}

bool is_symbol(std::string_view text) noexcept {
  if (text.empty() || text.size() > kNameBytesMax) return false;
  for (const char c : text) {
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) {
      return false;
    }
  }
  return true;
}

// Only for text that people read: no rule but its size and encoding.
bool is_text(std::string_view text) noexcept {
  return text.empty() || check_name(text, NameKind::kCounter).ok();
}

using FoldedSet = std::unordered_set<std::string_view, FoldedHash, FoldedEqual>;

std::optional<DistributionShape> shape_of(const CounterSpec& counter) noexcept {
  const BucketSpec& buckets = counter.buckets;
  return DistributionShape::of(buckets.scale, buckets.least, buckets.most, kBucketsMax);
}

// Behind the words of all counters.
std::uint32_t more_words_of(const CounterSpec& counter) noexcept {
  const std::uint32_t time = counter.timed ? 1 : 0;
  if (counter.form == ValueForm::kText) return (counter.text_bytes + 7) / 8 + time;
  if (counter.form != ValueForm::kDistribution) return time;
  const auto shape = shape_of(counter);
  return shape ? shape->more_words() : 0;
}

std::uint64_t words_of(const CountersetSpec& spec) noexcept {
  std::uint64_t words = spec.counters.size() + (spec.stamped ? 1 : 0);
  for (const CounterSpec& counter : spec.counters) words += more_words_of(counter);
  return words;
}

// What the words of a counter are has to fit its type and its set.
Result<void> check_form(const CountersetSpec& spec, const CounterSpec& counter,
                        const std::string& which) {
  const bool is_block = spec.consistency == Consistency::kBlock;
  const bool is_raw = counter.type == CounterType::kLargeRawCount;
  const bool is_text = counter.form == ValueForm::kText;
  if (is_text != (counter.type == CounterType::kText)) {
    return broken(spec, which + "the form kText and the type kText go together");
  }
  if (is_text != (counter.text_bytes != 0) || counter.text_bytes > kTextBytesMax) {
    return broken(spec, which + "text_bytes is 1..256 for a text, and nothing else has any");
  }
  if (!is_text && width_of(counter.type) == 0) {
    return broken(spec, which + "its type carries no number");
  }
  switch (counter.form) {
    case ValueForm::kUnsigned:
    case ValueForm::kText:
      break;
    case ValueForm::kSigned:
    case ValueForm::kReal:
      if (!is_raw)
        return broken(spec, which + "signed and real values have the type kLargeRawCount");
      break;
    case ValueForm::kDistribution:
      if (!is_raw && counter.type != CounterType::kBulkCount) {
        return broken(spec, which + "a distribution has the type kBulkCount or kLargeRawCount");
      }
      if (!shape_of(counter)) {
        return broken(spec, which + "buckets: 0 < least <= most, scale in -4..8, and at most " +
                                std::to_string(kBucketsMax) + " of them: take a smaller scale");
      }
      if (counter.timed) return broken(spec, which + "a distribution cannot be timed");
      break;
    default:
      return broken(spec, which + "unknown form");
  }
  if (more_words_of(counter) != 0 && !is_block) {
    return broken(spec, which + "texts, distributions and timed values need Consistency::kBlock");
  }
  if (counter.timed && !is_text && !is_raw) {
    return broken(spec, which + "only raw counts and texts can be timed");
  }
  if (counter.any_thread && is_block) {
    return broken(spec, which + "any_thread needs Consistency::kIndependent");
  }
  return {};
}

Result<void> check_counter(const CountersetSpec& spec, const CounterSpec& counter,
                           const std::set<std::uint32_t>& ids) {
  const std::string which = "counter " + std::to_string(counter.id) + ": ";
  if (auto good = check_form(spec, counter, which); !good) return good;
  if (counter.name.empty() ? !is_base(counter.type)
                           : !check_name(counter.name, NameKind::kCounter).ok()) {
    return broken(spec, which + "bad name (only base counters may have none)");
  }
  if (!counter.symbol.empty() && !is_symbol(counter.symbol)) {
    return broken(spec, which + "a symbol has letters, digits and underscores only");
  }
  if (counter.symbol.empty() && !is_base(counter.type)) {
    return broken(spec, which + "symbol missing");
  }
  if (!is_text(counter.unit) || !is_text(counter.help)) {
    return broken(spec, which + "unit or help is not plain UTF-8 of at most 1023 bytes");
  }
  if (counter.scale < -10 || counter.scale > 10)
    return broken(spec, which + "scale not in -10..10");
  if (counter.aggregate > kAggregateMaximum) return broken(spec, which + "unknown aggregate");
  for (const std::uint32_t link : {counter.base, counter.time, counter.frequency, counter.multi}) {
    if (link != kNoCounter && !ids.contains(link)) {
      return broken(spec, which + "linked counter " + std::to_string(link) + " does not exist");
    }
  }
  return {};
}

bool is_sharded(const CountersetSpec& spec) noexcept { return spec.sharded || spec.shards != 0; }

// Twice the processors, so that few threads meet in the shared shard.
std::uint32_t default_shards() noexcept {
  constexpr std::uint32_t kFewest = 4;
  constexpr std::uint32_t kMost = 64;
  const std::uint32_t processors = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp(std::bit_ceil(std::min(kMost, 2 * processors)), kFewest, kMost);
}

// Shards are joined by adding, or by their minimum or maximum. What was set last is no such thing.
Result<void> check_sharded(const CountersetSpec& spec) {
  const auto refuse = [&spec](const std::string& why, std::string remedy) {
    return fail(ErrorCode::kInvalidArgument, "counterset '" + std::string(spec.name) + "': " + why,
                std::move(remedy));
  };
  if (spec.shards >= kShardsMax) {
    return refuse(std::to_string(spec.shards) + " shards",
                  "at most " + std::to_string(kShardsMax - 1));
  }
  if (spec.stamped) {
    return refuse("a sharded set cannot be stamped, its threads know no common moment",
                  "leave out `stamped`, or let one thread write");
  }
  if (spec.cuts) {
    return refuse("a sharded set has no cuts: its shards are joined as they are met",
                  "leave out `cuts`, or let one thread write");
  }
  if (spec.many) {
    return refuse("a sharded set cannot have `many` instances, each has a block for each thread",
                  "leave out `many`, or let one thread write");
  }
  for (const CounterSpec& counter : spec.counters) {
    const bool has_join = counter.aggregate == kAggregateSum ||
                          counter.aggregate == kAggregateMinimum ||
                          counter.aggregate == kAggregateMaximum;
    const bool is_distribution = counter.form == ValueForm::kDistribution;
    if (counter.timed || (counter.form != ValueForm::kUnsigned && !is_distribution)) {
      return refuse("counter " + std::to_string(counter.id) +
                        " is a value that is set, and several threads cannot set one",
                    "only plain counts and distributions can be sharded");
    }
    if (is_distribution || is_count(counter.type) || has_join) continue;
    return refuse("counter " + std::to_string(counter.id) +
                      " is set, not counted, and several threads cannot set one value",
                  "CounterSpec::aggregate of sum, minimum or maximum says how shards are joined");
  }
  return {};
}

Result<void> check(const CountersetSpec& spec) {
  if (!check_name(spec.name, NameKind::kCounterset).ok()) {
    return fail(ErrorCode::kBadName, "counterset name '" + std::string(spec.name) + "'",
                "1 to 1023 bytes of UTF-8 without control characters");
  }
  if (!is_symbol(spec.symbol)) return broken(spec, "symbol missing or not an identifier");
  if (!is_text(spec.help) || !is_text(spec.label)) return broken(spec, "bad help or label");
  if (spec.counters.empty()) return broken(spec, "no counters");
  if (spec.counters.size() > kCountersMax) {
    return broken(spec, "more than " + std::to_string(kCountersMax) + " counters");
  }
  if (spec.identity > InstanceIdentity::kNameAndId) return broken(spec, "unknown identity");
  if (spec.cuts && spec.consistency != Consistency::kBlock) {
    return broken(spec, "cuts need block consistency: independent counters have no commits");
  }
  std::set<std::uint32_t> ids;
  FoldedSet names;
  FoldedSet symbols;
  for (const CounterSpec& counter : spec.counters) {
    if (counter.id == kNoCounter || !ids.insert(counter.id).second) {
      return broken(spec, "counter id " + std::to_string(counter.id) + " reserved or used twice");
    }
    if (!counter.name.empty() && !names.insert(counter.name).second) {
      return broken(spec, "counter name '" + std::string(counter.name) + "' used twice");
    }
    if (!counter.symbol.empty() && !symbols.insert(counter.symbol).second) {
      return broken(spec, "counter symbol '" + std::string(counter.symbol) + "' used twice");
    }
  }
  for (const CounterSpec& counter : spec.counters) {
    if (auto good = check_counter(spec, counter, ids); !good) return good;
  }
  if (words_of(spec) > kBlockWordsMax) {
    return broken(spec, "its instances need " + std::to_string(words_of(spec)) + " words, " +
                            std::to_string(kBlockWordsMax) +
                            " are the most: fewer counters or coarser distributions");
  }
  return is_sharded(spec) ? check_sharded(spec) : Result<void>();
}

std::uint32_t flags_of(const CountersetSpec& spec) noexcept {
  return (spec.stamped ? kSchemaStamped : 0) |
         (identity_of(spec) == InstanceIdentity::kNameAndId ? kSchemaNameAndId : 0);
}

// Appends strings behind the records and says where they lie.
class TextPool {
 public:
  explicit TextPool(std::size_t offset) noexcept : offset_(offset) {}
  TextRef add(std::string_view text) {
    const TextRef ref{static_cast<std::uint32_t>(offset_ + text_.size()),
                      static_cast<std::uint32_t>(text.size())};
    text_ += text;
    return ref;
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::size_t offset_;
  std::string text_;
};

CounterRecord record_of(const CounterSpec& counter, TextPool& pool) {
  CounterRecord record{};
  record.id = counter.id;
  record.type = bits_of(counter.type);
  record.attributes = counter.attributes;
  record.scale = counter.scale;
  record.detail = counter.detail;
  record.base = counter.base;
  record.time = counter.time;
  record.frequency = counter.frequency;
  record.multi = counter.multi;
  record.aggregate = counter.aggregate;
  record.form = counter.form;
  record.more_words = more_words_of(counter);
  record.flags = (counter.timed ? kCounterTimed : 0) | (counter.any_thread ? kCounterAnyThread : 0);
  if (counter.form == ValueForm::kDistribution) {
    const auto shape = shape_of(counter);
    record.bucket_scale = shape->scale;
    record.bucket_first = shape->first;
  }
  record.name = pool.add(counter.name);
  record.symbol = pool.add(counter.symbol);
  record.unit = pool.add(counter.unit);
  record.help = pool.add(counter.help);
  return record;
}

}  // namespace

InstanceIdentity identity_of(const CountersetSpec& spec) noexcept {
  return has_instance_names(spec.instances) ? spec.identity : InstanceIdentity::kUnique;
}

BlockForm form_of(const CountersetSpec& spec) noexcept {
  const bool independent = spec.consistency == Consistency::kIndependent;
  const std::uint32_t chosen = spec.shards != 0 ? spec.shards : default_shards();
  const std::uint32_t shards = is_sharded(spec) ? chosen + 1 : 1;  // one that threads share
  return {.words = static_cast<std::uint32_t>(words_of(spec)),
          .lanes = spec.many ? 8U : 1U,
          .consistency = spec.consistency,
          .checkpoint = (spec.checkpoint || spec.cuts) && !independent ? 1U : 0U,
          .cut_pair = spec.cuts && !independent ? 1U : 0U,
          .shards = shards};
}

Result<void> check_callback(const CountersetSpec& spec) {
  return report_no_memory([&]() -> Result<void> {
    for (const CounterSpec& counter : spec.counters) {
      if (more_words_of(counter) == 0) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "counterset '" + std::string(spec.name) + "': counter " +
                      std::to_string(counter.id) +
                      " is more than one number, and a callback answers with one number a counter",
                  "publish it in instances of a set without a callback");
    }
    return {};
  });
}

Result<std::vector<std::byte>> encode_schema(const CountersetSpec& spec,
                                             std::string_view provider_name) {
  return report_no_memory([&]() -> Result<std::vector<std::byte>> {
    if (auto good = check(spec); !good) return tl::make_unexpected(good.error());
    const std::size_t records = spec.counters.size() * sizeof(CounterRecord);
    TextPool pool(sizeof(SchemaHeader) + records);
    SchemaHeader header{};
    header.counters = static_cast<std::uint32_t>(spec.counters.size());
    header.counter_bytes = sizeof(CounterRecord);
    header.instances = static_cast<std::uint32_t>(spec.instances);
    header.guid = spec.guid.is_zero() ? Guid::from_name(provider_name, spec.name) : spec.guid;
    header.provider_guid = spec.provider_guid;
    header.name = pool.add(spec.name);
    header.symbol = pool.add(spec.symbol);
    header.help = pool.add(spec.help);
    header.label = pool.add(spec.label);
    header.flags = flags_of(spec);
    std::vector<CounterRecord> counters;
    counters.reserve(spec.counters.size());
    for (const CounterSpec& counter : spec.counters) counters.push_back(record_of(counter, pool));
    const std::size_t bytes = sizeof header + records + pool.text().size();
    header.bytes = static_cast<std::uint32_t>(bytes);
    std::vector<std::byte> schema(bytes);
    std::memcpy(schema.data(), &header, sizeof header);
    std::memcpy(schema.data() + sizeof header, counters.data(), records);
    std::memcpy(schema.data() + sizeof header + records, pool.text().data(), pool.text().size());
    return schema;
  });
}

}  // namespace meterbank
