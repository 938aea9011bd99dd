// SPDX-License-Identifier: Apache-2.0
//
// Instances that come and go as fast as they can, and a reader in another process that follows.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <fstream>
#include <iostream>
#include <new>

#include "../support/depth.hpp"
#include "../support/sample_words.hpp"
#include "../support/sanitizers.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "numbered_rows.hpp"

namespace meterbank {
namespace {

using test::runs_long;

// Shared by both processes. relaxed, all accesses: numbers to count and to compare, which order
// nothing; waitpid() orders the last look at them.
struct Board {
  std::atomic<std::uint64_t> rounds{0};  // of the reader: refresh, compile, collect
  std::atomic<std::uint64_t> rows{0};
  std::atomic<std::uint64_t> fresh{0};
  std::atomic<std::uint64_t> closed{0};
  std::atomic<std::uint64_t> gone{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> reader_warm_kib{0};
  std::atomic<std::uint64_t> reader_end_kib{0};
  std::atomic<std::uint64_t> segment_warm_bytes{0};
  std::atomic<std::uint64_t> segment_end_bytes{0};
  std::atomic<bool> is_warm{false};
  std::atomic<bool> is_over{false};

  static void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
  static std::uint64_t value(const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  }
};

std::uint64_t resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmRSS:" && file >> kib) return kib;
  }
  return 0;
}

// True where the memory of a process is that of the program alone.
constexpr bool can_weigh() { return !test::kHasSanitizer; }

void judge_rows(const Sample& sample, Board& board) {
  for (const QueryPlan::Selection& selection : content_of(sample).plan->selections) {
    for (std::size_t index = selection.first_row; index < selection.first_row + selection.rows;
         ++index) {
      const InstanceView& instance = test::instance_of(*content_of(sample).plan, index);
      Board::count(board.rows);
      if (content_of(sample).status[index] == RowStatus::kGone) {
        Board::count(board.gone);
        continue;
      }
      if (content_of(sample).status[index] == RowStatus::kBusy) continue;
      Board::count(content_of(sample).status[index] == RowStatus::kClosed ? board.closed
                                                                          : board.fresh);
      const auto number = test::number_of_row(instance.name);
      const bool is_right = number && test::is_right(*number, content_of(sample).row(index));
      if (!is_right) Board::count(board.wrong);
    }
  }
}

// The reader's life: follows until the board says that it is over, then once more.
int follow(const std::string& directory, Board& board) {
  auto catalog = Catalog::open({.directory = directory});
  if (!catalog) return 2;
  auto query = Query::compile(*catalog, {"demo_orders/*/*"});
  if (!query) return 3;
  Sample sample;
  bool was_warm = false;
  for (bool is_over = false; !is_over;) {
    // relaxed: see Board.
    is_over = board.is_over.load(std::memory_order_relaxed);
    // Before the refresh, so that what it finds is what there was at that moment or later.
    const bool is_warm = board.is_warm.load(std::memory_order_relaxed);
    catalog->refresh();
    query->update(*catalog);
    for (int look = 0; look < 8; ++look) {
      query->collect(sample, Timestamp{});
      judge_rows(sample, board);
    }
    Board::count(board.rounds);
    if (catalog->providers().empty()) continue;
    if (!was_warm && is_warm) {
      was_warm = true;
      board.reader_warm_kib.store(resident_kib(), std::memory_order_relaxed);
      board.segment_warm_bytes.store(catalog->providers().front()->bytes,
                                     std::memory_order_relaxed);
    }
  }
  if (catalog->providers().empty()) return 4;
  board.reader_end_kib.store(resident_kib(), std::memory_order_relaxed);
  board.segment_end_bytes.store(catalog->providers().front()->bytes, std::memory_order_relaxed);
  return 0;
}

TEST(Churn, ShowsEveryRowUnderItsOwnNameAndCostsNoMemory) {
  const std::uint64_t lives = runs_long() ? 1'000'000 : 20'000;
  constexpr std::uint64_t kRoundsMin = 50;
  constexpr std::uint64_t kFreshMin = 1000;
  constexpr std::size_t kLiveAtATime = 40;
  const test::TemporaryDirectory directory;
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& board = *new (memory) Board;

  const pid_t reader = ::fork();  // first, while this process has one thread
  if (reader == 0) ::_exit(follow(directory.path(), board));
  ASSERT_GT(reader, 0);
  auto provider = *Provider::create({.name = "churn", .directory = directory.path()});
  const Registration set = *provider.add(test::kOrders);

  std::deque<Instance> live;
  std::uint64_t life = 0;
  std::uint64_t warm_kib = 0;
  // Ends when the churn is done and the reader has seen some of it, before and after the warm-up.
  const auto is_seen = [&] {
    return Board::value(board.rounds) >= kRoundsMin && Board::value(board.fresh) > kFreshMin &&
           Board::value(board.reader_warm_kib) != 0;
  };
  int status = 0;
  pid_t ended = 0;
  while ((life < lives || !is_seen()) && ended == 0) {
    ++life;
    live.push_back(*set.create_instance(test::name_of_row(life)));
    test::fill_row(live.back(), life);
    if (live.size() > kLiveAtATime) live.pop_front();
    if (life == lives / 4) {
      warm_kib = resident_kib();
      board.is_warm.store(true, std::memory_order_relaxed);
    }
    if (life % 1024 == 0) ended = ::waitpid(reader, &status, WNOHANG);
  }
  const std::uint64_t end_kib = resident_kib();
  board.is_over.store(true, std::memory_order_relaxed);
  if (ended == 0) ended = ::waitpid(reader, &status, 0);
  ASSERT_EQ(ended, reader);
  ASSERT_TRUE(WIFEXITED(status)) << "the reader died of signal " << WTERMSIG(status);
  ASSERT_EQ(WEXITSTATUS(status), 0);

  std::cout << "  " << life << " lives; the reader: " << Board::value(board.rounds)
            << " refreshes, " << Board::value(board.rows) << " rows, " << Board::value(board.fresh)
            << " fresh, " << Board::value(board.closed) << " closed, " << Board::value(board.gone)
            << " gone, " << Board::value(board.wrong) << " wrong\n  segment "
            << Board::value(board.segment_warm_bytes) << " then "
            << Board::value(board.segment_end_bytes) << " bytes; resident: provider " << warm_kib
            << " then " << end_kib << " KiB, reader " << Board::value(board.reader_warm_kib)
            << " then " << Board::value(board.reader_end_kib) << " KiB\n";
  EXPECT_EQ(Board::value(board.wrong), 0U);
  EXPECT_GT(Board::value(board.fresh), kFreshMin);
  EXPECT_EQ(Board::value(board.segment_end_bytes), Board::value(board.segment_warm_bytes));
  if (can_weigh()) {
    constexpr std::uint64_t kSlackKib = 2048;  // of an allocator that keeps what it was given back
    EXPECT_LE(end_kib, warm_kib + kSlackKib);
    EXPECT_LE(Board::value(board.reader_end_kib), Board::value(board.reader_warm_kib) + kSlackKib);
  }
  ::munmap(memory, sizeof(Board));
}

// ---- Control: the judgement above finds what it must ----

TEST(ChurnControl, ARowUnderAnotherNameIsFound) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "churn", .directory = directory.path()});
  const Registration set = *provider.add(test::kOrders);
  Instance right = *set.create_instance(test::name_of_row(8));
  Instance wrong = *set.create_instance(test::name_of_row(9));
  test::fill_row(right, 8);
  test::fill_row(wrong, 8);
  auto catalog = *Catalog::open({.directory = directory.path()});
  auto query = *Query::compile(catalog, {"demo_orders/*/*"});
  Sample sample;
  query.collect(sample, Timestamp{});
  Board board;
  judge_rows(sample, board);
  EXPECT_EQ(Board::value(board.rows), 2U);
  EXPECT_EQ(Board::value(board.wrong), 1U);
}

}  // namespace
}  // namespace meterbank
