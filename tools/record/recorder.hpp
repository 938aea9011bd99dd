// SPDX-License-Identifier: Apache-2.0
//
// Takes ticks and has them written: one catalog, one query for each rate, one recording.
//
// Ticks are at whole multiples of their interval on the clock of the machine, so that rates which
// divide one another meet, and a tick of several has one time. A tick that could not be taken in
// time is counted and named in the recording, and never made up for.
//
// Thread safety  One thread at a time.
// Errors         open() reports a directory, a pattern or a path. tick() loses ticks and counts
//                them: a recorder goes on.
// Progress       tick() waits for nothing but providers that compute rows on demand, at most
//                `callback_timeout`, and only at rates of a second and more.
// Cost           A tick costs the copy and the coding of its rows, and a copy of the bytes.
// Lifetime       The destructor ends the recording.
// Units          Nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "record/appender.hpp"

namespace meterbank::record {

struct RatePlan {
  std::vector<std::string> patterns;  // counter paths; empty: everything
  std::vector<std::string> excluded;
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
};

// Who records what on this machine: the first frame of a file.
[[nodiscard]] recording::Head head_of(const std::string& program, std::span<const RatePlan> rates);

struct RecorderOptions {
  CatalogOptions catalog = {};
  std::vector<RatePlan> rates;  // a registration belongs to the first one that selects it
  AppenderOptions files;
  std::string program;  // "meterbank 0.1.0"
  std::chrono::milliseconds callback_timeout{200};
};

struct RecorderCounts {
  std::uint64_t ticks = 0;
  std::uint64_t missed = 0;    // ticks that were not taken in time
  std::uint64_t lost = 0;      // ticks that were taken and could not be written
  std::uint64_t values = 0;    // words, of all ticks
  std::uint64_t rows = 0;      // in the tick that had most
  std::uint64_t left_out = 0;  // sets whose description is too large
};

class Recorder {
 public:
  using Clock = std::chrono::steady_clock;

  static Result<Recorder> open(RecorderOptions options);
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  // When tick() is due.
  [[nodiscard]] Clock::time_point next() const noexcept;
  // Takes the rates that are due now, and writes them.
  void tick();
  // Takes all rates now, whatever is due: for the end of a command.
  void tick_everything();
  // A text that belongs to this moment.
  void mark(std::string text);

  [[nodiscard]] const Catalog& catalog() const noexcept;
  [[nodiscard]] const Query& query(std::size_t rate) const noexcept;
  // When the last tick was taken; zeros without one.
  [[nodiscard]] Timestamp last_tick() const noexcept;
  [[nodiscard]] RecorderCounts counts() const;
  [[nodiscard]] AppenderCounts file_counts() const;
  // Ends the recording in order.
  Result<void> finish();

 private:
  class State;
  explicit Recorder(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::record
