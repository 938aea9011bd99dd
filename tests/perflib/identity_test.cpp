// SPDX-License-Identifier: Apache-2.0
//
// Windows' consumers mostly ask for a row by its set and name alone. What another user publishes
// must not pass for what this user's providers do.
#include <algorithm>
#include <optional>

#include "../support/other_user.hpp"
#include "../support/scripted_provider.hpp"
#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

using Numbers = std::map<std::uint32_t, std::uint64_t>;

CountersetSpec aggregated() {
  CountersetSpec spec = kGeometric;
  spec.instances = InstanceKind::kMultipleAggregate;
  return spec;
}

class PerfIdentity : public PerfTest {
 protected:
  Registration start(const std::string& name, const CountersetSpec& spec) {
    providers_.push_back(provider(name));
    return *providers_.back().add(spec);
  }
  static Instance create(Registration& set, const std::string& name, std::uint64_t value) {
    Instance instance = *set.create_instance(name);
    instance.set(0, value);
    return instance;
  }
  static std::vector<std::string> instances_of(const Guid& set) {
    const GUID guid = guid_of(set);
    DWORD needed = 0;
    static_cast<void>(
        meterbank_utf16_PerfEnumerateCounterSetInstances(nullptr, &guid, nullptr, 0, &needed));
    Bytes bytes(needed);
    EXPECT_EQ(
        meterbank_utf16_PerfEnumerateCounterSetInstances(
            nullptr, &guid, reinterpret_cast<PPERF_INSTANCE_HEADER>(bytes.data()), needed, &needed),
        kSuccess);
    std::vector<std::string> names;
    for (std::size_t at = 0; at < bytes.size();) {
      PERF_INSTANCE_HEADER header;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      std::u16string name((header.Size - sizeof header) / 2, u'\0');
      std::memcpy(name.data(), bytes.data() + at + sizeof header, name.size() * 2);
      names.emplace_back(name.begin(), std::find(name.begin(), name.end(), u'\0'));
      at += header.Size;
    }
    return names;
  }

  std::vector<Provider> providers_;
};

class PerfIdentityOfUsers : public PerfIdentity {
 protected:
  void SetUp() override {
    if (!may_be_two_users()) GTEST_SKIP() << "only root can be two users";
    share_directory(directory_.path());
  }
  std::function<void(const OtherUser::Pause&)> publishes(CountersetSpec spec, std::string instance,
                                                         std::uint64_t value) {
    return [=, this](const OtherUser::Pause& pause) {
      Registration set = start("a", spec);
      const Instance row = create(set, instance, value);
      pause();
    };
  }
};

TEST_F(PerfIdentity, TheTotalIsTheReadersOwn) {
  Registration set = start("a", aggregated());
  const Instance one = create(set, "one", 5), total = create(set, "_Total", 77);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"_Total", .counter = 1}), kSuccess);
  const auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].rows, (Rows{{"_Total", {{0, 5}}}, {"one", {{0, 5}}}}));
  EXPECT_EQ(blocks[1].rows, (Rows{{"", {{0, 5}}}}));
  EXPECT_EQ(instances_of(kGeometric.guid), (std::vector<std::string>{"one", "_Total"}));
}

TEST_F(PerfIdentity, ARowCalledTotalIsNoTotal) {
  Registration set = start("a", aggregated());
  const Instance total = create(set, "_Total", 77);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"_Total", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].shape, BlockShape::kError);
}

TEST_F(PerfIdentityOfUsers, TotalsLeaveOtherUsersOut) {
  OtherUser other(publishes(aggregated(), "theirs", 1000));
  Registration set = start("b", aggregated());
  const Instance one = create(set, "one", 5);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows,
            (Rows{{"_Total", {{0, 5}}}, {"one", {{0, 5}}}, {"theirs", {{0, 1000}}}}));
}

// It says that it began in 1970.
TEST_F(PerfIdentityOfUsers, AForgedAgeDescribesNoSet) {
  OtherUser other([&](const OtherUser::Pause& pause) {
    CountersetSpec spec = kGeometric;
    spec.name = "Forged";
    spec.instances = InstanceKind::kSingle;
    const ScriptedProvider forged(directory_.path(), spec, {}, "a", 0);
    pause();
  });
  Registration set = start("b", kGeometric);
  const Instance one = create(set, "one", 5);
  const GUID guid = guid_of(kGeometric.guid);
  std::array<char16_t, 64> name{};
  DWORD bytes = 0;
  ASSERT_EQ(meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
                nullptr, &guid, PERF_REG_COUNTERSET_NAME_STRING, 0,
                reinterpret_cast<LPBYTE>(name.data()), sizeof name, &bytes),
            kSuccess);
  EXPECT_EQ(std::u16string(name.data()), u"Geometric Waves");
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"one", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 5}}}}));
}

TEST_F(PerfIdentityOfUsers, ASecondSingleRowIsNotOfThisUser) {
  OtherUser other(publishes(kTrigonometric, "", 1000));
  Registration set = start("b", kTrigonometric);
  const Instance only = create(set, "", 5);
  Handle handle;
  ASSERT_EQ(handle.add({.set = kTrigonometric.guid, .pattern = u"", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 5}}}}));
  EXPECT_EQ(instances_of(kTrigonometric.guid).size(), 1U);
}

TEST_F(PerfIdentityOfUsers, ANamesakeStandsInNoRowsPlace) {
  OtherUser other(publishes(kGeometric, "ONE", 1000));
  Registration set = start("b", kGeometric);
  std::optional<Instance> one = create(set, "one", 5);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"one", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"one", {{0, 5}}}}));
  EXPECT_EQ(seen(handle)[1].rows, (Rows{{"", {{0, 5}}}}));
  EXPECT_EQ(instances_of(kGeometric.guid), std::vector<std::string>{"one"});
  one.reset();  // then it is the only one
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"ONE", {{0, 1000}}}}));
}

// It answers no question, and whatever it does not tell is no part of the sum.
TEST_F(PerfIdentityOfUsers, SilenceTakesNoTotal) {
  OtherUser other([&](const OtherUser::Pause& pause) {
    const auto refuse = [](PacketSocket& to, const ChannelRequest& request) {
      to.send(plain_answer(MessageType::kRefused, request.id));
    };
    const ScriptedProvider silent(directory_.path(), aggregated(), refuse, "a");
    pause();
  });
  Registration set = start("b", aggregated());
  std::optional<Instance> one = create(set, "one", 5);
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"*", .counter = 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"_Total", {{0, 5}}}, {"one", {{0, 5}}}}));
  one.reset();
  EXPECT_EQ(seen(handle)[0].status, kSuccess);
  EXPECT_TRUE(seen(handle)[0].rows.empty());
}

}  // namespace
}  // namespace meterbank::test
