// SPDX-License-Identifier: Apache-2.0
//
// Cuts of a provider whose heartbeat hangs, or is refused its barrier.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "../support/forbidden_membarrier.hpp"
#include "../support/orders_schema.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {
namespace {

using test::forbid_membarrier;
using test::orders_with_cuts;
using test::Venue;

Provider beating(const std::string& directory, std::chrono::microseconds period) {
  return *Provider::create({.name = "orders", .directory = directory, .cut_period = period});
}

void wait_for_beats(int beats) {
  for (; beats > 0; --beats) {
    const std::uint64_t epoch = process_epoch.count.load(std::memory_order_seq_cst);
    while (process_epoch.count.load(std::memory_order_seq_cst) == epoch) std::this_thread::yield();
  }
}

// A number in `first`, then in `second`: a cut that shows it in the second only is wrong. A sample
// that is marked as not a cut shows the newest.
struct SeenCuts {
  std::uint64_t old = 0, none = 0, wrong = 0;
};
SeenCuts write_and_cut(Query& query, Instance& first, Instance& second, std::uint64_t from) {
  SeenCuts seen;
  Sample sample;
  for (std::uint64_t number = from; number < from + 2'000; ++number) {
    first.set(Venue::kAccepted, number);
    second.set(Venue::kAccepted, number);
    const CutQuality quality = query.collect(sample, Timestamp{}, Cut::kEpoch).cut;
    const std::uint64_t a = content_of(sample).row(0)[0], b = content_of(sample).row(1)[0];
    ++(quality == CutQuality::kCut ? seen.old : seen.none);
    if (a < b || a > number) ++seen.wrong;
    // A sample that is not a cut is read now, and no other thread writes: both are of this moment.
    if (quality != CutQuality::kCut && (a != number || b != number)) ++seen.wrong;
  }
  return seen;
}

// 0: as it should; else which step was not. In a process that is then without the barrier.
int grows_old_and_says_so(const std::string& directory) {
  Provider provider = beating(directory, std::chrono::milliseconds(1));
  const Registration set = *provider.add(orders_with_cuts());
  Instance first = *set.create_instance("a"), second = *set.create_instance("b");
  const Catalog catalog = *Catalog::open({.directory = directory});
  Query query = *Query::compile(catalog, {});
  Sample sample;
  first.set(Venue::kAccepted, 1);
  second.set(Venue::kAccepted, 1);
  wait_for_beats(2);
  if (query.collect(sample, Timestamp{}, Cut::kEpoch).cut != CutQuality::kCut) return 1;
  if (content_of(sample).row(0)[0] != 1 || content_of(sample).row(1)[0] != 1) return 2;
  if (!forbid_membarrier()) return 0;
  wait_for_beats(2);  // one may have had its barrier before it was forbidden
  // Each time the blocks see an epoch that is never settled. The third time they have forgotten
  // what they were at the settled one.
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const SeenCuts seen = write_and_cut(query, first, second, round * 10'000);
    if (seen.wrong != 0) return 3;
    if (round == 3 && seen.old != 0) return 4;
    wait_for_beats(1);
  }
  return 0;
}

// The kernel takes the barrier away while writers commit: no epoch is settled from then on. What is
// shown of the last one is old, and where that is lost the reader is told.
TEST(CutsWithoutAHeartbeat, GrowOldAndSayWhenTheyAreNotCuts) {
  const test::TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(grows_old_and_says_so(directory.path()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// One that hangs between two beats: the state of the settled epoch stays for as long as it does.
TEST(CutsWithoutAHeartbeat, StayRightForAsLongAsItHangs) {
  const test::TemporaryDirectory directory;
  Provider provider = beating(directory.path(), std::chrono::hours(1));
  const Registration set = *provider.add(orders_with_cuts());
  Instance first = *set.create_instance("a"), second = *set.create_instance("b");
  const Catalog catalog = *Catalog::open({.directory = directory.path()});
  Query query = *Query::compile(catalog, {});
  const SeenCuts seen = write_and_cut(query, first, second, 1);
  EXPECT_EQ(seen.wrong, 0U);
  EXPECT_EQ(seen.old, 2'000U);
  Sample sample;
  query.collect(sample, Timestamp{}, Cut::kEpoch);
  EXPECT_EQ(content_of(sample).row(0)[0], 0U);  // as it began, which is when the epoch was settled
  EXPECT_EQ(content_of(sample).row(1)[0], 0U);
}

}  // namespace
}  // namespace meterbank
