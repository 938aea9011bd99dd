// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/encoded_labels.hpp"

#include <protozero/varint.hpp>

#include "exposition/protobuf/field_tag.hpp"
#include "exposition/protobuf/metric_fields.hpp"

namespace meterbank::exposition {

namespace {

void append_head(std::string& out, std::uint8_t tag, std::size_t bytes) {
  out += static_cast<char>(tag);
  protozero::add_varint_to_buffer(&out, bytes);
}

// Size of a text as a field: tag and length included.
std::size_t text_field_bytes(std::string_view text) noexcept {
  return 1 + static_cast<std::size_t>(protozero::length_of_varint(text.size())) + text.size();
}

}  // namespace

// Each row of a page has some, so there is no message in between.
void append_label_pair(std::string& metric, std::string_view name, std::string_view value) {
  constexpr auto kWire = protozero::pbf_wire_type::length_delimited;
  append_head(metric, tag_byte(field::Metric::kLabel, kWire),
              text_field_bytes(name) + text_field_bytes(value));
  append_head(metric, tag_byte(field::LabelPair::kName, kWire), name.size());
  metric += name;
  append_head(metric, tag_byte(field::LabelPair::kValue, kWire), value.size());
  metric += value;
}

RowBytes encode_labels(const RowBlock& block) {
  RowBytes rows;
  std::string common;
  for (const Label& label : block.common) append_label_pair(common, label.name, label.value);
  rows.reserve(block.rows());
  for (std::size_t row = 0; row < block.rows(); ++row) {
    rows.bytes() += common;
    if (row < block.instances.size()) {
      append_label_pair(rows.bytes(), block.instance_label, block.instances[row]);
    }
    if (row < block.ids.size()) append_label_pair(rows.bytes(), "id", block.ids[row]);
    rows.end_row();
  }
  return rows;
}

}  // namespace meterbank::exposition
