// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/schema.hpp"

#include <cstring>
#include <set>
#include <string>
#include <unordered_set>

#include "meterbank/shm/case_fold.hpp"
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

Result<void> check_counter(const CountersetSpec& spec, const CounterSpec& counter,
                           const std::set<std::uint32_t>& ids) {
  const std::string which = "counter " + std::to_string(counter.id) + ": ";
  if (width_of(counter.type) == 0) return broken(spec, which + "its type carries no number");
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

Result<void> check(const CountersetSpec& spec) {
  if (!check_name(spec.name, NameKind::kCounterset).ok()) {
    return fail(ErrorCode::kBadName, "counterset name '" + std::string(spec.name) + "'",
                "1 to 1023 bytes of UTF-8 without control characters");
  }
  if (!is_symbol(spec.symbol)) return broken(spec, "symbol missing or not an identifier");
  if (!is_text(spec.help) || !is_text(spec.label)) return broken(spec, "bad help or label");
  if (spec.counters.empty()) return broken(spec, "no counters");
  if (spec.counters.size() + (spec.stamped ? 1 : 0) > kCountersMax) {
    return broken(spec, "more than " + std::to_string(kCountersMax) + " counters");
  }
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
  return {};
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
  record.name = pool.add(counter.name);
  record.symbol = pool.add(counter.symbol);
  record.unit = pool.add(counter.unit);
  record.help = pool.add(counter.help);
  return record;
}

}  // namespace

BlockForm form_of(const CountersetSpec& spec) noexcept {
  const bool independent = spec.consistency == Consistency::kIndependent;
  return {.words = static_cast<std::uint32_t>(spec.counters.size()) + (spec.stamped ? 1U : 0U),
          .lanes = spec.many ? 8U : 1U,
          .consistency = spec.consistency,
          .checkpoint = (spec.checkpoint || spec.cuts) && !independent ? 1U : 0U,
          .cut_pair = spec.cuts && !independent ? 1U : 0U};
}

Result<std::vector<std::byte>> encode_schema(const CountersetSpec& spec,
                                             std::string_view provider_name) {
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
  header.flags = spec.stamped ? kSchemaStamped : 0;
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
}

}  // namespace meterbank
