// SPDX-License-Identifier: Apache-2.0
//
// A provider that changes its segment while it is being read: no snapshot may leave the bytes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "image.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {
namespace {

TEST(LiveMutator, ReadsOfASegmentThatChangesUnderneathEndInOrder) {
  const std::vector<std::byte> original = real_image();
  ExactCopy copy(original);
  auto* words = reinterpret_cast<SharedWord*>(copy.data());
  const std::size_t count = copy.size() / sizeof(SharedWord);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> mutations{0};
  std::thread mutator([&] {
    std::mt19937_64 random(3);
    while (!stop.load(std::memory_order_relaxed)) {
      const std::size_t at = random() % count;
      const std::uint64_t was = words[at].load(std::memory_order_relaxed);
      words[at].store(random() >> (random() % 64), std::memory_order_relaxed);
      mutations.fetch_add(1, std::memory_order_relaxed);
      words[at].store(was, std::memory_order_relaxed);
    }
  });
  const bool is_long = std::getenv("METERBANK_LONG") != nullptr;
  const std::uint64_t wanted = is_long ? 10'000'000 : 200'000;
  std::uint64_t snapshots = 0;
  std::uint64_t walks = 0;
  // Ends on observed overlap, not on rounds: both sides must have been at work.
  while (snapshots < wanted || mutations.load(std::memory_order_relaxed) < 1000) {
    const Walk result = walk(copy.data(), copy.size());
    snapshots += result.instances + 1;
    ++walks;
  }
  stop.store(true, std::memory_order_relaxed);
  mutator.join();
  RecordProperty("walks", static_cast<int>(walks));
}

}  // namespace
}  // namespace meterbank::test
