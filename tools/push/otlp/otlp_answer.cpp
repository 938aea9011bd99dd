// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/otlp_answer.hpp"

#include <protozero/pbf_message.hpp>

#include "exposition/page/labels.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {

PartialSuccess parse_answer(std::string_view body) {
  try {
    PartialSuccess result;
    protozero::pbf_message<Response> response(body.data(), body.size());
    while (response.next(Response::kPartialSuccess, protozero::pbf_wire_type::length_delimited)) {
      protozero::pbf_message<PartialSuccessField> part(response.get_message());
      while (part.next()) {
        if (part.tag_and_type() == protozero::tag_and_type(PartialSuccessField::kRejectedPoints,
                                                           protozero::pbf_wire_type::varint)) {
          const std::int64_t rejected = part.get_int64();
          result.rejected_points = rejected > 0 ? static_cast<std::uint64_t>(rejected) : 0;
        } else if (part.tag_and_type() ==
                   protozero::tag_and_type(PartialSuccessField::kMessage,
                                           protozero::pbf_wire_type::length_delimited)) {
          result.message = exposition::clean_text(part.get_string());
        } else {
          part.skip();
        }
      }
    }
    return result;
  } catch (const protozero::exception&) {
    return {};
  }
}

}  // namespace meterbank::push::otlp
