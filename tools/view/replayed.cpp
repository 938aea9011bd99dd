// SPDX-License-Identifier: Apache-2.0
//
// The past out of recordings.
#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "cli/session/pace.hpp"
#include "meterbank/recording/recording.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {
namespace {

// How long one picture may read.
constexpr auto kExtremesTimeMax = std::chrono::milliseconds(300);
// Plots of so many places are read by turns, none of them from the beginning again.
constexpr std::size_t kExtremesMax = 16;
constexpr std::ptrdiff_t kTrendMomentsMin = 64;  // about as many as a small plot has columns

// Of the chunks that overlap the range.
std::uint64_t ticks_in(const recording::Recording& log, std::uint64_t from_ns,
                       std::uint64_t to_ns) {
  std::uint64_t ticks = 0;
  for (const auto& file : log.files()) {
    for (const auto& chunk : file.index.chunks()) {
      const bool overlaps = chunk.last.realtime_ns >= from_ns && chunk.first.realtime_ns <= to_ns;
      if (overlaps) ticks += chunk.ticks;
    }
  }
  return ticks;
}

// When the chunks of the recording begin, ascending.
std::vector<std::uint64_t> begins_of_chunks(const recording::Recording& log) {
  std::vector<std::uint64_t> begins;
  for (const auto& file : log.files()) {
    for (const auto& chunk : file.index.chunks()) begins.push_back(chunk.first.realtime_ns);
  }
  std::ranges::sort(begins);
  return begins;
}

// Shows a moment behind the one that is shown and at most half a step before the wanted one, or the
// last one before that. The first moment of a chunk is taken where there is one, because the others
// cost a decoding of the chunk up to them. Returns whether there is one.
bool show_near(recording::Recording& log, Query& query, std::span<const std::uint64_t> begins,
               std::uint64_t wanted_ns, std::uint64_t step_ns) {
  const auto shown_ns = log.time().realtime_ns;
  const auto behind = std::ranges::upper_bound(begins, wanted_ns);
  if (behind != begins.begin() && behind[-1] > shown_ns && wanted_ns - behind[-1] <= step_ns / 2 &&
      log.seek(behind[-1]) && log.time().realtime_ns > shown_ns) {
    static_cast<void>(query.update(log.catalog()));
    if (log.coverage_of(query) == recording::Coverage::kAll) return true;
  }
  return log.seek(wanted_ns) && log.time().realtime_ns > shown_ns;
}

// Shows the first moment of a chunk, which is cheap, at or behind the wanted one, else the last
// moment by `to_ns`. Returns whether there is one behind the one that is shown.
bool show_chunk(recording::Recording& log, std::span<const std::uint64_t> begins,
                std::uint64_t wanted_ns, std::uint64_t to_ns) {
  const auto shown_ns = log.time().realtime_ns;
  const auto next = std::ranges::lower_bound(begins, std::max(wanted_ns, shown_ns + 1));
  const bool is_within = next != begins.end() && *next <= to_ns;
  return log.seek(is_within ? *next : to_ns) && log.time().realtime_ns > shown_ns;
}

// The moments of [from, to] that have all that is selected, or as many of them, about evenly, as a
// past holds. Returns whether it was all of them, and all that any counter has. Without a
// distribution, whose heat map shows each of them, they are first moments of chunks, as many as a
// trend has values.
bool replay_into(Past& past, recording::Recording& log, Query& query, std::uint64_t from_ns,
                 std::uint64_t to_ns, const std::function<bool(const Row&)>& is_followed,
                 const std::function<bool(const Row&)>& has_heat) {
  from_ns = std::max(from_ns, log.first().realtime_ns);
  if (to_ns < from_ns) return true;
  const bool takes_all = ticks_in(log, from_ns, to_ns) <= Board::kMomentsMax;
  const auto begins = takes_all ? std::vector<std::uint64_t>() : begins_of_chunks(log);
  bool takes_chunks =
      std::ranges::upper_bound(begins, to_ns) - std::ranges::lower_bound(begins, from_ns) >=
      kTrendMomentsMin;
  bool has_all = takes_all;
  auto wanted_ns = from_ns;
  Sample samples[2];
  std::size_t newest = 0;
  bool is_there = log.seek(from_ns) || log.next();
  while (is_there && log.time().realtime_ns <= to_ns) {
    static_cast<void>(query.update(log.catalog()));
    const auto shown_ns = log.time().realtime_ns;
    const auto coverage = log.coverage_of(query);
    has_all = has_all && coverage != recording::Coverage::kSome;
    if (coverage == recording::Coverage::kAll) {
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
        if (!is_followed(row)) continue;
        past.follow(row, has_older && has_heat(row));
        takes_chunks = takes_chunks && !has_distribution(row);
      }
    }
    const auto step_ns = (to_ns - from_ns) / (takes_chunks ? kTrendMax : Board::kMomentsMax);
    wanted_ns = std::max(wanted_ns, shown_ns) + step_ns;
    is_there = takes_all      ? log.next()
               : takes_chunks ? show_chunk(log, begins, wanted_ns, to_ns)
                              : show_near(log, query, begins, wanted_ns, step_ns);
    // Nothing was recorded for a while.
    if (!is_there && !takes_all) is_there = log.next();
  }
  return has_all;
}

}  // namespace

