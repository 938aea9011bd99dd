// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "cli/format/json.hpp"
#include "cli/grammar.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::cli {
namespace {

constexpr std::string_view kOverview =
    R"(usage: meterbank VERB [OPTION...] [PATH...]

Read    list       list countersets, counters, instances, providers
        get        print values, once or several times
        watch      show live screens
        view       show a page in a browser
        check      test conditions, with the exit codes of monitoring plugins
Record  record     record counters, or what a command does to them
        log        look at recordings, cut and convert them
        diff       compare two recordings, or two times of one
Windows typeperf   write samples as a text log, with the options of the Windows tool
        relog      cut, thin, filter and convert such logs
Publish host       publish this machine's counters until stopped
        demo       publish this machine and a small order gateway, and show them live
Collect serve      serve counters to Prometheus
        push       send counters to OpenTelemetry or Prometheus
Machine pmu        lease hardware counters, and show who has them
Build   gen        generate headers and documents from a manifest
Other   doctor     find out why something does not work
        version    print the versions of the program and the layout
        help       explain a verb, or: paths, formats, expressions, exit-codes

With every verb: --dir DIR  --color WHEN  --timeout SPAN  -q  -v  -h

  meterbank demo
  meterbank list -l processor_information
  meterbank get processor_information/_Total/processor_time -n 5
  meterbank get '\Memory\Available Bytes'

More: meterbank VERB --help
)";

constexpr std::string_view kPaths =
    R"(A path names counters. There are two spellings; both know * and ? in every part, and case
does not matter.

Short     set                        all counters of all instances
          set/counter                one counter, all instances
          set/instance               one instance, all counters
          set/instance/counter
          provider:...              one provider only; provider is NAME or NAME@PID

  processor_information/user_time
  'network_interface/*/bytes_*'
  orders@48213:demo_orders/eu/accepted

  set/x is counter x if the set has one, else instance x. A backslash before one of
  / * ? [ ] \ : # @ makes it ordinary. Without wildcards, no quotes are needed in any shell.

Windows   \Set\Counter               a set with a single instance
          \Set(instance)\Counter
          \Set(parent/instance#2)\Counter
          \\provider\Set(instance)\Counter

  '\Processor Information(_Total)\% Processor Time'
  '\Network Interface(*)\Bytes Received/sec'

What exists: meterbank list, meterbank list PATH, meterbank list --instances PATH
)";

constexpr std::string_view kFormats =
    R"(-f FORMAT  Numbers and times
table      for people: scaled units, local time; the default on a terminal
plain      time, path, value, unit between tabs, no headings; the default in a pipe
tsv        time, provider, set, instance, counter, value, unit, status between tabs
csv        the same columns as in RFC 4180, lines ending in CR LF
json       one document: {"schema", "time", "interval_s", "samples": [...]}
jsonl      the same object, one line per sample, written at once
pdh-csv    a text log like that of Windows' typeperf: one column per counter, local time, CR LF
pdh-tsv    the same with tabs
prometheus   one page of stored values, as a file for node_exporter; --buckets for histograms
openmetrics  the same in OpenMetrics 1.0
influx       line protocol: a line per row, counters are fields; --raw for stored counts
statsd       counts since the sample before (|c) and gauges (|g)
collectd     PUTVAL lines for its exec plugin; --raw for stored counts

All formats but table and the logs are for programs: base units (By, s, %, {order}/s), UTC, a decimal
point, no colour, in every locale. A missing value is "-" (table, plain), empty (tsv, csv), a
blank (pdh-csv, pdh-tsv), null (json) or left out (the last five); it is never 0. The status then says
why: no-rate-yet (a rate needs two samples), no-value (none was recorded), dead, gone, busy, reset,
zero-base ...

A distribution has a row that counts its values, followed by a row for each percentile of -p:
set/instance/latency.p99. Percentiles cover the time between two samples; in the first sample, all
values. json has the whole distribution, and get --hist draws it. A text appears in place of a number.

--units base        tables with base units
--json-int string   64-bit integers as strings, for JavaScript
--raw               stored values instead of rates and shares
)";

