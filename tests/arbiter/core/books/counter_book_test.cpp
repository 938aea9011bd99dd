// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/counter_book.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace meterbank::arbiter {
namespace {

constexpr CounterMask kFixed0 = CounterMask{1} << kFixedFirst;

CounterDemand exactly(CounterMask counters) { return {.exact = counters, .any = {}, .blocks = {}}; }
CounterDemand any_of(std::vector<CounterMask> masks) {
  return {.exact = 0, .any = std::move(masks), .blocks = {}};
}
CounterDemand blocks_of(std::vector<Block> blocks) {
  return {.exact = 0, .any = {}, .blocks = std::move(blocks)};
}
CounterDemand all_of_it() { return {.exact = 0, .any = {}, .blocks = {}, .whole = true}; }

CounterMask held(const CounterBook& book, LeaseId lease, const CounterDemand& demand) {
  const Placement* placement = book.placement(lease);
  return placement == nullptr ? 0 : placement->mask(demand);
}

TEST(CounterBook, GivesExactlyTheCountersAskedFor) {
  CounterBook book(0xff | kFixed0);
  EXPECT_EQ(book.take(1, exactly(0x0e | kFixed0)),
            Fit::kFits);  // a range of three, and a fixed one
  EXPECT_EQ(held(book, 1, exactly(0x0e | kFixed0)), 0x0e | kFixed0);
  EXPECT_EQ(book.used(), 0x0e | kFixed0);
  EXPECT_EQ(book.free(), 0xf1U);
}

TEST(CounterBook, KeepsHoldersOfExactCountersApart) {
  CounterBook book(0xff);
  EXPECT_EQ(book.take(1, exactly(0x0f)), Fit::kFits);
  EXPECT_EQ(book.take(2, exactly(0x18)), Fit::kNotNow);
  EXPECT_EQ(book.placement(2), nullptr);
  EXPECT_EQ(book.take(2, exactly(0xf0)), Fit::kFits);
  EXPECT_EQ(book.free(), 0U);
}

TEST(CounterBook, SaysNeverToWhatAnEmptyPmuCouldNotGive) {
  CounterBook book(0x0f);
  book.block(0x01);
  EXPECT_EQ(book.take(1, exactly(0x02)), Fit::kFits);
  EXPECT_EQ(book.fits(exactly(0x10)), Fit::kNever);
  EXPECT_EQ(book.fits(any_of({0xf0})), Fit::kNever);
  EXPECT_EQ(book.fits(any_of({0x01, 0x01})), Fit::kNever);
  EXPECT_EQ(book.fits(any_of({0xff, 0xff, 0xff, 0xff, 0xff})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{5, 1}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{3, 1}, {2, 1}})), Fit::kNever);
  EXPECT_EQ(book.fits(any_of({0x01})), Fit::kNotNow);
  EXPECT_EQ(book.fits(blocks_of({{4, 4}})), Fit::kNotNow);
}

TEST(CounterBook, FindsNoPlaceForBlocksWithoutSense) {
  const CounterBook book(0xffffffff);
  EXPECT_EQ(book.fits(blocks_of({{0, 1}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{1, 0}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{33, 1}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{0xffffffff, 0xffffffff}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{2, 0xffffffff}})), Fit::kFits);  // at 0, and nowhere else
  EXPECT_EQ(book.fits(blocks_of({{2, 0xffffffff}, {2, 0xffffffff}})), Fit::kNever);
}

TEST(CounterBook, PrefersFixedCounters) {
  CounterBook book(0xff | kFixed0);
  const CounterDemand cycles = any_of({0xff | kFixed0});
  EXPECT_EQ(book.take(1, cycles), Fit::kFits);
  EXPECT_EQ(book.take(2, cycles), Fit::kFits);
  EXPECT_EQ(held(book, 1, cycles), kFixed0);
  EXPECT_EQ(held(book, 2, cycles) & ~CounterMask{0xff}, 0U);
}

TEST(CounterBook, PrefersFixedCountersEvenIfMoreCouldUseThem) {
  CounterBook book(0x01 | kFixed0 | kFixed0 << 1);
  const CounterDemand demand = any_of({0x01 | kFixed0});
  book.take(1, any_of({kFixed0 | kFixed0 << 1}));
  ASSERT_EQ(book.free(), 0x01 | kFixed0);
  EXPECT_EQ(book.take(2, demand), Fit::kFits);
  EXPECT_EQ(held(book, 2, demand), kFixed0);
}

TEST(CounterBook, LeavesTheLowestCountersToThoseThatNeedThem) {
  CounterBook book(0xff);
  for (LeaseId lease = 1; lease <= 4; ++lease) book.take(lease, any_of({0xff}));
  EXPECT_EQ(book.free(), 0x0fU);
}

TEST(CounterBook, PrefersWhatTheFewestCouldUse) {
  CounterBook book(0xff);
  book.take(1, any_of({0xf0}));
  book.take(2, any_of({0xff}));
  EXPECT_EQ(held(book, 2, any_of({0xff})), 0x08U);
}

