// SPDX-License-Identifier: Apache-2.0
//
// Death inside a commit: see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <optional>

#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "../numbered_set.hpp"
#include "crash_sweep.hpp"
#include "hand_made_segment.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

using test::JudgedAct;
using test::SegmentEye;
using test::Tally;

// Which words a commit touches, and how.
enum class Change : std::uint8_t { kAddOne, kUpdateAll, kUpdateTwo };

// What word `word` holds after `commits` commits.
std::uint64_t expected_word(Change change, std::uint32_t words, std::uint64_t commits,
                            std::uint32_t word) {
  switch (change) {
    case Change::kAddOne:
      return commits / words + (word < commits % words ? 1 : 0);
    case Change::kUpdateAll:
      return commits * (word + 1);
    case Change::kUpdateTwo:
      return word == 0 || word == words - 1 ? commits * (word + 1) : 0;
  }
  return 0;
}

struct UpdateShape {
  Change change = Change::kUpdateAll;
  std::uint32_t words = 2;
  bool many = false;
  std::uint64_t before = 0;   // commits at full speed
  std::uint64_t commits = 1;  // commits step by step
  bool outside = false;       // each of them names positions outside the block as well
  bool throwing = false;      // before each of them an update throws
};

class UpdateAct final : public JudgedAct {
 public:
  UpdateAct(std::string directory, UpdateShape shape)
      : directory_(std::move(directory)), shape_(shape), set_(shape.words) {}

  void prepare() override {
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
    CountersetSpec spec = set_.spec();
    spec.many = shape_.many;
    instance_ = *provider_->add(spec)->create_instance("it");
    while (done_ < shape_.before) commit();
  }
  void perform() override {
    for (std::uint64_t commits = 0; commits < shape_.commits; ++commits) commit();
  }
  void forget() override {
    last_ = 0;
    checkpoint_last_ = 0;
  }
  void bind(SegmentEye& eye) override {
    block_ = test::only_block(eye);
    ASSERT_NE(block_.checkpoint, nullptr);
  }
  void look(SegmentEye&, Tally& tally) override {
    std::array<std::uint64_t, 128> values{};
    std::uint64_t version = 0;
    if (!try_read<StdAtomics>(block_, values.data(), version)) {
      return tally.note(tally.unreadable, "block");
    }
    if (!fits(values.data(), version)) tally.note(tally.torn, "block");
    if (version < last_) tally.note(tally.backwards, "version");
    last_ = version;
    std::uint64_t checkpoint = 0;
    if (!try_read_checkpoint<StdAtomics>(block_, values.data(), checkpoint)) {
      return tally.note(tally.unreadable, "checkpoint");
    }
    if (!fits(values.data(), checkpoint)) tally.note(tally.torn, "checkpoint");
    if (checkpoint < checkpoint_last_) tally.note(tally.backwards, "checkpoint");
    if (checkpoint > version) tally.note(tally.malformed, "checkpoint newer than the block");
    checkpoint_last_ = checkpoint;
    if (!slot_of<StdAtomics>(*block_.slot).readable()) tally.note(tally.malformed, "slot");
  }
  bool is_complete() const override {
    return last_ == kFirstVersion + shape_.before + shape_.commits &&
           checkpoint_last_ == (last_ >= 1024 ? last_ / 1024 * 1024 : kFirstVersion);
  }

 private:
  static constexpr std::uint64_t kFirstVersion = 1;  // the zeros of commit_first()

