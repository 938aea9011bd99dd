// SPDX-License-Identifier: Apache-2.0
//
// Death inside a commit that keeps the state before it: see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "../numbered_set.hpp"
#include "crash_sweep.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/shm/block.hpp"

namespace meterbank {
namespace {

using test::SeenSlot;
using test::SegmentEye;
using test::Tally;

// Each commit is the first one of its epoch. Commit n puts n into every word, and tries positions
// outside the block.
class CutAct final : public test::JudgedAct {
 public:
  CutAct(std::string directory, std::uint32_t words, std::uint64_t commits)
      : directory_(std::move(directory)), set_(words), words_(words), commits_(commits) {}

  void prepare() override {
    // The heartbeat sleeps throughout: epochs are counted here.
    provider_.emplace(*Provider::create({.name = "swept",
                                         .directory = directory_,
                                         .heartbeat = std::chrono::milliseconds(0),
                                         .cut_period = std::chrono::hours(1)}));
    CountersetSpec spec = set_.spec();
    spec.cuts = true;
    process_epoch.count.store(0, std::memory_order_seq_cst);
    instance_ = *provider_->add(spec)->create_instance("it");
  }
  void perform() override {
    for (std::uint64_t commit = 1; commit <= commits_; ++commit) {
      process_epoch.count.store(kFirstEpoch + commit, std::memory_order_seq_cst);
      if (words_ == 1) {
        instance_.add(65'536, 1);
        instance_.add(0, 1);
        continue;
      }
      instance_.update([&](Values& values) noexcept {
        for (std::uint32_t word = 0; word < words_; ++word) values.set(word, commit);
        values.set(65'536, 8888);
      });
    }
  }
  void forget() override { newest_ = 0; }
  void bind(SegmentEye& eye) override {
    block_ = test::only_block(eye);
    ASSERT_NE(block_.cut, nullptr);
  }
  void look(SegmentEye&, Tally& tally) override {
    // From an epoch that no commit has seen down to those that are lost.
    std::uint64_t kept = 0;
    bool is_lost = false;
    for (std::uint64_t epoch = kFirstEpoch + commits_ + 1; epoch >= kFirstEpoch; --epoch) {
      const std::uint64_t current = look_at(epoch, kept, is_lost, tally);
      if (epoch == kFirstEpoch + commits_ + 1) {
        if (current < newest_) tally.note(tally.backwards, "current state");
        newest_ = current;
      }
    }
    if (kept == 0) tally.note(tally.unreadable, "the newest save");
  }
  bool is_complete() const override { return newest_ == commits_; }

 private:
  static constexpr std::uint64_t kFirstEpoch = 1;  // settled by the registration

  std::uint64_t look_at(std::uint64_t epoch, std::uint64_t& kept, bool& is_lost, Tally& tally) {
    std::array<std::uint64_t, 16> values{};
    std::uint64_t version = 0;
    switch (read_at_epoch<StdAtomics>(block_, epoch, values.data(), version)) {
      case CutStatus::kBusy:
        tally.note(tally.unreadable, "cut");
        return 0;
      case CutStatus::kTooLate:
        is_lost = true;
        return 0;
      case CutStatus::kSaved:
        ++kept;
        // The commit of epoch e is number e - kFirstEpoch; before it the one before was there.
        if (values[0] + kFirstEpoch + 1 != epoch && !(epoch == kFirstEpoch && values[0] == 0)) {
          tally.note(tally.torn, "saved state of another epoch");
        }
        break;
      case CutStatus::kCurrent:
        break;
    }
    if (is_lost) tally.note(tally.malformed, "an older epoch where a newer one is lost");
    for (std::uint32_t word = 1; word < words_; ++word) {
      if (values[word] != values[0]) tally.note(tally.torn, "cut");
    }
    return values[0];
  }

  std::string directory_;
  test::NumberedSet set_;
  std::uint32_t words_;
  std::uint64_t commits_;
  // In the child.
  std::optional<Provider> provider_;
  Instance instance_;
  // In this process.
  BlockParts<const SharedWord> block_;
  std::uint64_t newest_ = 0;
};

TEST(CrashSweep, AStateThatACutNeedsIsWholeWhereverItsWriterDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  for (const std::uint32_t words : {1U, 3U, 8U}) {
    const test::TemporaryDirectory directory;
    CutAct act(directory.path(), words, test::runs_long() ? 60 : 6);
    test::sweep(directory.path(), act, test::runs_long() ? 8 : 4, tally);
  }
  test::expect_clean(tally, 1'000, 10'000);
}

}  // namespace
}  // namespace meterbank
