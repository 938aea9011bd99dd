// SPDX-License-Identifier: Apache-2.0
//
// PerfLib over rows that a provider computes when it is asked.
#include "../support/scripted_provider.hpp"
#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

class PerfCallback : public PerfTest {
 protected:
  static Callback two_waves() {
    return [](CallbackRequest& request) {
      request.add("Small Wave", 0, std::array<std::uint64_t, 2>{11, 12});
      request.add("Large Wave", 1, std::array<std::uint64_t, 2>{21, 22});
      return 0U;
    };
  }
  static ScriptedProvider::Script one_answer(MessageType type, ChannelRefusal refusal = {}) {
    return [type, refusal](PacketSocket& to, const ChannelRequest& request) {
      const bool is_ask =
          request.type == MessageType::kCollect || request.type == MessageType::kEnumerate;
      if (is_ask) to.send(plain_answer(type, request.id, refusal));
    };
  }
  static std::pair<ULONG, Bytes> instances_of(const CountersetSpec& spec) {
    const GUID guid = guid_of(spec.guid);
    DWORD needed = 0;
    ULONG error =
        meterbank_utf16_PerfEnumerateCounterSetInstances(nullptr, &guid, nullptr, 0, &needed);
    if (error != kTooSmall) return {error, {}};
    Bytes bytes(needed);
    error = meterbank_utf16_PerfEnumerateCounterSetInstances(
        nullptr, &guid, reinterpret_cast<PPERF_INSTANCE_HEADER>(bytes.data()), needed, &needed);
    return {error, bytes};
  }
};

TEST_F(PerfCallback, DataHasRowsThatAreComputedWhenAsked) {
  Provider provider = this->provider("waves");
  const Registration waves = *provider.add(kGeometric, two_waves());
  Handle handle;
  EXPECT_EQ(handle.add({}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].rows,
            (Rows{{"Small Wave", {{1, 11}, {2, 12}}}, {"Large Wave", {{1, 21}, {2, 22}}}}));
}

TEST_F(PerfCallback, InstancesAreEnumeratedByAsking) {
  Provider provider = this->provider("waves");
  const Registration waves = *provider.add(kGeometric, two_waves());
  const auto [error, bytes] = instances_of(kGeometric);
  EXPECT_EQ(error, kSuccess);
  EXPECT_EQ(bytes.size(), 64U);  // two headers of 8 bytes, names of 22 with their NUL, padded
}

// The reply is kept for the buffer that has room for it.
TEST_F(PerfCallback, ABufferThatIsTooSmallDoesNotCostAnotherQuestion) {
  Provider provider = this->provider("waves");
  std::atomic<int> asked{0};
  const Registration waves = *provider.add(kGeometric, [&](CallbackRequest& request) {
    if (request.reason() == CallbackReason::kCollect) ++asked;
    return two_waves()(request);
  });
  Handle handle;
  handle.add({});
  EXPECT_EQ(seen(handle)[0].rows.size(), 2U);  // with no buffer first
  EXPECT_EQ(asked.load(std::memory_order_relaxed), 1);
  EXPECT_EQ(seen(handle)[0].rows.size(), 2U);
  EXPECT_EQ(asked.load(std::memory_order_relaxed), 2);
}

TEST_F(PerfCallback, InterestBeginsWithTheCounterAndEndsWithTheHandle) {
  Provider provider = this->provider("waves");
  const Registration waves = *provider.add(kGeometric, two_waves());
  const Interest interest = waves.interest();
  {
    Handle handle;
    handle.add({.counter = 2});
    while (!interest.wanted(1)) std::this_thread::yield();
    EXPECT_FALSE(interest.wanted(0));
    handle.remove({.counter = 2});
    while (interest.wanted()) std::this_thread::yield();
    handle.add({.counter = 1});
    while (!interest.wanted(0)) std::this_thread::yield();
  }
  while (interest.wanted()) std::this_thread::yield();
}

TEST_F(PerfCallback, ABlockOfASetWithoutAnswersSaysWhy) {
  struct Case {
    MessageType type;
    ChannelRefusal refusal;
    ULONG status;
  };
  for (const Case& each :
       {Case{MessageType::kRefused, ChannelRefusal::kRate, ERROR_BUSY},
        Case{MessageType::kRefused, ChannelRefusal::kClosing, ERROR_WMI_INSTANCE_NOT_FOUND},
        Case{MessageType::kDone, {}, ERROR_WMI_INVALID_REGINFO}}) {
    const ScriptedProvider odd(directory_.path(), kGeometric, one_answer(each.type, each.refusal));
    Handle handle;
    EXPECT_EQ(handle.add({}), kSuccess);
    const auto blocks = seen(handle);
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].shape, BlockShape::kError);
    EXPECT_EQ(blocks[0].status, each.status);
    EXPECT_EQ(instances_of(kGeometric).first, each.status);
  }
}

