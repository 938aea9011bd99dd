// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exposition/page/page_layout.hpp"
#include "exposition/protobuf/row_bytes.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {

// Appends one KeyValue as field `tag` of a message.
void append_attribute(std::string& message, Tag tag, std::string_view key, std::string_view value);
void append_attribute(std::string& message, Tag tag, std::string_view key, bool value);
void append_attribute(std::string& message, Tag tag, std::string_view key, std::int64_t value);
void append_attribute(std::string& message, Tag tag, std::string_view key, double value);

// The attributes that tell the rows of a block apart, as field `tag` of a point. What all rows of a
// provider have in common is in its resource.
[[nodiscard]] exposition::RowBytes encode_attributes(const exposition::RowBlock& block, Tag tag);

}  // namespace meterbank::push::otlp
