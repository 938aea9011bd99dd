// SPDX-License-Identifier: Apache-2.0
//
// What `record --when` says about its conditions.
#include <filesystem>
#include <string>
#include <vector>

#include "../distribution/kitchen_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::trigger_test {
namespace {

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class RecordWhen : public KitchenTest {
 protected:
  [[nodiscard]] std::string said_of(const std::vector<std::string>& conditions) const {
    std::vector<std::string> arguments{"record", "-o", file("box/"), "-n", "5", "-i", "5ms"};
    for (const std::string& condition : conditions) {
      arguments.insert(arguments.end(), {"--when", condition});
    }
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    return outcome.err;
  }
};

TEST_F(RecordWhen, TakesNoPercentileForOneOfAnIntervalThatHasNoSampleBeforeIt) {
  serve_a_hundred();
  const auto said = said_of({"dishes/*/latency.p99 > 50ms"});
  EXPECT_EQ(times(said, "it holds"), 0U) << said;
  EXPECT_FALSE(std::filesystem::exists(file("box/saved")));
}

TEST_F(RecordWhen, SaysOnceWhyAConditionCannotHold) {
  serve_a_hundred();
  soup_.text(Dish::kState).set("burnt");
  soup_.set(Dish::kBalance, 3);
  const auto said =
      said_of({"dishes/*/latency > 1ns", "dishes/*/balance > 1 kg", "dishes/*/state > 5",
               "dishes/*/balance == 'burnt'", "dishes/*/balance.p99 > 1"});
  EXPECT_EQ(times(said, "--when '"), 5U) << said;
  for (const char* const line :
       {"--when 'dishes/*/latency > 1ns': dishes/soup/latency cannot be compared with 1ns: its "
        "unit "
        "is 1/s; try: dishes/*/latency.p99",
        "--when 'dishes/*/balance > 1 kg': dishes/soup/balance cannot be compared with 1 kg",
        "--when 'dishes/*/state > 5': dishes/soup/state is a text and cannot be compared",
        "--when 'dishes/*/balance == 'burnt'': dishes/soup/balance is a number and cannot",
        "--when 'dishes/*/balance.p99 > 1': dishes/*/balance is not a distribution; try: "}) {
    EXPECT_EQ(times(said, line), 1U) << line << '\n' << said;
  }
}

TEST_F(RecordWhen, SaysNothingOfRowsThatHaveNoValueYet) {
  const auto said = said_of({"dishes/*/served > 5", "dishes/*/latency.p99 > 5ms"});
  EXPECT_EQ(times(said, "--when"), 0U) << said;
}

TEST_F(RecordWhen, NamesEachConditionThatHoldsInAnEvent) {
  soup_.set(Dish::kBalance, 3);
  const auto said =
      said_of({"dishes/*/balance > 2", "dishes/*/balance < 1", "dishes/*/balance < 4"});
  EXPECT_EQ(times(said, "it holds: dishes/*/balance > 2 (dishes/soup/balance)"), 1U) << said;
  EXPECT_EQ(times(said, "it holds: dishes/*/balance < 4 (dishes/soup/balance)"), 1U) << said;
  EXPECT_EQ(times(said, "it holds"), 2U) << said;
}

}  // namespace
}  // namespace meterbank::cli::trigger_test
