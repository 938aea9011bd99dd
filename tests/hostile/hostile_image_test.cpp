// SPDX-License-Identifier: Apache-2.0
//
// Segments that lie. The reader may refuse or believe them, but it ends, stays inside the bytes it
// was given (the sanitizers watch) and serves what still holds together.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <iostream>
#include <random>

#include "../support/depth.hpp"
#include "image.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {
namespace {

constexpr std::size_t kInstances = 16;

const std::vector<std::byte>& image() {
  static const std::vector<std::byte> bytes = real_image();
  return bytes;
}

// At full depth every case is tried; otherwise each `step`-th.
std::size_t stride(std::size_t step) { return runs_long() ? 1 : step; }

// Counts, walks and remembers damaged images.
class Trial {
 public:
  Walk walk(ExactCopy& copy) {
    ++tried_;
    images_.note({copy.data(), copy.size()});
    const Walk result = test::walk(copy.data(), copy.size());
    attached_ += result.attached ? 1U : 0U;
    damaged_ += result.instances != kInstances ? 1U : 0U;
    return result;
  }
  // Prints what was tried; the number of different images.
  std::size_t finish() {
    const std::size_t distinct = images_.count();
    std::cout << "  " << tried_ << " images, " << distinct << " different damaged ones, "
              << attached_ << " attached, " << damaged_ << " with other instances than before\n";
    return distinct;
  }
  [[nodiscard]] std::size_t damaged() const noexcept { return damaged_; }

 private:
  DistinctImages images_{image()};
  std::size_t tried_ = 0;
  std::size_t attached_ = 0;
  std::size_t damaged_ = 0;
};

TEST(HostileImage, TheUndamagedOneIsReadWhole) {
  ExactCopy copy(image());
  const Walk result = walk(copy.data(), copy.size());
  EXPECT_TRUE(result.attached);
  EXPECT_EQ(result.sets, 4U);
  EXPECT_EQ(result.instances, kInstances);
  EXPECT_EQ(result.snapshots, kInstances);
  EXPECT_EQ(result.blocks_read, kInstances);
}

TEST(HostileImage, IsCountedOnceAndNotWhenItIsUndamaged) {
  ExactCopy copy(image());
  DistinctImages images(image());
  images.note({copy.data(), copy.size()});
  EXPECT_EQ(images.count(), 0U);
  copy.data()[100] ^= std::byte{1};
  images.note({copy.data(), copy.size()});
  images.note({copy.data(), copy.size()});
  EXPECT_EQ(images.count(), 1U);
  images.note({copy.data(), copy.size() - 1});
  EXPECT_EQ(images.count(), 2U);
}

TEST(HostileImage, EveryTruncationEndsInOrder) {
  Trial trial;
  std::size_t whole = 0;
  for (std::size_t size = 0; size < image().size(); size += stride(7)) {
    ExactCopy copy(std::span<const std::byte>(image()).first(size));
    whole += trial.walk(copy).instances == kInstances ? 1U : 0U;
  }
  EXPECT_LE(whole, 64U);  // only cuts behind the last used byte keep everything
  EXPECT_GE(trial.finish(), image().size() / stride(7));
}

TEST(HostileImage, EveryValueOfEveryByteEndsInOrder) {
  ExactCopy copy(image());
  Trial trial;
  std::mt19937 random(1);
  for (std::size_t at = 0; at < copy.size(); ++at) {
    // Bytes that are zero and far from any other are padding: a few values tell as much as all.
    const std::byte was = copy.data()[at];
    const std::size_t step = was == std::byte{0} ? stride(61) * 8 : stride(61);
    for (std::size_t value = random() % step; value < 256; value += step) {
      copy.data()[at] = static_cast<std::byte>(value);
      trial.walk(copy);
    }
    copy.data()[at] = was;
  }
  EXPECT_GE(trial.finish(), runs_long() ? 250'000U : 5'000U);
  EXPECT_GT(trial.damaged(), 100U);  // the sweep does reach what matters
}

TEST(HostileImage, EveryWordAtEveryBoundaryValueEndsInOrder) {
  constexpr std::array<std::uint64_t, 22> kValues{
      0,          1,          2,          7,     8,          63,           64,         255,
      256,        4095,       4096,       4097,  0x7fffffff, 0x80000000,   0xffffffff, 1ULL << 32,
      1ULL << 40, 1ULL << 62, 1ULL << 63, ~1ULL, ~0ULL,      kSegmentMagic};
  ExactCopy copy(image());
  Trial trial;
  for (std::size_t at = 0; at + 8 <= copy.size(); at += 4 * stride(7)) {
    std::array<std::byte, 8> was{};
    std::memcpy(was.data(), copy.data() + at, 8);
    for (const std::uint64_t value : kValues) {
      for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
        std::memcpy(copy.data() + at, &value, width);
        trial.walk(copy);
        std::memcpy(copy.data() + at, was.data(), 8);
      }
    }
  }
  EXPECT_GE(trial.finish(), runs_long() ? 50'000U : 5'000U);
  EXPECT_GT(trial.damaged(), 100U);
}

