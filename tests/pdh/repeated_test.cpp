// SPDX-License-Identifier: Apache-2.0
//
// PdhCollectQueryDataEx: collections on a thread of PDH's own.
#include <windows.h>

#include <thread>

#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

class PdhRepeated : public DisksTest {
 protected:
  PdhRepeated() : event_(CreateEventA(nullptr, FALSE, FALSE, nullptr)) {}
  ~PdhRepeated() override { CloseHandle(event_); }

  const HANDLE event_;
};

TEST_F(PdhRepeated, CollectionsGiveARateWithoutACallOfTheProgram) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, event_), kDone);
  EXPECT_NE(formatted(reads).result, kDone);  // it returns before the first of them
  ASSERT_EQ(WaitForSingleObject(event_, INFINITE), DWORD{WAIT_OBJECT_0});
  ASSERT_EQ(WaitForSingleObject(event_, INFINITE), DWORD{WAIT_OBJECT_0});
  EXPECT_EQ(formatted(reads).result, kDone);
}

// Whatever an ended thread has set, it has set before the call returns that ended it.
TEST_F(PdhRepeated, CollectionsEndWithTheNextCallAndWithTheQuery) {
  const HANDLE earlier = CreateEventA(nullptr, FALSE, FALSE, nullptr);
  {
    OpenQuery query;
    const PDH_HCOUNTER queue = query.add("\\Test Disks(sda)\\Queue Length");
    ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, earlier), kDone);
    ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, event_), kDone);
    ResetEvent(earlier);
    ASSERT_EQ(WaitForSingleObject(event_, INFINITE), DWORD{WAIT_OBJECT_0});
    EXPECT_EQ(formatted(queue).result, kDone);
    ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 0, event_), kDone);
    ResetEvent(event_);
    EXPECT_EQ(WaitForSingleObject(event_, 1500), DWORD{WAIT_TIMEOUT});
    ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, event_), kDone);
  }
  ResetEvent(event_);
  EXPECT_EQ(WaitForSingleObject(event_, 1500), DWORD{WAIT_TIMEOUT});
  EXPECT_EQ(WaitForSingleObject(earlier, 0), DWORD{WAIT_TIMEOUT});
  CloseHandle(earlier);
}

TEST_F(PdhRepeated, CollectionsNeedNoEventAndSurviveOneThatIsClosed) {
  OpenQuery query;
  const PDH_HCOUNTER queue = query.add("\\Test Disks(sda)\\Queue Length");
  const HANDLE closed = CreateEventA(nullptr, FALSE, FALSE, nullptr);
  CloseHandle(closed);
  for (const HANDLE event : {HANDLE{nullptr}, closed}) {
    ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, event), kDone);
    while (formatted(queue).result != kDone) std::this_thread::yield();
  }
}

TEST_F(PdhRepeated, CollectionsLetTheProgramCollectAndAddMeanwhile) {
  OpenQuery query;
  static_cast<void>(query.add("\\Test Disks(*)\\Queue Length"));
  ASSERT_EQ(PdhCollectQueryDataEx(query.get(), 1, event_), kDone);
  do {
    const PDH_HCOUNTER added = query.add("\\Test Disks(sda)\\Queue Length");
    EXPECT_EQ(query.collect(), kDone);
    EXPECT_EQ(formatted(added).result, kDone);
    EXPECT_EQ(PdhRemoveCounter(added), kDone);
  } while (WaitForSingleObject(event_, 0) != WAIT_OBJECT_0);
}

TEST_F(PdhRepeated, CollectionsHaveTheirCodes) {
  OpenQuery query;
  EXPECT_EQ(PdhCollectQueryDataEx(nullptr, 1, event_), PDH_STATUS{PDH_INVALID_HANDLE});
  EXPECT_EQ(PdhCollectQueryDataEx(event_, 1, event_), PDH_STATUS{PDH_INVALID_HANDLE});
  EXPECT_EQ(PdhCollectQueryDataEx(query.get(), 1, event_), PDH_STATUS{PDH_NO_DATA});
  EXPECT_EQ(PdhCollectQueryDataEx(query.get(), 0, nullptr), kDone);
  static_cast<void>(query.add("\\Test Disks(sda)\\Queue Length"));
  EXPECT_EQ(PdhCollectQueryDataEx(query.get(), 0xffffffffU, event_), kDone);
}

}  // namespace
}  // namespace meterbank::test
