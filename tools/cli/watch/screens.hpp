// SPDX-License-Identifier: Apache-2.0
//
// The session of the full screens: it waits for the next moment, for keys and for a new size, and
// shows what the navigator's place is a picture of.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/session/waiter.hpp"
#include "cli/watch/terminal/screen.hpp"
#include "meterbank/base/result.hpp"
#include "view/board.hpp"
#include "view/navigator.hpp"

namespace meterbank::cli {

// Where pictures come from: a view::Board, or what a test made by hand.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  // The next sample.
  virtual void take() = 0;
  [[nodiscard]] virtual view::Picture picture(const view::Place& place,
                                              const view::Window& window) = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) const = 0;
};

class BoardSource : public PictureSource {
 public:
  explicit BoardSource(view::Board& board) : board_(board) {}
  void take() override { board_.take(); }
  [[nodiscard]] view::Picture picture(const view::Place& place,
                                      const view::Window& window) override {
    return board_.picture(place, window);
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) const override {
    return board_.moment_before(at_ns);
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) const override {
    return board_.moment_after(at_ns);
  }

 private:
  view::Board& board_;
};

struct ScreensOptions {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::optional<std::chrono::nanoseconds> duration;
  std::uint64_t samples = 0;  // 0: until stopped
  // New moments come. Otherwise one sample is taken, and keys move in time.
  bool is_live = true;
  // What the keys do; they return what to tell: "saved as shop.mbr". Empty: they cannot.
  std::function<Result<std::string>(const view::Place&)> bookmark;
  std::function<Result<view::Place>()> next_bookmark;
  std::function<Result<std::string>(std::chrono::nanoseconds interval)> save;
  // What takes longer than a first picture may wait, such as fetching the past.
  std::function<void()> after_first_picture;
};

// Until the person quits, a signal stops it or the time is over. Sampling goes on while the picture
// is frozen. Returns kExitDone or kExitTimeout.
int run_screens(const ScreensOptions& options, PictureSource& source, view::Navigator& navigator,
                Waiter& waiter, Screen& screen);

}  // namespace meterbank::cli
