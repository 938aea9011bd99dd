// SPDX-License-Identifier: Apache-2.0
#include "cli/record/log_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/format/listing.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

using recording::Recording;
using recording::RecordingFile;

Result<Recording> open_recording(const Invocation& invocation) {
  return Recording::open(invocation.selection.log.path, catalog_options(invocation.selection));
}

Cell time_cell(std::uint64_t realtime_ns, const LocalForm& form) {
  return Cell::text(print_local(realtime_ns, form), print_utc(realtime_ns));
}

std::string rates_text(const recording::Head& head) {
  std::string text;
  for (const recording::Rate& rate : head.rates) {
    if (!text.empty()) text += ", ";
    // A part of a recording with several rates has none of its own.
    if (rate.interval_ns != 0) {
      text += print_interval(std::chrono::nanoseconds(static_cast<std::int64_t>(rate.interval_ns)));
      text += ' ';
    }
    std::string patterns = rate.patterns;
    std::replace(patterns.begin(), patterns.end(), '\n', ' ');
    text += patterns.empty() ? "everything" : patterns;
  }
  return text;
}

Cell bytes_cell(std::uint64_t bytes) {
  return Cell::number(static_cast<double>(bytes), print_quantity(static_cast<double>(bytes), "By"));
}

// One line a file: a directory has several.
void list_files(const Recording& recording, const RowStyle& style, const TextSink& out) {
  ListingPrinter listing({{"FILE", "file"},
                          {"FROM", "from"},
                          {"TO", "to"},
                          {"SAMPLES", "samples", Align::kRight},
                          {"GAPS", "gaps", Align::kRight},
                          {"SIZE", "bytes", Align::kRight},
                          {"STATE", "state"},
                          {"HOST", "host"},
                          {"BY", "program"},
                          {"RATES", "rates"}},
                         style, out);
  const LocalForm form = form_of_range(recording.first().realtime_ns, recording.last().realtime_ns,
                                       Timestamp::now().realtime_ns);
  for (const RecordingFile& file : recording.files()) {
    const auto& chunks = file.index.chunks();
    std::uint64_t ticks = 0;
    for (const recording::Chunk& chunk : chunks) ticks += chunk.ticks;
    listing.add(
        {Cell::text(file.path),
         chunks.empty() ? Cell::absent() : time_cell(chunks.front().first.realtime_ns, form),
         chunks.empty() ? Cell::absent() : time_cell(chunks.back().last.realtime_ns, form),
         Cell::number(ticks), Cell::number(file.index.gaps()), bytes_cell(file.bytes),
         Cell::text(file.is_ended ? "ended" : "open"), Cell::text(file.head.host),
         Cell::text(file.head.program), Cell::text(rates_text(file.head))});
  }
  listing.finish();
}

std::uint64_t say_damages(const Recording& recording, const Console& console) {
  for (const recording::Damage& damage : recording.damages()) {
    std::string where = damage.path;
    if (damage.offset != 0 || damage.bytes != 0) where += fmt::format(", offset {}", damage.offset);
    const auto what =
        damage.bytes == 0 ? damage.what : fmt::format("{} {}", damage.bytes, damage.what);
    complain(console, fmt::format("{}: {}", escape_for_terminal(where), escape_for_terminal(what)));
  }
  return recording.damages().size();
}

}  // namespace

int log_info(const Invocation& invocation, Console& console) {
  const auto recording = open_recording(invocation);
  if (!recording) {
    complain(console, recording.error());
    return exit_code_of(recording.error().code);
  }
  auto output = Output::open(console, {});
  if (!output) return kExitEnvironment;
  list_files(*recording, style_of(invocation, console),
             [&](std::string_view text) { return output->write(text); });
  static_cast<void>(say_damages(*recording, console));
  return output->finish(kExitDone);
}

int log_check(const Invocation& invocation, Console& console) {
  auto recording = open_recording(invocation);
  if (!recording) {
    complain(console, recording.error());
    return exit_code_of(recording.error().code);
  }
  std::uint64_t ticks = 0;
  while (recording->next()) ++ticks;
  std::uint64_t unfinished = 0;
  for (const RecordingFile& file : recording->files()) unfinished += file.unfinished;
  const std::uint64_t damages = say_damages(*recording, console);
  std::uint64_t missing = 0;
  for (const recording::Gap& gap : recording->gaps()) missing += gap.ticks;
  if (!invocation.quiet) {
    say(console, fmt::format("{} in {}", counted(ticks, "sample"),
                             counted(recording->files().size(), "file")));
    if (missing != 0) say(console, fmt::format("{} missed or lost", counted(missing, "sample")));
    if (unfinished != 0) {
      say(console, fmt::format("{} at the end of a sample that was not finished",
                               counted(unfinished, "byte")));
    }
  }
  if (damages == 0) return kExitDone;
  complain(console, fmt::format("{} damaged; the rest can be read", counted(damages, "place")));
  return kExitNo;
}

}  // namespace meterbank::cli
