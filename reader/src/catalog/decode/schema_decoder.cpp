// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/schema_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "counterset_rules.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kCounterBytesMax = 4096;  // of one record of a newer writer

class SchemaDecoder {
 public:
  explicit SchemaDecoder(std::span<const std::byte> bytes) noexcept
      : bytes_(bytes), text_left_(kSchemaTextFactor * bytes.size()) {}

  Result<Counterset> decode(const BlockForm& form);

 private:
  using Fault = const char*;  // null: none

  [[nodiscard]] Fault decode_header(const BlockForm& form);
  [[nodiscard]] Fault decode_counter(std::uint32_t word, CounterView& counter);
  [[nodiscard]] bool decode_form(const CounterRecord& from, CounterView& counter);
  [[nodiscard]] Fault resolve_links();
  void pass_aggregates_on();
  [[nodiscard]] bool take_text(TextRef ref, std::size_t bytes_max, std::string& text);
  [[nodiscard]] CounterRecord record(std::uint32_t word) const noexcept;

  std::span<const std::byte> bytes_;
  std::uint64_t text_left_;
  SchemaHeader header_{};
  std::uint32_t more_ = 0;  // words that are taken, of counters so far
  Counterset set_;
};

bool SchemaDecoder::take_text(TextRef ref, std::size_t bytes_max, std::string& text) {
  if (ref.offset > bytes_.size()) return false;
  if (bytes_.size() - ref.offset < ref.bytes) return false;
  if (ref.bytes > bytes_max) return false;
  if (ref.bytes > text_left_) return false;
  text_left_ -= ref.bytes;
  text.assign(reinterpret_cast<const char*>(bytes_.data()) + ref.offset, ref.bytes);
  if (!is_valid_utf8(text)) text = repair_utf8(text, bytes_max).text;
  return true;
}

CounterRecord SchemaDecoder::record(std::uint32_t word) const noexcept {
  CounterRecord record;
  std::memcpy(&record,
              bytes_.data() + sizeof(SchemaHeader) + std::size_t{word} * header_.counter_bytes,
              sizeof record);
  return record;
}

SchemaDecoder::Fault SchemaDecoder::decode_header(const BlockForm& form) {
  if (bytes_.size() < sizeof header_) return "shorter than its header";
  std::memcpy(&header_, bytes_.data(), sizeof header_);
  if (header_.bytes != bytes_.size()) return "its size contradicts its registration";
  if (header_.counters == 0 || header_.counters > kCountersMax) return "number of counters";
  const bool record_fits =
      header_.counter_bytes >= sizeof(CounterRecord) && header_.counter_bytes <= kCounterBytesMax;
  if (!record_fits) return "size of a counter record";
  const std::uint64_t records = std::uint64_t{header_.counters} * header_.counter_bytes;
  if (bytes_.size() - sizeof header_ < records) return "counter records exceed the schema";
  if (!is_known(static_cast<InstanceKind>(header_.instances))) return "kind of instances";
  if (header_.counters > form.words) return "words of a block contradict the counters";
  if ((header_.flags & kSchemaStamped) != 0 && form.sharded()) return "stamped and sharded";

  set_.guid = header_.guid;
  set_.provider_guid = header_.provider_guid;
  set_.instances = static_cast<InstanceKind>(header_.instances);
  // Only a set with names can let them repeat, whatever else it says.
  if ((header_.flags & kSchemaNameAndId) != 0 && has_instance_names(set_.instances)) {
    set_.identity = InstanceIdentity::kNameAndId;
  }
  set_.consistency = form.consistency;
  set_.form = form;
  if ((header_.flags & kSchemaStamped) != 0) set_.stamp_word = form.words - 1;
  more_ = header_.counters;
  if (!take_text(header_.name, kNameBytesMax, set_.name) || set_.name.empty()) return "name";
  if (!take_text(header_.symbol, kNameBytesMax, set_.symbol)) return "symbol";
  if (!take_text(header_.help, kSchemaBytesMax, set_.help)) return "help text";
  if (!take_text(header_.label, kNameBytesMax, set_.label)) return "label";
  return nullptr;
}

SchemaDecoder::Fault SchemaDecoder::decode_counter(std::uint32_t word, CounterView& counter) {
  const CounterRecord from = record(word);
  if (from.id == kNoCounter) return "id";
  if (from.scale < -kDisplayScaleMax || from.scale > kDisplayScaleMax) return "scale";
  counter.id = from.id;
  counter.word = word;
  counter.type = static_cast<CounterType>(from.type);
  counter.attributes = from.attributes;
  counter.scale = from.scale;
  counter.detail = from.detail;
  // An aggregation of a newer writer is one that we do not know.
  counter.aggregate = from.aggregate > kAggregateMaximum ? kAggregateUndefined : from.aggregate;
  if (!take_text(from.name, kNameBytesMax, counter.name)) return "name";
  if (!take_text(from.symbol, kNameBytesMax, counter.symbol)) return "symbol";
  // A base exists for its neighbours only and needs no name.
  if (counter.name.empty() && counter.symbol.empty() && !is_base(counter.type)) {
    return "neither name nor symbol";
  }
  if (!decode_form(from, counter)) return "form";
  if (!take_text(from.unit, kNameBytesMax, counter.unit)) return "unit";
  if (!take_text(from.help, kSchemaBytesMax, counter.help)) return "help text";
  return nullptr;
}

