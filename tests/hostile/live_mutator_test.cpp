// SPDX-License-Identifier: Apache-2.0
//
// A provider that changes its segment while it is being read: no snapshot may leave the bytes, and
// none may take for ever.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "../support/depth.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "image.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {
namespace {

// Keeps a few words of a segment wrong, each for a few changes, until it goes out of scope.
class Mutator {
 public:
  Mutator(std::byte* memory, const std::vector<std::byte>& honest)
      : thread_([this, memory, &honest] { run(memory, honest); }) {}
  Mutator(const Mutator&) = delete;
  Mutator& operator=(const Mutator&) = delete;
  ~Mutator() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

 private:
  void run(std::byte* memory, const std::vector<std::byte>& honest) {
    auto* words = reinterpret_cast<SharedWord*>(memory);
    const std::size_t count = honest.size() / sizeof(SharedWord);
    std::mt19937_64 random(3);
    std::array<std::size_t, 4> wrong{};
    // relaxed, all stores: disorder is welcome.
    for (std::size_t turn = 0; !stop_.load(std::memory_order_relaxed); ++turn) {
      std::size_t& at = wrong[turn % wrong.size()];
      std::uint64_t before = 0;
      std::memcpy(&before, honest.data() + at * sizeof before, sizeof before);
      words[at].store(before, std::memory_order_relaxed);
      at = random() % count;
      words[at].store(random() >> (random() % 64), std::memory_order_relaxed);
      changes_.fetch_add(1, std::memory_order_relaxed);
      for (auto pause = random() % 64; pause > 0; --pause) StdAtomics::pause();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> changes_{0};
  std::thread thread_;  // last: it uses the others
};

class LiveMutator : public testing::Test {
 protected:
  void SetUp() override {
#ifdef METERBANK_THREAD_SANITIZER
    GTEST_SKIP() << "the decoder copies what honest providers never change without atomics";
#endif
  }

  const std::vector<std::byte> honest_ = real_image();
};

TEST_F(LiveMutator, ReadsOfASegmentThatChangesUnderneathEndInOrder) {
  ExactCopy copy(honest_);
  std::optional<Mutator> mutator;
  mutator.emplace(copy.data(), honest_);
  const std::uint64_t wanted = test::depth(200'000, 5'000'000);
  std::uint64_t snapshots = 0, walks = 0, disturbed = 0;
  // Ends on observed overlap, not on rounds: both sides must have been at work.
  while (snapshots < wanted || disturbed < 100 || mutator->changes() < 1000) {
    const Walk result = walk(copy.data(), copy.size());
    snapshots += result.snapshots;
    disturbed += result.instances != 16 || result.blocks_read != 16 ? 1U : 0U;
    ++walks;
  }
  std::cout << "  " << snapshots << " snapshots in " << walks << " walks, " << disturbed
            << " of them visibly disturbed, by " << mutator->changes() << " changes\n";
  mutator.reset();

  // The walks left the bytes alone: with the honest ones back, everything is there again.
  std::memcpy(copy.data(), honest_.data(), honest_.size());
  const Walk after = walk(copy.data(), copy.size());
  EXPECT_EQ(after.instances, 16U);
  EXPECT_EQ(after.blocks_read, 16U);
}

// The same through all that the library has: the catalog finds, maps and decodes, the query copies.
TEST_F(LiveMutator, QueriesOfASegmentThatChangesUnderneathEndInOrder) {
  const TemporaryDirectory directory;
  auto extent = OwnedExtent::create("liar", honest_.size());
  ASSERT_TRUE(extent) << extent.error().message();
  std::memcpy(extent->data(), honest_.data(), honest_.size());
  const auto pid = static_cast<std::uint32_t>(::getpid());
  ASSERT_TRUE(write_record(directory.path(),
                           {.name = "liar",
                            .pid = pid,
                            .start_time = process_start_time(pid),
                            .boot_id = boot_id(),
                            .descriptor = static_cast<std::uint32_t>(extent->descriptor()),
                            .inode = extent->inode(),
                            .bytes = extent->size(),
                            .layout_major = kLayoutMajor,
                            .layout_minor = kLayoutMinor}));
  auto honest = Catalog::open({.directory = directory.path()});
  ASSERT_TRUE(honest) << honest.error().message();
  auto all = Query::compile(*honest, {});
  ASSERT_TRUE(all) << all.error().message();
  const std::size_t rows_of_all = plan_of(*all)->rows;
  ASSERT_GE(rows_of_all, 9U);
  std::optional<Mutator> mutator;
  mutator.emplace(extent->data(), honest_);
  const std::uint64_t wanted = test::depth(200'000, 5'000'000);
  std::uint64_t rows = 0, catalogs = 0, incomplete = 0;
  while (rows < wanted || incomplete < 10 || mutator->changes() < 1000) {
    auto catalog = Catalog::open({.directory = directory.path()});
    ASSERT_TRUE(catalog) << catalog.error().message();
    ++catalogs;
    auto query = Query::compile(*catalog, {});
    ASSERT_TRUE(query) << query.error().message();
    Sample sample;
    for (int round = 0; round < 20; ++round) {
      for (int look = 0; look < 20; ++look) rows += query->collect(sample, Timestamp{}).rows;
      incomplete += plan_of(*query)->rows < 9 ? 1U : 0U;
      catalog->refresh();
      query->update(*catalog);
    }
  }
  std::cout << "  " << rows << " rows through " << catalogs << " catalogs, " << incomplete
            << " selections visibly incomplete, " << mutator->changes() << " changes\n";
  mutator.reset();

  std::memcpy(extent->data(), honest_.data(), honest_.size());
  auto after = Catalog::open({.directory = directory.path()});
  ASSERT_TRUE(after) << after.error().message();
  auto again = Query::compile(*after, {});
  ASSERT_TRUE(again) << again.error().message();
  Sample sample;
  const CollectSummary summary = again->collect(sample, Timestamp{});
  EXPECT_EQ(summary.rows, rows_of_all);
  EXPECT_EQ(summary.not_fresh, 0U);
}

}  // namespace
}  // namespace meterbank::test
