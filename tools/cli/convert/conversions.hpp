// SPDX-License-Identifier: Apache-2.0
//
// Recordings in the formats of other programs. Each writes the moments that the invocation selects
// and returns an exit code.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"

namespace meterbank::cli {

// Text that `promtool tsdb create-blocks-from openmetrics` takes.
int convert_to_openmetrics(const Invocation& invocation, Console& console);

// An archive that the tools of Performance Co-Pilot read with -a.
int convert_to_pcp(const Invocation& invocation, Console& console);

// A trace for ui.perfetto.dev and trace_processor.
int convert_to_perfetto(const Invocation& invocation, Console& console);

// A database of SQLite.
int convert_to_sqlite(const Invocation& invocation, Console& console);

// The other way: a table of get or typeperf becomes a recording.
int convert_from_table(const Invocation& invocation, Console& console);

}  // namespace meterbank::cli
