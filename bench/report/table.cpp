// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace meterbank::bench {
namespace {

constexpr std::string_view kLine = "{:<76} {:>9} {:>7} {:>9} {:>20} {:>10}  {}\n";

void print_line(std::string_view what, std::string_view measured, std::string_view instructions,
                std::string_view limit, std::string_view ratio, std::string_view hold,
                std::string_view verdict) {
  fmt::print(fmt::runtime(kLine), what, measured, instructions, limit, ratio, hold, verdict);
  std::fflush(stdout);  // A long run shows each row when it is known.
}

std::string ratio_text(const Spread& ratio) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", ratio.median, ratio.p10, ratio.p90);
}

std::string cell(const std::optional<Spread>& spread, std::string_view unit) {
  return spread ? value_text(spread->median, unit) : "-";
}

std::string instructions_cell(const ResultRow& row) {
  if (!row.instructions) return "-";
  return fmt::format("{:.1f}", *row.instructions);
}

std::string hold_cell(const ResultRow& row) {
  if (!row.hold) return "-";
  return row.hold_is_ratio ? fmt::format("{:.2f}x", *row.hold) : value_text(*row.hold, row.unit);
}

Spread one_value(double value) noexcept { return {value, value, value}; }

ResultRow compared(std::string_view what, const Comparison& result) {
  return {.name = std::string(what),
          .unit = "ns",
          .measured = result.measured,
          .limit = result.limit,
          .ratio = result.ratio,
          .instructions = result.instructions};
}

}  // namespace

std::string time_text(double nanoseconds) {
  if (nanoseconds < 100) return fmt::format("{:.2f} ns", nanoseconds);
  if (nanoseconds < 1e4) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "ns") return time_text(value);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "s") return fmt::format("{:.2f} s", value);
  return fmt::format("{:.0f} {}", value, unit);
}

std::string Table::verdict(double measured, std::optional<double> hold) {
  if (!hold) return "-";
  // The figures are given to two digits, so a measurement is judged at that precision.
  if (measured < *hold * 1.005) return "holds";
  ++misses_;
  return "misses";
}

void Table::record(ResultRow row) {
  row.group = group_;
  rows_.push_back(std::move(row));
}

void Table::add(ResultRow row) {
  if (!row.instructions) row.instructions = counts_.of(group_, row.name);
  print_line(row.name, cell(row.measured, row.unit), instructions_cell(row),
             cell(row.limit, row.unit), row.ratio ? ratio_text(*row.ratio) : "-", hold_cell(row),
             row.verdict);
  record(std::move(row));
}

void Table::head() const {
  print_line("row", "measured", "instr.", "limit", "ratio (p10-p90)", "hold", "verdict");
}

void Table::ratio_row(std::string_view what, const Comparison& result, std::optional<double> hold) {
  ResultRow row = compared(what, result);
  row.hold = hold;
  row.hold_is_ratio = true;
  row.verdict = verdict(result.ratio.median, hold);
  add(std::move(row));
}

void Table::time_row(std::string_view what, const Comparison& result,
                     std::optional<double> hold_ns) {
  ResultRow row = compared(what, result);
  row.hold = hold_ns;
  row.verdict = verdict(result.measured.median, hold_ns);
  add(std::move(row));
}

void Table::plain_row(std::string_view what, double measured, std::string_view unit,
                      std::optional<double> hold) {
  add({.name = std::string(what),
       .unit = std::string(unit),
       .measured = one_value(measured),
       .once = true,
       .hold = hold,
       .verdict = verdict(measured, hold)});
}

void Table::time_alone_row(std::string_view what, const Spread& measured,
                           std::optional<double> hold_ns) {
  add({.name = std::string(what),
       .unit = "ns",
       .measured = measured,
       .hold = hold_ns,
       .verdict = verdict(measured.median, hold_ns)});
}

void Table::share_row(std::string_view what, double measured, double other) {
  add({.name = std::string(what),
       .unit = "%",
       .measured = one_value(100 * measured),
       .once = true,
       .limit = one_value(100 * other),
       .verdict = "-"});
}

void Table::seconds_row(std::string_view what, double measured, double other) {
  add({.name = std::string(what),
       .unit = "s",
       .measured = one_value(measured),
       .once = true,
       .limit = one_value(other),
       .verdict = "-"});
}

void Table::note_row(std::string_view what, std::string_view why) {
  add({.name = std::string(what), .verdict = std::string(why)});
}

}  // namespace meterbank::bench
