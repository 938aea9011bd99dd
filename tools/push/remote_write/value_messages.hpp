// SPDX-License-Identifier: Apache-2.0
//
// The messages that both versions of remote write have in common.
#pragma once

#include <string>

#include "push/remote_write/write_fields.hpp"
#include "push/remote_write/write_request.hpp"

namespace meterbank::push::remote_write {

// A start is a field of version 2 alone.
enum class Starts : bool { kNo, kYes };

// Append one message as field `tag`.
void append_sample(std::string& series, Tag tag, double value, const SeriesTimes& times,
                   Starts starts);
void append_histogram(std::string& series, Tag tag, const Distribution& distribution,
                      const exposition::NativeHistogram& buckets, const SeriesTimes& times,
                      Starts starts);

[[nodiscard]] MetricType type_of(exposition::FamilyType type) noexcept;

}  // namespace meterbank::push::remote_write