class PerfFailingCallback : public PerfCallback {
 protected:
  // The status of the block, and of the enumeration.
  std::pair<ULONG, ULONG> statuses(const Callback& callback, std::u16string name = u"*",
                                   ULONG added = kSuccess) {
    Provider provider = this->provider("waves");
    const Registration waves = *provider.add(kGeometric, callback);
    Handle handle;
    EXPECT_EQ(handle.add({.pattern = std::move(name)}), added);
    const auto blocks = seen(handle);
    EXPECT_EQ(blocks.size(), 1U);
    return {blocks.at(0).status, instances_of(kGeometric).first};
  }
  // Told of interest, it has no objection.
  static bool asks_for_rows(const CallbackRequest& request) {
    return request.reason() == CallbackReason::kCollect ||
           request.reason() == CallbackReason::kEnumerate;
  }
};

TEST_F(PerfFailingCallback, ItsCodeIsTheStatusWhereItAddedNoRow) {
  const Callback fails = [](CallbackRequest& request) {
    return asks_for_rows(request) ? ULONG{ERROR_ACCESS_DENIED} : 0U;
  };
  for (const char16_t* const name : {u"*", u"Small Wave"}) {
    EXPECT_EQ(statuses(fails, name),
              std::pair(ULONG{ERROR_ACCESS_DENIED}, ULONG{ERROR_ACCESS_DENIED}))
        << (name[0] == u'*' ? "all" : "one");
  }
}

TEST_F(PerfFailingCallback, ItsRowsCountForMoreThanItsCode) {
  const auto [block, instances] = statuses([](CallbackRequest& request) {
    two_waves()(request);
    return asks_for_rows(request) ? ULONG{ERROR_ACCESS_DENIED} : 0U;
  });
  EXPECT_EQ(block, kSuccess);
  EXPECT_EQ(instances, kSuccess);
}

TEST_F(PerfFailingCallback, TheStatusOfAKernelProviderChangesNothing) {
  const Callback fails = [](CallbackRequest&) { return 0xC0000001U; };
  EXPECT_EQ(statuses(fails).first, kSuccess);
  EXPECT_EQ(statuses(fails, u"Small Wave").first, static_cast<ULONG>(ERROR_WMI_INSTANCE_NOT_FOUND));
}

TEST_F(PerfFailingCallback, AnExceptionIsAnInternalError) {
  const Callback throws = [](CallbackRequest&) -> std::uint32_t { throw std::runtime_error("no"); };
  EXPECT_EQ(statuses(throws).first, static_cast<ULONG>(ERROR_INTERNAL_ERROR));
}

TEST_F(PerfFailingCallback, ItsRefusalIsTheStatusOfTheCounterAndOfItsBlock) {
  const Callback refuses = [](CallbackRequest& request) -> std::uint32_t {
    return request.reason() == CallbackReason::kAddInterest ? ERROR_INVALID_DATA : 0;
  };
  constexpr ULONG kRefusal = ERROR_INVALID_DATA;
  EXPECT_EQ(statuses(refuses, u"*", kRefusal).first, kRefusal);
}

// As on Windows it has a second.
TEST_F(PerfCallback, ARefusalThatComesTooLateRefusesNothing) {
  std::atomic<bool> is_over{false};
  Provider provider = this->provider("waves");
  const Registration waves = *provider.add(kGeometric, [&](CallbackRequest& request) {
    if (request.reason() != CallbackReason::kAddInterest) return two_waves()(request);
    is_over.wait(false, std::memory_order_acquire);  // acquire: pairs with the store below
    return ULONG{ERROR_ACCESS_DENIED};
  });
  Handle handle;
  EXPECT_EQ(handle.add({}), kSuccess);
  is_over.store(true, std::memory_order_release);  // release: pairs with the wait above
  is_over.notify_all();
  EXPECT_EQ(seen(handle)[0].rows.size(), 2U);
}

TEST_F(PerfCallback, ATimeoutIsErrorTimeout) {
  const ScriptedProvider hung(directory_.path(), kGeometric,
                              [](PacketSocket&, const ChannelRequest&) {});
  EXPECT_EQ(instances_of(kGeometric).first, static_cast<ULONG>(ERROR_TIMEOUT));
}

TEST_F(PerfCallback, RowsOfThoseThatAnsweredHideThatOneDidNot) {
  Provider provider = this->provider("waves");
  const Registration waves = *provider.add(kGeometric, two_waves());
  const ScriptedProvider odd(directory_.path(), kGeometric,
                             one_answer(MessageType::kRefused, ChannelRefusal::kRate));
  Handle handle;
  handle.add({});
  const auto blocks = seen(handle);
  EXPECT_EQ(blocks[0].status, kSuccess);
  EXPECT_EQ(blocks[0].rows.size(), 2U);
}

}  // namespace
}  // namespace meterbank::test
