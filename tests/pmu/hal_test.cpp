// SPDX-License-Identifier: Apache-2.0
//
// The calls of Windows, row by row: rows 105 to 117 of what a program may rely on there, as far as
// they can be seen from the calling side.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "../support/sanitizers.hpp"
#include "hal_words.h"
#include "meterbank/hal/hardware_counters.h"
#include "pmu_fixture.hpp"

namespace meterbank::pmu {
namespace {

using test::ScriptedArbiter;
using Client = ScriptedArbiter::Client;
using Descriptor = PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR;

// A list of any length.
class List {
 public:
  explicit List(const std::vector<Descriptor>& descriptors)
      : words_(1 + descriptors.size() * sizeof(Descriptor) / sizeof(std::uint64_t)) {
    get()->Count = static_cast<ULONG>(descriptors.size());
    for (std::size_t at = 0; at < descriptors.size(); ++at) {
      std::memcpy(&words_[1 + at * 3], &descriptors[at], sizeof(Descriptor));
    }
  }
  [[nodiscard]] PPHYSICAL_COUNTER_RESOURCE_LIST get() {
    return reinterpret_cast<PPHYSICAL_COUNTER_RESOURCE_LIST>(words_.data());
  }

 private:
  std::vector<std::uint64_t> words_;
};

Descriptor of_type(int type) {
  Descriptor descriptor{};
  std::memcpy(&descriptor.Type, &type, sizeof type);  // as C would, which knows no wrong ones
  return descriptor;
}
Descriptor single(ULONG counter) {
  Descriptor descriptor = of_type(ResourceTypeSingle);
  descriptor.u.CounterIndex = counter;
  return descriptor;
}
Descriptor range(ULONG begin, ULONG end) {
  Descriptor descriptor = of_type(ResourceTypeRange);
  descriptor.u.Range.Begin = begin;
  descriptor.u.Range.End = end;
  return descriptor;
}
Descriptor tag(ULONG value) {
  Descriptor descriptor = of_type(ResourceTypeIdenitificationTag);
  descriptor.u.IdentificationTag = value;
  return descriptor;
}

class HalTest : public test::PmuTest {
 protected:
  void SetUp() override { ::setenv("METERBANK_PMUD_SOCKET", socket().c_str(), 1); }
  void TearDown() override {
    for (const HANDLE handle : held_) HalFreeHardwareCounters(handle);
    ::unsetenv("METERBANK_PMUD_SOCKET");
    crash();
  }

  NTSTATUS allocate(std::vector<GROUP_AFFINITY> groups, const std::vector<Descriptor>& items,
                    HANDLE* handle = nullptr) {
    List list(items);
    return allocate(groups.empty() ? nullptr : groups.data(), static_cast<ULONG>(groups.size()),
                    list.get(), handle);
  }
  // On every failure the handle is null, whatever it was.
  NTSTATUS allocate(PGROUP_AFFINITY groups, ULONG count, PPHYSICAL_COUNTER_RESOURCE_LIST list,
                    HANDLE* handle = nullptr) {
    HANDLE own = this;
    HANDLE& target = handle != nullptr ? *handle : own;
    const NTSTATUS status = HalAllocateHardwareCounters(groups, count, list, &target);
    if (status == STATUS_SUCCESS) {
      EXPECT_NE(target, nullptr);
      EXPECT_STREQ(MeterbankHalReason(), "");
      held_.insert(target);
    } else {
      EXPECT_EQ(target, nullptr);
      EXPECT_STRNE(MeterbankHalReason(), "");
    }
    return status;
  }
  NTSTATUS free(HANDLE handle) {
    held_.erase(handle);
    return HalFreeHardwareCounters(handle);
  }
  // An arbiter that answers every request so.
  void refusing(Answer answer, Reason reason) {
    arbiter(
        [=](ScriptedArbiter& self, Client& client, std::uint64_t id, const ClientMessage& message) {
          if (!std::holds_alternative<Allocate>(message)) return false;
          Refused refused;
          refused.head.answer = answer;
          refused.head.reason = reason;
          refused.sentence = "hog (321) has it";
          self.send(client, id, refused);
          return true;
        });
  }

