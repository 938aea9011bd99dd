// SPDX-License-Identifier: Apache-2.0
#include "model_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <type_traits>

namespace meterbank::generator::test {
namespace {

std::string value_text(const std::string& value) { return fmt::format("\"{}\"", value); }
std::string value_text(const Guid& value) { return value.text(); }
std::string value_text(const BucketSpec& value) {
  return fmt::format("{}/{}/{}", value.scale, value.least, value.most);
}
template <typename T>
requires std::is_arithmetic_v<T> std::string value_text(T value) {
  return fmt::format("{}", value);
}
template <typename T>
requires std::is_enum_v<T> std::string value_text(T value) {
  return fmt::format("{}", static_cast<std::underlying_type_t<T>>(value));
}

class Text {
 public:
  void part(std::string_view name) { text_ += fmt::format("{}\n", name); }
  template <typename T>
  Text& operator()(std::string_view name, const Placed<T>& value) {
    text_ += fmt::format("  {} {}{}\n", name, value_text(value.value),
                         value.is_said() ? "" : " by default");
    return *this;
  }
  void word(std::string_view word) { text_ += fmt::format("  word {}\n", word); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add(Text& text, const Provider& p) {
  text.part("provider");
  text("name", p.name)("symbol", p.symbol)("guid", p.guid)("application", p.application);
  text("mode", p.mode)("callback", p.custom_callback)("resource_base", p.resource_base);
}

void add(Text& text, const Counterset& s) {
  text.part("counterset");
  text.word(s.word);
  text("name", s.name)("symbol", s.symbol)("uri", s.uri)("help", s.help)("label", s.label);
  text("guid", s.guid)("instances", s.instances)("name_id", s.name_id);
  text("description_id", s.description_id)("identity", s.identity);
  text("consistency", s.consistency)("many", s.many);
  text("checkpoint", s.checkpoint)("stamped", s.stamped)("cuts", s.cuts)("sharded", s.sharded);
  text("shards", s.shards)("by_processor", s.by_processor);
  for (const auto& each : s.structs) {
    text.part("struct");
    text("name", each.name)("type", each.type);
  }
}

void add(Text& text, const Counter& c) {
  text.part("counter");
  text.word(c.word);
  text("id", c.id)("name", c.name)("symbol", c.symbol)("uri", c.uri)("help", c.help);
  text("unit", c.unit)("type", c.type)("base", c.base)("time", c.time)("frequency", c.frequency);
  text("multi", c.multi)("scale", c.scale)("detail", c.detail)("aggregate", c.aggregate);
  text("attributes", c.attributes)("struct", c.structure)("field", c.field);
  text("name_id", c.name_id)("description_id", c.description_id)("form", c.form);
  text("timed", c.timed)("any_thread", c.any_thread)("text_bytes", c.text_bytes);
  text("buckets", c.buckets);
}

}  // namespace

std::string model_text(const Manifest& manifest) {
  Text text;
  add(text, manifest.provider);
  for (const auto& set : manifest.countersets) {
    add(text, set);
    for (const auto& counter : set.counters) add(text, counter);
  }
  return text.take();
}

}  // namespace meterbank::generator::test
