// SPDX-License-Identifier: Apache-2.0
//
// Death of a thread that counts in a sharded instance, from the taking of its number to its end:
// see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <thread>

#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "../numbered_set.hpp"
#include "crash_sweep.hpp"
#include "hand_made_segment.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::crash_sweep_shards_test {
namespace {

using test::SeenSlot;
using test::SegmentEye;
using test::Tally;

// Done, twice, and what is counted beside a transaction, in the shared block.
enum class Job : std::uint32_t { kDone, kTwice, kBeside };
constexpr std::uint32_t kWords = 3;
constexpr std::uint32_t kOwnBlocks = 2;
using Counts = std::array<std::uint64_t, kWords>;

// Each stop would abort a restartable sequence, so here blocks are of threads.
void forbid_sequences() { ::setenv("METERBANK_RSEQ", "0", 1); }

// Counts only, so that shards can be added up, in blocks of two threads and the shared one.
class SweptSet {
 public:
  SweptSet() {
    for (CounterSpec& counter : counters_) counter.aggregate = kAggregateSum;
  }
  [[nodiscard]] CountersetSpec spec(Consistency consistency = Consistency::kBlock) const {
    CountersetSpec spec = set_.spec();
    spec.counters = counters_;
    spec.consistency = consistency;
    spec.shards = kOwnBlocks;
    spec.sharded = true;
    return spec;
  }

 private:
  test::NumberedSet set_{kWords};
  std::vector<CounterSpec> counters_{set_.spec().counters.begin(), set_.spec().counters.end()};
};

// Shards that were opened in this life, added up. Those of threads must hold whole transactions
// where the set has block consistency.
Counts add_shards(const SeenSlot& slot, Tally& tally) {
  Counts sum{};
  for (std::uint32_t shard = 0; shard < slot.form.shards; ++shard) {
    const auto block = shard_parts(slot.block, slot.form, shard);
    const SlotWord word = slot_of<StdAtomics>(*block.slot);
    if (word.generation != slot.generation || word.state != SlotState::kLive) continue;
    Counts counts{};
    std::uint64_t version = 0;
    if (slot.form.consistency == Consistency::kIndependent) {
      StdAtomics::copy_words(counts.data(), block.copy0, kWords);
    } else if (!try_read<StdAtomics>(block, counts.data(), version)) {
      tally.note(tally.unreadable, "shard " + std::to_string(shard));
    } else if (shard < kOwnBlocks && counts[1] != 2 * counts[0]) {
      tally.note(tally.torn, "shard " + std::to_string(shard));
    }
    for (std::uint32_t at = 0; at < kWords; ++at) sum[at] += counts[at];
  }
  return sum;
}

// What a thread counts from its beginning to its end, in an instance whose first block an earlier
// thread has used and in a fresh one.
class ThreadAct final : public test::JudgedAct {
 public:
  ThreadAct(std::string directory, Consistency consistency, std::uint64_t counts)
      : directory_(std::move(directory)), consistency_(consistency), wanted_(counts) {}

  [[nodiscard]] bool is_in_thread() const override { return true; }
  void prepare() override {
    forbid_sequences();
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
    const Registration registration = *provider_->add(set_.spec(consistency_));
    used_ = *registration.create_sharded_instance("used");
    fresh_ = *registration.create_sharded_instance("fresh");
    std::thread([this] {
      for (std::uint64_t turn = 0; turn < kBefore; ++turn) count(used_);
    }).join();
  }
  void perform() override {
    for (std::uint64_t turn = 0; turn < wanted_; ++turn) {
      count(used_);
      count(fresh_);
    }
  }
  void forget() override { last_ = {{{kBefore, 2 * kBefore, kBefore}, {}}}; }
  void bind(SegmentEye& eye) override {
    EXPECT_EQ(eye.walk(slots_), "");
    ASSERT_EQ(slots_.size(), 2U);
    ASSERT_EQ(slots_[0].name, "used");
    ASSERT_EQ(slots_[0].form.shards, kOwnBlocks + 1);
  }
  void look(SegmentEye&, Tally& tally) override {
    for (std::size_t instance = 0; instance < 2; ++instance) {
      const Counts now = add_shards(slots_[instance], tally);
      Counts& last = last_[instance];
      for (std::uint32_t at = 0; at < kWords; ++at) {
        if (now[at] < last[at]) tally.note(tally.backwards, "counts of " + slots_[instance].name);
      }
      // Beside is counted first; twice is behind, where it is counted apart.
      const bool is_in_order = now[2] - now[0] <= 1 && 2 * now[0] - now[1] <= 2 &&
                               (now[2] == now[0] || now[1] == 2 * now[0]);
      if (!is_in_order) tally.note(tally.torn, "order in " + slots_[instance].name);
      last = now;
    }
  }
  bool is_complete() const override {
    return last_[0] == Counts{kBefore + wanted_, 2 * (kBefore + wanted_), kBefore + wanted_} &&
           last_[1] == Counts{wanted_, 2 * wanted_, wanted_};
  }

