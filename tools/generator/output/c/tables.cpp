// SPDX-License-Identifier: Apache-2.0
//
// The header for C: what the template speaks of.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/output/c/spellings.hpp"
#include "generator/output/c_text.hpp"
#include "generator/output/cpp/names.hpp"
#include "generator/output/cpp/spellings.hpp"
#include "generator/output/render.hpp"

namespace meterbank::generator {
namespace {

namespace mustache = kainjow::mustache;
using Data = mustache::data;

Data list() { return Data(Data::type::list); }

// .field = value, of what differs from zero.
class Fields {
 public:
  void add(std::string_view field, const std::string& value) {
    Data data;
    data.set("field", std::string(field));
    data.set("value", value);
    all_.push_back(data);
  }
  void add_text(std::string_view field, std::string_view text) {
    if (!text.empty()) add(field, literal(text));
  }
  template <typename T>
  void add_number(std::string_view field, T value) {
    if (value != T{}) add(field, std::to_string(value));
  }
  void add_link(std::string_view field, std::uint32_t id) {
    if (id != kNoCounter) add(field, "MB_LINK(" + std::to_string(id) + ")");
  }
  void add_flags(const std::string& flags) {
    if (!flags.empty()) add("flags", flags);
  }
  [[nodiscard]] const Data& data() const noexcept { return all_; }

 private:
  Data all_ = list();
};

// In the order of mb_counter_spec.
Data fields_of(const CounterSpec& counter) {
  Fields fields;
  fields.add("id", std::to_string(counter.id));
  fields.add("type", c_constant_of(counter.type));
  fields.add_text("name", counter.name);
  fields.add_text("symbol", counter.symbol);
  fields.add_text("unit", counter.unit);
  fields.add_text("help", counter.help);
  fields.add_link("base", counter.base);
  fields.add_link("time", counter.time);
  fields.add_link("frequency", counter.frequency);
  fields.add_link("multi", counter.multi);
  fields.add_number("scale", counter.scale);
  if (counter.detail != CounterSpec().detail) fields.add_number("detail", counter.detail);
  if (counter.aggregate != kAggregateUndefined) {
    fields.add("aggregate", c_aggregate(counter.aggregate));
  }
  if (counter.form != ValueForm::kUnsigned) fields.add("form", c_constant_of(counter.form));
  fields.add_flags(c_flags_of(counter));
  fields.add_number("text_bytes", counter.text_bytes);
  fields.add_number("attributes", counter.attributes);
  if (counter.form == ValueForm::kDistribution) {
    fields.add("bucket_least", literal(counter.buckets.least));
    fields.add("bucket_most", literal(counter.buckets.most));
    fields.add("bucket_scale", std::to_string(counter.buckets.scale));
  }
  return fields.data();
}

Data fields_of(const CountersetSpec& set) {
  Fields fields;
  fields.add_text("name", set.name);
  fields.add_text("symbol", set.symbol);
  fields.add_text("help", set.help);
  fields.add_text("label", set.label);
  fields.add("guid", c_guid(set.guid));
  if (!set.provider_guid.is_zero()) fields.add("provider_guid", c_guid(set.provider_guid));
  fields.add("instances", c_constant_of(set.instances));
  fields.add_flags(c_flags_of(set));
  fields.add_number("shards", set.shards);
  fields.add("counters_count", std::to_string(set.counters.size()));
  return fields.data();
}

// What help and unit say, as lines of a comment above an enumerator.
Data about(const CounterSpec& counter) {
  std::string text(counter.help.empty() ? counter.name : counter.help);
  if (!counter.unit.empty()) text.append(" Unit: ").append(counter.unit);
  Data lines = list();
  for (const std::string& line : comment_lines(text)) lines.push_back(Data(line));
  return lines;
}

// Names of one header: one that is there already gets _2, _3 and so on.
class Names {
 public:
  std::string add(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken_.insert(name).second; ++number) {
      name = wanted + "_" + std::to_string(number);
    }
    return name;
  }

 private:
  std::set<std::string> taken_;
};

Data counters_data(const std::vector<CounterSpec>& counters, const CountersetNames& names,
                   const std::string& prefix, Names& taken) {
  Data all = list();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    Data counter;
    counter.set("about", about(counters[i]));
    counter.set("enumerator", taken.add(prefix + "_" + upper_case_of(names.counters[i].word)));
    counter.set("fields", fields_of(counters[i]));
    counter.set("comma", i + 1 < counters.size() ? "," : "");
    all.push_back(counter);
  }
  return all;
}

Data counterset_data(const Manifest& manifest, const Counterset& counterset,
                     const CountersetNames& names, Names& taken) {
  std::vector<CounterSpec> counters;
  const CountersetSpec spec = spec_of(manifest, counterset, counters);
  const std::string prefix = taken.add(upper_case_of(spec.symbol));
  std::string word;
  for (const char c : prefix) word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  Data data;
  data.set("name", comment_text(spec.name));
  data.set("word", word);
  data.set("guid_is_derived", Data(counterset.guid.value.is_zero()));
  data.set("fields", fields_of(spec));
  data.set("counters", counters_data(counters, names, prefix, taken));
  return data;
}

}  // namespace

Result<std::string> c_header(const Manifest& manifest, const OutputOptions& options) {
  const std::vector<CountersetNames> names = names_of(manifest);
  Names taken;
  Data countersets = list();
  for (std::size_t i = 0; i < manifest.countersets.size(); ++i) {
    countersets.push_back(counterset_data(manifest, manifest.countersets[i], names[i], taken));
  }
  Data page;
  page.set("file", comment_text(file_name_of(manifest)));
  page.set("hash", hash_text_of(manifest));
  page.set("countersets", countersets);
  return render("c", page, options);
}

}  // namespace meterbank::generator