bool SchemaDecoder::decode_form(const CounterRecord& from, CounterView& counter) {
  counter.timed = (from.flags & kCounterTimed) != 0;
  counter.any_thread = (from.flags & kCounterAnyThread) != 0;
  counter.more = more_;
  counter.more_words = from.more_words;
  if (from.more_words > set_.form.words - more_) return false;
  more_ += from.more_words;
  const std::uint32_t time = counter.timed ? 1 : 0;
  if (from.more_words < time) return false;
  const std::uint32_t others = from.more_words - time;
  counter.form = from.form;
  switch (from.form) {
    case ValueForm::kUnsigned:
    case ValueForm::kSigned:
    case ValueForm::kReal:
      return others == 0;
    case ValueForm::kText:
      return others >= 1 && others <= kTextBytesMax / 8;
    case ValueForm::kDistribution:
      counter.shape = {from.bucket_scale, from.bucket_first, others - DistributionShape::kBuckets};
      return others > DistributionShape::kBuckets && is_sound(counter.shape);
  }
  // Of a newer writer: its first word is a number, of which we know no more.
  counter.form = ValueForm::kUnsigned;
  return true;
}

SchemaDecoder::Fault SchemaDecoder::resolve_links() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> words_by_id;
  words_by_id.reserve(set_.counters.size());
  for (const CounterView& counter : set_.counters)
    words_by_id.emplace_back(counter.id, counter.word);
  std::sort(words_by_id.begin(), words_by_id.end());
  const auto same_id = [](const auto& left, const auto& right) {
    return left.first == right.first;
  };
  if (std::adjacent_find(words_by_id.begin(), words_by_id.end(), same_id) != words_by_id.end()) {
    return "two counters have one id";
  }
  const auto resolve = [&words_by_id](std::uint32_t id, std::uint32_t& word) {
    if (id == kNoCounter) return true;
    const auto found =
        std::lower_bound(words_by_id.begin(), words_by_id.end(), std::pair{id, std::uint32_t{0}});
    if (found == words_by_id.end() || found->first != id) return false;
    word = found->second;
    return true;
  };
  for (CounterView& counter : set_.counters) {
    const CounterRecord from = record(counter.word);
    if (!resolve(from.base, counter.base)) return "base of a counter";
    if (!resolve(from.time, counter.time)) return "object clock of a counter";
    if (!resolve(from.frequency, counter.frequency)) return "clock frequency of a counter";
    if (!resolve(from.multi, counter.multi)) return "component count of a counter";
  }
  return nullptr;
}

void SchemaDecoder::pass_aggregates_on() {
  for (CounterView& counter : set_.counters) counter.joined_by = counter.aggregate;
  for (const CounterView& counter : set_.counters) {
    for (const std::uint32_t link :
         {counter.base, counter.time, counter.frequency, counter.multi}) {
      if (link == kNoCounter) continue;
      std::uint32_t& joined_by = set_.counters[link].joined_by;
      if (joined_by == kAggregateUndefined) joined_by = counter.aggregate;
    }
  }
}

Result<Counterset> SchemaDecoder::decode(const BlockForm& form) {
  if (Fault fault = decode_header(form); fault != nullptr) {
    return fail(ErrorCode::kCorrupt, std::string("schema: ") + fault);
  }
  set_.counters.resize(header_.counters);
  for (std::uint32_t word = 0; word < header_.counters; ++word) {
    if (Fault fault = decode_counter(word, set_.counters[word]); fault != nullptr) {
      return fail(ErrorCode::kCorrupt, "schema of '" + escape_for_terminal(set_.name) +
                                           "', counter " + std::to_string(word) + ": " + fault);
    }
  }
  const std::uint32_t stamps = set_.stamp_word != kNoCounter ? 1 : 0;
  if (more_ + stamps != set_.form.words) {
    return fail(ErrorCode::kCorrupt, "schema of '" + escape_for_terminal(set_.name) +
                                         "': words of a block contradict the counters");
  }
  if (form.sharded()) {
    set_.joins.assign(form.words, ShardJoin::kSum);
    for (const CounterView& counter : set_.counters) {
      if (counter.form == ValueForm::kDistribution) {
        set_joins(set_.joins, counter.more);
      } else {
        set_.joins[counter.word] = join_of(counter.type, counter.aggregate);
      }
    }
  }
  if (Fault fault = resolve_links(); fault != nullptr) {
    return fail(ErrorCode::kCorrupt,
                "schema of '" + escape_for_terminal(set_.name) + "': " + fault);
  }
  pass_aggregates_on();
  return std::move(set_);
}

}  // namespace

Result<Counterset> decode_schema(std::span<const std::byte> bytes, const BlockForm& form) {
  if (bytes.size() > kSchemaBytesMax) return fail(ErrorCode::kCorrupt, "schema: larger than 1 MiB");
  return SchemaDecoder(bytes).decode(form);
}

}  // namespace meterbank
