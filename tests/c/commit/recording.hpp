// SPDX-License-Identifier: Apache-2.0
//
// An atomics policy that records each access of the writer's half of the block protocol, in the
// same list as the words of C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "c_commits.h"

namespace meterbank::test {

struct Access {
  access_kind kind;
  std::ptrdiff_t word;  // from the beginning of the memory; -1: none
  std::uint64_t value;
  friend bool operator==(const Access&, const Access&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Access& access) {
    constexpr const char* kNames[] = {"load",  "store relaxed", "store release",
                                      "fence", "add",           "add any"};
    return out << kNames[access.kind] << " [" << access.word << "] " << access.value;
  }
};
using Accesses = std::vector<Access>;

// What is recorded now, relative to `memory`.
struct Recording {
  const std::uint64_t* memory = nullptr;
  Accesses accesses;
};
inline Recording recording;

struct RecordingAtomics {
  struct Word {
    std::uint64_t value = 0;
  };
  static constexpr std::uint64_t kCheckpointEvery = 1024;
  static inline std::uint64_t current_epoch = 0;

  static std::uint64_t load_relaxed(const Word& word) noexcept {
    return mb_word_load_relaxed(&word.value);
  }
  static void store_relaxed(Word& word, std::uint64_t value) noexcept {
    mb_word_store_relaxed(&word.value, value);
  }
  static void store_release(Word& word, std::uint64_t value) noexcept {
    mb_word_store_release(&word.value, value);
  }
  static void fence_release() noexcept {
    mb_fence_release();  // [W2] [W4] [E2]
  }
  static std::uint64_t epoch() noexcept { return current_epoch; }
};

}  // namespace meterbank::test
