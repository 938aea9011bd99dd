// SPDX-License-Identifier: Apache-2.0
#include "exposition/protobuf/encoded_labels.hpp"

#include <protozero/pbf_builder.hpp>

#include "exposition/protobuf/metric_fields.hpp"

namespace meterbank::exposition {

void append_label_pair(std::string& metric, std::string_view name, std::string_view value) {
  std::string pair;
  protozero::pbf_builder<field::LabelPair> builder(pair);
  builder.add_string(field::LabelPair::kName, name.data(), name.size());
  builder.add_string(field::LabelPair::kValue, value.data(), value.size());
  protozero::pbf_builder<field::Metric>(metric).add_message(field::Metric::kLabel, pair);
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
