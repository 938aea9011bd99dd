// SPDX-License-Identifier: Apache-2.0
//
// The verb record and the actions of log in words.
#pragma once

#include <array>

#include "cli/arguments/verb_parser.hpp"
#include "cli/record/record_options.hpp"

namespace meterbank::cli {

inline constexpr VerbText kRecordText{
    "record", " -o FILE|DIR/ [PATH...] [-- COMMAND [ARGUMENT...]]",
    "Records counters until stopped, or around a command. Without a path, it records all\n"
    "counters. A name that ends with / is a directory of files, of which the oldest are\n"
    "removed. What was recorded is read with --log of list, get and watch.",
    "  meterbank record -o today.mbr\n"
    "  meterbank record -o /var/tmp/box/ -i 100ms --size 256M\n"
    "  meterbank record -o bench.mbr -i 50ms 'demo_orders/*' -- ./bench\n"};

struct ConversionName {
  std::string_view name;
  Conversion conversion;
};
inline constexpr std::array kConversions{
    ConversionName{"openmetrics", Conversion::kOpenMetrics},
    ConversionName{"pcp", Conversion::kPcp},
    ConversionName{"perfetto", Conversion::kPerfetto},
    ConversionName{"sqlite", Conversion::kSqlite},
};

inline constexpr std::array kLogActions{
    VerbWords<LogAction>{
        LogAction::kInfo,
        {"info", " FILE|DIR", "Prints what a recording has: times, samples, rates, gaps, size.",
         "  meterbank log info today.mbr\n"
         "  meterbank log info /var/tmp/box -f json\n"}},
    VerbWords<LogAction>{
        LogAction::kCheck,
        {"check", " FILE|DIR",
         "Reads all of a recording and names what is damaged. Exit code 1 if anything is.",
         "  meterbank log check today.mbr\n"}},
    VerbWords<LogAction>{
        LogAction::kCut,
        {"cut", " FILE|DIR -o FILE [PATH...]",
         "Copies a part of a recording to a new one, also from one that is being written.",
         "  meterbank log cut /var/tmp/box -o incident.mbr --from 03:10 --to 03:20\n"
         "  meterbank log cut /var/tmp/box -o last.mbr --from -15m\n"
         "  meterbank log cut today.mbr -o orders.mbr 'demo_orders/*'\n"}},
    VerbWords<LogAction>{
        LogAction::kSave,
        {"save", " FILE|DIR -o FILE",
         "Copies the last minutes of a recording to a new one, all rates and gaps included, while\n"
         "it is being written.",
         "  meterbank log save /var/tmp/box -o incident.mbr --last 10m\n"}},
    VerbWords<LogAction>{
        LogAction::kMerge,
        {"merge", " FILE|DIR... -o FILE",
         "Makes one recording of several: of hosts, of parts, of rings that overlap. Exit code 1\n"
         "if something could not be read; what could is merged.",
         "  meterbank log merge web1.mbr web2.mbr db.mbr -o fleet.mbr\n"
         "  meterbank log merge monday.mbr tuesday.mbr -o both.mbr\n"
         "  meterbank log merge before/ after/ -o incident.mbr\n"}},
    VerbWords<LogAction>{
        LogAction::kConvert,
        {"convert", " FILE|DIR -f FORMAT [-o FILE] [PATH...]",
         "Prints all samples in a format of get, or converts them for another program:\n"
         "  -f openmetrics   text that promtool makes blocks of Prometheus from\n"
         "  -f pcp           an archive of Performance Co-Pilot; takes -o\n"
         "  -f perfetto      a trace for ui.perfetto.dev; takes -o\n"
         "  -f sqlite        a database with all stored values; takes -o\n"
         "Without -f, a table of get -f csv becomes a recording, NEW.mbr.\n"
         "See also: meterbank help formats",
         "  meterbank log convert today.mbr -f csv -o today.csv\n"
         "  meterbank log convert /var/tmp/box -f jsonl --from 03:10 --to 03:20\n"
         "  meterbank log convert today.mbr -f pdh-csv --every 10s 'memory/*'\n"
         "  meterbank log convert today.mbr -f openmetrics -o today.om\n"
         "  meterbank log convert today.mbr -f pcp -o today\n"
         "  meterbank log convert bench.mbr -f perfetto -o bench.pftrace\n"
         "  meterbank log convert today.mbr -f sqlite -o today.db 'demo_orders/*'\n"
         "  meterbank log convert table.csv -o table.mbr\n"}}};

inline constexpr std::string_view kLogOverview =
    R"(usage: meterbank log ACTION FILE|DIR [OPTION...]

Looks at recordings, which meterbank record makes. Values are read with --log of list, get and
watch: meterbank get --log FILE --at 03:12

  info       print what a recording has
  check      read all of it and name what is damaged
  cut        copy a part of it
  save       copy its last minutes, while it is written
  merge      make one of several
  convert    print its samples in a format of get

More: meterbank log ACTION --help

Examples:
  meterbank log info today.mbr
  meterbank log cut /var/tmp/box -o last.mbr --from -15m
  meterbank log convert today.mbr -f csv -o today.csv
)";

}  // namespace meterbank::cli
