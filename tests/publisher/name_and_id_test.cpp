// SPDX-License-Identifier: Apache-2.0
//
// Sets whose instances are what their name and their id are together.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::name_and_id_test {
namespace {

using test::Venue;

class NameAndId : public testing::Test {
 protected:
  NameAndId() : provider_(*Provider::create({.name = "orders", .directory = directory_.path()})) {}

  static CountersetSpec spec() {
    CountersetSpec spec = test::kOrders;
    spec.identity = InstanceIdentity::kNameAndId;
    return spec;
  }
  Instance create(const std::string& name, std::uint32_t id) const {
    auto made = set_.create_instance(name, {.id = id});
    EXPECT_TRUE(made) << name << "#" << id << ": " << made.error().message();
    return made ? std::move(*made) : Instance();
  }
  [[nodiscard]] ErrorCode refusal_of(const std::string& name, std::uint32_t id) const {
    const auto made = set_.create_instance(name, {.id = id});
    EXPECT_FALSE(made) << name << "#" << id;
    return made ? ErrorCode{} : made.error().code;
  }

  test::TemporaryDirectory directory_;
  Provider provider_;
  Registration set_ = *provider_.add(spec());
};

TEST_F(NameAndId, AllowsSeveralNamesOnOneId) {
  const Instance small = create("Small Wave", 0), medium = create("Medium Wave", 0),
                 large = create("Large Wave", 0);
  EXPECT_EQ(small.id(), 0U);
  EXPECT_EQ(medium.id(), 0U);
  EXPECT_EQ(large.id(), 0U);
}

TEST_F(NameAndId, AllowsOneNameWithSeveralIds) {
  Instance first = create("wave", 1), second = create("WAVE", 2);
  first.set(Venue::kDepth, 10);
  second.set(Venue::kDepth, 20);
  EXPECT_EQ(first.value(Venue::kDepth), 10U);
  EXPECT_EQ(second.value(Venue::kDepth), 20U);
}

TEST_F(NameAndId, RefusesBothTogetherUntilTheInstanceIsClosed) {
  Instance first = create("Ärger", 1);
  const Instance other_id = create("Ärger", 2), other_name = create("Freude", 1);
  EXPECT_EQ(refusal_of("äRGER", 1), ErrorCode::kExists);
  first.close();
  const Instance again = create("äRGER", 1);
  EXPECT_EQ(refusal_of("Ärger", 1), ErrorCode::kExists);
}

TEST_F(NameAndId, KeepsTheRulesOfNamesAndIds) {
  EXPECT_EQ(refusal_of("", 1), ErrorCode::kBadName);
  EXPECT_EQ(refusal_of("a", kAnyInstanceId), ErrorCode::kInvalidArgument);
}

TEST_F(NameAndId, ChoosesAnIdThatNoInstanceOfTheNameHas) {
  const Instance taken = create("wave", 0), other = create("other", 1);
  const Instance first = *set_.create_instance("wave");
  const Instance second = *set_.create_instance("wave");
  EXPECT_EQ(first.id(), 1U);
  EXPECT_EQ(second.id(), 2U);
}

TEST_F(NameAndId, FindsAnInstanceByBothAndByItsNameTheOneWithTheSmallestId) {
  Instance nine = create("wave", 9), seven = create("wave", 7), other = create("other", 1);
  seven.set(Venue::kDepth, 7);
  nine.set(Venue::kDepth, 9);
  EXPECT_EQ(set_.find("Wave", 9)->value(Venue::kDepth), 9U);
  EXPECT_EQ(set_.find("wave")->value(Venue::kDepth), 7U);
  EXPECT_FALSE(set_.find("wave", 1));
  EXPECT_FALSE(set_.find("none"));
  seven.close();
  EXPECT_EQ(set_.find("wave")->value(Venue::kDepth), 9U);
  EXPECT_FALSE(set_.find("wave", 7));
}

TEST_F(NameAndId, FindsEachOfManyInstancesOfOneNameAndOfOneId) {
  constexpr std::uint32_t kMany = 2'000;
  std::vector<Instance> same_name, same_id;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    same_name.push_back(create("x", i + 1));
    same_id.push_back(create("y" + std::to_string(i), 0));
  }
  for (std::uint32_t i = 0; i < kMany; i += 2) {
    same_name[i].close();
    same_id[i].close();
  }
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const bool is_live = i % 2 == 1;
    EXPECT_EQ(set_.find("x", i + 1).has_value(), is_live) << i;
    EXPECT_EQ(set_.find("y" + std::to_string(i), 0).has_value(), is_live) << i;
  }
}

TEST_F(NameAndId, IsTheRuleOfShardedSetsThatSaySo) {
  CountersetSpec spec = this->spec();
  spec.name = "Sharded";
  spec.symbol = "sharded";
  spec.guid = {};
  spec.counters = spec.counters.first(2);
  spec.sharded = true;
  const Registration set = *provider_.add(spec);
  const ShardedInstance one = *set.create_sharded_instance("a", {.id = 1});
  const ShardedInstance two = *set.create_sharded_instance("a", {.id = 2});
  EXPECT_TRUE(set.find_sharded("a", 2));
  EXPECT_FALSE(set.find_sharded("a", 3));
  EXPECT_EQ(set.create_sharded_instance("A", {.id = 2}).error().code, ErrorCode::kExists);
}

TEST_F(NameAndId, MeansNothingWhereTheSetHasOneRow) {
  CountersetSpec spec = this->spec();
  spec.name = "One";
  spec.symbol = "one";
  spec.guid = {};
  spec.instances = InstanceKind::kSingle;
  EXPECT_EQ(identity_of(spec), InstanceIdentity::kUnique);
  const Registration set = *provider_.add(spec);
  const Instance only = *set.create_instance("", {.id = 1});
  EXPECT_EQ(set.create_instance("", {.id = 2}).error().code, ErrorCode::kExists);
}

// The rule of the library's own interface: both are new.
TEST(UniqueIdentity, IsTheRuleOfSetsThatSayNothing) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "orders", .directory = directory.path()});
  const Registration set = *provider.add(test::kOrders);
  const Instance one = *set.create_instance("a", {.id = 1});
  EXPECT_EQ(set.create_instance("a", {.id = 2}).error().code, ErrorCode::kExists);
  EXPECT_EQ(set.create_instance("b", {.id = 1}).error().code, ErrorCode::kExists);
  EXPECT_TRUE(set.find("a", 1));
  EXPECT_FALSE(set.find("a", 2));
}

TEST(UniqueIdentity, IsNotANumberThatTheLibraryDoesNotKnow) {
  CountersetSpec spec = test::kOrders;
  spec.identity = static_cast<InstanceIdentity>(2);
  EXPECT_EQ(encode_schema(spec, "orders").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace meterbank::name_and_id_test
