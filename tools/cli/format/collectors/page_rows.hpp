// SPDX-License-Identifier: Apache-2.0
//
// A sample as the page that meterbank-agent would serve of it, for a file that node_exporter reads:
// Prometheus' text format 0.0.4 or OpenMetrics 1.0. Names are those of docs/exporter.md.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

[[nodiscard]] std::unique_ptr<RowWriter> make_page_rows(const RowStyle& style);

// Names and help texts are on a page as they are, and an escape of ours would be no escape of the
// format.
[[nodiscard]] std::string page_without_hidden(std::string_view page, Charset charset);

}  // namespace meterbank::cli
