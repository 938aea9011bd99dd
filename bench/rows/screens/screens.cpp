// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a screen cost a moment, and how long does a key wait for its picture?
// Limit: one snapshot of all counters. Pictures are compared with it, but have no limit of their
// own.
#include <fmt/format.h>

#include "blocks.hpp"
#include "cli/session/waiter.hpp"
#include "rows.hpp"
#include "view/board.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kCountersOfARow = 8;
// Held: of a thousand counters 0.1 % of a processor once a second, and a key waits for its picture
// for 16 ms at the most where there are 100,000; half of that is for drawing.
constexpr std::size_t kFew = 1'000;

view::Place set_sorted_by(const std::string& set, const std::string& counter) {
  view::Place place;
  place.screen = view::Screen::kSet;
  place.set = set;
  place.sort = counter;
  return place;
}

void board_rows(std::size_t counters, const Effort& effort, Table& table) {
  const SetShape shape{.counters = kCountersOfARow, .many = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, counters / kCountersOfARow);
  cli::SelectionOptions options;
  options.directory = workplace.directory();
  cli::Waiter waiter({});
  auto selection = must(cli::Selection::open(options, waiter));
  view::Board board(selection);
  Sample sample;
  Query& query = selection.query;
  // A past as long as it becomes.
  for (std::size_t moment = 0; moment < std::min<std::size_t>(effort.rounds * 30, 900); ++moment) {
    board.take();
  }
  const auto rounds = std::min(effort.rounds, 9U);
  const auto taken = compare(
      rounds, 1, [&] { board.take(); }, [&] { query.collect(sample); });
  table.time_row(fmt::format("a moment of {} counters (limit: snapshot)", counters), taken,
                 counters <= kFew ? 0.5e6 : 3e6);

  view::Window window;
  window.lines = 50;
  const auto& shown = query.selected().front().set();
  const auto sorted = set_sorted_by(shown.symbol, shown.counters.back().symbol);
  const auto picture_row = [&](std::string_view what, const view::Place& place) {
    const auto drawn = compare(
        rounds, 1, [&] { keep(board.picture(place, window).sections.size()); },
        [&] { query.collect(sample); });
    table.time_row(fmt::format("{}, {} counters (limit: snapshot)", what, counters), drawn,
                   counters <= kFew ? 0.5e6 : 8e6);
  };
  picture_row("picture of the overview", {});
  picture_row("picture of a sorted set", sorted);
}

}  // namespace

void screen_rows(const Effort& effort, Table& table) {
  board_rows(std::min(kFew, effort.many), effort, table);
  board_rows(effort.many, effort, table);
}

}  // namespace meterbank::bench
