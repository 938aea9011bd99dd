// SPDX-License-Identifier: Apache-2.0
//
// The functions of a kernel-mode header at work, those that the waves do not call.
#include <wdm.h>

#include "../../pcw/pcw_fixture.hpp"
#include "queue_values.h"
// Behind the structs, as all drivers have it.
#include "queue_counters.h"

namespace meterbank {
namespace {

using namespace test;
using Values = std::vector<std::uint64_t>;

class GeneratedQueues : public PcwTest {
 protected:
  ~GeneratedQueues() override { NetUnregisterQueues(); }
};

TEST_F(GeneratedQueues, AreReadWhereTheyAreFromCreateToClose) {
  ASSERT_EQ(NetRegisterQueues(nullptr, nullptr), STATUS_SUCCESS) << pcw::last_refusal();
  QUEUE_COUNTERS values{7, 2};
  PPCW_INSTANCE queue = nullptr;

  ASSERT_EQ(NetCreateQueues(&queue, Name(L"eth0"), &values), STATUS_SUCCESS);
  EXPECT_EQ(values_of(collect("Queues"), "eth0"), (Values{7, 2}));
  std::atomic_ref(values.Length).store(3, std::memory_order_relaxed);  // relaxed: the answer orders
  EXPECT_EQ(values_of(collect("Queues"), "eth0"), (Values{7, 3}));
  NetCloseQueues(queue);
  EXPECT_EQ(collect("Queues").size(), 0U);

  const auto set = find_set("Queues");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->find(1)->name, "Packets/sec");
  EXPECT_EQ(set->find(1)->type, CounterType::kBulkCount);
}

NTSTATUS NTAPI add_one(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info, PVOID context) {
  if (type == PcwCallbackEnumerateInstances) {
    return NetAddQueues(info->EnumerateInstances.Buffer, Name(L"computed"), 5, nullptr);
  }
  if (type != PcwCallbackCollectData) return STATUS_SUCCESS;
  return NetAddQueues(info->CollectData.Buffer, Name(L"computed"), 5,
                      static_cast<const QUEUE_COUNTERS*>(context));
}

TEST_F(GeneratedQueues, AreAddedByACallbackThatGetsItsContext) {
  QUEUE_COUNTERS values{40, 1};
  ASSERT_EQ(NetRegisterQueues(add_one, &values), STATUS_SUCCESS);
  EXPECT_EQ(values_of(collect("Queues"), "computed"), (Values{40, 1}));
  EXPECT_EQ(collect("Queues", MessageType::kEnumerate).size(), 1U);
}

TEST_F(GeneratedQueues, MayBeRegisteredWithAVariableAndFlagsOfTheCallers) {
  PCW_REGISTRATION_INFORMATION information;
  NetInitRegistrationInformationQueues(nullptr, nullptr, &information);
  information.Flags = PcwRegistrationSiloNeutral;
  PPCW_REGISTRATION own = nullptr;
  ASSERT_EQ(PcwRegister(&own, &information), STATUS_SUCCESS) << pcw::last_refusal();
  EXPECT_EQ(NetQueues, nullptr);
  EXPECT_EQ(find_set("Queues")->find(2)->name, "Queue Length");
  PcwUnregister(own);
}

TEST_F(GeneratedQueues, MayBeUnregisteredTwice) {
  NetUnregisterQueues();
  ASSERT_EQ(NetRegisterQueues(nullptr, nullptr), STATUS_SUCCESS);
  NetUnregisterQueues();
  EXPECT_EQ(NetQueues, nullptr);
  EXPECT_EQ(find_set("Queues"), nullptr);
  NetUnregisterQueues();
  EXPECT_EQ(directory_.files(), 0U);
}

}  // namespace
}  // namespace meterbank
