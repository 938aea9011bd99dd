// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/attributes.hpp"

#include <protozero/pbf_builder.hpp>

namespace meterbank::push::otlp {
namespace {

// `any`: the AnyValue message.
void append(std::string& message, Tag tag, std::string_view key, const std::string& any) {
  std::string pair;
  protozero::pbf_builder<KeyValue> builder(pair);
  builder.add_string(KeyValue::kKey, key.data(), key.size());
  builder.add_message(KeyValue::kValue, any);
  protozero::pbf_writer(message).add_message(tag, pair);
}

}  // namespace

void append_attribute(std::string& message, Tag tag, std::string_view key, std::string_view value) {
  std::string any;
  protozero::pbf_builder<AnyValue>(any).add_string(AnyValue::kString, value.data(), value.size());
  append(message, tag, key, any);
}

void append_attribute(std::string& message, Tag tag, std::string_view key, std::int64_t value) {
  std::string any;
  protozero::pbf_builder<AnyValue>(any).add_int64(AnyValue::kInt, value);
  append(message, tag, key, any);
}

void append_attribute(std::string& message, Tag tag, std::string_view key, bool value) {
  std::string any;
  protozero::pbf_builder<AnyValue>(any).add_bool(AnyValue::kBool, value);
  append(message, tag, key, any);
}

void append_attribute(std::string& message, Tag tag, std::string_view key, double value) {
  std::string any;
  protozero::pbf_builder<AnyValue>(any).add_double(AnyValue::kDouble, value);
  append(message, tag, key, any);
}

exposition::RowBytes encode_attributes(const exposition::RowBlock& block, Tag tag) {
  exposition::RowBytes rows;
  std::string common;
  for (const exposition::Label& label : block.common) {
    if (label.name == "registration") append_attribute(common, tag, label.name, label.value);
  }
  rows.reserve(block.rows());
  for (std::size_t row = 0; row < block.rows(); ++row) {
    rows.bytes() += common;
    if (row < block.instances.size()) {
      append_attribute(rows.bytes(), tag, block.instance_label, block.instances[row]);
    }
    if (row < block.ids.size()) append_attribute(rows.bytes(), tag, "id", block.ids[row]);
    rows.end_row();
  }
  return rows;
}

}  // namespace meterbank::push::otlp
