// SPDX-License-Identifier: Apache-2.0
//
// Death at every instruction. A child performs an operation one instruction at a time; after each,
// this process looks at the shared memory as a reader would had the child been killed there. Some
// children really are, and a fresh mapping of what they left is judged the same way.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <optional>

#include "../support/temporary_directory.hpp"
#include "hand_made_segment.hpp"
#include "meterbank/publisher.hpp"
#include "numbered_set.hpp"
#include "segment_eye.hpp"
#include "stepped_child.hpp"

namespace meterbank {
namespace {

using test::SeenSlot;
using test::SegmentEye;
using test::SteppedChild;

struct Tally {
  std::uint64_t points = 0;  // instructions after which the memory was judged
  std::uint64_t kills = 0;   // children that were killed and judged through a fresh mapping
  std::uint64_t unreadable = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  std::uint64_t malformed = 0;  // in the directory
  std::string first_fault;

  void note(std::uint64_t& kind, const std::string& what) {
    if (++kind == 1 && first_fault.empty()) {
      first_fault = what + " at point " + std::to_string(points);
    }
  }
  [[nodiscard]] std::uint64_t faults() const { return unreadable + torn + backwards + malformed; }
};

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.points << " points, " << tally.kills << " kills, " << tally.unreadable
             << " unreadable, " << tally.torn << " torn, " << tally.backwards << " backwards, "
             << tally.malformed << " malformed " << tally.first_fault;
}

// An operation and the judgement of it. All that is declared here runs in this process.
class JudgedAct : public test::Act {
 public:
  virtual void forget() = 0;               // what was seen of an earlier child
  virtual void bind(SegmentEye& eye) = 0;  // look through this mapping from now on
  virtual void look(SegmentEye& eye, Tally& tally) = 0;
  virtual bool is_complete() const = 0;  // the last look saw the operation done
};

// One child to its end, judged after each instruction. Then `kills` further children, each killed
// on the way, at points spread evenly over the operation.
void sweep(const std::string& directory, JudgedAct& act, std::uint64_t kills, Tally& tally) {
  const auto attach = [&] {
    auto eye = SegmentEye::of_directory(directory);
    EXPECT_TRUE(eye) << eye.error().message();
    return eye;
  };
  std::uint64_t steps = 0;
  {
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto eye = attach();
    ASSERT_TRUE(eye);
    act.forget();
    act.bind(*eye);
    auto stop = SteppedChild::Stop::kInside;
    while ((stop = child.step()) == SteppedChild::Stop::kInside) {
      ++steps;
      ++tally.points;
      act.look(*eye, tally);
    }
    ASSERT_EQ(stop, SteppedChild::Stop::kFinished);
    EXPECT_TRUE(act.is_complete());
  }
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto eye = attach();
    ASSERT_TRUE(eye);
    act.forget();
    act.bind(*eye);
    const std::uint64_t last = steps * (2 * kill + 1) / (2 * kills);
    for (std::uint64_t step = 0; step < last; ++step) {
      ASSERT_EQ(child.step(), SteppedChild::Stop::kInside);
    }
    std::vector<SeenSlot> slots;
    EXPECT_EQ(eye->walk(slots), "");  // keeps a descriptor of every extent
    act.look(*eye, tally);
    child.kill();
    ++tally.kills;
    auto fresh = eye->again();
    ASSERT_TRUE(fresh) << fresh.error().message();
    act.bind(*fresh);
    act.look(*fresh, tally);
  }
}

void expect_clean(const Tally& tally, std::uint64_t points_min, std::uint64_t points_min_long) {
  std::cout << "  " << tally << "\n";
  EXPECT_EQ(tally.faults(), 0U) << tally.first_fault;
  EXPECT_GE(tally.points, test::runs_long() ? points_min_long : points_min);
  EXPECT_GT(tally.kills, 0U);
}

// ---- Values ----

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
    std::vector<SeenSlot> slots;
    EXPECT_EQ(eye.walk(slots), "");
    ASSERT_EQ(slots.size(), 1U);
    block_ = slots.front().block;
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
    if (shape_.change == Change::kAddOne) {
      instance_.add(static_cast<std::uint32_t>(done_++ % shape_.words), 1);
      return;
    }
    ++done_;
    instance_.update([this](Values& values) noexcept {
      for (std::uint32_t word = 0; word < shape_.words; ++word) {
        const std::uint64_t next = expected_word(shape_.change, shape_.words, done_, word);
        if (next != 0) values.set(word, next);
      }
    });
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
    if (test::runs_long()) shape.commits *= 20;
    UpdateAct act(directory.path(), shape);
    sweep(directory.path(), act, test::runs_long() ? 16 : 4, tally);
  }
  return tally;
}