  std::set<HANDLE> held_;
};

// ---- What goes to the arbiter ----

TEST_F(HalTest, A105ANullListIsTheWholePmuOfAllProcessors) {
  auto& arbiter = this->arbiter();

  EXPECT_EQ(allocate(nullptr, 0, nullptr), STATUS_SUCCESS);

  const auto asked = arbiter.received<Allocate>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].head.flags, 0U);
  EXPECT_EQ(asked[0].head.term_ns, 0U);
  EXPECT_EQ(asked[0].head.wait_ns, 0U);  // the call of Windows does not wait
}

TEST_F(HalTest, A105TakenCountersAreInsufficientResourcesWithTheHolderNamed) {
  refusing(Answer::kInsufficientResources, Reason::kWholePmu);
  EXPECT_EQ(allocate(nullptr, 0, nullptr), STATUS_INSUFFICIENT_RESOURCES);
  EXPECT_STREQ(MeterbankHalReason(), "hog (321) has it");
}

TEST_F(HalTest, A106AllItemsGoInOneRequestInTheirOrder) {
  auto& arbiter = this->arbiter();

  EXPECT_EQ(allocate({{.Mask = 0b101, .Group = 1, .Reserved = {}}},
                     {single(2), range(4, 6), of_type(ResourceTypeOverflow), tag(0x4d42)}),
            STATUS_SUCCESS);

  const auto asked = arbiter.received<Allocate>();
  ASSERT_EQ(asked.size(), 1U);
  ASSERT_EQ(asked[0].items.size(), 4U);
  EXPECT_EQ(asked[0].items[0].kind, 0U);
  EXPECT_EQ(asked[0].items[0].begin, 2U);
  EXPECT_EQ(asked[0].items[1].kind, 1U);
  EXPECT_EQ(asked[0].items[1].end, 6U);
  EXPECT_EQ(asked[0].items[2].kind, 3U);
  EXPECT_EQ(asked[0].items[3].tag, 0x4d42U);
  ASSERT_EQ(asked[0].groups.size(), 1U);
  EXPECT_EQ(asked[0].groups[0].mask, 5U);
  EXPECT_EQ(asked[0].groups[0].group, 1U);
}

// ---- Row 108 ----

TEST_F(HalTest, A108ARangeIncludesBothEndsAndDoesNotEndBeforeItBegins) {
  auto& arbiter = this->arbiter();

  EXPECT_EQ(allocate({}, {range(3, 3)}), STATUS_SUCCESS);
  EXPECT_EQ(allocate({}, {range(0, 7)}), STATUS_SUCCESS);
  EXPECT_EQ(allocate({}, {range(4, 3)}), STATUS_INVALID_PARAMETER);

  const auto asked = arbiter.received<Allocate>();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].items[0].begin, 0U);
  EXPECT_EQ(asked[1].items[0].end, 7U);
}

TEST_F(HalTest, A108ACounterNamedTwiceIsInvalid) {
  arbiter();
  EXPECT_EQ(allocate({}, {single(1), single(1)}), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {range(0, 3), single(2)}), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {range(0, 3), range(3, 5)}), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {range(0, 3), range(4, 5)}), STATUS_SUCCESS);
}

