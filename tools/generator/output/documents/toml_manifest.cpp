// SPDX-License-Identifier: Apache-2.0
//
// A manifest in TOML, with everything that was said in it and nothing that was not: what is missing
// here has the same default in both languages.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "generator/manifest/attributes.hpp"
#include "generator/output/output.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::generator {
namespace {

// What utf8.hpp hides is escaped, so that a manifest reads as what it is.
void append_escape(const TextPart& part, std::string& out) {
  const auto value = static_cast<std::uint32_t>(part.code_point);
  if (part.kind == TextPart::Kind::kNotUtf8) {
    append_utf8(kReplacementCharacter, out);
  } else if (value == '\n' || value == '\t') {
    out += value == '\n' ? "\\n" : "\\t";
  } else {
    out += value < 0x10000 ? fmt::format("\\u{:04X}", value) : fmt::format("\\U{:08X}", value);
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  TextScan scan(text);
  for (TextPart part; scan.next(part);) {
    if (part.kind != TextPart::Kind::kShown) {
      append_escape(part, out);
      continue;
    }
    for (const char c : part.bytes) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

// The shortest digits that are read as the same number, and never taken for an integer.
std::string real(double value) {
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string_view word_of(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kSingle:
      break;
    case InstanceKind::kMultiple:
      return "multiple";
    case InstanceKind::kGlobalAggregate:
      return "global_aggregate";
    case InstanceKind::kMultipleAggregate:
      return "multiple_aggregate";
    case InstanceKind::kGlobalAggregateHistory:
      return "global_aggregate_history";
  }
  return "single";
}

std::string_view word_of(ValueForm form) {
  if (form == ValueForm::kSigned) return "signed";
  return form == ValueForm::kReal ? "real" : "unsigned";
}

std::string_view aggregate_word(std::uint32_t aggregate) {
  constexpr std::array<std::string_view, 5> kWords{"undefined", "sum", "avg", "min", "max"};
  return aggregate < kWords.size() ? kWords[aggregate] : kWords[0];
}

// "bulk_count": the manifest's word without its beginning.
std::string_view type_word(const Counter& counter) {
  if (counter.form.value == ValueForm::kText) return "text";
  if (counter.form.value == ValueForm::kDistribution) return "histogram";
  auto name = name_of(counter.type.value);
  for (const std::string_view beginning : {"perf_counter_", "perf_"}) {
    if (!name.starts_with(beginning)) continue;
    name.remove_prefix(beginning.size());
    break;
  }
  return name;
}

// One table after the other, each with the keys that were said.
class TomlText {
 public:
  // What belongs to a counterset is indented.
  void table(std::string_view header) {
    if (!text_.empty()) text_ += '\n';
    indent_ = header.find('.') == std::string_view::npos ? "" : "  ";
    text_.append(indent_).append(header).append("\n");
  }

  void raw(std::string_view key, std::string_view value) {
    text_.append(indent_).append(key).append(" = ").append(value).append("\n");
  }

  void operator()(std::string_view key, const Placed<std::string>& value) {
    if (value.is_said() || !value.value.empty()) raw(key, quoted(value.value));
  }
  void operator()(std::string_view key, const Placed<Guid>& value) {
    if (value.is_said()) raw(key, quoted(value.value.text().substr(1, 36)));
  }
  void operator()(std::string_view key, const Placed<bool>& value) {
    if (value.is_said()) raw(key, value.value ? "true" : "false");
  }
  template <typename Integer>
  void operator()(std::string_view key, const Placed<Integer>& value) {
    if (value.is_said()) raw(key, fmt::format("{}", value.value));
  }
  // A value whose word is another thing than itself.
  template <typename T>
  void word(std::string_view key, const Placed<T>& value, std::string_view word) {
    if (value.is_said()) raw(key, quoted(word));
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view indent_;
};

void write(TomlText& toml, const Provider& provider) {
  toml.table("[provider]");
  toml("name", provider.name);
  toml("symbol", provider.symbol);
  toml("guid", provider.guid);
  toml("application", provider.application);
  toml.word("mode", provider.mode,
            provider.mode.value == ProviderMode::kKernel ? "kernel" : "user");
  toml.word("callback", provider.custom_callback,
            provider.custom_callback.value ? "custom" : "default");
  toml("resource_base", provider.resource_base);
}

void write(TomlText& toml, const Counterset& set) {
  toml.table("[[counterset]]");
  toml("name", set.name);
  toml("symbol", set.symbol);
  toml("guid", set.guid);
  toml("uri", set.uri);
  toml.word("instances", set.instances, word_of(set.instances.value));
  toml("label", set.label);
  toml("help", set.help);
  toml("name_id", set.name_id);
  toml("description_id", set.description_id);
  toml.word("consistency", set.consistency,
            set.consistency.value == Consistency::kBlock ? "block" : "independent");
  toml("many", set.many);
  toml("checkpoint", set.checkpoint);
  toml("stamped", set.stamped);
  toml("cuts", set.cuts);
  toml("sharded", set.sharded);
  toml("shards", set.shards);
  toml("by_processor", set.by_processor);
  for (const auto& each : set.structs) {
    toml.table("[[counterset.struct]]");
    toml("name", each.name);
    toml("type", each.type);
  }
}

void write_attributes(TomlText& toml, const Placed<std::uint64_t>& attributes) {
  if (!attributes.is_said()) return;
  std::string list;
  for (const auto& word : kAttributeWords) {
    if ((attributes.value & word.bit) == 0) continue;
    list += (list.empty() ? "" : ", ") + quoted(word.toml);
  }
  toml.raw("attributes", "[" + list + "]");
}

void write(TomlText& toml, const Counter& counter) {
  toml.table("[[counterset.counter]]");
  toml("id", counter.id);
  toml("name", counter.name);
  toml("symbol", counter.symbol);
  toml("uri", counter.uri);
  toml.word("type", counter.type, type_word(counter));
  const bool is_number =
      counter.form.value != ValueForm::kText && counter.form.value != ValueForm::kDistribution;
  if (is_number) toml.word("form", counter.form, word_of(counter.form.value));
  toml("unit", counter.unit);
  toml("help", counter.help);
  toml("timed", counter.timed);
  toml("any_thread", counter.any_thread);
  toml("text_bytes", counter.text_bytes);
  if (counter.buckets.is_said()) {
    const auto& [scale, least, most] = counter.buckets.value;
    toml.raw("buckets", fmt::format("{{ scale = {}, least = {}, most = {} }}", scale, real(least),
                                    real(most)));
  }
  toml("base", counter.base);
  toml("time", counter.time);
  toml("frequency", counter.frequency);
  toml("multi", counter.multi);
  toml("scale", counter.scale);
  toml.word("detail", counter.detail, counter.detail.value == 200 ? "advanced" : "standard");
  toml.word("aggregate", counter.aggregate, aggregate_word(counter.aggregate.value));
  write_attributes(toml, counter.attributes);
  toml("struct", counter.structure);
  toml("field", counter.field);
  toml("name_id", counter.name_id);
  toml("description_id", counter.description_id);
}

}  // namespace

Result<std::string> toml_manifest(const Manifest& manifest, const OutputOptions&) {
  TomlText toml;
  write(toml, manifest.provider);
  for (const auto& set : manifest.countersets) {
    write(toml, set);
    for (const auto& counter : set.counters) write(toml, counter);
  }
  return toml.take();
}

}  // namespace meterbank::generator
