// SPDX-License-Identifier: Apache-2.0
//
// The text formats: Prometheus' 0.0.4 and OpenMetrics 1.0.0. They differ in the names of counters,
// the type of texts, the line of the unit and the end of the page.
#pragma once

#include <memory>

#include "exposition/page/page_writer.hpp"

namespace meterbank::exposition {

[[nodiscard]] std::unique_ptr<PageWriter> make_text_page(bool is_open_metrics,
                                                         std::shared_ptr<const Snapshot> snapshot,
                                                         PageOptions options);

}  // namespace meterbank::exposition
