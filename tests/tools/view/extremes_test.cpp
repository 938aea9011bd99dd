// SPDX-License-Identifier: Apache-2.0
//
// Plots of recordings with more moments than a board keeps.
#include "view/extremes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "recorded_board_fixture.hpp"

namespace meterbank::view {
namespace {

using cli::Dish;

class ExtremesTest : public RecordedBoard {};

TEST_F(ExtremesTest, AreReadFromTheEndOnWithoutAHole) {
  save_evenly(directory_, 20'000,
              [&](int moment) { soup_.gauge(Dish::kBalance).set_signed(moment % 1'000); });
  open_board(log_);
  const auto& log = *selection_->log;
  const ExtremesOf wanted{
      {"dishes/soup/balance"}, log.first().realtime_ns, log.last().realtime_ns, 100};
  Extremes whole(wanted), part(wanted);
  whole.read_on(*selection_, Extremes::Clock::time_point::max());
  part.read_on(*selection_, Extremes::Clock::now());

  ASSERT_TRUE(whole.are_whole());
  ASSERT_FALSE(part.are_whole());
  EXPECT_GT(part.begin_ns(), wanted.from_ns);
  const auto count = [](const Extremes& extremes) {
    const auto& buckets = extremes.series().at(0).buckets;
    return std::count_if(buckets.begin(), buckets.end(),
                         [](const auto& bucket) { return bucket.count != 0; });
  };
  EXPECT_EQ(count(whole), 100);
  const auto read = count(part);
  EXPECT_LT(read, 100);
  for (auto bucket = 100 - read; bucket < 100; ++bucket) {
    const auto at = static_cast<std::size_t>(bucket);
    EXPECT_EQ(part.series()[0].buckets[at].count != 0, true) << "a hole at " << at;
  }
  while (!part.are_whole()) part.read_on(*selection_, Extremes::Clock::now());
  for (std::size_t at = 0; at < 100; ++at) {
    EXPECT_EQ(part.series()[0].buckets[at].least, whole.series().at(0).buckets[at].least) << at;
    EXPECT_EQ(part.series()[0].buckets[at].most, whole.series()[0].buckets[at].most) << at;
  }
}

TEST_F(ExtremesTest, OfManyPicturesAreReadInOnePass) {
  save_evenly(directory_, 5'000, [&](int moment) {
    soup_.gauge(Dish::kBalance).set_signed(moment == 3'217 ? 900 : 1);
  });
  open_board(log_);
  Place balance = instance_of("dishes", "soup"), latency = balance;
  balance.counter = "balance";
  latency.counter = "latency";
  board_->note_plots();
  static_cast<void>(picture(balance));
  static_cast<void>(picture(latency));
  board_->read_noted_plots({});
  // What is read in one pass needs no recording any more.
  std::filesystem::remove(log_);

  const auto& high = picture(balance).plots.at(0).curves.at(0).high;
  EXPECT_EQ(std::count(high.begin(), high.end(), 900), 1);
  EXPECT_EQ(picture(latency).plots.at(0).curves.size(), 3U);
}

TEST_F(ExtremesTest, SayWhatIsDamaged) {
  save_evenly(directory_, 5'000,
              [&](int moment) { soup_.gauge(Dish::kBalance).set_signed(moment); });
  {
    std::fstream bytes(log_, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(std::filesystem::file_size(log_) / 2));
    bytes << "damage";
  }
  open_board(log_);
  Place balance = instance_of("dishes", "soup");
  balance.counter = "balance";
  const auto& problems = picture(balance).problems;
  EXPECT_TRUE(std::ranges::any_of(problems, [](const std::string& problem) {
    return problem.starts_with("a part of the plots is missing: ") &&
           problem.find("cannot be read in 1 place; try: meterbank log check ") != problem.npos;
  }));
}

}  // namespace
}  // namespace meterbank::view
