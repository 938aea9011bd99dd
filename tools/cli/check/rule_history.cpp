// SPDX-License-Identifier: Apache-2.0
#include "cli/check/rule_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/row_writer.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// "shop:demo_orders/eu"; a plain expression belongs nowhere.
std::string place_of(const Value& row, bool derived) {
  std::string place;
  const bool is_plain = derived && row.row->is_total;
  if (!is_plain) {
    const ProviderView& provider = row.provider();
    if (!row.row->is_total) {
      place = row.row->has_namesake ? provider.label() : provider.name;
      place += derived ? "" : ":";
    }
  }
  if (!derived) place += row.set().symbol;
  if (has_instance_names(row.set().instances)) {
    place +=
        fmt::format("{}{}", derived && row.row->is_total ? "" : "/", row.row->instance_label());
  }
  return place;
}

// Three digits, as people read numbers; all of them where three are those of the threshold too:
// "0.00500012 s, above 5 ms".
std::string shown_beside(std::optional<double> threshold, double value, std::string_view unit) {
  const auto base = in_base_unit(value, unit);
  const auto three_digits = [](double number) { return fmt::format("{:.2e}", number); };
  if (!threshold || base.value == *threshold ||
      three_digits(base.value) != three_digits(*threshold)) {
    return print_quantity(value, unit);
  }
  const auto digits = print_exact(base.value);
  return base.unit.empty() || base.unit == "1" ? digits : fmt::format("{} {}", digits, base.unit);
}

}  // namespace

RowHistory& RuleHistory::history_of(const Value& row) {
  const bool derived = condition().expression().has_value();
  const std::string place = place_of(row, derived);
  const std::string& counter = derived ? condition().left() : row.symbol();
  const std::string_view host = host_of(row);
  std::string label = on_host(derived ? counter + (place.empty() ? "" : " of " + place)
                                      : fmt::format("{}/{}", place, counter),
                              host);
  const auto [known, is_new] = places_.emplace(label, histories_.size());
  if (is_new) {
    RowHistory history;
    history.label = std::move(label);
    history.subject =
        on_host(place.empty() ? counter : fmt::format("{} of {}", counter, place), host);
    history.host = host;
    histories_.push_back(std::move(history));
  }
  return histories_[known->second];
}

void RuleHistory::look(const Sampler& sampler, const Selection& selection) {
  ++samples_;
  const std::uint64_t time_ns = sampler.newer().time.realtime_ns;
  rows_.each(sampler, selection, [&](const Value& row) {
    RowHistory& history = history_of(row);
    auto finding = condition().judge(row);
    if (history.last_sample + 1 != samples_) history.in_a_row = 0;
    history.last_sample = samples_;
    ++history.samples;
    if (finding.answer == Answer::kUnknown) {
      ++history.unknown;
      if (sampler.taken() > 1) ++history.unknown_later;
      history.in_a_row = 0;
      history.why_unknown = std::move(finding.why);
      return true;
    }
    const bool holds = finding.answer == Answer::kYes;
    if (holds || history.held == 0) {
      const auto unit = row.text ? std::string() : cooked_unit(*row.counter);
      auto value = in_base_unit(row.cooked.value, unit);
      const auto sign = sign_of(side_of(row.cooked.status), true);
      if (!row.text) history.number = value.value;
      history.unit = std::move(value.unit);
      history.shown = row.text
                          ? fmt::format("'{}'", *row.text)
                          : fmt::format("{}{}", sign,
                                        shown_beside(condition().number(), row.cooked.value, unit));
    }
    if (!holds) {
      history.in_a_row = 0;
      return true;
    }
    if (history.held++ == 0) history.first_held_ns = time_ns;
    history.last_held_ns = time_ns;
    history.most_in_a_row = std::max(history.most_in_a_row, ++history.in_a_row);
    return true;
  });
}

CheckState RuleHistory::state_of(const RowHistory& row, std::uint64_t needed) const noexcept {
  if (row.most_in_a_row >= needed) return severity_;
  // Without values in between, it may have held all the time.
  const bool may_have_held = row.held + row.unknown >= needed && row.unknown_later > 0;
  const bool all_unknown = row.unknown == row.samples;
  return all_unknown || (needed > 1 && may_have_held) ? CheckState::kUnknown : CheckState::kOk;
}

}  // namespace meterbank::cli
