// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/number_point.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <protozero/varint.hpp>

#include "exposition/protobuf/field_tag.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {
namespace {

using Wire = protozero::pbf_wire_type;
using exposition::Number;

constexpr std::size_t kFixedFieldBytes = 1 + sizeof(std::uint64_t);

// Returns what is behind the field.
char* put(char* out, NumberPoint field, std::uint64_t value) noexcept {
  static_assert(std::endian::native == std::endian::little, "fixed64 is little-endian");
  *out = static_cast<char>(exposition::tag_byte(field, Wire::fixed64));
  std::memcpy(out + 1, &value, sizeof(value));
  return out + kFixedFieldBytes;
}

bool is_integer(const Number& number) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number.kind == Number::Kind::kSigned ||
         (number.kind == Number::Kind::kUnsigned && number.whole <= kMost);
}

}  // namespace

void append_number_point(std::string& points, std::string_view attributes, std::uint64_t start_ns,
                         std::uint64_t time_ns, const Number& number) {
  const std::size_t fields = (start_ns != 0 ? 3 : 2) * kFixedFieldBytes;
  const std::size_t point = attributes.size() + fields;
  const std::size_t old_size = points.size();
  points.resize(old_size + 1 + static_cast<std::size_t>(protozero::length_of_varint(point)) +
                point);
  char* out = points.data() + old_size;
  *out++ = static_cast<char>(exposition::tag_byte(Data::kPoints, Wire::length_delimited));
  out += protozero::add_varint_to_buffer(out, point);
  out = std::copy(attributes.begin(), attributes.end(), out);
  if (start_ns != 0) out = put(out, NumberPoint::kStart, start_ns);
  out = put(out, NumberPoint::kTime, time_ns);
  if (is_integer(number)) {
    put(out, NumberPoint::kAsInt, number.whole);
  } else {
    put(out, NumberPoint::kAsDouble, std::bit_cast<std::uint64_t>(number.as_double()));
  }
}

}  // namespace meterbank::push::otlp
