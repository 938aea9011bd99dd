// SPDX-License-Identifier: Apache-2.0
//
// The epoch pair of one block, in ordinary memory, with the epochs counted by the test.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "meterbank/shm/block.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kWords = 3;

class CutPair : public testing::TestWithParam<std::uint32_t> {
 protected:
  CutPair()
      : form_{.words = kWords, .lanes = GetParam(), .checkpoint = 1, .cut_pair = 1},
        layout_(GroupLayout::of(form_, 8)),
        lines_(layout_.bytes / sizeof(Line)) {
    auto* const group = reinterpret_cast<std::byte*>(lines_.data());
    writer_ = BlockWriter<StdAtomics>(block_parts(group, form_, layout_, 5));
    block_ = block_parts(static_cast<const std::byte*>(group), form_, layout_, 5);
    start_ = process_epoch.count.load(std::memory_order_seq_cst);
  }

  // Epochs count from the beginning of the test.
  void next_epoch() { process_epoch.count.fetch_add(1, std::memory_order_seq_cst); }
  void commit(std::uint64_t value) {
    BlockWriter<StdAtomics>::Update update(writer_);
    for (std::uint32_t word = 0; word < kWords; ++word) update.set(word, value + word);
    update.commit();
  }
  CutStatus read_at(std::uint64_t epoch) {
    std::uint64_t version = 0;
    return read_at_epoch<StdAtomics>(block_, start_ + epoch, words_.data(), version);
  }
  void expect_at(std::uint64_t epoch, CutStatus status, std::uint64_t value) {
    SCOPED_TRACE(epoch);
    ASSERT_EQ(read_at(epoch), status);
    for (std::uint32_t word = 0; word < kWords; ++word) EXPECT_EQ(words_[word], value + word);
  }

  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };
  BlockForm form_;
  GroupLayout layout_;
  std::vector<Line> lines_;
  BlockWriter<StdAtomics> writer_;
  BlockParts<const SharedWord> block_;
  std::array<std::uint64_t, kWords> words_{};
  std::uint64_t start_ = 0;
};

TEST_P(CutPair, KeepsTheStateBeforeTheFirstCommitOfEachOfTheLastTwoEpochs) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  commit(200);
  expect_at(1, CutStatus::kCurrent, 200);
  next_epoch();
  commit(300);
  commit(400);
  expect_at(1, CutStatus::kSaved, 200);
  expect_at(2, CutStatus::kCurrent, 400);
  next_epoch();
  commit(500);
  expect_at(1, CutStatus::kSaved, 200);
  expect_at(2, CutStatus::kSaved, 400);
  expect_at(3, CutStatus::kCurrent, 500);
  next_epoch();
  commit(600);
  EXPECT_EQ(read_at(1), CutStatus::kTooLate);
  expect_at(2, CutStatus::kSaved, 400);
  expect_at(3, CutStatus::kSaved, 500);
}

TEST_P(CutPair, AnswersForEpochsInWhichNothingWasCommitted) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  for (int epoch = 0; epoch < 7; ++epoch) next_epoch();
  writer_.set(0, 900);
  for (std::uint64_t epoch = 1; epoch <= 7; ++epoch) expect_at(epoch, CutStatus::kSaved, 100);
  EXPECT_EQ(read_at(8), CutStatus::kCurrent);
  EXPECT_EQ(words_[0], 900U);
}

TEST_P(CutPair, SavesBeforeACommitOfOneWordAsBeforeAnUpdate) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  next_epoch();
  writer_.add(1, 50);
  expect_at(1, CutStatus::kSaved, 100);
  next_epoch();
  writer_.set(1, 7);
  ASSERT_EQ(read_at(2), CutStatus::kSaved);
  EXPECT_EQ(words_[1], 151U);
}

TEST_P(CutPair, SavesBeforeAnUpdateWithWordsApart) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  next_epoch();
  BlockWriter<StdAtomics>::SparseUpdate update(writer_);
  update.set(0, 7);
  update.set_apart(2, 9);
  update.commit();
  expect_at(1, CutStatus::kSaved, 100);
  ASSERT_EQ(read_at(2), CutStatus::kCurrent);
  EXPECT_EQ(words_, (std::array<std::uint64_t, kWords>{7, 101, 9}));

  next_epoch();
  BlockWriter<StdAtomics>::SparseUpdate alone(writer_);
  alone.set_apart(2, 11);
  alone.commit();
  ASSERT_EQ(read_at(2), CutStatus::kSaved);
  EXPECT_EQ(words_[2], 9U);
}

TEST_P(CutPair, SavesNeitherStagedNorDiscardedValues) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  next_epoch();
  BlockWriter<StdAtomics>::Update update(writer_);
  update.set(0, 999);
  expect_at(1, CutStatus::kCurrent, 100);
  update.abort();
  commit(200);
  expect_at(1, CutStatus::kSaved, 100);
}

TEST_P(CutPair, ALifeShowsItsFirstValuesBeforeItsTimeNotThoseOfTheLifeBefore) {
  next_epoch();
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  commit(200);
  next_epoch();
  next_epoch();
  writer_.commit_first([](std::uint32_t word) { return 5000 + word; });
  commit(6000);
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) expect_at(epoch, CutStatus::kSaved, 5000);
  expect_at(4, CutStatus::kCurrent, 6000);
}

TEST_P(CutPair, AnnouncesASaveSoThatTheOlderOneIsNotReadUnderIt) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  next_epoch();
  commit(200);
  next_epoch();
  commit(300);
  ASSERT_EQ(read_at(1), CutStatus::kSaved);
  // What memory holds when a writer dies inside its next save.
  auto& ecount = const_cast<SharedWord&>(block_.cut[0]);
  ecount.fetch_add(1, std::memory_order_seq_cst);
  EXPECT_EQ(read_at(1), CutStatus::kTooLate);
  expect_at(2, CutStatus::kSaved, 200);
  expect_at(3, CutStatus::kCurrent, 300);
}

TEST_P(CutPair, IgnoresAWordOutsideTheBlock) {
  writer_.commit_first([](std::uint32_t word) { return 100 + word; });
  writer_.set(kWords, 1);
  writer_.add(kBlockWordsMax, 1);
  BlockWriter<StdAtomics>::Update update(writer_);
  update.set(kWords, 1);
  update.commit();
  expect_at(1, CutStatus::kCurrent, 100);
}

INSTANTIATE_TEST_SUITE_P(LineAndTile, CutPair, testing::Values(1U, 8U));

}  // namespace
}  // namespace meterbank
