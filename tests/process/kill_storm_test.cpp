// SPDX-License-Identifier: Apache-2.0
//
// SIGKILL at arbitrary moments: a child commits as fast as it can, this process reads it,
// kills it somewhere, and reads what it left.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <random>

#include "../support/comes_true.hpp"
#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "numbered_set.hpp"
#include "segment_eye.hpp"

namespace meterbank::kill_storm_test {
namespace {

using test::SeenSlot;
using test::SegmentEye;

constexpr std::uint32_t kWords = 8;
using Row = std::array<std::uint64_t, kWords>;

bool is_torn(const Row& row) {
  for (std::uint32_t word = 0; word < kWords; ++word) {
    if (row[word] != row[0] * (word + 1)) return true;
  }
  return false;
}

// Spins for as long as it takes to draw `turns` numbers.
void wait_a_little(std::minstd_rand& dice, std::uint32_t turns_max) {
  std::uint32_t turns = static_cast<std::uint32_t>(dice()) % turns_max;
  while (turns-- != 0) StdAtomics::pause();
}

// On a machine that is busy a child that is ready need not have begun to write, and none that is
// killed before is inside of anything. It takes a time slice, so that only those children are
// waited for that come after kQuickKills of the others.
constexpr int kQuickKills = 300;
bool has_begun_to_write(const SharedWord& seq) {
  // relaxed, both: only whether it moves
  const std::uint64_t before = StdAtomics::load_relaxed(seq);
  return test::comes_true([&] { return StdAtomics::load_relaxed(seq) != before; });
}

// Forks; true in `ready` when the child has called its argument.
template <typename F>
pid_t start_child(F&& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    body([&] { static_cast<void>(!::write(ends[1], "x", 1)); });
    ::_exit(1);
  }
  ::close(ends[1]);
  char byte = 0;
  const auto bytes = ::read(ends[0], &byte, 1);
  ::close(ends[0]);
  return bytes == 1 ? pid : -1;
}

void kill_and_reap(pid_t pid) {
  ::kill(pid, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

pid_t start_provider(const std::string& directory) {
  return start_child([&](auto ready) {
    auto provider = *Provider::create(
        {.name = "storm", .directory = directory, .heartbeat = std::chrono::milliseconds(0)});
    const test::NumberedSet set(kWords);
    auto registration = *provider.add(set.spec());
    Instance instance = *registration.create_instance("it");
    ready();
    for (std::uint64_t commit = 1;; ++commit) {
      instance.update([&](Values& values) noexcept {
        for (std::uint32_t word = 0; word < kWords; ++word) values.set(word, commit * (word + 1));
      });
    }
  });
}

TEST(KillStorm, MemoryOfAKilledProviderIsConsistentAndReadableAtOnce) {
  const int kills_min = test::runs_long() ? 10'000 : kQuickKills;
  std::minstd_rand dice(20240229);
  int inside = 0, torn = 0, unreadable = 0, backwards = 0, live_reads = 0;
  int kills = 0;
  for (; kills < kills_min || (inside == 0 && kills < 2 * kills_min); ++kills) {
    const test::TemporaryDirectory directory;
    const pid_t pid = start_provider(directory.path());
    ASSERT_GT(pid, 0);
    auto eye = SegmentEye::of_directory(directory.path());
    std::vector<SeenSlot> slots;
    const bool is_seen = eye && eye->walk(slots).empty() && slots.size() == 1;
    if (!is_seen) kill_and_reap(pid);
    ASSERT_TRUE(is_seen) << (eye ? "walk" : eye.error().message());
    const BlockParts<const SharedWord> block = slots.front().block;
    EXPECT_TRUE(kills < kills_min || has_begun_to_write(*block.seq));
    Row row{};
    std::uint64_t last = 0;
    const int reads = static_cast<int>(dice() % 64);
    for (int read = 0; read < reads; ++read) {
      const ReadResult seen = read_bounded<StdAtomics>(block, row.data(), last);
      if (seen.status == ReadStatus::kBusy) continue;
      ++live_reads;
      torn += is_torn(row) ? 1 : 0;
      backwards += seen.version < last ? 1 : 0;
      last = seen.version;
    }
    wait_a_little(dice, 4096);
    kill_and_reap(pid);

    const ReadResult left = read_bounded<StdAtomics>(block, row.data(), last);
    unreadable += left.status != ReadStatus::kFresh || left.attempts != 0 ? 1 : 0;
    torn += is_torn(row) ? 1 : 0;
    backwards += left.version < last ? 1 : 0;
    std::uint64_t version = 0;
    unreadable += try_read_checkpoint<StdAtomics>(block, row.data(), version) ? 0 : 1;
    torn += is_torn(row) ? 1 : 0;
    // Between two updates seq is even and the copies are equal. relaxed, all: no process writes
    // now.
    bool was_inside = StdAtomics::load_relaxed(*block.seq) % 2 == 1;
    for (std::uint32_t word = 0; word < kWords; ++word) {
      was_inside = was_inside || StdAtomics::load_relaxed(block.copy0[word]) !=
                                     StdAtomics::load_relaxed(block.copy1[word]);
    }
    inside += was_inside ? 1 : 0;
  }
  std::cout << "  " << kills << " kills, " << inside << " inside an update, " << live_reads
            << " reads before, " << torn << " torn, " << unreadable << " unreadable, " << backwards
            << " backwards\n";
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(unreadable, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_GT(inside, 0);
  EXPECT_GT(live_reads, 0);
}

// ---- Controls ----

struct OneCopy {
  SharedWord seq;
  std::array<SharedWord, kWords> words;
};

TEST(KillStormControl, AOneCopyWriterIsLeftUnreadable) {
  void* memory =
      ::mmap(nullptr, sizeof(OneCopy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* block = new (memory) OneCopy{};
  std::minstd_rand dice(4);
  int odd = 0;
  int kills = 0;
  for (; odd == 0 && kills < 2 * kQuickKills; ++kills) {
    block->seq.store(0, std::memory_order_relaxed);  // relaxed: the fork orders it
    const pid_t pid = start_child([&](auto ready) {
      ready();
      for (std::uint64_t commit = 1;; ++commit) {
        // release, all: an honest seqlock but for its only copy.
        block->seq.store(2 * commit - 1, std::memory_order_release);
        for (auto& word : block->words) word.store(commit, std::memory_order_release);
        block->seq.store(2 * commit, std::memory_order_release);
      }
    });
    ASSERT_GT(pid, 0);
    EXPECT_TRUE(kills < kQuickKills || has_begun_to_write(block->seq));
    wait_a_little(dice, 4096);
    kill_and_reap(pid);
    odd += block->seq.load(std::memory_order_relaxed) % 2 == 1 ? 1 : 0;  // relaxed: at rest
  }
  ::munmap(memory, sizeof(OneCopy));
  std::cout << "  control: unreadable after " << kills << " kills\n";
  EXPECT_GT(odd, 0);
}

TEST(KillStormControl, AReaderThatDoesNotLookAgainSeesTornRows) {
  const test::TemporaryDirectory directory;
  const pid_t pid = start_provider(directory.path());
  ASSERT_GT(pid, 0);
  auto eye = SegmentEye::of_directory(directory.path());
  std::vector<SeenSlot> slots;
  std::uint64_t torn = 0;
  std::uint64_t reads = 0;
  if (eye && eye->walk(slots).empty() && slots.size() == 1) {
    const auto block = slots.front().block;
    for (; torn == 0 && reads < 100'000'000; ++reads) {
      Row row{};
      // The number is believed for ever: acquire and relaxed as in try_read().
      const std::uint64_t seq = StdAtomics::load_acquire(*block.seq);
      StdAtomics::copy_words(row.data(), (seq & 1) == 0 ? block.copy0 : block.copy1, kWords);
      torn += is_torn(row) ? 1U : 0U;
    }
  }
  kill_and_reap(pid);
  std::cout << "  control: torn after " << reads << " reads\n";
  EXPECT_GT(torn, 0U);
}

}  // namespace
}  // namespace meterbank::kill_storm_test