TEST(CrashSweep, ABlockIsReadableAndWholeWhereverAnUpdateDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  expect_clean(sweep_updates({
                   {.change = Change::kAddOne, .words = 2, .commits = 30},
                   {.change = Change::kAddOne, .words = 8, .commits = 30},
                   {.change = Change::kUpdateAll, .words = 2, .commits = 10},
                   {.change = Change::kUpdateAll, .words = 8, .commits = 6},
                   {.change = Change::kUpdateTwo, .words = 8, .commits = 6},
                   {.change = Change::kUpdateAll, .words = 8, .many = true, .commits = 4},
                   {.change = Change::kUpdateTwo, .words = 100, .commits = 1},
               }),
               4'000, 80'000);
}

TEST(CrashSweep, ACheckpointIsWholeWhereverItsWriterDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  expect_clean(sweep_updates({
                   {.change = Change::kUpdateAll, .words = 2, .before = 1020, .commits = 5},
                   {.change = Change::kUpdateAll, .words = 8, .before = 1020, .commits = 5},
                   {.change = Change::kAddOne, .words = 8, .before = 2044, .commits = 5},
               }),
               1'000, 20'000);
}

// ---- The directory ----

struct Fact {
  std::uint64_t generation = 1;
  std::uint64_t factor = 0;  // word i holds factor * (i + 1)
  bool operator==(const Fact&) const = default;
};
// The instances that a reader finds, by "set/instance".
using Facts = std::map<std::string, Fact>;

// A sequence of operations of which each turns one set of live instances into the next.
class DirectoryAct : public JudgedAct {
 public:
  DirectoryAct(std::string directory, std::uint32_t words)
      : directory_(std::move(directory)), set_(words) {}

  void prepare() override {
    provider_.emplace(*Provider::create({.name = "swept",
                                         .directory = directory_,
                                         .heartbeat = std::chrono::milliseconds(0),
                                         .quarantine = std::chrono::milliseconds(0)}));
    registration_ = *provider_->add(set_.spec());
    for (const auto& action : before_) action();
  }
  void perform() override {
    for (const auto& action : during_) action();
  }
  void forget() override { at_ = 0; }
  void bind(SegmentEye&) override {}
  void look(SegmentEye& eye, Tally& tally) override {
    if (std::string fault = eye.walk(slots_); !fault.empty()) {
      return tally.note(tally.malformed, fault);
    }
    Facts live;
    for (const SeenSlot& slot : slots_) {
      const auto fact = judge(slot, tally);
      const std::string name = slot.set + "/" + slot.name;
      if (slot.state == SlotState::kLive) {
        live.emplace(name, fact);
      } else if (const auto known = closed_.find(name);
                 known == closed_.end() || !(known->second == fact)) {
        tally.note(tally.malformed, "closed slot " + name);
      }
    }
    std::size_t next = at_;
    while (next < states_.size() && states_[next] != live) ++next;
    if (next == states_.size()) return tally.note(tally.malformed, describe(live));
    at_ = next;
  }
  bool is_complete() const override { return at_ + 1 == states_.size(); }

  // What prepare() does after the registration, and the instances it leaves.
  void first(std::vector<std::function<void()>> actions, Facts live) {
    before_ = std::move(actions);
    states_ = {std::move(live)};
  }
  // The next action, and the instances it leaves.
  void then(std::function<void()> action, Facts live) {
    during_.push_back(std::move(action));
    states_.push_back(std::move(live));
  }
  void may_stay_closed(const std::string& name, Fact fact) { closed_.emplace(name, fact); }

  std::function<void()> creates(const std::string& name) {
    return [this, name] { instances_[name] = *registration_.create_instance(name); };
  }
  std::function<void()> fills(const std::string& name, std::uint64_t factor, std::uint32_t words) {
    return [this, name, factor, words] {
      instances_[name].update([&](Values& values) noexcept {
        for (std::uint32_t word = 0; word < words; ++word) values.set(word, factor * (word + 1));
      });
    };
  }
  std::function<void()> closes(const std::string& name) {
    return [this, name] { instances_.erase(name); };
  }
  std::function<void()> declares(std::string set) {
    const auto spec = std::make_shared<test::NumberedSet>(3, std::move(set));
    return [this, spec] {
      more_.push_back(*provider_->add(spec->spec()));
      instances_[spec->spec().name.data()] = *more_.back().create_instance("only");
    };
  }

