// SPDX-License-Identifier: Apache-2.0
//
// A command line, understood: what grammar.cpp makes of the arguments and the verbs act on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/format/row_writer.hpp"
#include "cli/session/console.hpp"
#include "cli/session/selection.hpp"

namespace meterbank::cli {

enum class Verb : std::uint8_t { kList, kGet, kWatch, kHost, kDemo, kDoctor, kVersion, kHelp };

using Span = std::chrono::nanoseconds;

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
  std::string output;

  // When samples are taken.
  std::optional<std::uint64_t> samples;  // 0: until stopped
  Span interval = std::chrono::seconds(1);
  std::optional<Span> duration;

  // list
  bool details = false;
  bool instances = false;
  bool publishers = false;

  // host, demo
  std::string name = "host";
  std::optional<Span> period;
  bool processes = true;
  std::uint64_t seed = 1;

  // doctor
  bool clean = false;

  // help: a verb or a topic; empty is the overview
  std::string topic;
};

}  // namespace meterbank::cli
