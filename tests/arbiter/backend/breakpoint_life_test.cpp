// SPDX-License-Identifier: Apache-2.0
//
// What becomes of breakpoints that are held: they count, rest, are passed on and change hands.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "breakpoint_fixture.hpp"

namespace meterbank::arbiter {
namespace {

// Written by the tests, one store at a time.
std::atomic<std::uint64_t> watched_word = 0;

void write_times(std::uint32_t times) {
  // relaxed: it is only to be written, each time.
  for (std::uint32_t i = 0; i < times; ++i) watched_word.store(i, std::memory_order_relaxed);
}

[[nodiscard]] const void* watched_address() { return &watched_word; }

TEST_F(BreakpointTest, CountsEachWriteOfATask) {
  const auto outcome = backend_->open(1, std::vector{of_task(::getpid(), watched_address())});
  ASSERT_EQ(outcome.fault, OpenFault::kNone);
  ASSERT_EQ(outcome.kernel_ids.size(), 1U);
  EXPECT_NE(outcome.kernel_ids.front(), 0U);
  write_times(10);
  const std::vector<Reading> readings = backend_->read(1);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].value, 10U);
  EXPECT_TRUE(readings[0].has_counter);
  EXPECT_EQ(readings[0].enabled_ns, readings[0].running_ns);
}

TEST_F(BreakpointTest, CountsWhatATaskStartsOnlyWhereItIsInherited) {
  Opening alone = of_task(::getpid(), watched_address());
  Opening inherited = alone;
  inherited.flags |= pmu::kItemInherits;
  ASSERT_EQ(open(1, {alone, inherited}), OpenFault::kNone);
  write_times(1);
  std::thread thread(write_times, 20);
  const pid_t child = ::fork();
  if (child == 0) {
    write_times(300);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  thread.join();
  // A thread can be joined a moment before the kernel adds up what it counted.
  EXPECT_TRUE(comes_true([&] { return backend_->read(1).at(1).value == 321; }));
  EXPECT_EQ(backend_->read(1).at(0).value, 1U);
}

TEST_F(BreakpointTest, PausedOneHasNoSlotAndKeepsItsCount) {
  ASSERT_EQ(open(1, {of_task(::getpid(), watched_address())}), OpenFault::kNone);
  write_times(10);
  backend_->pause(1);
  write_times(5);
  EXPECT_EQ(free_on(cpus_.front()), slots_);
  EXPECT_EQ(backend_->read(1).at(0).value, 10U);
  backend_->pause(1);  // once more does no harm
  const OpenOutcome resumed = backend_->resume(1);
  ASSERT_EQ(resumed.fault, OpenFault::kNone);
  EXPECT_EQ(resumed.kernel_ids.size(), 1U);
  write_times(7);
  EXPECT_EQ(backend_->read(1).at(0).value, 17U);
  EXPECT_EQ(free_on(cpus_.front()), slots_ - 1);
}

TEST_F(BreakpointTest, PauseOfACpusCounterIsTimeEnabledAndNotRunning) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  backend_->pause(1);
  const Reading paused = backend_->read(1).at(0);
  ASSERT_TRUE(comes_true(
      [&] { return backend_->read(1).at(0).enabled_ns > paused.enabled_ns + 1'000'000; }));
  ASSERT_EQ(backend_->resume(1).fault, OpenFault::kNone);
  const Reading after = backend_->read(1).at(0);
  EXPECT_GT(after.enabled_ns - after.running_ns, 900'000U);
}

TEST_F(BreakpointTest, ResumeThatFindsNoSlotLeavesItPaused) {
  ASSERT_EQ(open(1, std::vector(2, of_task(::getpid(), watched_address()))), OpenFault::kNone);
  write_times(3);
  backend_->pause(1);
  ASSERT_EQ(open(2, std::vector(slots_ - 1, on(cpus_.front()))), OpenFault::kNone);
  const OpenOutcome refused = backend_->resume(1);
  EXPECT_EQ(refused.fault, OpenFault::kNoCounter);
  EXPECT_EQ(refused.opening, 1U);
  EXPECT_EQ(free_on(cpus_.front()), 1U) << "the one that fitted was closed again";
  write_times(4);
  EXPECT_EQ(backend_->read(1).at(0).value, 3U);
  backend_->close(2);
  EXPECT_EQ(backend_->resume(1).fault, OpenFault::kNone);
  write_times(5);
  EXPECT_EQ(backend_->read(1).at(1).value, 8U);
}

TEST_F(BreakpointTest, ASlotIsInUseWhileADuplicateIsOpen) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  EXPECT_FALSE(backend_->has_let_go(1)) << "it is held here";
  ASSERT_GE(backend_->descriptor(1, 0), 0);
  EXPECT_EQ(backend_->descriptor(1, 1), -1);
  EXPECT_EQ(backend_->descriptor(2, 0), -1);
  OtherProcess other;  // has copies of all descriptors
  backend_->close(1);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(backend_->has_let_go(1));
  EXPECT_EQ(free_on(cpus_.front()), slots_ - 1);
  other.end();
  EXPECT_TRUE(comes_true([&] { return backend_->has_let_go(1); }));
  EXPECT_EQ(free_on(cpus_.front()), slots_);
}

