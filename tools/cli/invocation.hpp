// SPDX-License-Identifier: Apache-2.0
//
// A command line, understood: what grammar.cpp makes of the arguments and the verbs act on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check/check_options.hpp"
#include "cli/derive/expression.hpp"
#include "cli/diff/diff_options.hpp"
#include "cli/distribution/percentiles.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/pmu/grammar/pmu_options.hpp"
#include "cli/record/record_options.hpp"
#include "cli/session/console.hpp"
#include "cli/session/selection.hpp"
#include "meterbank/pdh_log/log_format.hpp"
#include "view/place.hpp"

namespace meterbank::cli {

enum class Verb : std::uint8_t {
  kList,
  kGet,
  kWatch,
  kTypeperf,
  kRelog,
  kHost,
  kDemo,
  kGen,
  kServe,
  kPush,
  kView,
  kPmu,
  kRecord,
  kLog,
  kDiff,
  kCheck,
  kDoctor,
  kVersion,
  kHelp
};

using Span = std::chrono::nanoseconds;

struct TypeperfOptions {
  bool lists = false;  // counters instead of their values
  bool with_instances = false;
  std::string object;  // a glob
};

inline constexpr std::size_t kRelogInputsMax = 32;
struct RelogOptions {
  std::vector<std::string> inputs;  // at most kRelogInputsMax
  std::optional<LogFormat> format;
  std::uint64_t every = 1;
  std::optional<LogTime> begin, end;
  bool lists = false;  // counters and range of time instead of records
};

struct WatchOptions {
  bool is_batch = false;
  std::optional<view::Place> place;
  std::string ring;         // empty: that of the agent
  bool wants_rows = false;  // an option is about rows

  // Screens of everything, in place of a list of what was named.
  [[nodiscard]] bool shows_screens(const SelectionOptions& selection) const {
    const bool is_all = selection.paths.empty() && selection.paths_from.empty();
    return is_batch || place || (is_all && !wants_rows);
  }
};

struct Invocation {
  Verb verb = Verb::kHelp;

  // Every verb.
  ColorWhen color = ColorWhen::kAuto;
  bool quiet = false;
  bool verbose = false;
  std::optional<Span> timeout;

  // What is read, and how it is shown.
  SelectionOptions selection;
  Format format = Format::kAuto;
  UnitStyle units = UnitStyle::kAuto;
  bool raw = false;
  bool integers_as_text = false;
  bool strict = false;
  bool wants_all_of_log = false;        // what of a recording cannot be read is a failure
  bool histograms = false;              // get
  Percentiles percentiles;              // rows behind those of distributions
  std::vector<Expression> expressions;  // get
  std::vector<double> buckets;          // get: of the histograms of a page
  std::string output;
  bool overwrite = false;  // typeperf, relog: an output that exists is replaced

  // When samples are taken.
  std::optional<std::uint64_t> samples;  // 0: until stopped
  Span interval = std::chrono::seconds(1);
  bool has_interval = false;  // it was asked for
  std::optional<Span> duration;

  // list
  bool details = false;
  bool instances = false;
  bool providers = false;
  bool registrations = false;

  WatchOptions watch;
  TypeperfOptions typeperf;
  RelogOptions relog;  // its filter is selection.paths and .paths_from

  // host, demo
  std::string name = "host";
  std::optional<Span> period;
  bool processes = true;
  std::uint64_t seed = 1;

  std::vector<std::string> program_words;  // gen, serve: what the program is called with

  PmuOptions pmu;

  DiffOptions diff;
  RecordOptions record;
  LogVerbOptions log;
  CheckOptions check;

  // doctor
  bool clean = false;

  // help: a verb or a topic; empty is the overview
  std::string topic;
};

}  // namespace meterbank::cli