TEST_F(HalTest, A108ACounterThatTheMachineHasNotIsNotSupported) {
  refusing(Answer::kNotSupported, Reason::kNoSuchThing);
  EXPECT_EQ(allocate({}, {single(40)}), STATUS_NOT_SUPPORTED);
  EXPECT_EQ(allocate({}, {range(0, 0xffff'ffff)}), STATUS_NOT_SUPPORTED);
}

// ---- Row 109 ----

TEST_F(HalTest, A109AnExtendedConfigurationIsNotSupported) {
  auto& arbiter = this->arbiter();
  EXPECT_EQ(allocate({}, {of_type(ResourceTypeExtendedCounterConfiguration)}),
            STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(arbiter.received<Allocate>().empty());
  // What breaks a rule is that first.
  EXPECT_EQ(allocate({}, {of_type(ResourceTypeExtendedCounterConfiguration), range(2, 1)}),
            STATUS_INVALID_PARAMETER);
}

TEST_F(HalTest, A109FlagsAndUnknownTypesAreInvalid) {
  arbiter();
  Descriptor flagged = single(1);
  flagged.Flags = 1;
  EXPECT_EQ(allocate({}, {flagged}), STATUS_INVALID_PARAMETER);
  for (const int type : {static_cast<int>(ResourceTypeMax), 7, 0x100, 0x7fff'ffff}) {
    EXPECT_EQ(allocate({}, {of_type(type)}), STATUS_INVALID_PARAMETER) << type;
  }
}

// ---- Row 110 ----

TEST_F(HalTest, A110GroupsAndTheirCountAgree) {
  auto& arbiter = this->arbiter();
  GROUP_AFFINITY group{.Mask = 1, .Group = 0, .Reserved = {}};

  EXPECT_EQ(allocate(nullptr, 1, nullptr), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate(&group, 0, nullptr), STATUS_INVALID_PARAMETER);
  EXPECT_TRUE(arbiter.received<Allocate>().empty());
  EXPECT_EQ(allocate(&group, 1, nullptr), STATUS_SUCCESS);
}

TEST_F(HalTest, A110MasksReservedWordsAndGroupNumbersAreChecked) {
  arbiter();
  EXPECT_EQ(allocate({{.Mask = 0, .Group = 0, .Reserved = {}}}, {single(0)}),
            STATUS_INVALID_PARAMETER);
  for (int word = 0; word < 3; ++word) {
    GROUP_AFFINITY group{.Mask = 1, .Group = 0, .Reserved = {}};
    group.Reserved[word] = 1;
    EXPECT_EQ(allocate({group}, {single(0)}), STATUS_INVALID_PARAMETER);
  }
  EXPECT_EQ(allocate({{.Mask = 1, .Group = 64, .Reserved = {}}}, {single(0)}),
            STATUS_INVALID_PARAMETER);
  const std::vector<GROUP_AFFINITY> many(65, {.Mask = 1, .Group = 0, .Reserved = {}});
  EXPECT_EQ(allocate(many, {single(0)}), STATUS_INVALID_PARAMETER);
}

// ---- Row 111 ----

TEST_F(HalTest, A111OnlyAHandleThatIsHeldCanBeFreedAndOnlyOnce) {
  auto& arbiter = this->arbiter();
  HANDLE handle = nullptr;
  ASSERT_EQ(allocate({}, {single(0)}, &handle), STATUS_SUCCESS);

  EXPECT_EQ(free(handle), STATUS_SUCCESS);
  EXPECT_EQ(free(handle), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(free(nullptr), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(free(this), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(free(INVALID_HANDLE_VALUE), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);

  // And it is not given out again.
  HANDLE next = nullptr;
  ASSERT_EQ(allocate({}, {single(0)}, &next), STATUS_SUCCESS);
  EXPECT_NE(next, handle);
}

TEST_F(HalTest, A111TheChildOfAForkKnowsNoHandleOfItsParent) {
  if (test::kHasThreadSanitizer) GTEST_SKIP() << "it takes no new thread in a forked child";
  auto& arbiter = this->arbiter();
  HANDLE handle = nullptr;
  ASSERT_EQ(allocate({}, {single(0)}, &handle), STATUS_SUCCESS);

  const pid_t child = ::fork();
  if (child == 0) {
    bool good = HalFreeHardwareCounters(handle) == STATUS_INVALID_PARAMETER;
    HANDLE own = nullptr;
    good = good && HalAllocateHardwareCounters(nullptr, 0, nullptr, &own) == STATUS_SUCCESS;
    good = good && HalFreeHardwareCounters(own) == STATUS_SUCCESS;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);  // the child's own
  EXPECT_EQ(free(handle), STATUS_SUCCESS);
}

TEST_F(HalTest, A111AHandleWhoseLeaseWasTakenAwayIsStillFreedOnce) {
  auto& arbiter = this->arbiter();
  HANDLE handle = nullptr;
  ASSERT_EQ(allocate({}, {single(0)}, &handle), STATUS_SUCCESS);

  arbiter.run([](ScriptedArbiter& self) {
    self.send_all(Notice{make_token(1, 1, 7), NoticeKind::kLost, Cause::kPreempted, 0});
  });

  EXPECT_EQ(free(handle), STATUS_SUCCESS);
  EXPECT_EQ(free(handle), STATUS_INVALID_PARAMETER);
}

// ---- Rows 114, 115, 117 ----

TEST_F(HalTest, A114AnOverflowWantsACounterAndABufferEntriesOfTheStandardSize) {
  auto& arbiter = this->arbiter();
  EXPECT_EQ(allocate({}, {of_type(ResourceTypeOverflow)}), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {of_type(ResourceTypeOverflow), tag(1)}), STATUS_INVALID_PARAMETER);
  Descriptor buffer = of_type(ResourceTypeEventBuffer);
  buffer.u.EventBufferConfiguration.EventThreshold = 64;
  EXPECT_EQ(allocate({}, {buffer}), STATUS_SUCCESS);
  EXPECT_EQ(arbiter.received<Allocate>().back().items.front().threshold, 64U);
  buffer.u.EventBufferConfiguration.CustomEventBufferEntrySize = 8;
  EXPECT_EQ(allocate({}, {buffer}), STATUS_INVALID_PARAMETER);
}

TEST_F(HalTest, A115WithoutAnArbiterOrAPmuNothingIsSupported) {
  EXPECT_EQ(allocate({}, {single(0)}), STATUS_NOT_SUPPORTED);
  EXPECT_NE(std::string(MeterbankHalReason()).find("meterbank-pmud"), std::string::npos);
  // A request that breaks a rule fails with or without an arbiter.
  EXPECT_EQ(allocate({}, {}), STATUS_INVALID_PARAMETER);
  refusing(Answer::kNotSupported, Reason::kNoPmu);
  EXPECT_EQ(allocate(nullptr, 0, nullptr), STATUS_NOT_SUPPORTED);
}

TEST_F(HalTest, A117TwoOwnersOfOneProcessHaveTwoHandles) {
  auto& arbiter = this->arbiter();
  HANDLE first = nullptr, second = nullptr;
  ASSERT_EQ(allocate({}, {single(0)}, &first), STATUS_SUCCESS);
  ASSERT_EQ(allocate({}, {single(1)}, &second), STATUS_SUCCESS);
  EXPECT_NE(first, second);

  EXPECT_EQ(free(first), STATUS_SUCCESS);
  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);
  EXPECT_EQ(free(second), STATUS_SUCCESS);
  EXPECT_EQ(arbiter.await<Free>(2).size(), 2U);
}

// ---- The rest of the contract ----

TEST_F(HalTest, NoHandleAnEmptyListAndTwoTagsAreInvalid) {
  arbiter();
  EXPECT_EQ(HalAllocateHardwareCounters(nullptr, 0, nullptr, nullptr), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {}), STATUS_INVALID_PARAMETER);
  EXPECT_EQ(allocate({}, {single(0), tag(1), tag(2)}), STATUS_INVALID_PARAMETER);
}

TEST_F(HalTest, AListLongerThanAMessageIsInvalidAndNotRead) {
  arbiter();
  std::vector<Descriptor> many(kItemsMax + 1, tag(1));
  EXPECT_EQ(allocate({}, many), STATUS_INVALID_PARAMETER);
}

TEST_F(HalTest, TheArbitersAnswersAreTheStatusesOfTheSameName) {
  for (const auto& [answer, status] : std::vector<std::pair<Answer, NTSTATUS>>{
           {Answer::kInvalidParameter, STATUS_INVALID_PARAMETER},
           {Answer::kNotSupported, STATUS_NOT_SUPPORTED},
           {Answer::kInsufficientResources, STATUS_INSUFFICIENT_RESOURCES}}) {
    refusing(answer, Reason::kQuota);
    EXPECT_EQ(allocate({}, {single(0)}), status);
  }
}

TEST_F(HalTest, SourcesInCFindTheSameWords) {
  auto& arbiter = this->arbiter();
  EXPECT_EQ(hal_words_descriptor_bytes(), sizeof(Descriptor));
  EXPECT_EQ(hal_words_hold_one_counter(3), 1);
  EXPECT_EQ(arbiter.received<Allocate>().front().items.front().begin, 3U);
  EXPECT_EQ(arbiter.await<Free>(1).size(), 1U);
}

}  // namespace
}  // namespace meterbank::pmu
