// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pmu/request.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace meterbank::pmu {
namespace {

using namespace std::chrono_literals;

Item only_item(const Request& request) {
  EXPECT_EQ(request.message().items.size(), 1U);
  EXPECT_EQ(request.message().head.item_count, 1U);
  EXPECT_NE(request.message().head.flags & kAllocateHasItems, 0U);
  return request.message().items.empty() ? Item{} : request.message().items.front();
}

TEST(PmuRequest, WithoutAWordIsTheWholePmuOnAllCpusAtOnce) {
  const Allocate message = Request().message();

  EXPECT_EQ(message.head.flags, 0U);
  EXPECT_TRUE(message.items.empty());
  EXPECT_TRUE(message.groups.empty());
  EXPECT_EQ(message.head.wait_ns, 0U);
  EXPECT_EQ(message.head.term_ns, 0U);
  EXPECT_EQ(message.head.task, 0U);
}

TEST(PmuRequest, ItemsStandInTheOrderInWhichTheyWereSaid) {
  const auto request =
      Request().event("cycles").index(3).range(4, 5).counters(2, "any").tag(0x4d42).overflow();

  const std::vector<Item> items = request.message().items;
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items[0].kind, static_cast<std::uint32_t>(ItemKind::kNamedEvent));
  EXPECT_EQ(text_of(items[0].name), "cycles");
  EXPECT_EQ(items[1].begin, 3U);
  EXPECT_EQ(items[2].end, 5U);
  EXPECT_EQ(items[3].count, 2U);
  EXPECT_EQ(items[4].tag, 0x4d42U);
  EXPECT_EQ(items[5].kind, static_cast<std::uint32_t>(ItemKind::kOverflow));
  EXPECT_EQ(request.fault(), "");
}

TEST(PmuRequest, ABreakpointNamesItsPmuAddressLengthAndAccess) {
  const auto request = Request().breakpoint(0x1000, 8, Watch::kWrite);

  const Item item = only_item(request);
  EXPECT_EQ(text_of(request.message().head.pmu), "breakpoint");
  EXPECT_EQ(item.kind, static_cast<std::uint32_t>(ItemKind::kEvent));
  EXPECT_EQ(item.code, 2U);
  EXPECT_EQ(item.unit_mask, 8U);
  EXPECT_EQ(item.configuration, 0x1000U);
}

TEST(PmuRequest, UnitsBlocksBuffersAndRegistersCarryTheirNumbers) {
  EXPECT_EQ(only_item(Request().unit("lbr", 1, 64)).threshold, 64U);
  EXPECT_EQ(only_item(Request().block("pair", 2)).count, 2U);
  EXPECT_EQ(only_item(Request().event_buffer(100)).threshold, 100U);
  EXPECT_EQ(only_item(Request().extra("offcore", 0x55)).configuration, 0x55U);
  EXPECT_EQ(only_item(Request().event("cycles", kItemExcludesKernel)).flags, kItemExcludesKernel);
}

TEST(PmuRequest, CpusAreWrittenAsTheKernelWritesThem) {
  const Allocate list = Request().cpus("0-2,65").message();
  ASSERT_EQ(list.groups.size(), 2U);
  EXPECT_EQ(list.groups[0].mask, 7U);
  EXPECT_EQ(list.groups[1].mask, 2U);
  EXPECT_EQ(list.groups[1].group, 1U);
  EXPECT_EQ(list.head.group_count, 2U);

  const std::array<std::uint32_t, 3> numbers{65, 0, 1};
  const auto request = Request().cpus(numbers);
  ASSERT_EQ(request.message().groups.size(), 2U);
  EXPECT_EQ(request.message().groups[0].mask, 3U);
}

TEST(PmuRequest, AMalformedCpuListIsAFaultAndNotAnotherList) {
  for (const char* const bad : {"", "x", "1-", "3-1", "0,", ",0", "0-3x", "4096", "-1", " 0"}) {
    EXPECT_NE(Request().cpus(bad).fault(), "") << bad;
  }
  EXPECT_EQ(Request().cpus("4095").fault(), "");
  EXPECT_NE(Request().cpus({4096U}).fault(), "");
  EXPECT_NE(Request().cpus(std::span<const std::uint32_t>()).fault(), "");
}

TEST(PmuRequest, TheLastPlaceSaidCounts) {
  const Allocate thread = Request().cpus("0-3").this_thread().message();
  EXPECT_EQ(thread.head.task, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  EXPECT_EQ(thread.head.flags & kAllocateHasGroups, 0U);
  EXPECT_TRUE(thread.groups.empty());

  const Allocate cpus = Request().this_thread().cpus("1").message();
  EXPECT_EQ(cpus.head.task, 0U);
  EXPECT_EQ(cpus.groups.size(), 1U);
}

TEST(PmuRequest, TimesAreNanosecondsAndForEverIsForEver) {
  const AllocateHead head = Request().wait(Request::kForEver).term(10s).hold(15min).message().head;

  EXPECT_EQ(head.wait_ns, kForever);
  EXPECT_EQ(head.term_ns, 10'000'000'000U);
  EXPECT_EQ(head.hold_ns, 900'000'000'000U);
  EXPECT_EQ(Request().wait(-1s).message().head.wait_ns, 0U);
}

TEST(PmuRequest, FlagsSayHowItIsServed) {
  const AllocateHead head = Request()
                                .shares()
                                .delegates()
                                .detached()
                                .restorable()
                                .duty(250)
                                .priority(Priority::kCritical)
                                .label("nightly")
                                .message()
                                .head;

  EXPECT_EQ(head.flags,
            kAllocateShares | kAllocateDelegates | kAllocateDetached | kAllocateRestorable);
  EXPECT_EQ(head.duty_permille, 250U);
  EXPECT_EQ(head.priority, static_cast<std::uint32_t>(Priority::kCritical));
  EXPECT_EQ(text_of(head.label), "nightly");
}

TEST(PmuRequest, NamesThatDoNotFitAreFaultsButALabelIsCut) {
  const std::string longest(kWireNameBytes, 'x');

  EXPECT_NE(Request().event(longest).fault(), "");
  EXPECT_NE(Request().on_pmu(longest).fault(), "");
  const auto labelled = Request().label(longest);
  EXPECT_EQ(labelled.fault(), "");
  EXPECT_EQ(text_of(labelled.message().head.label), longest.substr(0, kWireNameBytes - 1));
}

TEST(PmuRequest, MoreItemsThanAMessageHasRoomForAreAFault) {
  Request request;
  for (std::uint32_t item = 0; item < kItemsMax; ++item) request.index(item);
  EXPECT_EQ(request.fault(), "");
  EXPECT_NE(request.event("one too many").fault(), "");
  EXPECT_EQ(request.message().items.size(), kItemsMax);
}

TEST(PmuRequest, GoesOverTheWireAsItWasSaid) {
  const Allocate sent = Request()
                            .event("cycles")
                            .breakpoint(0x1000, 4, Watch::kRead)
                            .cpus("0-3")
                            .label("x")
                            .message();

  const auto decoded = decode_client_message(encode(9, ClientMessage(sent)));

  ASSERT_FALSE(decoded.rejection);
  const auto& arrived = std::get<Allocate>(decoded.message);
  EXPECT_EQ(arrived.items.size(), 2U);
  EXPECT_EQ(arrived.groups.size(), 1U);
  EXPECT_EQ(text_of(arrived.head.label), "x");
}

}  // namespace
}  // namespace meterbank::pmu
