// SPDX-License-Identifier: Apache-2.0
//
// A manifest in TOML, with everything that was said in it and nothing that was not: what is missing
// here has the same default in both languages.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "generator/manifest/vocabulary.hpp"
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
  template <typename T, std::size_t kSize>
  void operator()(std::string_view key, const Placed<T>& value,
                  const std::array<Word<T>, kSize>& words) {
    if (value.is_said()) raw(key, quoted(word_for(words, value.value, Language::kToml)));
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
  toml("mode", provider.mode, kModeWords);
  toml("callback", provider.custom_callback, kCallbackWords);
  toml("resource_base", provider.resource_base);
}

void write(TomlText& toml, const Counterset& set) {
  toml.table("[[counterset]]");
  toml("name", set.name);
  toml("symbol", set.symbol);
  toml("guid", set.guid);
  toml("uri", set.uri);
  toml("instances", set.instances, kInstanceWords);
  toml("label", set.label);
  toml("help", set.help);
  toml("name_id", set.name_id);
  toml("description_id", set.description_id);
  toml("identity", set.identity, kIdentityWords);
  toml("consistency", set.consistency, kConsistencyWords);
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
    if ((attributes.value & word.value) == 0) continue;
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
  const bool is_distribution = counter.form.value == ValueForm::kDistribution;
  if (counter.type.is_said()) {
    toml.raw("type", quoted(is_distribution ? kHistogramWord : short_name_of(counter.type.value)));
  }
  if (!is_distribution && counter.form.value != ValueForm::kText) {
    toml("form", counter.form, kFormWords);
  }
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
  toml("detail", counter.detail, kDetailWords);
  toml("aggregate", counter.aggregate, kAggregateWords);
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