TEST(CounterBook, MovesSinglesToLetANewcomerIn) {
  CounterBook book(0x07);
  const CounterDemand low = any_of({0x03});
  const CounterDemand high = any_of({0x06});
  book.take(1, any_of({0x04}));
  book.take(2, low);
  book.take(3, any_of({0x02}));
  EXPECT_EQ(held(book, 2, low), 0x01U);
  EXPECT_EQ(book.fits(high), Fit::kNotNow);
  book.release(1);
  EXPECT_EQ(book.take(4, high), Fit::kFits);
  EXPECT_EQ(held(book, 4, high), 0x04U);
}

TEST(CounterBook, MovesALongChainOfSingles) {
  CounterBook book(0xff);
  // Each of them stands at the upper end of its two counters, and the last takes the place of all.
  for (std::uint32_t i = 0; i < 7; ++i) book.take(i + 1, any_of({CounterMask{3} << i}));
  ASSERT_EQ(book.free(), 0x01U);
  EXPECT_EQ(book.take(9, exactly(0x80)), Fit::kFits);
  for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(book.placement(i + 1)->any.at(0), i);
}

TEST(CounterBook, NeverMovesExactOnes) {
  CounterBook book(0x03);
  book.take(1, exactly(0x01));
  EXPECT_EQ(book.take(2, any_of({0x01})), Fit::kNotNow);
  EXPECT_EQ(book.take(2, any_of({0x03})), Fit::kFits);
  EXPECT_EQ(held(book, 1, exactly(0x01)), 0x01U);
}

TEST(CounterBook, AlignsPairs) {
  CounterBook book(0xff);
  book.take(1, exactly(0x81));
  const CounterDemand pairs = blocks_of({{2, 2}, {2, 2}});
  EXPECT_EQ(book.take(2, pairs), Fit::kFits);
  EXPECT_EQ(held(book, 2, pairs), 0x3cU);
  EXPECT_EQ(book.free(), 0x42U);
  EXPECT_EQ(book.fits(blocks_of({{2, 2}})), Fit::kNotNow);
  EXPECT_EQ(book.fits(any_of({0xff, 0xff})), Fit::kFits);
}

TEST(CounterBook, PlacesBlocksAmongGeneralCountersOnly) {
  const CounterBook book(CounterMask{1} << 31 | kFixed0 | kFixed0 << 1);
  EXPECT_EQ(book.fits(blocks_of({{2, 1}})), Fit::kNever);
  EXPECT_EQ(book.fits(blocks_of({{1, 1}})), Fit::kFits);
}

TEST(CounterBook, MovesBlocksToLetANewcomerIn) {
  CounterBook book(0x0f);
  const CounterDemand pair = blocks_of({{2, 2}});
  book.take(1, pair);
  ASSERT_EQ(held(book, 1, pair), 0x0cU);
  EXPECT_EQ(book.take(2, exactly(0x08)), Fit::kFits);
  EXPECT_EQ(held(book, 1, pair), 0x03U);
}

TEST(CounterBook, MovesOnlyThoseSinglesThatAreInTheWay) {
  CounterBook book(0x0f);
  const CounterDemand any = any_of({0x0f});
  for (LeaseId lease = 1; lease <= 4; ++lease) book.take(lease, any);
  book.release(1);
  ASSERT_EQ(book.free(), 0x08U);
  EXPECT_EQ(book.take(5, exactly(0x01)), Fit::kFits);
  EXPECT_EQ(held(book, 2, any), 0x04U);
  EXPECT_EQ(held(book, 3, any), 0x02U);
  EXPECT_EQ(held(book, 4, any), 0x08U);
}

TEST(CounterBook, MovesOnlyThoseBlocksThatAreInTheWay) {
  CounterBook book(0xff);
  const CounterDemand pair = blocks_of({{2, 2}});
  for (LeaseId lease = 1; lease <= 3; ++lease) book.take(lease, pair);
  book.release(1);
  ASSERT_EQ(book.free(), 0xc3U);
  EXPECT_EQ(book.take(4, exactly(0x10)), Fit::kFits);
  EXPECT_EQ(held(book, 2, pair), 0xc0U);
  EXPECT_EQ(held(book, 3, pair), 0x0cU);
}

TEST(CounterBook, PlacesBlocksWhereTheyMoveTheFewest) {
  CounterBook book(0x1f);
  const CounterDemand any = any_of({0x1f});
  const CounterDemand pair = blocks_of({{2, 2}});
  for (LeaseId lease = 1; lease <= 5; ++lease) book.take(lease, any);
  book.release(1);
  book.release(4);
  ASSERT_EQ(book.free(), 0x12U);
  EXPECT_EQ(book.take(6, pair), Fit::kFits);
  EXPECT_EQ(held(book, 6, pair), 0x03U);
  EXPECT_EQ(held(book, 5, any), 0x10U);
}

