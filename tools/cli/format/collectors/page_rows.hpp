// SPDX-License-Identifier: Apache-2.0
//
// A sample as the page that meterbank-agent would serve of it, for a file that node_exporter reads:
// Prometheus' text format 0.0.4 or OpenMetrics 1.0. Names are those of docs/exporter.md.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

[[nodiscard]] std::unique_ptr<RowWriter> make_page_rows(const RowStyle& style);

}  // namespace meterbank::cli