 private:
  static constexpr std::uint64_t kBefore = 3;

  void count(ShardedInstance& instance) const {
    instance.update([&instance](ShardValues& values) noexcept {
      // Inside an update of a block set its thread shares, so this is an atomic add.
      instance.add(Job::kBeside, 1);
      values.add(Job::kDone, 1);
      values.add(Job::kTwice, 2);
    });
  }

  std::string directory_;
  SweptSet set_;
  Consistency consistency_;
  std::uint64_t wanted_;
  // In the child.
  std::optional<Provider> provider_;
  ShardedInstance used_, fresh_;
  // In this process.
  std::vector<SeenSlot> slots_;
  std::array<Counts, 2> last_;
};

TEST(CrashSweep, ARowOfShardsIsWholeFromAThreadsFirstCountToItsEnd) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  for (const Consistency consistency : {Consistency::kBlock, Consistency::kIndependent}) {
    const test::TemporaryDirectory directory;
    ThreadAct act(directory.path(), consistency, test::runs_long() ? 40 : 6);
    test::sweep(directory.path(), act, test::runs_long() ? 16 : 4, tally);
  }
  test::expect_clean(tally, 2'000, 15'000);
}

// A thread's number is the next one's: what the next one counts is added to what it finds.
class SuccessorAct final : public test::JudgedAct {
 public:
  explicit SuccessorAct(std::string directory) : directory_(std::move(directory)) {}
  [[nodiscard]] bool is_in_thread() const override { return true; }
  void prepare() override {
    forbid_sequences();
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
    instance_ = *provider_->add(set_.spec())->create_sharded_instance("it");
  }
  // The thread that is stepped has no number yet while the others come and go at full speed.
  void perform() override {
    for (std::uint64_t thread = 0; thread < kThreads; ++thread)
      std::thread([this] { count(); }).join();
    count();
  }
  void forget() override { last_ = 0; }
  void bind(SegmentEye& eye) override {
    EXPECT_EQ(eye.walk(slots_), "");
    ASSERT_EQ(slots_.size(), 1U);
  }
  void look(SegmentEye&, Tally& tally) override {
    const Counts now = add_shards(slots_[0], tally);
    if (now[0] < last_) tally.note(tally.backwards, "done");
    if (now[0] > kThreads + 1 || now[1] != 2 * now[0]) tally.note(tally.torn, "done and twice");
    last_ = now[0];
  }
  bool is_complete() const override { return last_ == kThreads + 1; }

 private:
  static constexpr std::uint64_t kThreads = 4;

  void count() {
    instance_.update([](ShardValues& values) noexcept {
      values.add(Job::kDone, 1);
      values.add(Job::kTwice, 2);
    });
  }

  std::string directory_;
  SweptSet set_;
  // In the child.
  std::optional<Provider> provider_;
  ShardedInstance instance_;
  // In this process.
  std::vector<SeenSlot> slots_;
  std::uint64_t last_ = 0;
};

TEST(CrashSweep, ABlockThatGoesFromThreadToThreadIsWholeAtEachStop) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  SuccessorAct act(directory.path());
  Tally tally;
  test::sweep(directory.path(), act, test::runs_long() ? 16 : 2, tally);
  test::expect_clean(tally, 2'000, 2'000);
}

// ---- Control: the same judgement of an operation with a known fault must find it ----

// A thread that, at its end, folds its block into another's and empties it.
class FoldingAct final : public test::HandMadeAct {
 public:
  using HandMadeAct::HandMadeAct;
  void prepare() override {
    HandMadeAct::prepare();
    for (std::uint32_t block = 0; block < 2; ++block) {
      slot_live<StdAtomics>(*segment_.block(block).slot, 1);
    }
  }
  void perform() override {
    const BlockWriter<StdAtomics> rest(segment_.block(0)), own(segment_.block(1));
    for (int life = 0; life < 10; ++life) {
      own.add(0, 1);
      rest.add(0, own.value(0));
      own.set(0, 0);
    }
  }
};

TEST(CrashSweepControl, ABlockThatIsFoldedIntoAnotherIsFoundCountedTwice) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  FoldingAct act(directory.path());
  Tally tally;
  std::uint64_t last = 0;
  test::step_through(directory.path(), act, tally, [&](SegmentEye& eye) {
    std::vector<SeenSlot> slots;
    ASSERT_EQ(eye.walk(slots), "");
    ASSERT_EQ(slots.size(), 2U);
    std::uint64_t sum = 0;
    for (const SeenSlot& slot : slots) {
      std::array<std::uint64_t, 2> values{};
      std::uint64_t version = 0;
      if (!try_read<StdAtomics>(slot.block, values.data(), version)) {
        tally.note(tally.unreadable, "block");
      }
      sum += values[0];
    }
    if (sum < last) tally.note(tally.backwards, "sum");
    last = sum;
  });
  EXPECT_GT(tally.backwards, 0U);
  EXPECT_EQ(tally.unreadable, 0U);
}

}  // namespace
}  // namespace meterbank::crash_sweep_shards_test
