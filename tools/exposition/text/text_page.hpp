// SPDX-License-Identifier: Apache-2.0
//
// The text formats. They differ in the names of families, the type of texts, the lines of units and
// the end of the page. OpenMetrics 2.0 has a line for all of a histogram, its native buckets in it,
// and says since when counts have been growing.
#pragma once

#include <cstdint>
#include <memory>

#include "exposition/page/page_writer.hpp"

namespace meterbank::exposition {

enum class TextFormat : std::uint8_t {
  kPrometheus,    // 0.0.4
  kOpenMetrics1,  // 1.0.0
  kOpenMetrics2,  // 2.0.0-rc0
};

[[nodiscard]] std::unique_ptr<PageWriter> make_text_page(TextFormat format,
                                                         std::shared_ptr<const Snapshot> snapshot,
                                                         PageOptions options);

}  // namespace meterbank::exposition