 private:
  static Fact judge(const SeenSlot& slot, Tally& tally) {
    std::array<std::uint64_t, 128> values{};
    std::uint64_t version = 0;
    if (!try_read<StdAtomics>(slot.block, values.data(), version)) {
      tally.note(tally.unreadable, slot.name);
    }
    const Fact fact{slot.generation, values[0]};
    for (std::uint32_t word = 0; word < slot.block.words; ++word) {
      if (values[word] != fact.factor * (word + 1)) {
        tally.note(tally.torn, slot.name);
        break;
      }
    }
    if (!try_read_checkpoint<StdAtomics>(slot.block, values.data(), version)) {
      tally.note(tally.unreadable, slot.name + " (checkpoint)");
    }
    return fact;
  }
  static std::string describe(const Facts& live) {
    std::string text = "unexpected instances:";
    for (const auto& [name, fact] : live) {
      text +=
          " " + name + "#" + std::to_string(fact.generation) + "=" + std::to_string(fact.factor);
    }
    return text;
  }

  std::string directory_;
  test::NumberedSet set_;
  std::vector<std::function<void()>> before_;
  std::vector<std::function<void()>> during_;
  std::vector<Facts> states_;
  Facts closed_;
  // In the child.
  std::optional<Provider> provider_;
  Registration registration_;
  std::vector<Registration> more_;
  std::map<std::string, Instance> instances_;
  // In this process.
  std::vector<SeenSlot> slots_;
  std::size_t at_ = 0;
};

constexpr std::uint32_t kWords = 3;

Tally sweep_directory(std::uint32_t words, const std::function<void(DirectoryAct&)>& script) {
  Tally tally;
  const test::TemporaryDirectory directory;
  DirectoryAct act(directory.path(), words);
  script(act);
  sweep(directory.path(), act, test::runs_long() ? 16 : 3, tally);
  return tally;
}

int repeats() { return test::runs_long() ? 12 : 1; }

TEST(CrashSweep, AnInstanceIsWhollyThereOrNotAtAllWhereverItsCreationDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const Tally tally = sweep_directory(kWords, [](DirectoryAct& act) {
    Facts live{{"Numbers/anchor", {1, 5}}};
    act.first({act.creates("anchor"), act.fills("anchor", 5, kWords)}, live);
    for (int i = 0; i < repeats(); ++i) {
      for (const std::string& name :
           {"fresh" + std::to_string(i), std::to_string(i) + std::string(60, 'n')}) {
        live["Numbers/" + name] = {1, 0};
        act.then(act.creates(name), live);
      }
    }
  });
  expect_clean(tally, 2'000, 30'000);
}