TEST(CounterBook, LendsTheWholeToOneThatIsAlone) {
  CounterBook book(0x0f | kFixed0);
  EXPECT_EQ(book.take(1, all_of_it()), Fit::kFits);
  EXPECT_EQ(held(book, 1, all_of_it()), 0x0f | kFixed0);
  EXPECT_EQ(book.fits(all_of_it()), Fit::kNotNow);
  EXPECT_EQ(book.fits(any_of({0x0f})), Fit::kNotNow);
  EXPECT_EQ(book.fits({}), Fit::kNotNow);
  EXPECT_EQ(book.room_for(0x0f), 0U);
  EXPECT_EQ(book.blockers(any_of({0x0f})), std::vector<LeaseId>{1});
  book.release(1);
  EXPECT_EQ(book.take(2, {}), Fit::kFits);
  EXPECT_EQ(book.fits(all_of_it()), Fit::kNotNow);
  EXPECT_EQ(book.blockers(all_of_it()), std::vector<LeaseId>{2});
}

TEST(CounterBook, DoesNotGiveBlockedCounters) {
  CounterBook book(0x07);
  book.block(0x06);
  EXPECT_EQ(book.take(1, any_of({0x07})), Fit::kFits);
  EXPECT_EQ(book.placement(1)->any, std::vector<std::uint32_t>{0});
  EXPECT_EQ(book.fits(any_of({0x07})), Fit::kNotNow);
  EXPECT_EQ(book.fits(all_of_it()), Fit::kNotNow);
  EXPECT_EQ(book.room_for(0x07), 0U);
  book.block(0);
  EXPECT_EQ(book.room_for(0x07), 2U);
}

TEST(CounterBook, LeavesAloneWhoIsCaughtOnABlockedCounter) {
  CounterBook book(0x03);
  book.take(1, any_of({0x03}));
  book.block(0x02);
  EXPECT_EQ(book.take(2, any_of({0x03})), Fit::kFits);
  EXPECT_EQ(book.placement(1)->any, std::vector<std::uint32_t>{1});
  EXPECT_EQ(book.free(), 0U);
}

TEST(CounterBook, FreesReleasedCounters) {
  CounterBook book(0x0f);
  book.take(1, any_of({0x0f, 0x0f}));
  book.take(2, blocks_of({{2, 2}}));
  book.release(1);
  book.release(3);
  EXPECT_EQ(book.placement(1), nullptr);
  EXPECT_EQ(book.free(), 0x0cU);
  book.release(2);
  EXPECT_EQ(book.free(), 0x0fU);
}

TEST(CounterBook, NamesTheLeasesAnyOfWhichWouldBeEnough) {
  CounterBook book(0x07);
  book.take(1, any_of({0x03}));
  book.take(2, exactly(0x01));  // moves the first one to counter 1
  book.take(3, exactly(0x04));
  // The second does as well as the first, which would go back to where it is.
  EXPECT_EQ(book.blockers(exactly(0x02)), (std::vector<LeaseId>{1, 2}));
  EXPECT_EQ(book.blockers(exactly(0x04)), std::vector<LeaseId>{3});
}

TEST(CounterBook, NamesAllWithinReachWhereNoSingleOneIsEnough) {
  CounterBook book(0x0f);
  book.take(1, exactly(0x01));
  book.take(2, exactly(0x02));
  book.take(3, exactly(0x04));
  EXPECT_EQ(book.blockers(exactly(0x03)), (std::vector<LeaseId>{1, 2}));
  EXPECT_EQ(book.blockers(blocks_of({{4, 1}})), (std::vector<LeaseId>{1, 2, 3}));
}

TEST(CounterBook, NamesNoBlockerWhereThereIsNone) {
  CounterBook book(0x0f);
  book.take(1, exactly(0x01));
  book.block(0x02);
  EXPECT_TRUE(book.blockers(exactly(0x02)).empty());
  EXPECT_TRUE(book.blockers(exactly(0x04)).empty());  // it fits
  EXPECT_TRUE(book.blockers(exactly(0x10)).empty());  // it never does
}

TEST(CounterBook, HasRoomForAsManyAsItWouldGrant) {
  CounterBook book(0xff | kFixed0);
  EXPECT_EQ(book.room_for(0xff | kFixed0), 9U);
  EXPECT_EQ(book.room_for(~CounterMask{0}), 9U);
  EXPECT_EQ(book.room_for(0), 0U);
  book.take(1, any_of({0xff, 0xff, 0xff}));
  EXPECT_EQ(book.room_for(0xff), 5U);
  EXPECT_EQ(book.room_for(0xe0), 3U);  // their holder can move
  book.take(2, exactly(0x0f));
  EXPECT_EQ(book.room_for(0xf0), 1U);
}

TEST(CounterBook, GivesUpASearchThatTakesTooLong) {
  CounterBook book(0xffffffff);
  // A pair takes one even counter wherever it stands, which leaves too few; only trying all the
  // places of ten pairs would prove it.
  CounterDemand demand = any_of({7, 0x55555555});
  demand.any.assign(7, 0x55555555);
  demand.blocks.assign(10, {2, 1});
  EXPECT_EQ(book.take(1, demand), Fit::kTooHard);
  EXPECT_EQ(book.used(), 0U);
  EXPECT_TRUE(book.blockers(demand).empty());
  demand.any.pop_back();
  EXPECT_EQ(book.take(1, demand), Fit::kFits);
}

}  // namespace
}  // namespace meterbank::arbiter