TEST_F(BreakpointTest, SlotWithoutAnotherOwnerIsFreedAtOnce) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  ASSERT_GE(backend_->descriptor(1, 0), 0);
  backend_->close(1);
  EXPECT_TRUE(backend_->has_let_go(1));
  EXPECT_TRUE(backend_->has_let_go(1));
}

TEST_F(BreakpointTest, SurveyNamesWhoHasABreakpointWithoutALease) {
  PerfCalls calls;
  const auto is_found = [&](pid_t pid) {
    const std::vector<Outsider> found = backend_->survey();
    return std::any_of(found.begin(), found.end(), [&](const Outsider& outsider) {
      return outsider.pid == static_cast<std::uint32_t>(pid) && !outsider.name.empty() &&
             outsider.uid == ::getuid() && outsider.how == "open files";
    });
  };
  OtherProcess idle;
  OtherProcess outsider([&] {
    const auto attributes = idle_breakpoint(PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_W);
    if (calls.open(attributes, 0, -1) < 0) ::_exit(2);
  });
  EXPECT_TRUE(is_found(outsider.pid()));
  EXPECT_FALSE(is_found(idle.pid()));
  EXPECT_FALSE(is_found(::getpid()));
  const pid_t gone = outsider.pid();
  outsider.end();
  EXPECT_FALSE(is_found(gone));
}

TEST_F(BreakpointTest, SurveyKnowsWhatWasPassedOn) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  ASSERT_GE(backend_->descriptor(1, 0), 0);
  const OtherProcess holder;
  const auto is_found = [&] {
    const std::vector<Outsider> found = backend_->survey();
    return std::any_of(found.begin(), found.end(), [&](const Outsider& outsider) {
      return outsider.pid == static_cast<std::uint32_t>(holder.pid());
    });
  };
  EXPECT_FALSE(is_found());
  backend_->close(1);
  EXPECT_FALSE(is_found()) << "it is in limbo, and no outsider's";
}

TEST_F(BreakpointTest, CountGoesOnInANewImageOfTheProgram) {
  // An address that both images have.
  constexpr std::uintptr_t kAddress = 0x7d0000000000;
  const pid_t child = ::fork();
  if (child == 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* const page = ::mmap(reinterpret_cast<void*>(kAddress), 4096, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    const std::atomic_ref word(*static_cast<std::uint64_t*>(page));
    if (open(1, {of_task(::getpid(), page)}) != OpenFault::kNone) ::_exit(101);
    // relaxed: it is only to be written, each time.
    for (std::uint64_t i = 0; i < 3; ++i) word.store(i, std::memory_order_relaxed);
    const std::vector<SavedCarrier> saved = backend_->save();
    if (saved.size() != 1 || saved[0].descriptors.size() != 1) ::_exit(102);
    const std::string descriptor = std::to_string(saved[0].descriptors[0]);
    const std::string address = std::to_string(kAddress);
    ::execl(METERBANK_ADOPTING_PROGRAM, METERBANK_ADOPTING_PROGRAM, descriptor.c_str(),
            address.c_str(), nullptr);
    ::_exit(103);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3 + 4) << "writes before and after; above 100: what went wrong";
}

TEST_F(BreakpointTest, ClosesSavedDescriptorsOnExecAgainOnceTheyAreAdopted) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  const std::vector<SavedCarrier> saved = backend_->save();
  ASSERT_EQ(saved.size(), 1U);
  const int descriptor = saved[0].descriptors.at(0);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), 0);
  backend_->adopt(saved);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(backend_->read(1).size(), 1U) << "it is held as before";
  EXPECT_EQ(free_on(cpus_.front()), slots_ - 1);
}