TEST(CrashSweep, AClosedInstanceKeepsItsLastValuesWhereverItsEndDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const Tally tally = sweep_directory(kWords, [](DirectoryAct& act) {
    Facts live{{"Numbers/anchor", {1, 5}}};
    std::vector<std::function<void()>> before{act.creates("anchor"),
                                              act.fills("anchor", 5, kWords)};
    std::vector<std::string> names;
    for (int i = 0; i < 2 * repeats(); ++i) {
      names.push_back("brief" + std::to_string(i));
      before.push_back(act.creates(names.back()));
      before.push_back(act.fills(names.back(), 7, kWords));
      live["Numbers/" + names.back()] = {1, 7};
    }
    act.first(before, live);
    for (const std::string& name : names) {
      live.erase("Numbers/" + name);
      act.may_stay_closed("Numbers/" + name, {1, 7});
      act.then(act.closes(name), live);
    }
  });
  expect_clean(tally, 500, 10'000);
}

TEST(CrashSweep, ANewLifeNeverShowsTheOldOnesValuesWhereverItDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const Tally tally = sweep_directory(kWords, [](DirectoryAct& act) {
    Facts live{{"Numbers/anchor", {1, 5}}};
    act.first({act.creates("anchor"), act.fills("anchor", 5, kWords), act.creates("life0"),
               act.fills("life0", 7, kWords), act.closes("life0")},
              live);
    act.may_stay_closed("Numbers/life0", {1, 7});
    for (int i = 1; i <= 2 * repeats(); ++i) {
      const std::string name = "life" + std::to_string(i);
      const auto generation = static_cast<std::uint64_t>(i + 1);
      Facts with = live;
      with["Numbers/" + name] = {generation, 0};
      act.then(act.creates(name), with);
      with["Numbers/" + name] = {generation, 7};
      act.then(act.fills(name, 7, kWords), with);
      act.may_stay_closed("Numbers/" + name, {generation, 7});
      act.then(act.closes(name), live);
    }
  });
  expect_clean(tally, 2'000, 30'000);
}

TEST(CrashSweep, TheDirectoryIsWellFormedWhereverTheSegmentsGrowthDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  constexpr std::uint32_t kManyWords = 100;  // eight slots fill half of the first extent
  const Tally tally = sweep_directory(kManyWords, [](DirectoryAct& act) {
    std::vector<std::function<void()>> before;
    Facts live;
    for (int i = 0; i < 8; ++i) {
      before.push_back(act.creates("early" + std::to_string(i)));
      live["Numbers/early" + std::to_string(i)] = {1, 0};
    }
    act.first(before, live);
    live["Numbers/late"] = {1, 0};
    act.then(act.creates("late"), live);
  });
  expect_clean(tally, 2'000, 2'000);
}

TEST(CrashSweep, ARegistrationIsWhollyThereOrNotAtAllWhereverItDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const Tally tally = sweep_directory(kWords, [](DirectoryAct& act) {
    Facts live;
    act.first({}, live);
    for (int i = 0; i < repeats(); ++i) {
      const std::string name = "Set " + std::to_string(i);
      live[name + "/only"] = {1, 0};
      act.then(act.declares(name), live);
    }
  });
  expect_clean(tally, 2'000, 30'000);
}

// ---- Start-up ----

class StartAct final : public test::Act {
 public:
  explicit StartAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {}
  void perform() override {
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
  }

 private:
  std::string directory_;
  std::optional<Provider> provider_;
};

// True once the provider can be found. Whoever finds a record must be able to use it.
bool judge_start(const std::string& directory, std::optional<SegmentEye>& eye, Tally& tally) {
  const auto records = test::records_in(directory);
  if (records.empty()) {
    if (eye) tally.note(tally.backwards, "the record is gone");
    return false;
  }
  if (!eye) {
    auto found = SegmentEye::of_record(records.front());
    if (!found) {
      tally.note(tally.unreadable, found.error().message());
      return true;
    }
    eye.emplace(std::move(*found));
  }
  std::vector<SeenSlot> slots;
  const std::string fault = eye->walk(slots);
  // relaxed: one look at memory that nobody changes now.
  const bool is_live = eye->header().state.load(std::memory_order_relaxed) ==
                       static_cast<std::uint32_t>(SegmentState::kLive);
  const std::string_view name(eye->header().name.data(), eye->header().name_bytes);
  if (!fault.empty() || !is_live || name != "swept") {
    tally.note(tally.malformed, "header " + fault);
  }
  return true;
}

TEST(CrashSweep, AProviderIsFoundCompleteOrNotAtAllWhereverItsStartDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  bool is_found = false;
  for (int round = 0; round < (test::runs_long() ? 3 : 1); ++round) {
    const test::TemporaryDirectory directory;
    StartAct act(directory.path());
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    std::optional<SegmentEye> eye;
    auto stop = SteppedChild::Stop::kInside;
    while ((stop = child.step()) == SteppedChild::Stop::kInside) {
      ++tally.points;
      is_found = judge_start(directory.path(), eye, tally);
    }
    EXPECT_EQ(stop, SteppedChild::Stop::kFinished);
    EXPECT_TRUE(is_found);
  }
  // The file system changes in system calls only: a child killed at each boundary of each of them
  // leaves a record of a dead process or none, and a successor starts beside it.
  const test::TemporaryDirectory directory;
  for (int last = 0;; ++last) {
    StartAct act(directory.path());
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto stop = SteppedChild::Stop::kInside;
    for (int calls = 0; calls < last && stop == SteppedChild::Stop::kInside; ++calls) {
      stop = child.to_system_call();
    }
    if (stop != SteppedChild::Stop::kInside) {
      EXPECT_EQ(stop, SteppedChild::Stop::kFinished);
      EXPECT_TRUE(SegmentEye::of_directory(directory.path()));
      break;
    }
    child.kill();
    ++tally.kills;
    const auto left = SegmentEye::of_directory(directory.path());
    if (left) tally.note(tally.malformed, "a dead provider is taken for a live one");
    if (!left && left.error().code != ErrorCode::kNotFound) {
      tally.note(tally.malformed, left.error().message());
    }
  }
  expect_clean(tally, 5'000, 15'000);
}

// ---- Controls: the same judgement of operations with a known fault must find it ----

// One copy, and the sequence says "being written" while it is odd.
class OneCopyAct final : public test::Act {
 public:
  explicit OneCopyAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {
    segment_.build(directory_);
    segment_.show_magic();
    segment_.write_pointer_record();
    BlockParts<SharedWord> block = segment_.block();
    slot_live<StdAtomics>(*block.slot, 1);
    block.copy1 = block.copy0;
    writer_ = BlockWriter<StdAtomics>(block);
  }
  void perform() override {
    for (std::uint64_t commit = 1; commit <= 20; ++commit) {
      writer_.stage(0, commit);
      writer_.stage(1, commit * 2);
      writer_.commit();
    }
  }

 private:
  std::string directory_;
  test::HandMadeSegment segment_;
  BlockWriter<StdAtomics> writer_;
};

TEST(CrashSweepControl, AWriterWithOneCopyIsFoundTornAndUnreadable) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  OneCopyAct act(directory.path());
  SteppedChild child(act);
  ASSERT_TRUE(child.is_ready());
  auto eye = SegmentEye::of_directory(directory.path());
  ASSERT_TRUE(eye) << eye.error().message();
  std::vector<SeenSlot> slots;
  ASSERT_EQ(eye->walk(slots), "");
  ASSERT_EQ(slots.size(), 1U);
  BlockParts<const SharedWord> block = slots.front().block;
  block.copy1 = block.copy0;
  Tally tally;
  while (child.step() == SteppedChild::Stop::kInside) {
    ++tally.points;
    std::array<std::uint64_t, 2> values{};
    std::uint64_t version = 0;
    // Torn for a reader that takes the only copy whatever the number says; unreadable for one that
    // waits for an even number, as readers of a seqlock do.
    static_cast<void>(try_read<StdAtomics>(block, values.data(), version));
    if (values[1] != 2 * values[0]) tally.note(tally.torn, "one copy");
    // relaxed: the writer stands still.
    if (StdAtomics::load_relaxed(*block.seq) % 2 == 1) tally.note(tally.unreadable, "one copy");
  }
  std::cout << "  control: " << tally << "\n";
  EXPECT_GT(tally.torn, 0U);
  EXPECT_GT(tally.unreadable, 0U);
}