void BoardState::replay(std::uint64_t from_ns, std::uint64_t to_ns) {
  past = Past(Board::kMomentsMax);
  work.clear();
  last_work = nullptr;
  std::size_t followed = 0;
  std::uint64_t moment = 0;
  std::set<RowId> with_heat;
  const auto follow = [&](const Row& row) {
    // Each moment may have a catalog of its own.
    if (std::exchange(moment, past.end_moment()) != past.end_moment()) last_registered = nullptr;
    if (!is_followed(row)) return false;
    if (past.find(id_of(row)) != nullptr) return true;
    // A set may have had more rows than at the moment for which it was chosen.
    followed += row.set().counters.size();
    return followed <= Board::kCellsMax + cells_max;
  };
  has_all_moments = replay_into(
      past, *selection.log, selection.query, from_ns, to_ns, follow, [&](const Row& row) {
        const auto id = id_of(row);
        if (looked_into.contains(id) || with_heat.contains(id)) return true;
        return with_heat.size() < Board::kHeatsMax && with_heat.insert(id).second;
      });
}

When BoardState::look_at(std::uint64_t at_ns, std::chrono::nanoseconds span) {
  recording::Recording& log = *selection.log;
  const auto span_ns = static_cast<std::uint64_t>(span.count());
  at_ns = std::clamp(at_ns, log.first().realtime_ns, log.last().realtime_ns);
  if (log_at_ns != at_ns || log_span_ns != span_ns) {
    log_at_ns = at_ns;
    if (cli::show_whole_moment(selection, at_ns)) choose_followed();
    replay(at_ns - std::min(at_ns, span_ns), at_ns);
    log_span_ns = span_ns;
    // The first moment of a recording has none before it.
    sampler = cli::Sampler(selection);
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

const Extremes* BoardState::extremes_of(const ExtremesOf& wanted) {
  if (noted) {
    if (noted->paths.empty()) *noted = wanted;
    noted->paths.insert(wanted.paths.begin(), wanted.paths.end());
    return nullptr;
  }
  auto known =
      std::ranges::find_if(extremes, [&](const Extremes& one) { return one.of().covers(wanted); });
  if (known == extremes.end()) {
    if (extremes.size() == kExtremesMax) extremes.pop_front();
    extremes.emplace_back(wanted);
    known = extremes.end() - 1;
  }
  // A person waits for it.
  known->read_on(selection, Extremes::Clock::now() + kExtremesTimeMax);
  return &*known;
}

void Board::note_plots() {
  state_->noted.emplace();
  state_->cells_max = kNotedCellsMax;
  state_->heats_max = kNotedHeatsMax;
}

void Board::read_noted_plots(const std::stop_token& stop) {
  const auto noted = std::exchange(state_->noted, std::nullopt);
  // The next picture replays the past for all of them.
  if (std::exchange(state_->wants_replay, false)) state_->log_at_ns = 0;
  if (!noted || noted->paths.empty()) return;
  state_->extremes.emplace_back(*noted);
  state_->extremes.back().read_on(state_->selection, Extremes::Clock::time_point::max(), stop);
}

// Where the recording stands is where the last question left it: look_at() goes to its moment by
// itself.
std::optional<std::uint64_t> BoardState::recorded_before(std::optional<std::uint64_t> at_ns) {
  recording::Recording& log = *selection.log;
  const auto from_ns = std::min(at_ns.value_or(log.last().realtime_ns), log.last().realtime_ns);
  if (!cli::show_whole_moment(selection, from_ns)) return std::nullopt;
  const auto shown_ns = log.time().realtime_ns;
  if (shown_ns == 0 || !cli::show_whole_moment(selection, shown_ns - 1)) return std::nullopt;
  return log.time().realtime_ns;
}

std::optional<std::uint64_t> BoardState::recorded_after(std::uint64_t at_ns) {
  recording::Recording& log = *selection.log;
  if (!log.seek(at_ns) && !log.next()) return std::nullopt;
  do {
    selection.refresh();
    if (log.time().realtime_ns > at_ns &&
        log.coverage_of(selection.query) == recording::Coverage::kAll) {
      return log.time().realtime_ns;
    }
  } while (log.next());
  return std::nullopt;
}

Result<void> Board::remember(const std::string& path, std::uint64_t from_ns, std::uint64_t to_ns) {
  auto log = recording::Recording::open(path, state_->selection.catalog().options());
  if (!log) return tl::unexpected(log.error());
  auto query = Query::compile(log->catalog(), state_->selection.patterns);
  if (!query) return tl::unexpected(query.error());
  Past earlier(kMomentsMax);
  // Rows that the first picture showed have a past from its moment on.
  for (const Row& row : state_->sampler.newer().since(state_->sampler.older(), cli::kUncapped)) {
    const bool is_new = state_->past.find(id_of(row)) == nullptr;
    if (is_new && state_->is_followed(row)) state_->past.follow(row, state_->has_heat(row));
  }
  std::set<std::string> wanted;
  for (const auto& [id, row] : state_->past.rows()) {
    wanted.insert(key_of(row.provider, row.set->symbol, row.instance));
  }
  replay_into(
      earlier, *log, *query, from_ns, to_ns,
      [&](const Row& row) {
        const auto& set = row.set();
        return wanted.contains(key_of(row.is_total ? "" : label_of(*row.provider),
                                      set.symbol.empty() ? set.name : set.symbol,
                                      row.instance_label()));
      },
      [this](const Row& row) { return state_->has_heat(row); });
  state_->past.lay_before(earlier);
  return {};
}

}  // namespace meterbank::view