TEST(HostileImage, RandomDamageInSeveralPlacesEndsInOrder) {
  std::mt19937_64 random(7);
  Trial trial;
  const std::size_t rounds = 60'000 / stride(6);
  for (std::size_t round = 0; round < rounds; ++round) {
    ExactCopy copy(image());
    for (std::size_t hits = 1 + random() % 8; hits > 0; --hits) {
      const std::uint64_t value = random() >> (random() % 64);
      const std::size_t at = random() % (copy.size() - 8);
      std::memcpy(copy.data() + at, &value, 1 + random() % 8);
    }
    trial.walk(copy);
  }
  EXPECT_GE(trial.finish(), rounds / 2);
  EXPECT_GT(trial.damaged(), rounds / 100);
}

TEST(HostileImage, AGroupThatPointsAtItselfIsALeftOutSet) {
  ExactCopy copy(image());
  auto* header = reinterpret_cast<SegmentHeader*>(copy.data());
  const Ref ref = header->registrations[0].load(std::memory_order_relaxed);
  auto* record = reinterpret_cast<RegistrationRecord*>(copy.data() + offset_of(ref));
  const Ref group = record->first_group.load(std::memory_order_relaxed);
  auto* first = reinterpret_cast<GroupHeader*>(copy.data() + offset_of(group));
  first->next.store(group, std::memory_order_relaxed);
  const Walk result = walk(copy.data(), copy.size());
  EXPECT_EQ(result.sets, 3U);
  EXPECT_EQ(result.instances, kInstances - 4);
}

// The number of shards decides where everything else of a group lies.
TEST(HostileImage, AnyNumberOfShardsEndsInOrder) {
  constexpr std::array<std::uint32_t, 11> kShards{
      0, 1, 2, 4, 64, 1024, kShardsMax, kShardsMax + 1, 0x10000, 0x80000000, 0xffffffff};
  std::size_t served = 0;
  for (std::size_t index = 0; index < 4; ++index) {
    for (const std::uint32_t shards : kShards) {
      ExactCopy copy(image());
      auto* header = reinterpret_cast<SegmentHeader*>(copy.data());
      const Ref ref = header->registrations[index].load(std::memory_order_relaxed);
      auto* record = reinterpret_cast<RegistrationRecord*>(copy.data() + offset_of(ref));
      if (record->shards == shards) continue;
      record->shards = shards;
      const Walk result = walk(copy.data(), copy.size());
      EXPECT_TRUE(result.attached);
      EXPECT_GE(result.sets, 3U);
      const bool is_form = shards >= 1 && shards <= kShardsMax && record->lanes == 1;
      if (!is_form) {
        EXPECT_EQ(result.sets, 3U) << index << " with " << shards;
      }
      served += result.sets == 4 ? 1U : 0U;
    }
  }
  EXPECT_GT(served, 0U);  // some lies fit into the bytes there are
}

TEST(HostileImage, ANewerMajorLayoutIsRefusedByName) {
  ExactCopy copy(image());
  reinterpret_cast<SegmentHeader*>(copy.data())->layout_major = kLayoutMajor + 1;
  EXPECT_FALSE(walk(copy.data(), copy.size()).attached);
}

}  // namespace
}  // namespace meterbank::test
