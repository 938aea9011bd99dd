// SPDX-License-Identifier: Apache-2.0
//
// Boards as scenes: this machine, a recording, or two recordings one over the other.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/session/selection.hpp"
#include "cli/session/waiter.hpp"
#include "page/feed/scene.hpp"
#include "view/board.hpp"

namespace meterbank::page {

class BoardScene final : public Scene {
 public:
  // `second`: another recording; empty: none. Errors: those of Selection::open().
  static Result<std::unique_ptr<BoardScene>> open(const cli::SelectionOptions& options,
                                                  const std::string& second, cli::Waiter& waiter);

  // Lays what a recorder has written of the last minutes before what is known. Live. Errors: those
  // of Recording::open().
  Result<void> remember(const std::string& ring);

  [[nodiscard]] bool is_live() const override { return first_.selection.log == nullptr; }
  void take() override;
  [[nodiscard]] Shown picture(const view::Place& place, const view::Window& window) override;
  void note_plots() override;
  void read_noted_plots(const std::stop_token& stop) override;
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) override {
    return first_.board.moment_before(at_ns);
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) override {
    return first_.board.moment_after(at_ns);
  }

  [[nodiscard]] const cli::Selection& selection() const noexcept { return first_.selection; }

 private:
  struct Part {
    explicit Part(cli::Selection opened) : selection(std::move(opened)), board(selection) {}
    cli::Selection selection;
    view::Board board;
  };
  BoardScene(cli::Selection first, std::optional<cli::Selection> second);
  [[nodiscard]] std::optional<view::Picture> second_picture(const view::Place& place,
                                                            const view::Window& window);

  Part first_;
  std::optional<Part> second_;
};

}  // namespace meterbank::page
