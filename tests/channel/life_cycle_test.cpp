// SPDX-License-Identifier: Apache-2.0
//
// Registrations that come and go under the eyes of readers, both ends as they are.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "../support/sample_words.hpp"
#include "channel_fixture.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using test::ChannelFixture;
using test::comes_true;
using test::Gate;

constexpr std::chrono::seconds kTimeout{10};

std::uint32_t add_one_row(CallbackRequest& request) {
  request.add("computed", 1, std::array<std::uint64_t, 3>{7, 7, 7});
  return 0;
}

class LifeCycle : public ChannelFixture {
 protected:
  [[nodiscard]] Catalog catalog() const {
    return std::move(*Catalog::open({.directory = directory_.path()}));
  }
  [[nodiscard]] RegistrationState seen_state() const {
    const Catalog fresh = catalog();
    const auto& sets = fresh.providers().at(0)->sets;
    return sets.empty() ? RegistrationState::kFree : sets.front().state;
  }
};

TEST_F(LifeCycle, GoesFromInsertedThroughClosingToClosedForReadersToSee) {
  Gate gate;
  const Registration registration = register_with([&gate](CallbackRequest&) {
    gate.pass();
    return 0U;
  });
  EXPECT_EQ(seen_state(), RegistrationState::kInserted);
  test::AskingReader reader = this->reader();
  reader.ask(request(MessageType::kCollect));
  gate.wait_for(1);
  std::thread closer([&registration] { registration.close(); });
  EXPECT_TRUE(comes_true([this] { return seen_state() == RegistrationState::kClosing; }));
  gate.open();
  closer.join();
  EXPECT_EQ(seen_state(), RegistrationState::kClosed);
}

TEST_F(LifeCycle, ShowsCreatedInstancesAndRowsOfTheCallbackTogether) {
  const Registration registration = register_with(add_one_row);
  const auto created = registration.create_instance("created");
  ASSERT_TRUE(created);
  const Catalog all = catalog();
  auto query = Query::compile(all, {"demo_orders/*/queue_depth"});
  ASSERT_TRUE(query);
  Sample sample;
  EXPECT_EQ(query->collect(sample, kTimeout).rows, 2U);
  EXPECT_EQ(query->expanded(PathSpelling::kShort).size(), 2U);
}

TEST_F(LifeCycle, IsAnErrorToUseAfterTheEndAndNothingWorse) {
  const Registration registration = register_with(add_one_row);
  auto instance = registration.create_instance("created");
  ASSERT_TRUE(instance);
  registration.close();
  registration.close();
  const auto late = registration.create_instance("late");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kClosed);
  instance->add(0, 1);
  instance->close();
  EXPECT_FALSE(registration.find("created"));
}

// Memory of a registration serves its successor, so readers of the one must never take words of the
// other for their own. Names say which life they belong to, and values are multiples of it.
TEST_F(LifeCycle, NeverMixesTheValuesOfTwoLives) {
  constexpr std::uint64_t kLives = 200, kUpdates = 20;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> wrong{0}, rows{0};
  std::vector<std::thread> readers(3);
  for (std::thread& reader : readers) {
    reader = std::thread([&] {
      Catalog all = catalog();
      auto query = Query::compile(all, {});
      Sample sample;
      while (!done) {
        all.refresh();
        query->update(all);
        query->collect(sample, kTimeout);
        for (std::size_t row = 0; row < content_of(sample).plan->rows; ++row) {
          if (content_of(sample).status[row] != RowStatus::kFresh) continue;
          const std::uint64_t* const values = content_of(sample).row(row);
          ++rows;
          if (values[0] != values[1] || values[1] != values[2]) ++wrong;
          const std::string name(test::instance_of(*content_of(sample).plan, row).name);
          const std::uint64_t life = std::stoull(name.substr(name.find(' ')));
          if (values[0] % life != 0 || values[0] > kUpdates * life) ++wrong;
          if (name[1] == 'o' && values[0] != life) ++wrong;  // computed
        }
      }
    });
  }
  for (std::uint64_t life = 1; life <= kLives; ++life) {
    const Registration registration = register_with([life](CallbackRequest& request) {
      request.add("computed " + std::to_string(life), 1,
                  std::array<std::uint64_t, 3>{life, life, life});
      return 0U;
    });
    auto instance = registration.create_instance("created " + std::to_string(life));
    ASSERT_TRUE(instance);
    for (std::uint64_t i = 0; i < kUpdates; ++i) {
      instance->update([life](Values& values) {
        for (int counter = 0; counter < 3; ++counter) values.add(counter, life);
      });
    }
    // Long enough to be seen, and ended while a reader collects.
    EXPECT_TRUE(comes_true([&] { return rows >= 5 * life; }));
    registration.close();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0U);
}

TEST_F(LifeCycle, ServesSixtyFourQueriesAtOnce) {
  const Registration registration = register_with(add_one_row);
  std::atomic<int> whole{0};
  std::vector<std::thread> readers(64);
  for (std::thread& reader : readers) {
    reader = std::thread([&] {
      const Catalog all = catalog();
      auto query = Query::compile(all, {});
      Sample sample;
      for (int round = 0; round < 20; ++round) {
        const auto summary = query->collect(sample, kTimeout);
        if (summary.rows == 1 && summary.unanswered == 0) ++whole;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(whole, 64 * 20);
  const Interest interest = registration.interest();
  EXPECT_TRUE(comes_true([&interest] { return !interest.wanted(); }));
}

TEST_F(LifeCycle, TellsAProviderThatStartsLateOfStandingInterest) {
  Catalog all = catalog();
  auto query = Query::compile(all, {"demo_orders/*/queue_depth"});
  ASSERT_TRUE(query);
  const Registration late = register_with(add_one_row);
  const Interest interest = late.interest();
  EXPECT_FALSE(interest.wanted());
  all.refresh();
  query->update(all);
  EXPECT_TRUE(comes_true([&interest] { return interest.wanted(test::Venue::kDepth); }));
  EXPECT_FALSE(interest.wanted(test::Venue::kBytes));
}

TEST_F(LifeCycle, RefusesToAskItselfFromInside) {
  std::atomic<bool> refused{false};
  const Registration registration = register_with([&](CallbackRequest& request) {
    if (request.reason() != CallbackReason::kCollect) return 0U;
    const Catalog all = catalog();
    auto query = Query::compile(all, {});
    Sample sample;
    query->collect(sample, kTimeout);
    refused = sample.callbacks != nullptr && sample.callbacks->size() == 1 &&
              sample.callbacks->front().outcome == AnswerOutcome::kReentrant;
    return 0U;
  });
  test::AskingReader reader = this->reader();
  ASSERT_TRUE(reader.ask_and_wait(request(MessageType::kCollect)));
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace meterbank
