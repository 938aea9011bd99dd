// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/moments.hpp"

#include <map>

#include "cli/session/exit_code.hpp"
#include "cli/session/pace.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {

std::vector<bool> LogMoment::sampled() const {
  std::vector<bool> sampled;
  for (const SelectedSet& one : sample.selected()) {
    const auto rate = log.rate_of(one.provider(), one.registered());
    sampled.push_back(rate && (log.due() >> *rate & 1U) != 0);
  }
  return sampled;
}

std::vector<bool> blocks_not_sampled(const LogMoment& moment,
                                     std::span<const std::size_t> first_rows) {
  std::vector<bool> blocks(first_rows.size(), false);
  const auto sampled = moment.sampled();
  std::map<std::size_t, bool> by_row;
  std::size_t row = 0;
  const auto selected = moment.sample.selected();
  for (std::size_t index = 0; index < selected.size(); ++index) {
    if (selected[index].instances() != 0) by_row.emplace(row, sampled[index]);
    row += selected[index].instances();
  }
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const auto known = by_row.find(first_rows[block]);
    blocks[block] = known != by_row.end() && !known->second;
  }
  return blocks;
}

int convert_moments(const Invocation& invocation, MomentSink& sink, Console& console) {
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  options.log.mean_all_by_default();
  options.outside_labels = true;
  auto selection = Selection::open(options, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  // A recording may begin before what it records, so only paths can be missing.
  if (!selection->patterns.empty()) {
    const int missing = report_missing(*selection, console);
    if (missing != kExitDone && selection->has_nothing()) return missing;
  }
  const auto pace = make_pace(*selection, waiter,
                              {.interval = invocation.interval,
                               .duration = std::nullopt,
                               .warm_up = false,
                               .takes_parts = true,
                               .log = options.log});
  Sample sample;
  std::uint64_t version = 0;
  const bool has_everything = selection->patterns.empty() && options.excluded.empty();
  auto wake = pace->next();
  for (; wake == Wake::kDeadline; wake = pace->next()) {
    selection->refresh();
    selection->query.collect(sample, selection->log->time());
    const bool has_changed = version == 0 || version != selection->query.version() + 1;
    version = selection->query.version() + 1;
    const auto taken = sink.take({*selection->log, sample, has_changed, has_everything});
    if (!taken) return explain_failure(taken.error(), waiter, console);
    if (!*taken) break;
    pace->done();
    if (pace->is_over()) break;
  }
  const int damages = report_damages(*selection, console);
  report_passed_over(*pace, console);
  if (!wake && version == 0) return report_no_moment(options.log, console);
  if (wake == Wake::kStop) return 128 + waiter.signal();
  if (wake == Wake::kTimeout) {
    complain(console, "timed out; try: a longer --timeout");
    return kExitTimeout;
  }
  return damages;
}

bool is_kept(int exit_code, std::uint64_t count) noexcept {
  return exit_code == kExitDone || (exit_code == kExitNo && count != 0);
}

}  // namespace meterbank::cli
