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

Read    list       what is published: countersets, counters, instances, publishers
        get        values, once or several times
        watch      a live table
Windows typeperf   samples as a text log, with the options of the Windows tool
        relog      cuts, thins, filters and converts such logs
Publish host       this machine's counters, until stopped
        demo       this machine and a small order gateway, shown live
Machine pmu        counters of the processor: who has them, and how to get some
Build   gen        headers and documents of a manifest
Other   doctor     why does it not work
        version    versions of the program and the layout
        help       a verb, or: paths, formats, expressions, exit-codes

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
          publisher:...              one publisher only; publisher is NAME or NAME@PID

  processor_information/user_time
  'network_interface/*/bytes_*'
  orders@48213:demo_orders/eu/accepted

  set/x is counter x in a set that has one, else instance x. A backslash makes one of
  / * ? [ ] \ : # @ ordinary. Without wildcards, no quotes are needed in any shell.

Windows   \Set\Counter               a set with a single instance
          \Set(instance)\Counter
          \Set(parent/instance#2)\Counter
          \\publisher\Set(instance)\Counter

  '\Processor Information(_Total)\% Processor Time'
  '\Network Interface(*)\Bytes Received/sec'

What exists: meterbank list, meterbank list PATH, meterbank list --instances PATH
)";

constexpr std::string_view kFormats =
    R"(-f FORMAT  Numbers and times
table      for people: scaled units, local time; the default on a terminal
plain      time, path, value, unit between tabs, no headings; the default in a pipe
tsv        time, publisher, set, instance, counter, value, unit, status between tabs
csv        the same as RFC 4180 wants it, lines ending in CR LF
json       one document: {"schema", "time", "interval_s", "samples": [...]}
jsonl      the same object, one line a sample, written at once
pdh-csv    a text log as Windows' typeperf writes it: a column a counter, local time, CR LF
pdh-tsv    the same with tabs

All but table and the logs are made for programs: base units (By, s, %, {order}/s), UTC, a point in
decimals, no colour, whatever the locale. A missing value is "-" (table, plain), empty (tsv, csv), a
blank (pdh-csv, pdh-tsv) or null (json); it is never 0. The status then says why: no-rate-yet (a
rate needs two samples), no-value (none was recorded), dead, gone, busy, reset, zero-base ...

A distribution is a row that counts its values, and behind it a row for each percentile of -p:
set/instance/latency.p99. They are of the time between two samples; a first one has all values. json
has the rest of it, "distribution", and get --hist draws it. A text stands in place of a number.

--units base        tables with base units
--json-int string   64-bit integers as strings, for JavaScript
--raw               stored values instead of rates and shares
)";

constexpr std::string_view kExpressions =
    R"(meterbank get [PATH...] -e 'NAME = EXPRESSION'

  12.5  + - * /  ( )       numbers and arithmetic
  {set/counter}            a counter, in braces because / divides; either spelling of a path
  counter                  a counter of the set that PATH selects
  sum() avg() min() max()  over all that is between the parentheses, wildcards included

A path with several instances gives a value for each of them; both sides of an operator go together
by instance. A path of one named instance, of a set with a single one, a function and a number go
with every instance. Numbers are in base units (By, s, %).

  meterbank get -e 'free = 100 * {memory/free_bytes} / {memory/total_bytes}'
  meterbank get 'demo_orders/*' -e 'refused_share = rejected / (accepted + rejected)'
  meterbank get -e 'spread = max({demo_orders/*/accepted}) - min({demo_orders/*/accepted})'

The value is shown as expr/NAME. There is none, and the status says why, where an input is missing
(no-value, no-rate-yet ...), where something is divided by zero (zero-base), and where the result is
beyond all numbers (not-cookable). Without a PATH only derived values are shown.
)";

constexpr std::string_view kExitCodes =
    R"(0    done; also Ctrl-C where nothing else ends it: watch, host, demo, get -n 0,
     pmu hold
1    ran, but the answer is no: nothing matched, the publisher is gone or did
     not answer in the last sample, doctor found a problem, pmu probe found no
     counter, pmu hold lost its lease
2    usage: a bad option, path or number
3    environment: permission, no directory, a newer layout, disk full, out of
     memory; no arbiter, counters that others have
124  --timeout ran out; of pmu also --wait, and --for of pmu wait
126  pmu run: the command could not be run
127  pmu run: there is no such command
130  Ctrl-C before the last sample of get -n N, or while pmu waits for counters
     (143: SIGTERM)

pmu run otherwise ends with the code of its command, 128 and the signal if one
killed it.
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
