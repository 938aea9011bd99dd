// SPDX-License-Identifier: Apache-2.0
//
// Rows in the formats that other collectors read:
//
//   influx     demo_orders,provider=orders,instance=eu accepted=18402.5,latency.p99=0.000121
//   1764... statsd     demo_orders.orders.eu.accepted:18402|c collectd   PUTVAL
//   "host/demo_orders-orders.eu/gauge-accepted" interval=1.000 1764....002:18402.5
//
// A value that is missing is left out, and so are the last values of a provider that has ended:
// the collector sees that nothing comes any more. Texts are fields in influx and nowhere else.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

// One line a row, with the nanoseconds since 1970 of the sample. Stored integers have the suffix i,
// those of 2^63 and more are real numbers.
[[nodiscard]] std::unique_ptr<RowWriter> make_influx_writer(const RowStyle& style);

// Rates become how often it happened since the sample before (|c), everything else a gauge (|g).
// Text is handed on in pieces of whole lines that fit into one datagram.
[[nodiscard]] std::unique_ptr<RowWriter> make_statsd_writer(const RowStyle& style);

// Values are of type gauge; stored counts are of type derive.
[[nodiscard]] std::unique_ptr<RowWriter> make_collectd_writer(const RowStyle& style);

}  // namespace meterbank::cli