constexpr std::string_view kExpressions =
    R"(meterbank get [PATH...] -e 'NAME = EXPRESSION'

  12.5  + - * /  ( )       numbers and arithmetic
  {set/counter}            a path, in braces because / divides; both spellings work
  counter                  a counter of the set that PATH selects
  sum() avg() min() max()  over everything between the parentheses, wildcards included,
                           without a _Total of other rows

A path with several instances gives a value for each of them; an operator combines both sides by
instance. A path with one named instance, a path of a single-instance set, a function and a number
combine with every instance. Numbers are in base units (By, s, %).

  meterbank get -e 'free = 100 * {memory/free_bytes} / {memory/total_bytes}'
  meterbank get 'demo_orders/*' -e 'refused_share = rejected / (accepted + rejected)'
  meterbank get -e 'spread = max({demo_orders/*/accepted}) - min({demo_orders/*/accepted})'

The value is shown as expr/NAME. It is missing, and the status says why, if an input is missing
(no-value, no-rate-yet ...), if something is divided by zero (zero-base), or if the result does not
fit into a double (not-cookable). Without a PATH, only derived values are shown.
)";

constexpr std::string_view kExitCodes =
    R"(0    done; also Ctrl-C where nothing else ends it: watch, host, demo, get -n 0,
     pmu hold
1    ran, but the answer is no: nothing matched, the provider is gone or did
     not answer in the last sample, or with --strict is hung; doctor found a
     problem, pmu probe found no counter, pmu hold lost its lease; diff found
     a change, and for nothing else
2    usage: a bad option, path or number
3    environment: permission, no directory, a newer layout, disk full, out of
     memory, with --strict also providers that are left out; no arbiter, or
     counters that other programs hold; diff: recordings that cannot be
     read or compared
124  --timeout expired; for pmu also --wait, and --for of pmu wait
126  pmu run, record -- COMMAND: the command could not be run
127  pmu run, record -- COMMAND: the command was not found
130  Ctrl-C before the last sample of get -n N, before the file of view --export
     is written, or while pmu waits for counters (143: SIGTERM)

check ends as monitoring plugins do: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. For
it, usage, environment and --timeout are 3 as well; Ctrl-C is 130.

pmu run and record -- COMMAND otherwise end with the code of their command, or
with 128 plus the number of the signal that killed it.
)";

struct Topic {
  std::string_view name, text;
};
constexpr std::array kTopics{Topic{"paths", kPaths}, Topic{"formats", kFormats},
                             Topic{"expressions", kExpressions}, Topic{"exit-codes", kExitCodes}};

int print(Console& console, std::string_view text) {
  auto output = Output::open(console, {});
  output->write(text);
  return output->finish(kExitDone);
}

}  // namespace

int help(const Invocation& invocation, Console& console) {
  if (invocation.topic.empty()) return print(console, kOverview);
  for (const auto& topic : kTopics) {
    if (invocation.topic == topic.name) return print(console, topic.text);
  }
  if (const auto text = verb_help(invocation.topic)) return print(console, *text);
  NearestName nearest(invocation.topic);
  for (const auto& topic : kTopics) nearest.consider(topic.name);
  for (const auto& verb : verb_names()) nearest.consider(verb);
  complain(console, fmt::format("no help on '{}'; try: meterbank help{}{}", invocation.topic,
                                nearest.best() ? " " : "", nearest.best().value_or("")));
  return kExitUsage;
}

int version(const Invocation& invocation, Console& console) {
  const auto layout = fmt::format("{}.{}", kLayoutMajor, kLayoutMinor);
  if (invocation.format == Format::kJson || invocation.format == Format::kJsonLines) {
    JsonWriter json;
    json.begin_object().key("version").text(METERBANK_VERSION).key("layout").text(layout);
    return print(console, json.end_object().take() + "\n");
  }
  return print(console, fmt::format("meterbank {} (layout {})\n", METERBANK_VERSION, layout));
}

}  // namespace meterbank::cli