// LIVE before the name is there.
class NamelessAct final : public test::Act {
 public:
  explicit NamelessAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {
    segment_.build(directory_);
    segment_.show_magic();
    segment_.write_pointer_record();
  }
  void perform() override {
    SharedWord& slot = *segment_.block().slot;
    slot_live<StdAtomics>(slot, slot_begin<StdAtomics>(segment_.membership(), slot));
    // relaxed: too late to matter, which is the fault.
    segment_.descriptor().name_here[0].store('x', std::memory_order_relaxed);
    segment_.descriptor().identity.store(std::uint64_t{1} << 32, std::memory_order_relaxed);
  }

 private:
  std::string directory_;
  test::HandMadeSegment segment_;
};

TEST(CrashSweepControl, AnInstanceThatIsLiveBeforeItsNameIsFound) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  NamelessAct act(directory.path());
  SteppedChild child(act);
  ASSERT_TRUE(child.is_ready());
  auto eye = SegmentEye::of_directory(directory.path());
  ASSERT_TRUE(eye) << eye.error().message();
  std::vector<SeenSlot> slots;
  Tally tally;
  while (child.step() == SteppedChild::Stop::kInside) {
    ++tally.points;
    ASSERT_EQ(eye->walk(slots), "");
    if (!slots.empty() && slots.front().name != "x") tally.note(tally.malformed, "no name");
  }
  std::cout << "  control: " << tally << "\n";
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots.front().name, "x");
  EXPECT_GT(tally.malformed, 0U);
}

// The record before the header is complete.
class HastyStartAct final : public test::Act {
 public:
  explicit HastyStartAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {}
  void perform() override {
    segment_.build(directory_);
    segment_.write_pointer_record();
    segment_.show_magic();
  }

 private:
  std::string directory_;
  test::HandMadeSegment segment_;
};

TEST(CrashSweepControl, ARecordThatLeadsToAnUnfinishedSegmentIsFound) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  HastyStartAct act(directory.path());
  SteppedChild child(act);
  ASSERT_TRUE(child.is_ready());
  Tally tally;
  std::optional<SegmentEye> eye;
  auto stop = SteppedChild::Stop::kInside;
  while (!eye && (stop = child.step()) == SteppedChild::Stop::kInside) {
    ++tally.points;
    judge_start(directory.path(), eye, tally);
  }
  std::cout << "  control: " << tally << "\n";
  EXPECT_GT(tally.unreadable, 0U);
}

}  // namespace
}  // namespace meterbank
