// SPDX-License-Identifier: Apache-2.0
//
// The instructions of restartable sequences, in an area that no kernel knows: nothing interrupts
// them, so what they do is certain. This runs on every machine with these instructions, also where
// the system has no rseq(2).
#include "meterbank/publisher/restartable.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace meterbank::detail {
namespace {

#ifdef METERBANK_RESTARTABLE

struct alignas(32) Area {
  std::uint32_t processor_start = 0;
  std::uint32_t processor = 0;
  std::uint64_t sequence = 0;
};
thread_local Area area_of_this_thread;

char* thread_pointer() {
#if defined(__x86_64__)
  char* pointer = nullptr;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return static_cast<char*>(__builtin_thread_pointer());
#endif
}

class RestartableSequence : public testing::Test {
 protected:
  RestartableSequence() { area_of_this_thread = {.processor_start = 7, .processor = 7}; }

  const std::ptrdiff_t area_ = reinterpret_cast<char*>(&area_of_this_thread) - thread_pointer();
  SharedWord word_{40};
};

std::uint64_t value(const SharedWord& word) {
  return word.load(std::memory_order_relaxed);  // relaxed: one thread
}

TEST_F(RestartableSequence, KnowsTheProcessor) {
  EXPECT_EQ(processor_now(area_), 7U);
  area_of_this_thread.processor = ~std::uint32_t{0};  // as of a thread that is not registered
  EXPECT_EQ(processor_now(area_), ~std::uint32_t{0});
}

TEST_F(RestartableSequence, AddsOnItsProcessorOnly) {
  EXPECT_TRUE(add_on(area_, 7, word_, 2));
  EXPECT_TRUE(add_on(area_, 7, word_, ~std::uint64_t{0}));
  EXPECT_TRUE(add_on(area_, 7, word_, std::uint64_t{1} << 40));
  EXPECT_EQ(value(word_), 41 + (std::uint64_t{1} << 40));
  EXPECT_FALSE(add_on(area_, 6, word_, 2));
  EXPECT_EQ(value(word_), 41 + (std::uint64_t{1} << 40));
}

TEST_F(RestartableSequence, StoresOnlyOverWhatWasSeen) {
  EXPECT_FALSE(store_on(area_, 6, word_, 40, 50));
  EXPECT_FALSE(store_on(area_, 7, word_, 39, 50));
  EXPECT_EQ(value(word_), 40U);
  EXPECT_TRUE(store_on(area_, 7, word_, 40, 50));
  EXPECT_EQ(value(word_), 50U);
}

TEST_F(RestartableSequence, PublishesAllWordsOrNone) {
  const std::array<std::uint64_t, 3> source{1, 2, 3};
  for (std::uint64_t words = 1; words <= 3; ++words) {
    std::array<SharedWord, 4> target{};
    const Publication wanted{.number = &word_,
                             .seen = 40,
                             .next = 41,
                             .target = target.data(),
                             .source = source.data(),
                             .words = words,
                             .word = words - 1,
                             .value = 77};
    Publication late = wanted;
    late.seen = 39;
    EXPECT_FALSE(publish_on(area_, 6, wanted));
    EXPECT_FALSE(publish_on(area_, 7, late));
    for (const SharedWord& word : target) EXPECT_EQ(value(word), 0U);
    EXPECT_EQ(value(word_), 40U);
    EXPECT_TRUE(publish_on(area_, 7, wanted));
    for (std::size_t i = 0; i + 1 < words; ++i) EXPECT_EQ(value(target[i]), i + 1);
    EXPECT_EQ(value(target[words - 1]), 77U);
    for (std::size_t i = words; i < 4; ++i) EXPECT_EQ(value(target[i]), 0U);
    EXPECT_EQ(value(word_), 41U);
    EXPECT_TRUE(store_on(area_, 7, word_, 41, 40));
  }
}

// The kernel goes where the descriptor says; it must be where it looks for it, and mean this code.
TEST_F(RestartableSequence, ShowsTheKernelADescriptorWithTheMark) {
  ASSERT_TRUE(add_on(area_, 7, word_, 1));
  struct Descriptor {
    std::uint32_t version, flags;
    std::uint64_t first, length, abort;
  };
  ASSERT_NE(area_of_this_thread.sequence, 0U);
  EXPECT_EQ(area_of_this_thread.sequence % 32, 0U);
  const auto& shown = *reinterpret_cast<const Descriptor*>(area_of_this_thread.sequence);
  EXPECT_EQ(shown.version, 0U);
  EXPECT_EQ(shown.flags, 0U);
  EXPECT_GT(shown.length, 0U);
  EXPECT_LT(shown.length, 64U);
  EXPECT_FALSE(shown.abort >= shown.first && shown.abort < shown.first + shown.length);
  std::uint32_t mark = 0;  // aligned to nothing
  std::memcpy(&mark, reinterpret_cast<const void*>(shown.abort - sizeof mark), sizeof mark);
#if defined(__x86_64__)
  EXPECT_EQ(mark, 0x53053053U);
#else
  EXPECT_EQ(mark, 0xd428bc00U);
#endif
}

#endif

TEST(RestartableSequences, AreForbiddenByTheEnvironment) {
  ::setenv("METERBANK_RSEQ", "0", 1);
  EXPECT_EQ(rseq_area(), 0);
  ::unsetenv("METERBANK_RSEQ");
}

}  // namespace
}  // namespace meterbank::detail
