// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/provider.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"

namespace meterbank {
namespace {

using test::TemporaryDirectory;
using test::Venue;

TEST(Provider, LeavesOneRecordWhileItLivesAndNoneAfterwards) {
  const TemporaryDirectory directory;
  {
    const auto provider = Provider::create({.name = "orders", .directory = directory.path()});
    ASSERT_TRUE(provider) << provider.error().message();
    EXPECT_EQ(directory.files(), 2U);  // and the socket of its door
    EXPECT_FALSE(provider->record().empty());
  }
  EXPECT_EQ(directory.files(), 0U);
}

TEST(Provider, NamesTheCauseAndTheRemedyWhenItCannotStart) {
  const TemporaryDirectory directory;
  for (const std::string& bad : {std::string(), std::string(64, 'x'), std::string("a\nb")}) {
    const auto refused = Provider::create({.name = bad, .directory = directory.path()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBadName);
  }
  const auto nowhere =
      Provider::create({.name = "orders", .directory = directory.path() + "/missing/below"});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNoDirectory);
  EXPECT_NE(nowhere.error().message().find("METERBANK_DIR"), std::string::npos);
  EXPECT_EQ(directory.files(), 0U);
}

TEST(Provider, DegradesToHarmlessAndSaysWhyOnce) {
  testing::internal::CaptureStderr();
  Provider provider =
      Provider::create_or_disabled({.name = "orders", .directory = "/proc/nowhere/at/all"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("meterbank: counters are not published: "), 0U);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_TRUE(provider.is_disabled());
  const auto venues = provider.add(test::kOrders);
  ASSERT_TRUE(venues);
  auto eu = venues->create_instance("eu");
  ASSERT_TRUE(eu);
  eu->add(Venue::kAccepted, 1);
  eu->counter(Venue::kBytes).add(1);
}

TEST(Provider, RefusesTheSameSetTwiceByGuidAndByFoldedName) {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  ASSERT_TRUE(provider.add(test::kOrders));
  CountersetSpec other = test::kOrders;
  other.name = "Other";
  EXPECT_EQ(provider.add(other).error().code, ErrorCode::kExists);
  other.name = "demo ORDERS";
  other.guid = {};
  EXPECT_EQ(provider.add(other).error().code, ErrorCode::kExists);
}

TEST(Provider, TakesTheSameSchemaAgainAfterClose) {
  const TemporaryDirectory directory;
  auto provider =
      *Provider::create({.name = "orders", .directory = directory.path(), .registrations_max = 1});
  for (int round = 0; round < 100; ++round) {
    auto venues = provider.add(test::kOrders);
    ASSERT_TRUE(venues) << round << ": " << venues.error().message();
    Instance eu = *venues->create_instance("eu");
    venues->close();
    EXPECT_EQ(venues->create_instance("us").error().code, ErrorCode::kClosed);
  }
}

TEST(Registration, RefusesNamesThatAreTakenEmptyTooLongOrNotText) {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  auto venues = *provider.add(test::kOrders);
  const Instance eu = *venues.create_instance("Kelvin");
  EXPECT_EQ(venues.create_instance("kELVIN").error().code, ErrorCode::kExists);
  EXPECT_EQ(venues
                .create_instance("\xe2\x84\xaa"
                                 "elvin")
                .error()
                .code,
            ErrorCode::kExists);
  EXPECT_EQ(venues.create_instance("").error().code, ErrorCode::kBadName);
  EXPECT_EQ(venues.create_instance(std::string(1024, 'n')).error().code, ErrorCode::kBadName);
  EXPECT_EQ(venues.create_instance("\xc3").error().code, ErrorCode::kBadName);
  EXPECT_TRUE(venues.create_instance(std::string(1023, 'n')));
}

TEST(Registration, ASingleInstanceSetHasOneInstanceWithoutAName) {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  CountersetSpec spec = test::kOrders;
  spec.instances = InstanceKind::kSingle;
  auto set = *provider.add(spec);
  EXPECT_EQ(set.create_instance("x").error().code, ErrorCode::kBadName);
  const Instance only = *set.create_instance("");
  EXPECT_EQ(set.create_instance("").error().code, ErrorCode::kExists);
}

TEST(Registration, RefusesBeyondItsQuotaAndLeavesTheRestUntouched) {
  const TemporaryDirectory directory;
  auto provider =
      *Provider::create({.name = "orders", .directory = directory.path(), .instances_max = 3});
  auto venues = *provider.add(test::kOrders);
  std::vector<Instance> kept;
  kept.reserve(3);
  for (int i = 0; i < 3; ++i) kept.push_back(*venues.create_instance(std::to_string(i)));
  const auto refused = venues.create_instance("one too many");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().message().find("instances_max"), std::string::npos);
  kept.pop_back();
  EXPECT_TRUE(venues.create_instance("again"));
}

TEST(Registration, RefusesWhenTheSegmentIsFullAndGoesOn) {
  const TemporaryDirectory directory;
  auto provider =
      *Provider::create({.name = "orders", .directory = directory.path(), .bytes_max = 128 * 1024});
  auto venues = *provider.add(test::kOrders);
  std::vector<Instance> kept;
  ErrorCode code = ErrorCode::kSystem;
  for (int i = 0; i < 10'000; ++i) {
    auto created = venues.create_instance("i" + std::to_string(i));
    if (!created) {
      code = created.error().code;
      break;
    }
    kept.push_back(std::move(*created));
  }
  EXPECT_EQ(code, ErrorCode::kLimit);
  EXPECT_GT(kept.size(), 100U);
  kept.back().add(Venue::kAccepted, 3);
  EXPECT_EQ(kept.back().value(Venue::kAccepted), 3U);
  kept.pop_back();
  EXPECT_TRUE(venues.create_instance("i0 again"));
}

TEST(Registration, GivesEveryInstanceAnIdThatNeverReturns) {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  auto venues = *provider.add(test::kOrders);
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 10'000; ++i) {
    const Instance instance = *venues.create_instance("x");
    ASSERT_TRUE(ids.insert(instance.id()).second);
    ASSERT_LE(instance.id(), kInstanceIdMax);
  }
  EXPECT_EQ(venues.create_instance("a", {.id = kAnyInstanceId}).error().code,
            ErrorCode::kInvalidArgument);
  const Instance chosen = *venues.create_instance("a", {.id = 4'000'000});
  EXPECT_EQ(chosen.id(), 4'000'000U);
  EXPECT_EQ(venues.create_instance("b", {.id = 4'000'000}).error().code, ErrorCode::kExists);
}

TEST(Registration, CreateAndCloseFromManyThreadsKeepNamesUnique) {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  auto venues = *provider.add(test::kOrders);
  std::atomic<int> created{0};
  std::atomic<int> inside{0};
  std::atomic<bool> twice{false};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      while (created.load(std::memory_order_seq_cst) < 20'000) {
        auto instance = venues.create_instance("contested");
        if (!instance) continue;
        if (inside.fetch_add(1, std::memory_order_seq_cst) != 0) twice = true;
        created.fetch_add(1, std::memory_order_seq_cst);
        instance->add(Venue::kAccepted, 1);
        if (instance->value(Venue::kAccepted) != 1) twice = true;
        inside.fetch_sub(1, std::memory_order_seq_cst);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(twice.load(std::memory_order_seq_cst));
}

}  // namespace
}  // namespace meterbank
