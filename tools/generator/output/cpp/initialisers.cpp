// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/initialisers.hpp"

#include <string_view>

#include "generator/manifest/vocabulary.hpp"
#include "generator/output/cpp/spellings.hpp"

namespace meterbank::generator {
namespace {

class Initialisers {
 public:
  void add(std::string_view field, std::string value, std::string comment = {}) {
    all_.push_back({std::string(field), std::move(value), std::move(comment)});
  }
  void add_text(std::string_view field, std::string_view text) {
    if (!text.empty()) add(field, literal(text));
  }
  template <typename T>
  void add_number(std::string_view field, T value, T usual) {
    if (value != usual) add(field, std::to_string(value));
  }
  void add_flag(std::string_view field, bool value, bool usual) {
    if (value != usual) add(field, value ? "true" : "false");
  }
  void add_constant(std::string_view field, std::string_view type, std::string_view name) {
    add(field, "meterbank::" + std::string(type) + std::string(name));
  }
  [[nodiscard]] std::vector<Initialiser> take() { return std::move(all_); }

 private:
  std::vector<Initialiser> all_;
};

std::string words_of(std::uint64_t attributes) {
  std::string words;
  for (const auto& word : kAttributeWords) {
    if ((attributes & word.value) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::string(word.toml);
  }
  return words;
}

std::string buckets_of(const BucketSpec& buckets) {
  const std::string scale =
      buckets.scale == BucketSpec().scale ? "" : ".scale = " + std::to_string(buckets.scale) + ", ";
  return "{" + scale + ".least = " + literal(buckets.least) + ", .most = " + literal(buckets.most) +
         "}";
}

std::string guid_literal(const Guid& guid) { return "\"" + guid.text() + "\"_guid"; }

}  // namespace

std::vector<Initialiser> initialisers_of(const CounterSpec& counter) {
  const CounterSpec usual;
  Initialisers all;
  all.add("id", std::to_string(counter.id));
  all.add_text("name", counter.name);
  all.add_text("symbol", counter.symbol);
  if (counter.type != usual.type) {
    all.add_constant("type", "CounterType::", enumerator_of(counter.type));
  }
  all.add_text("unit", counter.unit);
  all.add_text("help", counter.help);
  all.add_number("base", counter.base, usual.base);
  all.add_number("time", counter.time, usual.time);
  all.add_number("frequency", counter.frequency, usual.frequency);
  all.add_number("multi", counter.multi, usual.multi);
  all.add_number("scale", counter.scale, usual.scale);
  if (counter.detail != usual.detail) {
    all.add("detail", std::to_string(counter.detail), counter.detail == 200 ? "advanced" : "");
  }
  if (counter.aggregate != usual.aggregate) {
    all.add_constant("aggregate", "", aggregate_constant(counter.aggregate));
  }
  if (counter.attributes != usual.attributes) {
    all.add("attributes", std::to_string(counter.attributes), words_of(counter.attributes));
  }
  if (counter.form != usual.form) {
    all.add_constant("form", "ValueForm::", enumerator_of(counter.form));
  }
  all.add_flag("timed", counter.timed, usual.timed);
  all.add_flag("any_thread", counter.any_thread, usual.any_thread);
  all.add_number("text_bytes", counter.text_bytes, usual.text_bytes);
  if (counter.form == ValueForm::kDistribution) all.add("buckets", buckets_of(counter.buckets));
  return all.take();
}

std::vector<Initialiser> initialisers_of(const CountersetSpec& set) {
  const CountersetSpec usual;
  Initialisers all;
  all.add("name", literal(set.name));
  all.add("symbol", literal(set.symbol));
  all.add_text("help", set.help);
  all.add_text("label", set.label);
  all.add("guid", guid_literal(set.guid));
  if (!set.provider_guid.is_zero()) all.add("provider_guid", guid_literal(set.provider_guid));
  if (set.instances != usual.instances) {
    all.add_constant("instances", "InstanceKind::", enumerator_of(set.instances));
  }
  if (set.identity != usual.identity) {
    all.add_constant("identity", "InstanceIdentity::", "kNameAndId");
  }
  if (set.consistency != usual.consistency) {
    all.add_constant("consistency", "Consistency::", "kIndependent");
  }
  all.add_flag("many", set.many, usual.many);
  all.add_flag("checkpoint", set.checkpoint, usual.checkpoint);
  all.add_flag("stamped", set.stamped, usual.stamped);
  all.add_flag("cuts", set.cuts, usual.cuts);
  all.add_number("shards", set.shards, usual.shards);
  all.add_flag("sharded", set.sharded, usual.sharded);
  all.add_flag("by_processor", set.by_processor, usual.by_processor);
  return all.take();
}

}  // namespace meterbank::generator
