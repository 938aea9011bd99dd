// SPDX-License-Identifier: Apache-2.0
#include "generator/input/keys.hpp"

#include <fmt/format.h>

#include <utility>

#include "generator/manifest/vocabulary.hpp"

namespace meterbank::generator {
namespace {

// Names that Windows has and a manifest has not, and what to do instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRefusedTypes{{
    {"perf_counter_nodata", "it has no value; leave the counter out"},
    {"perf_precision_timestamp", "use perf_large_raw_base, which is the same type"},
    {"perf_counter_histogram_type",
     "a distribution is type = \"histogram\" in a TOML manifest; Windows has none"},
}};

void refuse_type(const Reading& reading, const Entry& entry, std::string_view word) {
  for (const auto& [name, hint] : kRefusedTypes) {
    if (word != name) continue;
    reading.add(entry, fmt::format("type {} cannot be declared", word), std::string(hint));
    return;
  }
  // What the other language calls it, or a name that has lost its beginning, is sure to be meant.
  const auto meant = type_of(word, Language::kToml);
  const auto longer = type_of(fmt::format("perf_{}", word), Language::kToml);
  const bool full = reading.language == Language::kXml || word.starts_with("perf_");
  NearWord near(meant ? name_of(*meant) : longer ? short_name_of(*longer) : word);
  for (const auto& [type, enumerator] : kTypes) {
    near.consider(full ? name_of(type) : short_name_of(type));
  }
  if (!full) near.consider(kHistogramWord);
  reading.add(entry, fmt::format("unknown type {}", in_quotes(entry.text)),
              near.hint(full ? "a name from the manifest schema, such as perf_counter_bulk_count"
                             : "such as bulk_count, large_rawcount, average_timer or histogram"));
}

void refuse_form(const Reading& reading, const Entry& entry) {
  reading.add(entry, fmt::format("{} says a form, and there is another one", entry.name),
              "types text and histogram have forms of their own: leave out the key form");
}

constexpr bool is_own_form(ValueForm form) {
  return form == ValueForm::kText || form == ValueForm::kDistribution;
}

void add_attribute(const Reading& reading, const Entry& entry, Counter& counter) {
  const auto text = text_of(reading, entry);
  if (!text) return;
  const auto bit = value_of<kAttributeWords>(reading, entry, *text, "unknown attribute");
  if (!bit) return;
  if ((counter.attributes.value & *bit) != 0) {
    reading.add(entry, fmt::format("attribute {} is given twice", in_quotes(*text)),
                "once is enough");
  }
  counter.attributes.value |= *bit;
}

}  // namespace

void take_schema_version(const Reading& reading, const Entry& entry, Manifest& manifest) {
  if (entry.text != "1.1" && entry.text != "2.0") {
    reading.add(entry, fmt::format("{} cannot be {}", entry.name, in_quotes(entry.text)),
                "1.1, or 2.0 where resources have ids");
    return;
  }
  manifest.schema_version = {entry.text == "1.1" ? 11U : 20U, entry.place};
}

void take_type(const Reading& reading, const Entry& entry, Counter& counter) {
  const auto word = text_of(reading, entry);
  if (!word) return;
  const bool is_histogram = reading.language == Language::kToml && *word == kHistogramWord;
  const auto type =
      is_histogram ? std::optional(CounterType::kBulkCount) : type_of(*word, reading.language);
  if (!type) {
    refuse_type(reading, entry, *word);
    return;
  }
  counter.type = {*type, entry.place};
  if (!is_histogram && *type != CounterType::kText) return;
  if (counter.form.is_said()) refuse_form(reading, entry);
  counter.form.value = is_histogram ? ValueForm::kDistribution : ValueForm::kText;
  // The manifest of Windows has no word for the length.
  if (reading.language == Language::kXml) counter.text_bytes.value = kTextBytesMax;
}

void take_form(const Reading& reading, const Entry& entry, Counter& counter) {
  const auto form = word_of<kFormWords>(reading, entry);
  if (!form) return;
  if (is_own_form(counter.form.value)) {
    refuse_form(reading, entry);
    return;
  }
  counter.form = {*form, entry.place};
}

void take_attributes(const Reading& reading, const Entry& entry, Counter& counter) {
  if (entry.kind != Entry::Kind::kList) {
    reading.add(entry, "attributes is a list", R"(such as attributes = ["reference"])");
    return;
  }
  counter.attributes.place = entry.place;
  for (const Entry& item : entry.items) add_attribute(reading, item, counter);
}

void take_attribute(const Reading& reading, const Entry& entry, Counter& counter) {
  if (!counter.attributes.is_said()) counter.attributes.place = entry.place;
  add_attribute(reading, entry, counter);
}

}  // namespace meterbank::generator