  bool fits(const std::uint64_t* values, std::uint64_t version) const {
    if (version < kFirstVersion) return false;
    for (std::uint32_t word = 0; word < shape_.words; ++word) {
      if (values[word] !=
          expected_word(shape_.change, shape_.words, version - kFirstVersion, word)) {
        return false;
      }
    }
    return true;
  }
  void commit() {
    if (shape_.throwing) update_and_throw();
    if (shape_.change == Change::kAddOne) {
      if (shape_.outside) set_outside(instance_);
      instance_.add(static_cast<std::uint32_t>(done_++ % shape_.words), 1);
      return;
    }
    ++done_;
    instance_.update([this](Values& values) noexcept {
      if (shape_.outside) set_outside(values);
      for (std::uint32_t word = 0; word < shape_.words; ++word) {
        const std::uint64_t next = expected_word(shape_.change, shape_.words, done_, word);
        if (next != 0) values.set(word, next);
      }
      if (shape_.outside) set_outside(values);
    });
  }
  void update_and_throw() {
    struct GivenUp {};
    try {
      instance_.update([this](Values& values) {
        values.set(0, 7777);
        if (shape_.outside) set_outside(values);
        values.set(shape_.words - 1, 7777);
        throw GivenUp();
      });
    } catch (const GivenUp&) {
    }
  }
  template <typename Target>
  void set_outside(Target& target) const noexcept {
    for (const std::uint32_t position : {shape_.words, kBlockWordsMax, 65'536U, 0xffffffffU}) {
      target.set(position, 8888);
    }
  }

  std::string directory_;
  UpdateShape shape_;
  test::NumberedSet set_;
  // In the child.
  std::optional<Provider> provider_;
  Instance instance_;
  std::uint64_t done_ = 0;
  // In this process.
  BlockParts<const SharedWord> block_;
  std::uint64_t last_ = 0;
  std::uint64_t checkpoint_last_ = 0;
};

Tally sweep_updates(std::initializer_list<UpdateShape> shapes) {
  Tally tally;
  for (UpdateShape shape : shapes) {
    const test::TemporaryDirectory directory;
    if (test::runs_long()) shape.commits *= 10;
    UpdateAct act(directory.path(), shape);
    test::sweep(directory.path(), act, test::runs_long() ? 8 : 4, tally);
  }
  return tally;
}

TEST(CrashSweep, ABlockIsReadableAndWholeWhereverAnUpdateDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  test::expect_clean(sweep_updates({
                         {.change = Change::kAddOne, .words = 2, .commits = 30},
                         {.change = Change::kAddOne, .words = 8, .commits = 30},
                         {.change = Change::kUpdateAll, .words = 2, .commits = 10},
                         {.change = Change::kUpdateAll, .words = 8, .commits = 6},
                         {.change = Change::kUpdateTwo, .words = 8, .commits = 6},
                         {.change = Change::kUpdateAll, .words = 8, .many = true, .commits = 4},
                         {.change = Change::kUpdateTwo, .words = 100, .commits = 1},
                     }),
                     4'000, 60'000);
}

TEST(CrashSweep, PositionsOutsideTheBlockAndThrownUpdatesLeaveNothingWhereverTheyDie) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  using enum Change;
  test::expect_clean(
      sweep_updates({
          {.change = kAddOne, .words = 2, .commits = 4, .outside = true},
          {.change = kUpdateAll, .words = 3, .commits = 3, .outside = true},
          {.change = kUpdateTwo, .words = 8, .commits = 3, .outside = true},
          {.change = kUpdateTwo, .words = 8, .many = true, .commits = 3, .outside = true},
          {.change = kUpdateAll, .words = 2, .before = 1022, .commits = 2, .outside = true},
          {.change = kUpdateAll, .words = 3, .commits = 2, .outside = true, .throwing = true},
      }),
      1'000, 10'000);
}

TEST(CrashSweep, ACheckpointIsWholeWhereverItsWriterDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  test::expect_clean(sweep_updates({
                         {.change = Change::kUpdateAll, .words = 2, .before = 1020, .commits = 5},
                         {.change = Change::kUpdateAll, .words = 8, .before = 1020, .commits = 5},
                         {.change = Change::kAddOne, .words = 8, .before = 2044, .commits = 5},
                     }),
                     1'000, 15'000);
}

// ---- Control: the same judgement of an operation with a known fault must find it ----

// One copy, and the sequence says "being written" while it is odd.
class OneCopyAct final : public test::HandMadeAct {
 public:
  using HandMadeAct::HandMadeAct;
  void prepare() override {
    HandMadeAct::prepare();
    BlockParts<SharedWord> block = segment_.block();
    slot_live<StdAtomics>(*block.slot, 1);
    block.copy1 = block.copy0;
    writer_ = BlockWriter<StdAtomics>(block);
  }
  void perform() override {
    for (std::uint64_t commit = 1; commit <= 20; ++commit) {
      BlockWriter<StdAtomics>::Update update(writer_);
      update.set(0, commit);
      update.set(1, commit * 2);
      update.commit();
    }
  }

 private:
  BlockWriter<StdAtomics> writer_;
};

TEST(CrashSweepControl, AWriterWithOneCopyIsFoundTornAndUnreadable) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  OneCopyAct act(directory.path());
  Tally tally;
  test::step_through(directory.path(), act, tally, [&](SegmentEye& eye) {
    BlockParts<const SharedWord> block = test::only_block(eye);
    block.copy1 = block.copy0;
    std::array<std::uint64_t, 2> values{};
    std::uint64_t version = 0;
    // Torn for a reader that takes the only copy whatever the number says; unreadable for one that
    // waits for an even number, as readers of a seqlock do.
    static_cast<void>(try_read<StdAtomics>(block, values.data(), version));
    if (values[1] != 2 * values[0]) tally.note(tally.torn, "one copy");
    // relaxed: the writer stands still.
    if (StdAtomics::load_relaxed(*block.seq) % 2 == 1) tally.note(tally.unreadable, "one copy");
  });
  EXPECT_GT(tally.torn, 0U);
  EXPECT_GT(tally.unreadable, 0U);
}

}  // namespace
}  // namespace meterbank
