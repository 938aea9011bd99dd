// SPDX-License-Identifier: Apache-2.0
#include "page/board_scene.hpp"

#include <chrono>
#include <utility>

namespace meterbank::page {

Result<std::unique_ptr<BoardScene>> BoardScene::open(const cli::SelectionOptions& options,
                                                     const std::string& second,
                                                     cli::Waiter& waiter) {
  auto first = cli::Selection::open(options, waiter);
  if (!first) return tl::make_unexpected(first.error());
  std::optional<cli::Selection> other;
  if (!second.empty()) {
    cli::SelectionOptions over = options;
    over.log.path = second;
    auto opened = cli::Selection::open(over, waiter);
    if (!opened) return tl::make_unexpected(opened.error());
    other.emplace(std::move(*opened));
  }
  return std::unique_ptr<BoardScene>(new BoardScene(std::move(*first), std::move(other)));
}

BoardScene::BoardScene(cli::Selection first, std::optional<cli::Selection> second)
    : first_(std::move(first)) {
  if (second) second_.emplace(std::move(*second));
}

void BoardScene::take() { first_.board.take(); }

Result<void> BoardScene::remember(const std::string& ring) {
  // The past is laid before what is known, so something has to be.
  first_.board.take();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::nanoseconds span = view::Place().span;
  return first_.board.remember(ring, static_cast<std::uint64_t>((now - span).count()),
                               static_cast<std::uint64_t>(now.count()));
}

Shown BoardScene::picture(const view::Place& place, const view::Window& window) {
  Shown shown{first_.board.picture(place, window), std::nullopt, 0};
  if (second_) {
    shown.later_ns = static_cast<std::int64_t>(second_->selection.log->first().realtime_ns -
                                               first_.selection.log->first().realtime_ns);
    shown.over = second_picture(place, window);
    if (shown.over) {
      shown.picture.is_unfinished = shown.picture.is_unfinished || shown.over->is_unfinished;
    }
  }
  return shown;
}

void BoardScene::note_plots() {
  first_.board.note_plots();
  if (second_) second_->board.note_plots();
}

void BoardScene::read_noted_plots(const std::stop_token& stop) {
  first_.board.read_noted_plots(stop);
  if (second_) second_->board.read_noted_plots(stop);
}

// The span that is as far behind the beginning as the one of the first recording. Nothing: the
// second one had ended before.
std::optional<view::Picture> BoardScene::second_picture(const view::Place& place,
                                                        const view::Window& window) {
  view::Place other = place;
  const auto begin = first_.selection.log->first().realtime_ns;
  const auto at = place.at_ns.value_or(first_.selection.log->last().realtime_ns);
  const auto last = second_->selection.log->last().realtime_ns;
  other.at_ns = second_->selection.log->first().realtime_ns + (at > begin ? at - begin : 0);
  if (*other.at_ns > last) {
    other.span -= std::chrono::nanoseconds(*other.at_ns - last);
    other.at_ns = last;
    if (other.span <= std::chrono::nanoseconds::zero()) return std::nullopt;
  }
  // Without one of that name, rows of any provider are compared.
  if (!second_->board.finds_provider(other.provider)) other.provider.clear();
  return second_->board.picture(other, window);
}

}  // namespace meterbank::page
