// SPDX-License-Identifier: Apache-2.0
//
// The past out of recordings.
#include <functional>
#include <set>

#include "cli/session/pace.hpp"
#include "meterbank/recording/recording.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {
namespace {

// Of the fastest rate.
std::uint64_t interval_of(const recording::Recording& log) {
  std::uint64_t interval_ns = 0;
  for (const auto& file : log.files()) {
    for (const auto& rate : file.head.rates) {
      if (interval_ns == 0 || rate.interval_ns < interval_ns) interval_ns = rate.interval_ns;
    }
  }
  return std::max<std::uint64_t>(interval_ns, 1);
}

// The moments of [from, to] that have all that is selected, or as many of them, evenly, as a past
// holds.
void replay_into(Past& past, recording::Recording& log, Query& query, std::uint64_t from_ns,
                 std::uint64_t to_ns, const std::function<bool(const Row&)>& is_followed,
                 const std::function<bool(const Row&)>& has_heat) {
  from_ns = std::max(from_ns, log.first().realtime_ns);
  if (to_ns <= from_ns) return;
  const auto step_ns = (to_ns - from_ns) / Board::kMomentsMax;
  const bool takes_all = step_ns <= interval_of(log);
  Sample samples[2];
  std::size_t newest = 0;
  bool is_there = log.seek(from_ns) || log.next();
  while (is_there && log.time().realtime_ns <= to_ns) {
    static_cast<void>(query.update(log.catalog()));
    const auto shown_ns = log.time().realtime_ns;
    if (log.coverage_of(query) == recording::Coverage::kAll) {
      const Sample& older = samples[newest];
      newest = 1 - newest;
      Sample& newer = samples[newest];
      query.collect(newer, log.time());
      const bool has_older = !older.empty();
      const auto seconds =
          has_older ? static_cast<double>(newer.time.monotonic_ns - older.time.monotonic_ns) / 1e9
                    : 0;
      past.begin_moment(shown_ns, seconds);
      for (const Row& row : newer.since(older, cli::kUncapped)) {
        // Before the second moment there are no rates; levels would be all that is known of it.
        if (is_followed(row)) past.follow(row, has_older && has_heat(row));
      }
    }
    is_there =
        takes_all ? log.next() : log.seek(shown_ns + step_ns) && log.time().realtime_ns > shown_ns;
    // Nothing was recorded for a while.
    if (!is_there && !takes_all) is_there = log.next();
  }
}

}  // namespace

void BoardState::replay(std::uint64_t from_ns, std::uint64_t to_ns) {
  past = Past(Board::kMomentsMax);
  work.clear();
  last_work = nullptr;
  std::size_t followed = 0;
  std::set<RowId> chosen, with_heat;
  for (const auto& [id, look] : looked_at) chosen.insert(id);
  const auto follow = [&](const Row& row) {
    if (chosen.contains(id_of(row))) return true;
    if (followed + row.set().counters.size() > Board::kCellsMax) return false;
    followed += row.set().counters.size();
    chosen.insert(id_of(row));
    return true;
  };
  replay_into(past, *selection.log, selection.query, from_ns, to_ns, follow, [&](const Row& row) {
    const auto id = id_of(row);
    if (looked_into.contains(id) || with_heat.contains(id)) return true;
    return with_heat.size() < Board::kHeatsMax && with_heat.insert(id).second;
  });
}

When BoardState::look_at(std::uint64_t at_ns, std::chrono::nanoseconds span) {
  recording::Recording& log = *selection.log;
  const auto span_ns = static_cast<std::uint64_t>(span.count());
  at_ns = std::clamp(at_ns, log.first().realtime_ns, log.last().realtime_ns);
  const bool is_known = !past.times().empty() && past.times().back() == at_ns &&
                        log_span_ns == span_ns && sampler.newer().time.realtime_ns == at_ns;
  if (!is_known) {
    replay(at_ns - std::min(at_ns, span_ns), at_ns);
    log_span_ns = span_ns;
    if (cli::show_whole_moment(selection, at_ns)) {
      const auto shown_ns = log.time().realtime_ns;
      if (cli::show_whole_moment(selection, shown_ns - 1)) sampler.take();
      if (cli::show_whole_moment(selection, shown_ns)) sampler.take();
    }
    sum_up();
  }
  const auto moment = past.times().empty() ? past.first_moment() : past.end_moment() - 1;
  return {&sampler.older(), &sampler.newer(), moment, sampler.newer().time.realtime_ns,
          sampler.interval()};
}

void Board::remember(const std::string& path, std::uint64_t from_ns, std::uint64_t to_ns) {
  auto log = recording::Recording::open(path, state_->selection.catalog().options());
  if (!log) return;
  auto query = Query::compile(log->catalog(), state_->selection.patterns);
  if (!query) return;
  Past earlier(kMomentsMax);
  std::set<std::string> wanted;
  for (const auto& [id, row] : state_->past.rows()) {
    wanted.insert(key_of(row.provider, row.set->symbol, row.instance));
  }
  replay_into(
      earlier, *log, *query, from_ns, to_ns,
      [&](const Row& row) {
        const auto& set = row.set();
        return wanted.contains(key_of(row.is_total ? "" : row.provider_label(),
                                      set.symbol.empty() ? set.name : set.symbol,
                                      row.instance_label()));
      },
      [this](const Row& row) { return state_->has_heat(row); });
  state_->past.lay_before(earlier);
}

}  // namespace meterbank::view
