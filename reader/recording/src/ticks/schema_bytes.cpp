// SPDX-License-Identifier: Apache-2.0
#include "schema_bytes.hpp"

#include <cstring>
#include <map>
#include <vector>

#include "meterbank/reader/schema_decoder.hpp"

namespace meterbank::recording {
namespace {

// Equal texts share their bytes.
class Texts {
 public:
  explicit Texts(std::size_t offset) : offset_(offset) {}

  [[nodiscard]] TextRef ref(const std::string& text) {
    const auto [known, is_new] =
        known_.emplace(text, static_cast<std::uint32_t>(offset_ + text_.size()));
    if (is_new) text_ += text;
    return {known->second, static_cast<std::uint32_t>(text.size())};
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::size_t offset_;
  std::string text_;
  std::map<std::string, std::uint32_t> known_;
};

std::uint32_t id_at(const Counterset& set, std::uint32_t word) {
  return word == kNoCounter ? kNoCounter : set.counters[word].id;
}

// A form that this version does not know: the decoder makes a number of it, and skips its words.
constexpr auto kNewerForm = static_cast<ValueForm>(0xffffffff);

ValueForm form_of(const CounterView& counter) {
  const bool has_unknown_words =
      counter.form == ValueForm::kUnsigned && counter.more_words > (counter.timed ? 1U : 0U);
  return has_unknown_words ? kNewerForm : counter.form;
}

CounterRecord record_of(const Counterset& set, const CounterView& counter, bool with_help,
                        Texts& texts) {
  CounterRecord record{};
  record.id = counter.id;
  record.type = static_cast<std::uint32_t>(counter.type);
  record.attributes = counter.attributes;
  record.scale = counter.scale;
  record.detail = counter.detail;
  record.base = id_at(set, counter.base);
  record.time = id_at(set, counter.time);
  record.frequency = id_at(set, counter.frequency);
  record.multi = id_at(set, counter.multi);
  record.aggregate = counter.aggregate;
  record.form = form_of(counter);
  record.name = texts.ref(counter.name);
  record.symbol = texts.ref(counter.symbol);
  record.unit = texts.ref(counter.unit);
  if (with_help) record.help = texts.ref(counter.help);
  record.more_words = counter.more_words;
  record.flags = (counter.timed ? kCounterTimed : 0) | (counter.any_thread ? kCounterAnyThread : 0);
  record.bucket_scale = counter.shape.scale;
  record.bucket_first = counter.shape.first;
  return record;
}

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

SchemaBytes encode(const Counterset& set, bool with_help) {
  const std::size_t records = set.counters.size() * sizeof(CounterRecord);
  Texts texts(sizeof(SchemaHeader) + records);
  SchemaHeader header{};
  header.counters = static_cast<std::uint32_t>(set.counters.size());
  header.counter_bytes = sizeof(CounterRecord);
  header.instances = static_cast<std::uint32_t>(set.instances);
  header.guid = set.guid;
  header.provider_guid = set.provider_guid;
  header.name = texts.ref(set.name);
  header.symbol = texts.ref(set.symbol);
  if (with_help) header.help = texts.ref(set.help);
  header.label = texts.ref(set.label);
  const bool is_stamped = set.stamp_word != kNoCounter;
  header.flags = (is_stamped ? kSchemaStamped : 0) |
                 (set.identity == InstanceIdentity::kNameAndId ? kSchemaNameAndId : 0);
  SchemaBytes schema;
  schema.words = header.counters + (is_stamped ? 1 : 0);
  std::string counters;
  counters.reserve(records);
  for (const CounterView& counter : set.counters) {
    append(counters, record_of(set, counter, with_help, texts));
    schema.words += counter.more_words;
  }
  header.bytes = static_cast<std::uint32_t>(sizeof header + records + texts.text().size());
  append(schema.bytes, header);
  schema.bytes += counters;
  schema.bytes += texts.text();
  schema.consistency = set.consistency;
  schema.stamp_word = set.stamp_word;
  return schema;
}

}  // namespace

Guid hash_of(std::string_view bytes, Consistency consistency, std::uint32_t words) {
  return Guid::from_name(
      std::to_string(words) + ' ' + std::to_string(static_cast<std::uint32_t>(consistency)), bytes);
}

SchemaBytes schema_bytes_of(const Counterset& set) {
  SchemaBytes schema = encode(set, true);
  // Texts of a provider's schema may share their bytes in ways that ours do not.
  if (schema.bytes.size() > kSchemaBytesMax) schema = encode(set, false);
  return schema;
}

Result<Counterset> recorded_set(std::span<const std::byte> bytes, Consistency consistency,
                                std::uint32_t words) {
  return decode_schema(bytes, BlockForm{words, 1, consistency});
}

}  // namespace meterbank::recording
