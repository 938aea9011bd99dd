// SPDX-License-Identifier: Apache-2.0
//
// What is known: the newest sample of all that is selected, and the past of what is looked at.
// Live and from a recording alike.
//
// Memory  At most kCellsMax counters have a past, of kMomentsMax moments each: those of the
// smallest
//         sets, and besides as many of lines that were in a picture within the last 60 moments. Of
//         kHeatsMax distributions it knows how they lay. About 80 MiB at the most.
// Threads One at a time.
// Cost    take() copies and cooks every selected value. picture() is proportional to the rows of
//         the set that it shows, with a small factor, and to the lines that it is asked for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cli/session/selection.hpp"
#include "meterbank/recording/recording.hpp"
#include "view/picture.hpp"
#include "view/place.hpp"

namespace meterbank::view {

struct BoardState;

// Where the packaged agent keeps its ring: what a screen remembers unless another one is named.
inline constexpr const char* kAgentRing = "/var/lib/meterbank-agent/recording";

class Board {
 public:
  static constexpr std::size_t kCellsMax = 4096;
  static constexpr std::size_t kMomentsMax = 900;
  static constexpr std::size_t kKeptCountersMax = 20'000;
  static constexpr std::size_t kHeatsMax = 64;
  // For a file of many pictures.
  static constexpr std::size_t kNotedCellsMax = 16'384;
  static constexpr std::size_t kNotedHeatsMax = 1000;

  // The selection outlives it.
  explicit Board(cli::Selection& selection);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  // The next sample: of a recording, of the moment that the recording shows.
  void take();
  // Lays what a recording holds of [from, to] before what is known of the rows that are followed.
  // Errors: those of Recording::open().
  Result<void> remember(const std::string& recording, std::uint64_t from_ns, std::uint64_t to_ns);

  // Keeps the newest sample, and from now on what take() collects, for save(): about a byte a
  // value, of 15 minutes at a moment a second, in 32 MiB at the most. Of more than kKeptCountersMax
  // counters it keeps none.
  void keep_samples();
  // Makes a recording of them. Errors: kNotFound, if there are none; those of a new file.
  Result<void> save(const std::string& path, std::chrono::nanoseconds interval) const;

  // What is to be seen of a place. A place of something that is not there has a problem, and shows
  // the next larger thing that is.
  [[nodiscard]] Picture picture(const Place& place, const Window& window);
  // For many pictures of one moment and span: those after note_plots() only note what they need of
  // a recording. read_noted_plots() reads it at once, however long that takes, and the same
  // pictures have it after that.
  void note_plots();
  void read_noted_plots(const std::stop_token& stop);
  // Whether pictures of places with this provider show it, or the only one of its name.
  [[nodiscard]] bool finds_provider(const std::string& label) const;
  // The moment before or after `at_ns` that has values; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) const;
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) const;

 private:
  std::unique_ptr<BoardState> state_;
};

}  // namespace meterbank::view
