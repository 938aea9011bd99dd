// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/run/counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/listing.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"

namespace meterbank::cli {
namespace {

using pmu::Quality;

// "9,234,123,456"
std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Of a moment in which nothing was to be counted nothing is missing, either.
bool has_number(const pmu::Value& value, Quality quality) noexcept {
  if (quality == Quality::kStarved) return false;
  return value.enabled_ns == 0 || value.running_ns > 0 || value.value > 0;
}

double share_of(const pmu::Value& value) noexcept {
  if (value.enabled_ns == 0) return 1;
  return std::min(1.0,
                  static_cast<double>(value.running_ns) / static_cast<double>(value.enabled_ns));
}

std::string event_text(const pmu::Value& value, const std::vector<EventWord>& events) {
  return value.item < events.size() ? events[value.item].text : fmt::format("#{}", value.item);
}

const pmu::Value* find(const Counts& counts, const std::vector<EventWord>& events,
                       std::string_view name) {
  const auto found =
      std::find_if(counts.values.begin(), counts.values.end(), [&](const pmu::Value& value) {
        if (value.item >= events.size()) return false;
        const std::string_view text = events[value.item].text;
        return text == name || (text.starts_with(name) && text.substr(name.size()) == ":u");
      });
  return found == counts.values.end() ? nullptr : &*found;
}

}  // namespace

Counts since(const Counts& before, const Counts& after) {
  if (before.values.size() != after.values.size()) return {};
  Counts between = after;
  for (std::size_t i = 0; i < between.values.size(); ++i) {
    pmu::Value& value = between.values[i];
    const pmu::Value& old = before.values[i];
    if (old.item != value.item || old.cpu != value.cpu) return {};
    value.value -= std::min(old.value, value.value);
    value.enabled_ns -= std::min(old.enabled_ns, value.enabled_ns);
    value.running_ns -= std::min(old.running_ns, value.running_ns);
  }
  return between;
}

Counts added_up(const Counts& counts) {
  Counts sums{.quality = counts.quality, .values = {}};
  for (const pmu::Value& value : counts.values) {
    const auto found = std::find_if(sums.values.begin(), sums.values.end(),
                                    [&](const pmu::Value& sum) { return sum.item == value.item; });
    if (found == sums.values.end()) {
      sums.values.push_back(value);
      sums.values.back().cpu = pmu::kNoCpu;
      continue;
    }
    found->value += value.value;
    found->enabled_ns += value.enabled_ns;
    found->running_ns += value.running_ns;
  }
  return sums;
}

std::string print_counts(const Counts& counts, const std::vector<EventWord>& events,
                         const CountsMoment& moment, const RowStyle& style) {
  const bool has_gaps = std::any_of(counts.values.begin(), counts.values.end(), [&](const auto& v) {
    return has_number(v, counts.quality) && share_of(v) < 0.995;
  });
  const bool has_cpus =
      std::any_of(counts.values.begin(), counts.values.end(),
                  [](const pmu::Value& value) { return value.cpu != pmu::kNoCpu; });
  Listing listing({{moment.elapsed_s ? "TIME" : "", "elapsed_s", Align::kRight},
                   {has_cpus ? "CPU" : "", "cpu", Align::kRight},
                   {"VALUE", "value", Align::kRight},
                   {"EVENT", "event"},
                   {"RATE", "rate_per_s", Align::kRight},
                   {"QUALITY", "quality"},
                   {has_gaps ? "COUNTED" : "", "counted_share", Align::kRight},
                   {has_gaps ? "ESTIMATE" : "", "estimate", Align::kRight}});
  for (const pmu::Value& value : counts.values) {
    const bool is_there = has_number(value, counts.quality);
    const auto quality = is_there ? counts.quality : Quality::kStarved;
    const double share = share_of(value);
    // Of a time that was counted in part, what the rest would have been is a guess, said apart.
    const double estimate = static_cast<double>(value.value) / (share > 0 ? share : 1);
    const double rate = moment.seconds > 0 ? estimate / moment.seconds : 0;
    auto number = Cell::absent();
    if (is_there) {
      number = Cell::number(value.value);
      number.human = grouped(value.value);
    }
    listing.add(
        {moment.elapsed_s ? Cell::number(*moment.elapsed_s, print_duration(*moment.elapsed_s))
                          : Cell::absent(),
         value.cpu == pmu::kNoCpu ? Cell::absent() : Cell::number(std::uint64_t{value.cpu}),
         std::move(number), Cell::text(event_text(value, events)),
         is_there ? Cell::number(rate, print_quantity(rate, "{event}/s")) : Cell::absent(),
         Cell::text(std::string(name_of(quality))),
         is_there ? Cell::number(share, fmt::format("{:.0f} %", 100 * share)) : Cell::absent(),
         is_there ? Cell::number(estimate, "~" + grouped(static_cast<std::uint64_t>(estimate)))
                  : Cell::absent()});
  }
  return listing.print(style);
}

std::string print_ratio(const Counts& counts, const std::vector<EventWord>& events) {
  const Counts sums = added_up(counts);
  const pmu::Value* const cycles = find(sums, events, "cycles");
  const pmu::Value* const instructions = find(sums, events, "instructions");
  if (cycles == nullptr || instructions == nullptr) return {};
  if (!has_number(*cycles, counts.quality) || !has_number(*instructions, counts.quality)) return {};
  if (cycles->value == 0) return {};
  const double ratio =
      static_cast<double>(instructions->value) / static_cast<double>(cycles->value);
  return fmt::format("{} instructions a cycle\n", print_digits(ratio));
}

}  // namespace meterbank::cli
