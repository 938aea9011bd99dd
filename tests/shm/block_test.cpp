// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/block.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"
#include "meterbank/shm/slot.hpp"

namespace meterbank {
namespace {

// The blocks of one group, in ordinary memory.
struct Group {
  explicit Group(BlockForm block_form, std::uint32_t slots = 8)
      : form(block_form), layout(GroupLayout::of(form, slots)) {
    memory.reset(new (std::align_val_t{64}) std::byte[layout.bytes]{});
  }
  [[nodiscard]] BlockParts<SharedWord> parts(std::uint32_t slot) const {
    return block_parts(memory.get(), form, layout, slot);
  }
  [[nodiscard]] BlockParts<const SharedWord> view(std::uint32_t slot) const {
    return block_parts(static_cast<const std::byte*>(memory.get()), form, layout, slot);
  }
  struct Free {
    void operator()(std::byte* bytes) const { operator delete[](bytes, std::align_val_t{64}); }
  };
  BlockForm form;
  GroupLayout layout;
  std::unique_ptr<std::byte[], Free> memory;
};

class EveryForm : public testing::TestWithParam<BlockForm> {};

TEST_P(EveryForm, KeepsTheWordsOfNeighbouringSlotsApart) {
  const Group group(GetParam(), 16);
  for (std::uint32_t slot = 0; slot < 16; ++slot) {
    BlockWriter<StdAtomics>::Update update(BlockWriter<StdAtomics>(group.parts(slot)));
    for (std::uint32_t word = 0; word < group.form.words; ++word) {
      update.set(word, slot * 10'000 + word);
    }
    update.commit();
  }
  std::vector<std::uint64_t> target(group.form.words);
  for (std::uint32_t slot = 0; slot < 16; ++slot) {
    std::uint64_t version = 0;
    ASSERT_TRUE(try_read<StdAtomics>(group.view(slot), target.data(), version));
    EXPECT_EQ(version, 1U);
    for (std::uint32_t word = 0; word < group.form.words; ++word) {
      ASSERT_EQ(target[word], slot * 10'000 + word) << "slot " << slot << " word " << word;
    }
  }
}

TEST_P(EveryForm, StagedWordsAreInvisibleUntilCommitAndGoneAfterAbort) {
  const Group group(GetParam());
  BlockWriter<StdAtomics> writer(group.parts(3));
  const std::uint32_t last = group.form.words - 1;
  writer.set(last, 7);
  std::vector<std::uint64_t> target(group.form.words);
  std::uint64_t version = 0;

  BlockWriter<StdAtomics>::Update update(writer);
  update.set(last, 9);
  EXPECT_EQ(update.value(last), 9U);
  ASSERT_TRUE(try_read<StdAtomics>(group.view(3), target.data(), version));
  EXPECT_EQ(target[last], 7U);
  update.abort();
  EXPECT_EQ(update.value(last), 7U);
  update.set(last, 11);
  update.commit();

  ASSERT_TRUE(try_read<StdAtomics>(group.view(3), target.data(), version));
  EXPECT_EQ(target[last], 11U);
  EXPECT_EQ(version, 2U);
}

TEST_P(EveryForm, ACommitOfOneWordKeepsTheOthers) {
  const Group group(GetParam());
  BlockWriter<StdAtomics> writer(group.parts(0));
  std::vector<std::uint64_t> expected(group.form.words, 0);
  std::vector<std::uint64_t> target(group.form.words);
  for (std::uint32_t step = 1; step < 300; ++step) {
    const std::uint32_t word = step * 7919 % group.form.words;
    expected[word] += step;
    writer.add(word, step);
    std::uint64_t version = 0;
    ASSERT_TRUE(try_read<StdAtomics>(group.view(0), target.data(), version));
    ASSERT_EQ(target, expected) << "step " << step;
  }
}

TEST_P(EveryForm, AnUpdateWithWordsApartChangesTheseAndThoseOfItsRange) {
  const Group group(GetParam());
  const std::uint32_t words = group.form.words;
  BlockWriter<StdAtomics> writer(group.parts(3));
  std::mt19937 engine(words);
  const auto below = [&engine](std::uint32_t bound) {
    return static_cast<std::uint32_t>(engine() % bound);
  };
  std::vector<std::uint64_t> expected(words, 0);
  std::vector<std::uint64_t> target(words);
  for (std::uint64_t step = 1; step < 500; ++step) {
    BlockWriter<StdAtomics>::SparseUpdate update(writer);
    std::vector<std::uint64_t> wanted = expected;
    for (std::uint32_t change = below(9); change-- > 0;) {
      const std::uint32_t word = below(words + 1);  // one past the end is ignored
      const std::uint64_t value = step * 100 + change;
      if (below(3) == 0) {
        update.set(word, value);
      } else {
        update.set_apart(word, value);
      }
      if (word < words) wanted[word] = value;
      EXPECT_EQ(update.value(word), word < words ? value : 0);
    }
    const bool is_aborted = below(4) == 0;
    if (is_aborted) {
      update.abort();
    } else {
      update.commit();
      expected = wanted;
    }
    std::uint64_t version = 0;
    ASSERT_TRUE(try_read<StdAtomics>(group.view(3), target.data(), version));
    ASSERT_EQ(target, expected) << "step " << step;
    for (std::uint32_t word = 0; word < words; ++word) {
      ASSERT_EQ(StdAtomics::load_relaxed(group.view(3).copy1[word]), expected[word])
          << "step " << step << " word " << word;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Block, EveryForm,
    testing::Values(BlockForm{.words = 1, .checkpoint = 1}, BlockForm{.words = 2},
                    BlockForm{.words = 3, .checkpoint = 1}, BlockForm{.words = 4},
                    BlockForm{.words = 6, .checkpoint = 1}, BlockForm{.words = 7},
                    BlockForm{.words = 9, .checkpoint = 1, .cut_pair = 1},
                    BlockForm{.words = 5, .lanes = 8, .checkpoint = 1, .cut_pair = 1},
                    BlockForm{.words = 8, .lanes = 8, .checkpoint = 1},
                    BlockForm{.words = 1, .lanes = 8}, BlockForm{.words = 3, .lanes = 8},
                    BlockForm{.words = 64, .checkpoint = 1}, BlockForm{.words = 65},
                    BlockForm{.words = 130, .lanes = 8, .checkpoint = 1},
                    BlockForm{.words = 4096, .checkpoint = 1}));

TEST_P(EveryForm, PositionsOutsideTheBlockChangeNeitherACommitNorAnAbort) {
  const Group group(GetParam());
  const std::uint32_t words = group.form.words;
  const BlockWriter<StdAtomics> writer(group.parts(2));
  const auto expect_both_copies = [&](std::uint64_t value) {
    const auto parts = group.view(2);
    for (std::uint32_t word = 0; word < words; ++word) {
      const std::uint64_t expected = word == 0 || word == words - 1 ? value : 0;
      ASSERT_EQ(StdAtomics::load_relaxed(parts.copy0[word]), expected) << word;
      ASSERT_EQ(StdAtomics::load_relaxed(parts.copy1[word]), expected) << word;
    }
  };
  std::uint64_t value = 0;
  for (const std::uint32_t outside : {words, words + 1, 4095U, 4096U, 65'535U, 65'536U, 65'537U,
                                      0x7fffffffU, 0xfffffffeU, 0xffffffffU}) {
    if (outside < words) continue;
    SCOPED_TRACE(outside);
    const auto stage = [&](BlockWriter<StdAtomics>::Update& update, std::uint64_t staged) {
      update.set(outside, 99);
      update.set(0, staged);
      update.set(words - 1, staged);
      update.set(outside, 98);
      EXPECT_EQ(update.value(outside), 0U);
    };
    BlockWriter<StdAtomics>::Update committed(writer);
    stage(committed, ++value);
    committed.commit();
    expect_both_copies(value);
    BlockWriter<StdAtomics>::Update aborted(writer);
    stage(aborted, value + 1000);
    aborted.abort();
    expect_both_copies(value);
    writer.set(outside, 97);
    writer.add(outside, 96);
    expect_both_copies(value);
  }
}

// Notes which words are stored.
struct NotingAtomics : StdAtomics {
  static void store_relaxed(Word& word, std::uint64_t value) noexcept {
    stored.push_back(&word);
    StdAtomics::store_relaxed(word, value);
  }
  static inline std::vector<const Word*> stored;
};

// Another thread may own the words in between, and add to them at any moment.
TEST(Block, AnUpdateInPlaceStoresNothingButWhatItSetsHoweverItEnds) {
  const Group group({.words = 8, .consistency = Consistency::kIndependent});
  const auto parts = group.parts(0);
  BlockWriter<NotingAtomics>::Update update{BlockWriter<NotingAtomics>(parts)};
  update.set(1, 5);
  update.set(6, 7);
  update.abort();
  EXPECT_EQ(NotingAtomics::stored,
            (std::vector<const SharedWord*>{parts.copy0 + 1, parts.copy0 + 6}));
  EXPECT_EQ(update.value(1), 5U);
  NotingAtomics::stored.clear();
}

TEST(Block, AnUpdateWithWordsApartRewritesNoWordBetweenThem) {
  const Group group({.words = 200});
  const auto parts = group.parts(0);
  BlockWriter<NotingAtomics>::SparseUpdate update{BlockWriter<NotingAtomics>(parts)};
  NotingAtomics::stored.clear();
  update.set(1, 5);
  update.set_apart(190, 7);
  update.set_apart(50, 8);
  update.commit();
  EXPECT_EQ(NotingAtomics::stored,
            (std::vector<const SharedWord*>{parts.copy1 + 1, parts.copy1 + 190, parts.copy1 + 50,
                                            parts.copy0 + 1, parts.copy0 + 50, parts.copy0 + 190}));
  NotingAtomics::stored.clear();
}

TEST(Block, AnUpdateOfWordsApartAloneIsACommit) {
  const Group group({.words = 200});
  BlockWriter<StdAtomics>::SparseUpdate update{BlockWriter<StdAtomics>(group.parts(0))};
  update.set_apart(190, 7);
  update.commit();
  std::vector<std::uint64_t> target(200);
  std::uint64_t version = 0;
  ASSERT_TRUE(try_read<StdAtomics>(group.view(0), target.data(), version));
  EXPECT_EQ(version, 1U);
  EXPECT_EQ(target[190], 7U);
}

TEST(Block, ACheckpointFollowsEveryThousandAndTwentyFourthCommit) {
  const Group group({.words = 2, .checkpoint = 1});
  BlockWriter<StdAtomics> writer(group.parts(0));
  writer.commit_first([](std::uint32_t) { return std::uint64_t{0}; });
  std::array<std::uint64_t, 2> target{};
  std::uint64_t version = 0;
  for (int commit = 2; commit < 1024; ++commit) writer.add(1, 1);
  ASSERT_TRUE(try_read_checkpoint<StdAtomics>(group.view(0), target.data(), version));
  EXPECT_EQ(version, 1U);
  writer.add(1, 1);
  ASSERT_TRUE(try_read_checkpoint<StdAtomics>(group.view(0), target.data(), version));
  EXPECT_EQ(version, 1024U);
  EXPECT_EQ(target[1], 1023U);
}

TEST(Block, ABoundedReadOfARacingWriterEndsAndIsNeverTornOrOlder) {
  const Group group({.words = 12, .checkpoint = 1});
  BlockWriter<StdAtomics> first(group.parts(0));
  first.commit_first([](std::uint32_t) { return std::uint64_t{1}; });
  std::atomic<bool> stop{false};
  std::thread racing([&] {
    BlockWriter<StdAtomics> writer(group.parts(0));
    for (std::uint64_t value = 2; !stop.load(std::memory_order_relaxed); ++value) {
      BlockWriter<StdAtomics>::Update update(writer);
      for (std::uint32_t word = 0; word < 12; ++word) update.set(word, value);
      update.commit();
    }
  });
  std::array<std::uint64_t, 12> target{};
  std::uint64_t highest = 0;
  std::uint64_t collided = 0;
  std::uint64_t read = 0;
  // Ends on observed overlap: reads that moved on and attempts that failed.
  while (read < 20'000 || (collided < 20 && std::thread::hardware_concurrency() > 1)) {
    const ReadResult result = read_bounded<StdAtomics>(group.view(0), target.data(), highest);
    ASSERT_LE(result.attempts, kHotAttempts + kCheckpointAttempts);
    collided += result.attempts;
    if (result.status == ReadStatus::kBusy) continue;
    ASSERT_GE(result.version, highest);
    highest = result.version;
    for (const std::uint64_t word : target) ASSERT_EQ(word, result.version);
    ++read;
  }
  stop.store(true, std::memory_order_relaxed);
  racing.join();
}

TEST(Slot, AReaderOfTheOldLifeIsToldAfterTheNextOneBegan) {
  const Group group({.words = 2});
  SharedWord membership{0};
  const auto parts = group.parts(1);
  const std::uint64_t first = slot_begin<StdAtomics>(membership, *parts.slot);
  EXPECT_FALSE(slot_of<StdAtomics>(*parts.slot).readable());
  slot_live<StdAtomics>(*parts.slot, first);
  EXPECT_EQ(slot_of<StdAtomics>(*parts.slot).state, SlotState::kLive);
  slot_close<StdAtomics>(membership, *parts.slot);
  EXPECT_TRUE(still_in<StdAtomics>(*parts.slot, first));
  EXPECT_TRUE(slot_of<StdAtomics>(*parts.slot).readable());

  const std::uint64_t second = slot_begin<StdAtomics>(membership, *parts.slot);

  EXPECT_EQ(second, first + 1);
  EXPECT_FALSE(still_in<StdAtomics>(*parts.slot, first));
  EXPECT_EQ(membership.load(std::memory_order_relaxed), 3U);
}

TEST(Counters, AVectorCopyEqualsAWordByWordCopy) {
  std::vector<SharedWord> source(77);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i].store(i * 0x0101010101010101, std::memory_order_relaxed);
  }
  for (std::size_t offset = 0; offset < 5; ++offset) {
    for (std::size_t count = 0; count + offset <= source.size(); ++count) {
      std::vector<std::uint64_t> target(count + 1, 42);
      copy_words_relaxed(target.data(), source.data() + offset, count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(target[i], (i + offset) * 0x0101010101010101);
      }
      ASSERT_EQ(target[count], 42U);
    }
  }
}

// What the hostile images and the fuzzer rely on: an overread that no processor would notice is
// seen.
TEST(CopyWords, AreWatchedByTheAddressSanitizer) {
#ifndef METERBANK_ADDRESS_SANITIZER
  GTEST_SKIP() << "a build without the sanitizer";
#else
  for (const std::size_t size : {8U, 24U}) {
    const auto words = std::make_unique<SharedWord[]>(size);
    std::array<std::uint64_t, 64> target{};
    StdAtomics::copy_words(target.data(), words.get(), size);
    EXPECT_DEATH(StdAtomics::copy_words(target.data(), words.get(), size + 2),
                 "heap-buffer-overflow");
  }
#endif
}

}  // namespace
}  // namespace meterbank
