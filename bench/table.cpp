// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace meterbank::bench {
namespace {

constexpr std::string_view kLine = "{:<76} {:>9} {:>9} {:>20} {:>10}  {}\n";

void print_line(std::string_view what, std::string_view measured, std::string_view limit,
                std::string_view ratio, std::string_view hold, std::string_view verdict) {
  fmt::print(fmt::runtime(kLine), what, measured, limit, ratio, hold, verdict);
  std::fflush(stdout);  // A long run shows each row when it is known.
}

std::string ratio_text(const Spread& ratio) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", ratio.median, ratio.p10, ratio.p90);
}

}  // namespace

std::string time_text(double nanoseconds) {
  if (nanoseconds < 100) return fmt::format("{:.2f} ns", nanoseconds);
  if (nanoseconds < 1e4) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

std::string Table::verdict(double measured, std::optional<double> hold) {
  if (!hold) return "-";
  // The figures are given to two digits, so a measurement is judged at that precision.
  if (measured < *hold * 1.005) return "holds";
  ++misses_;
  return "misses";
}

void Table::head() const {
  print_line("row", "measured", "limit", "ratio (p10-p90)", "hold", "verdict");
}

void Table::ratio_row(std::string_view what, const Comparison& result, std::optional<double> hold) {
  print_line(what, time_text(result.measured.median), time_text(result.limit.median),
             ratio_text(result.ratio), hold ? fmt::format("{:.2f}x", *hold) : "-",
             verdict(result.ratio.median, hold));
}

void Table::time_row(std::string_view what, const Comparison& result,
                     std::optional<double> hold_ns) {
  print_line(what, time_text(result.measured.median), time_text(result.limit.median),
             ratio_text(result.ratio), hold_ns ? time_text(*hold_ns) : "-",
             verdict(result.measured.median, hold_ns));
}

void Table::plain_row(std::string_view what, double measured, std::string_view unit,
                      std::optional<double> hold) {
  print_line(what, fmt::format("{:.0f} {}", measured, unit), "-", "-",
             hold ? fmt::format("{:.0f} {}", *hold, unit) : "-", verdict(measured, hold));
}

void Table::time_alone_row(std::string_view what, const Spread& measured,
                           std::optional<double> hold_ns) {
  print_line(what, time_text(measured.median), "-", "-", hold_ns ? time_text(*hold_ns) : "-",
             verdict(measured.median, hold_ns));
}

void Table::share_row(std::string_view what, double measured, double other) {
  print_line(what, fmt::format("{:.1f} %", 100 * measured), fmt::format("{:.1f} %", 100 * other),
             "-", "-", "-");
}

void Table::seconds_row(std::string_view what, double measured, double other) {
  print_line(what, fmt::format("{:.2f} s", measured), fmt::format("{:.2f} s", other), "-", "-",
             "-");
}

void Table::note_row(std::string_view what, std::string_view why) {
  print_line(what, "-", "-", "-", "-", why);
}

}  // namespace meterbank::bench
