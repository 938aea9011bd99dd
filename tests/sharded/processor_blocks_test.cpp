// SPDX-License-Identifier: Apache-2.0
//
// When the blocks of a sharded set belong to processors, and what one of them holds then.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>

#include "../support/cooked_values.hpp"
#include "processors.hpp"

namespace meterbank::processor_blocks_test {
namespace {

using test::Blocks;
using test::Form;
using test::goes_by_processor;
using test::Hopper;
using test::Job;
using test::ShardedSet;
using test::shards_of;
using test::transact;

bool goes_by_processor(const CountersetSpec& spec) {
  ShardedSet set(spec);
  return goes_by_processor(set.create("a"));
}

class ProcessorBlocksChoice : public test::ProcessorTest {};

TEST_F(ProcessorBlocksChoice, IsMadeIfEachProcessorHasABlock) {
  EXPECT_TRUE(goes_by_processor(test::jobs(Consistency::kBlock, test::processors())));
  EXPECT_TRUE(goes_by_processor(test::jobs(Consistency::kIndependent, test::processors())));
  if (test::processors() == 1) return;
  EXPECT_FALSE(goes_by_processor(test::jobs(Consistency::kBlock, test::processors() - 1)));
  EXPECT_FALSE(goes_by_processor(test::jobs(Consistency::kIndependent, test::processors() - 1)));
}

TEST_F(ProcessorBlocksChoice, IsMadeForBlockSetsOnRequestOnly) {
  CountersetSpec spec = test::jobs(Consistency::kBlock, test::processors());
  spec.by_processor = false;
  EXPECT_FALSE(goes_by_processor(spec));
  spec.consistency = Consistency::kIndependent;
  EXPECT_TRUE(goes_by_processor(spec));
}

TEST_F(ProcessorBlocksChoice, IsNotMadeForWideBlocks) {
  std::vector<CounterSpec> counters;
  std::vector<std::string> names;
  for (std::uint32_t id = 0; id <= detail::kProcessorWordsMax; ++id) {
    names.push_back("x" + std::to_string(id));
  }
  for (std::uint32_t id = 0; id <= detail::kProcessorWordsMax; ++id) {
    counters.push_back({.id = id + 1, .name = names[id], .symbol = names[id]});
  }
  CountersetSpec wide = test::jobs(Consistency::kBlock, test::processors());
  wide.counters = counters;
  EXPECT_FALSE(goes_by_processor(wide));
  wide.consistency = Consistency::kIndependent;
  EXPECT_TRUE(goes_by_processor(wide));
  wide.consistency = Consistency::kBlock;
  wide.counters = std::span(counters).first(detail::kProcessorWordsMax);
  EXPECT_TRUE(goes_by_processor(wide));
}

TEST_F(ProcessorBlocksChoice, IsForbiddenByTheEnvironment) {
  const CountersetSpec spec = test::jobs(Consistency::kBlock, test::processors());
  {
    const test::Preferring threads(Blocks::kOfThreads);
    EXPECT_FALSE(goes_by_processor(spec));
  }
  EXPECT_TRUE(goes_by_processor(spec));
}

TEST_F(ProcessorBlocksChoice, StaysForTheLifeOfTheRegistration) {
  ShardedSet jobs(Form{Consistency::kBlock, Blocks::kOfProcessors});
  const test::Preferring threads(Blocks::kOfThreads);
  EXPECT_TRUE(goes_by_processor(jobs.create("late")));
}

// In a child, because the C library decides at its start.
TEST(ProcessorBlocks, AreNotChosenWhereTheLibraryRegistersNoThread) {
  if (!test::has_sequences()) {
    ShardedSet jobs(test::jobs(Consistency::kBlock, test::processors() + 3));
    ShardedInstance queue = jobs.create("a");
    EXPECT_FALSE(goes_by_processor(queue));
    transact(queue);
    jobs.look();
    EXPECT_EQ(jobs.value(Job::kTwice), 2U);
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
    const std::string filter = std::string("--gtest_filter=ProcessorBlocks.") +
                               testing::UnitTest::GetInstance()->current_test_info()->name();
    ::execl("/proc/self/exe", "tests", filter.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class ProcessorBlock : public test::ProcessorTest {
 protected:
  ShardedSet jobs_{Form{Consistency::kBlock, Blocks::kOfProcessors}};
  ShardedInstance queue_ = jobs_.create("a");
};

TEST_F(ProcessorBlock, HoldsNothingOfAnUpdateThatThrows) {
  EXPECT_THROW(queue_.update([](ShardValues& values) {
    values.add(Job::kDone, 5);
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  queue_.add(Job::kTwice, 1);
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kDone), 0U);
  EXPECT_EQ(jobs_.value(Job::kTwice), 1U);
  EXPECT_EQ(jobs_.consistency(), RowConsistency::kShards);
}

TEST_F(ProcessorBlock, TakesThirtyTwoChangesInOneCommitAndSharesMore) {
  const auto change = [this](std::uint64_t times) {
    queue_.update([times](ShardValues& values) {
      for (std::uint64_t i = 0; i < times; ++i) values.add(Job::kDone, 1);
    });
  };
  change(32);
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kDone), 32U);
  EXPECT_EQ(jobs_.consistency(), RowConsistency::kShards);
  change(33);
  jobs_.collect();
  EXPECT_EQ(jobs_.value(Job::kDone), 65U);
  EXPECT_EQ(jobs_.consistency(), RowConsistency::kSharedCounters);
}

// Versions count commits one by one whichever copy is current, so the checkpoint of version 2048
// holds what 2048 commits made.
TEST_F(ProcessorBlock, KeepsACheckpointOfEachThousandthVersion) {
  const detail::Shards& shards = shards_of(queue_);
  Hopper here;
  here.hop();
  const std::uint64_t processor = detail::processor_now(shards.rseq);
  const BlockParts<SharedWord> parts = shards.first[processor].writer.parts();
  const BlockParts<const SharedWord> block{.seq = parts.seq,
                                           .copy0 = parts.copy0,
                                           .copy1 = parts.copy1,
                                           .checkpoint = parts.checkpoint,
                                           .words = parts.words};
  std::array<std::uint64_t, 8> words{};
  std::uint64_t version = 0;
  ASSERT_TRUE(try_read<StdAtomics>(block, words.data(), version));
  const std::uint64_t first = version;  // shard 0 has been written to before
  std::uint64_t checkpoints = 0;
  for (std::uint64_t commit = 1; commit <= 4096; ++commit) {
    transact(queue_);
    ASSERT_TRUE(try_read<StdAtomics>(block, words.data(), version));
    ASSERT_EQ(version, first + commit);
    ASSERT_EQ(words[0], commit);
    if (version % StdAtomics::kCheckpointEvery != 0) continue;
    ASSERT_TRUE(try_read_checkpoint<StdAtomics>(block, words.data(), version));
    if (version != first + commit) continue;  // the thread was interrupted before it
    ++checkpoints;
    EXPECT_EQ(words[0], commit);
    EXPECT_EQ(words[1], 2 * commit);
  }
  EXPECT_GE(checkpoints, 1U);
}

// First values are written as to any other block, which is even at rest.
TEST(ProcessorBlocks, BeginEachLifeSettled) {
  if (!test::has_sequences()) GTEST_SKIP();
  ShardedSet jobs({Consistency::kBlock, Blocks::kOfProcessors}, 0,
                  {.name = "jobs", .quarantine = std::chrono::milliseconds(0)});
  Hopper here;
  here.hop();
  int lives_after_odd = 0;
  for (int life = 0; life < 40; ++life) {
    ShardedInstance queue = jobs.create("a");
    const detail::Shards& shards = shards_of(queue);
    const detail::Shard& shard = shards.first[detail::processor_now(shards.rseq)];
    const BlockParts<SharedWord> block = shard.writer.parts();
    // relaxed, all in here: one thread.
    EXPECT_EQ(StdAtomics::load_relaxed(*block.seq) & 1, 0U);
    for (std::uint32_t word = 0; word < block.words; ++word) {
      EXPECT_EQ(StdAtomics::load_relaxed(block.copy0[word]),
                StdAtomics::load_relaxed(block.copy1[word]));
    }
    transact(queue);
    lives_after_odd += static_cast<int>(StdAtomics::load_relaxed(*block.seq) & 1);
  }
  EXPECT_GT(lives_after_odd, 0);
}

// A set that comes back gets its memory back, unless it is written in another way now.
TEST(ProcessorBlocks, AreChosenAnewWhenASetIsRegisteredAnew) {
  if (!test::has_sequences()) GTEST_SKIP();
  const test::TemporaryDirectory directory;
  Provider provider = *Provider::create({.name = "jobs", .directory = directory.path()});
  for (const Blocks blocks : {Blocks::kOfProcessors, Blocks::kOfThreads, Blocks::kOfProcessors}) {
    const test::Preferring preferring(blocks);
    auto set = provider.add(test::jobs(Consistency::kBlock, std::max(4U, test::processors())));
    ASSERT_TRUE(set) << set.error().what;
    ShardedInstance queue = *set->create_sharded_instance("a");
    EXPECT_EQ(goes_by_processor(queue), blocks == Blocks::kOfProcessors);
    transact(queue);
    set->close();
  }
}

enum class Call : std::uint32_t { kTook };

TEST(ProcessorRecorders, CountEverythingOfAllThreads) {
  if (!test::has_sequences()) GTEST_SKIP();
  const CounterSpec counters[] = {{.id = 1,
                                   .name = "Took",
                                   .symbol = "took",
                                   .form = ValueForm::kDistribution,
                                   .buckets = {.scale = 0, .least = 1, .most = 64}}};
  const CountersetSpec spec{.name = "Jobs",
                            .symbol = "jobs",
                            .shards = test::processors(),
                            .sharded = true,
                            .by_processor = true,
                            .counters = counters};
  ASSERT_LE(form_of(spec).words, detail::kProcessorWordsMax);
  ShardedSet jobs(spec);
  ShardedInstance queue = jobs.create("a");
  ASSERT_TRUE(goes_by_processor(queue));
  constexpr std::uint64_t kThreads = 8;
  constexpr std::uint64_t kEach = 20'000;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ShardedRecorder recorder = queue.recorder(Call::kTook);
      for (std::uint64_t i = 0; i < kEach; ++i) recorder.record(static_cast<double>(1 + thread));
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto catalog = Catalog::open({.directory = jobs.directory()});
  catalog->refresh();
  auto query = Query::compile(*catalog, {"jobs/a/took"});
  Sample sample;
  query->collect(sample);
  const auto rows = test::cooked_values(nullptr, sample);
  ASSERT_NE(rows.at(0).distribution, nullptr);
  const Distribution& seen = *rows[0].distribution;
  EXPECT_EQ(seen.count, kThreads * kEach);
  EXPECT_EQ(seen.sum, 36.0 * kEach);  // 1 + 2 + ... + 8
  EXPECT_EQ(seen.least, 1.0);
  EXPECT_EQ(seen.most, 8.0);
}

}  // namespace
}  // namespace meterbank::processor_blocks_test
