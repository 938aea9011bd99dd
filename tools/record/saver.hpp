// SPDX-License-Identifier: Apache-2.0
//
// Saves the last minutes of a ring when it is asked to, in a thread of its own: who samples never
// waits for a disk. The files are in a folder of the ring's directory, which nothing is removed
// from:
//
//   box/00000017.mbr
//   box/saved/20261127T031204.250Z.mbr          asked for
//   box/saved/event-20261127T034011.000Z.mbr    of an event
//
// Thread safety  One thread at a time; the thread inside is its own.
// Errors         take_outcomes() has them.
// Progress       request() and take_outcomes() do not wait. finish() waits for the disk.
// Lifetime       The destructor waits as finish() does.
// Units          Nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "record/saved_part.hpp"

namespace meterbank::record {

// How many files its folder may have.
inline constexpr std::size_t kSavedFilesMax = 100;

struct SaveOutcome {
  std::string path;
  Result<SavedPart> saved;
};

class Saver {
 public:
  // `directory` is that of a ring.
  explicit Saver(std::string directory);
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  ~Saver();

  // Saves the samples from one time to that of the last tick (CLOCK_REALTIME). While one part is
  // saved, any number of requests become one more.
  void request(std::uint64_t from_ns, std::uint64_t last_tick_ns);
  // The same, and each request is a file of its own.
  void request_event(std::uint64_t from_ns, std::uint64_t last_tick_ns);
  // What came of requests since this was called last.
  [[nodiscard]] std::vector<SaveOutcome> take_outcomes();
  // Saves what was requested.
  void finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::record
