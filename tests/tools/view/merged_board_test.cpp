// SPDX-License-Identifier: Apache-2.0
//
// Boards over recordings that were merged.
#include <cmath>

#include "../cli/diff/diff_recording.hpp"
#include "../record/made_recording.hpp"
#include "cli/session/exit_code.hpp"
#include "recorded_board_fixture.hpp"

namespace meterbank::view {
namespace {

class MergedBoard : public RecordedBoard {
 protected:
  void open_merged(const std::string& one, const std::string& other) {
    ASSERT_EQ(run_plainly({"log", "merge", one, other, "-o", log_}).code, cli::kExitDone);
    open_board(log_);
  }
  // web1 has ten samples, a second apart; web2 has those of [first, end).
  void open_two_machines(std::uint64_t first, std::uint64_t end) {
    record::MadeRecording one({}),
        other({.host = "web2", .boot = std::string(32, '2'), .recorder = 2});
    one.ticks(0, 10);
    other.ticks(first, end);
    one.write(file("one.mbr"));
    other.write(file("other.mbr"));
    open_merged(file("one.mbr"), file("other.mbr"));
  }
};

TEST_F(MergedBoard, RowsOfTwoMachinesAreTwoRows) {
  open_two_machines(0, 10);

  const auto set = picture(set_of("queues"));

  ASSERT_EQ(set.sections.at(0).lines.size(), 2U);
  EXPECT_EQ(set.sections[0].lines[0].cells.at(1).text, "shop@42 on web1");
  EXPECT_EQ(set.sections[0].lines[1].cells.at(1).text, "shop@42 on web2");
  Place place = instance_of("queues", "eu");
  place.provider = "shop@42 on web2";
  EXPECT_EQ(picture(place).place.screen, Screen::kInstance);
  EXPECT_EQ(picture(place).place.provider, place.provider);
  EXPECT_EQ(picture(Place()).sections.at(0).total, 2U);
}

TEST_F(MergedBoard, AProviderThatIsNotThereIsNotLookedForOnAnotherMachine) {
  open_two_machines(5, 10);
  Place place = instance_of("queues", "eu");
  place.provider = "shop@42 on web2";
  place.at_ns = record::MadeRecording::kStart + 2 * record::MadeRecording::kSecond;

  const auto shown = picture(place);

  EXPECT_NE(shown.place.screen, Screen::kInstance);
  EXPECT_EQ(shown.place.provider, "");
  ASSERT_FALSE(shown.problems.empty());
  EXPECT_EQ(shown.problems.back(), "no rows of shop@42 on web2:queues are there");
}

// More moments than are kept, so that plots are read as extremes. While wk is alone, its series has
// no pid.
TEST_F(MergedBoard, PlotsAreOfTheProviderAloneAlsoIfAnotherHasALongerName) {
  for (const std::string name : {"wk", "wk2"}) {
    const int first = name == "wk" ? 0 : 500;
    cli::DiffRecording recording(cli::kDiffBegin + static_cast<unsigned>(first),
                                 test::two_counters(), {"eu"}, {""}, name);
    for (int moment = first; moment < 2'000; ++moment) {
      recording.each_row([&](std::span<std::uint64_t> words) { words[1] = 10 - name.size(); });
      recording.write();
    }
    recording.save(file(name));
  }
  open_merged(file("wk"), file("wk2"));
  for (const std::string name : {"wk", "wk2"}) {
    Place place = instance_of("queues", "eu");
    place.provider = name + "@42";
    place.counter = "depth";
    place.span = std::chrono::hours(1);

    const auto shown = picture(place);

    ASSERT_EQ(shown.place.provider, place.provider);
    ASSERT_EQ(shown.plots.size(), 1U);
    ASSERT_EQ(shown.plots[0].curves.size(), 1U) << name;
    const Plot::Curve& curve = shown.plots[0].curves[0];
    for (const auto* const values : {&curve.low, &curve.high}) {
      for (const double value : *values) {
        if (std::isnan(value)) continue;
        ASSERT_EQ(value, 10 - static_cast<double>(name.size())) << name;
      }
    }
  }
}

}  // namespace
}  // namespace meterbank::view
