// SPDX-License-Identifier: Apache-2.0
//
// A board over a kitchen, and what is found in its pictures.
#pragma once

#include <unistd.h>

#include <thread>

#include "../cli/distribution/kitchen_fixture.hpp"
#include "view/board.hpp"

namespace meterbank::view {

class BoardTest : public cli::KitchenTest {
 protected:
  void open_board(const std::string& log = {}, const std::string& provider = {}) {
    cli::SelectionOptions options;
    options.directory = directory_;
    options.log.path = log;
    options.provider = provider;
    cli::Waiter waiter({});
    auto opened = cli::Selection::open(options, waiter);
    ASSERT_TRUE(opened) << opened.error().message();
    board_.reset();
    selection_.emplace(std::move(*opened));
    board_.emplace(*selection_);
  }
  void open_shop_beside() { sales_ = *provider_->add(cli::kSales); }
  // Moments need some time between them, and rates more than none.
  void take(int times = 1) {
    for (int i = 0; i < times; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      board_->take();
    }
  }
  [[nodiscard]] Picture picture(const Place& place, const Window& window = {}) {
    return board_->picture(place, window);
  }
  [[nodiscard]] static std::string label() { return "kitchen@" + std::to_string(::getpid()); }
  [[nodiscard]] static Place set_of(const std::string& set) {
    Place place;
    place.screen = Screen::kSet;
    place.set = set;
    return place;
  }
  [[nodiscard]] static Place instance_of(const std::string& set, const std::string& instance) {
    Place place = set_of(set);
    place.screen = Screen::kInstance;
    place.instance = instance;
    return place;
  }
  [[nodiscard]] static std::vector<std::string> first_cells(const Section& section) {
    std::vector<std::string> cells;
    for (const Line& line : section.lines) cells.push_back(line.cells.at(0).text);
    return cells;
  }
  // The cell of a line under a heading; "" without one.
  [[nodiscard]] static std::string cell(const Section& section, const std::string& line,
                                        const std::string& heading) {
    for (const Line& candidate : section.lines) {
      if (candidate.cells.at(0).text != line) continue;
      for (std::size_t i = 0; i < section.columns.size(); ++i) {
        if (section.columns[i].heading == heading) return candidate.cells.at(i).text;
      }
    }
    return {};
  }
  [[nodiscard]] static const Section* section_called(const Picture& picture,
                                                     const std::string& title) {
    for (const Section& section : picture.sections) {
      if (section.title == title) return &section;
    }
    return nullptr;
  }

  std::optional<cli::Selection> selection_;
  std::optional<Board> board_;
};

}  // namespace meterbank::view