TEST_F(BreakpointTest, LimboAndPausesAreCarriedOver) {
  ASSERT_EQ(open(1, {on(cpus_.front())}), OpenFault::kNone);
  ASSERT_GE(backend_->descriptor(1, 0), 0);
  OtherProcess other;
  backend_->close(1);
  ASSERT_EQ(open(2, {of_task(::getpid(), watched_address())}), OpenFault::kNone);
  write_times(6);
  backend_->pause(2);
  std::vector<SavedCarrier> saved = backend_->save();
  ASSERT_EQ(saved.size(), 2U);
  // In a new image the numbers are the same and the old backend is gone; here it is not yet.
  for (SavedCarrier& carrier : saved) {
    for (int& descriptor : carrier.descriptors) {
      if (descriptor >= 0) descriptor = ::dup(descriptor);
    }
  }
  auto next = PerfBackend::open({});
  ASSERT_TRUE(next.has_value());
  (*next)->adopt(saved);
  backend_.reset();
  backend_ = *std::move(next);
  EXPECT_FALSE(backend_->has_let_go(1));
  EXPECT_EQ(backend_->read(2).at(0).value, 6U);
  EXPECT_EQ(backend_->resume(2).fault, OpenFault::kNone);
  write_times(2);
  EXPECT_EQ(backend_->read(2).at(0).value, 8U);
  other.end();
  EXPECT_TRUE(comes_true([&] { return backend_->has_let_go(1); }));
}

TEST_F(BreakpointTest, TakesDescriptorsBackThatAHolderKeptAndTheyCountOn) {
  const std::vector<Opening> openings(slots_, of_task(::getpid(), watched_address()));
  const auto first = backend_->open(1, openings);
  ASSERT_EQ(first.fault, OpenFault::kNone);
  std::vector<UniqueFd> kept;
  for (std::uint32_t i = 0; i < slots_; ++i) {
    kept.emplace_back(::fcntl(backend_->descriptor(1, i), F_DUPFD_CLOEXEC, 3));
  }
  write_times(10);
  backend_->close(1);  // as the kernel does it when an arbiter dies
  write_times(10);
  // No slot is free: who opened anew would find none.
  ASSERT_EQ(open(2, openings), OpenFault::kNoCounter);

  const auto again = backend_->take_back(3, openings, std::move(kept));

  ASSERT_EQ(again.fault, OpenFault::kNone);
  EXPECT_EQ(again.kernel_ids, first.kernel_ids);
  write_times(1);
  EXPECT_EQ(backend_->read(3).at(0).value, 21U);
}

TEST_F(BreakpointTest, OpensCountersThatWereNotKeptOrCountNoMore) {
  const std::vector<Opening> openings(2, of_task(::getpid(), watched_address()));
  std::vector<UniqueFd> kept(2);
  kept[1] = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(backend_->take_back(1, openings, std::move(kept)).fault, OpenFault::kNone);
  write_times(3);
  EXPECT_EQ(backend_->read(1).at(0).value, 3U);
  EXPECT_EQ(backend_->read(1).at(1).value, 3U);
}

TEST_F(BreakpointTest, DescriptorThatIsNoEventIsNotAdopted) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  SavedCarrier saved;
  saved.carrier = 5;
  saved.openings = {on(cpus_.front())};
  saved.descriptors = {ends[0]};
  backend_->adopt({saved});
  backend_->close(5);
  EXPECT_GE(::fcntl(ends[0], F_GETFD), 0) << "it is not ours to close";
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace meterbank::arbiter
