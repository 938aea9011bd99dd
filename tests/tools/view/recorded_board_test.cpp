// SPDX-License-Identifier: Apache-2.0
//
// Boards over recordings: the same pictures as live.
#include "board_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::view {
namespace {

using cli::Dish;

class RecordedBoard : public BoardTest {
 protected:
  // `moments` of them, in which the balance counts up from 0.
  void record(int moments) {
    std::thread recorder([&] {
      const auto outcome = meterbank(
          {"record", "-o", log_, "-i", "20ms", "--for", std::to_string(20 * moments) + "ms"});
      EXPECT_EQ(outcome.code, cli::kExitDone) << outcome.err;
      is_over_ = true;
    });
    for (int balance = 0; !is_over_; ++balance) {
      soup_.gauge(Dish::kBalance).set_signed(balance);
      serve_a_hundred();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    recorder.join();
  }

  const std::string log_ = file("kitchen.mbr");
  std::atomic<bool> is_over_ = false;
};

TEST_F(RecordedBoard, OpensAtTheEndWithThePastBeforeIt) {
  record(10);
  open_board(log_);

  const auto shown = picture(instance_of("dishes", "soup"));

  EXPECT_FALSE(shown.is_live);
  EXPECT_EQ(shown.time_ns, selection_->log->last().realtime_ns);
  EXPECT_EQ(shown.first_ns, selection_->log->first().realtime_ns);
  ASSERT_TRUE(shown.heat);
  EXPECT_GE(shown.heat->counts.size(), 5U);
}

TEST_F(RecordedBoard, EveryMomentCanBeLookedAtExactly) {
  record(8);
  open_board(log_);
  Place place = set_of("dishes");
  std::vector<std::string> back;
  std::vector<std::string> forth;
  std::vector<std::uint64_t> times;
  place.at_ns = picture(place).time_ns;
  for (;;) {
    times.push_back(*place.at_ns);
    back.push_back(cell(picture(place).sections.at(0), "soup", "balance"));
    const auto earlier = board_->moment_before(place.at_ns);
    if (!earlier) break;
    place.at_ns = earlier;
  }
  ASSERT_GE(times.size(), 5U);
  for (auto time = times.rbegin(); time != times.rend(); ++time) {
    place.at_ns = *time;
    forth.push_back(cell(picture(place).sections.at(0), "soup", "balance"));
  }

  std::reverse(forth.begin(), forth.end());
  EXPECT_EQ(back, forth);
  EXPECT_NE(back.front(), back.back());
}

TEST_F(RecordedBoard, ALiveBoardCanBeginWithWhatWasRecorded) {
  record(8);
  open_board();
  take();
  const auto before = picture(instance_of("dishes", "soup"));
  board_->remember(log_, 0, before.time_ns);
  take();

  const auto shown = picture(instance_of("dishes", "soup"));

  ASSERT_TRUE(shown.heat);
  EXPECT_GE(shown.heat->counts.size(), 7U);
  Place place = instance_of("dishes", "soup");
  place.counter = "balance";
  const auto& curve = picture(place).plots.at(0).curves.at(0);
  EXPECT_LT(curve.low.at(1), curve.high.back());
}

}  // namespace
}  // namespace meterbank::view
