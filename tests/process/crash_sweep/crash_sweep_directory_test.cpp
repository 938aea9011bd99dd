// SPDX-License-Identifier: Apache-2.0
//
// Death inside a change of the directory: see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
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
using test::SeenSlot;
using test::SegmentEye;
using test::Tally;

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
  test::sweep(directory.path(), act, test::runs_long() ? 8 : 3, tally);
  return tally;
}

int repeats() { return test::runs_long() ? 6 : 1; }

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
  test::expect_clean(tally, 2'000, 30'000);
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
  test::expect_clean(tally, 500, 8'000);
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
      const auto generation = static_cast<std::uint64_t>(i) + 1;
      Facts with = live;
      with["Numbers/" + name] = {generation, 0};
      act.then(act.creates(name), with);
      with["Numbers/" + name] = {generation, 7};
      act.then(act.fills(name, 7, kWords), with);
      act.may_stay_closed("Numbers/" + name, {generation, 7});
      act.then(act.closes(name), live);
    }
  });
  test::expect_clean(tally, 2'000, 30'000);
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
  test::expect_clean(tally, 2'000, 2'000);
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
  test::expect_clean(tally, 2'000, 30'000);
}

// ---- Control: the same judgement of an operation with a known fault must find it ----

// LIVE before the name is there.
class NamelessAct final : public test::HandMadeAct {
 public:
  using HandMadeAct::HandMadeAct;
  void perform() override {
    SharedWord& slot = *segment_.block().slot;
    slot_live<StdAtomics>(slot, slot_begin<StdAtomics>(segment_.membership(), slot));
    // relaxed: too late to matter, which is the fault.
    segment_.descriptor().name_here[0].store('x', std::memory_order_relaxed);
    segment_.descriptor().identity.store(std::uint64_t{1} << 32, std::memory_order_relaxed);
  }
};

TEST(CrashSweepControl, AnInstanceThatIsLiveBeforeItsNameIsFound) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  NamelessAct act(directory.path());
  std::vector<SeenSlot> slots;
  Tally tally;
  test::step_through(directory.path(), act, tally, [&](SegmentEye& eye) {
    ASSERT_EQ(eye.walk(slots), "");
    if (!slots.empty() && slots.front().name != "x") tally.note(tally.malformed, "no name");
  });
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots.front().name, "x");
  EXPECT_GT(tally.malformed, 0U);
}

}  // namespace
}  // namespace meterbank
