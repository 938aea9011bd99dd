// SPDX-License-Identifier: Apache-2.0
//
// Handles, adding and collecting, code by documented code.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

class PdhQueries : public DisksTest {};

// Every function that takes a handle, with one that is not open.
std::vector<PDH_STATUS> call_all(HANDLE handle) {
  DWORD bytes = 0, count = 0;
  LONGLONG time = 0;
  PDH_FMT_COUNTERVALUE value{};
  PDH_RAW_COUNTER raw{};
  PDH_STATISTICS statistics{};
  PDH_HCOUNTER counter = nullptr;
  return {PdhAddCounterA(handle, "\\Test Clock\\Ticks", 0, &counter),
          PdhAddCounterW(handle, L"\\Test Clock\\Ticks", 0, &counter),
          PdhAddEnglishCounterA(handle, "\\Test Clock\\Ticks", 0, &counter),
          PdhAddEnglishCounterW(handle, L"\\Test Clock\\Ticks", 0, &counter),
          PdhCollectQueryData(handle),
          PdhCollectQueryDataWithTime(handle, &time),
          PdhCollectQueryDataEx(handle, 1, nullptr),
          PdhCloseQuery(handle),
          PdhRemoveCounter(handle),
          PdhGetFormattedCounterValue(handle, PDH_FMT_LONG, nullptr, &value),
          PdhGetRawCounterValue(handle, nullptr, &raw),
          PdhGetFormattedCounterArrayA(handle, PDH_FMT_LONG, &bytes, &count, nullptr),
          PdhGetFormattedCounterArrayW(handle, PDH_FMT_LONG, &bytes, &count, nullptr),
          PdhGetRawCounterArrayA(handle, &bytes, &count, nullptr),
          PdhGetRawCounterArrayW(handle, &bytes, &count, nullptr),
          PdhCalculateCounterFromRawValue(handle, PDH_FMT_LONG, &raw, nullptr, &value),
          PdhComputeCounterStatistics(handle, PDH_FMT_LONG, 0, 1, &raw, &statistics),
          PdhGetCounterTimeBase(handle, &time),
          PdhSetCounterScaleFactor(handle, 0),
          PdhGetCounterInfoA(handle, FALSE, &bytes, nullptr),
          PdhGetCounterInfoW(handle, FALSE, &bytes, nullptr)};
}

TEST_F(PdhQueries, KnowTheirHandlesAndRefuseOthers) {
  PDH_HQUERY closed = nullptr;
  ASSERT_EQ(PdhOpenQueryA(nullptr, 0, &closed), kDone);
  EXPECT_TRUE(PdhIsRealTimeQuery(closed));
  ASSERT_EQ(PdhCloseQuery(closed), kDone);
  EXPECT_FALSE(PdhIsRealTimeQuery(closed));
  for (const HANDLE handle : {closed, HANDLE{nullptr}, INVALID_HANDLE_VALUE}) {
    for (const PDH_STATUS status : call_all(handle)) EXPECT_EQ(status, PDH_INVALID_HANDLE);
  }
}

TEST_F(PdhQueries, AreNoCountersAndCountersAreNoQueries) {
  OpenQuery query;
  const PDH_HCOUNTER counter = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(PdhCollectQueryData(counter), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhCloseQuery(counter), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhRemoveCounter(query.get()), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhRemoveCounter(counter), kDone);
  EXPECT_EQ(PdhRemoveCounter(counter), PDH_INVALID_HANDLE);
}

TEST_F(PdhQueries, CloseTheirCounters) {
  PDH_HQUERY query = nullptr;
  PDH_HCOUNTER counter = nullptr;
  ASSERT_EQ(PdhOpenQueryW(nullptr, 0, &query), kDone);
  ASSERT_EQ(PdhAddCounterA(query, "\\Test Clock\\Ticks", 0, &counter), kDone);
  ASSERT_EQ(PdhCloseQuery(query), kDone);
  PDH_RAW_COUNTER value{};
  EXPECT_EQ(PdhGetRawCounterValue(counter, nullptr, &value), PDH_INVALID_HANDLE);
}

TEST_F(PdhQueries, RefuseMissingPlacesForResults) {
  OpenQuery query;
  const PDH_HCOUNTER counter = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(PdhOpenQueryA(nullptr, 0, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhAddCounterA(query.get(), "\\Test Clock\\Ticks", 0, nullptr), PDH_INVALID_ARGUMENT);
  PDH_HCOUNTER added = nullptr;
  EXPECT_EQ(PdhAddCounterA(query.get(), nullptr, 0, &added), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhCollectQueryDataWithTime(query.get(), nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetFormattedCounterValue(counter, PDH_FMT_LONG, nullptr, nullptr),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetRawCounterValue(counter, nullptr, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetCounterTimeBase(counter, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetDllVersion(nullptr), PDH_INVALID_ARGUMENT);
  DWORD version = 0;
  EXPECT_EQ(PdhGetDllVersion(&version), kDone);
  EXPECT_EQ(version, PDH_VERSION);
}

TEST_F(PdhQueries, AnswerEachPathWithItsCode) {
  OpenQuery query;
  const std::map<const char*, PDH_STATUS> codes{
      {"\\Test Disks(sda)\\Reads/sec", kDone},
      {"\\test disks(SDA)\\reads/SEC", kDone},
      {"\\\\.\\Test Disks(*)\\Reads/sec", kDone},
      {"\\\\localhost\\Test Clock\\Ticks", kDone},
      {"\\Test Disks(absent)\\Reads/sec", kDone},
      {"", PDH_CSTATUS_NO_COUNTERNAME},
      {"Test Disks", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\Test Disks", PDH_CSTATUS_BAD_COUNTERNAME},
      {"test_disks/sda/reads", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\Test Disks(sda)\\*", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\Test *(sda)\\Reads/sec", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\Test Disks(\xff)\\Reads/sec", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\\\elsewhere\\Test Clock\\Ticks", PDH_CSTATUS_NO_MACHINE},
      {"\\Tapes(st0)\\Reads/sec", PDH_CSTATUS_NO_OBJECT},
      {"\\Test Disks(sda)\\Writes/sec", PDH_CSTATUS_NO_COUNTER},
      {"\\Test Disks(sda)\\Label", PDH_CSTATUS_NO_COUNTER},
      {"\\Test Disks\\Reads/sec", PDH_INVALID_PATH},
      {"\\Test Clock(x)\\Ticks", PDH_INVALID_PATH}};
  for (const auto& [path, code] : codes) EXPECT_EQ(query.status_of_adding(path), code) << path;
  const std::string endless = "\\Test Disks(" + std::string(PDH_MAX_COUNTER_PATH, 'x') + ")\\Reads";
  EXPECT_EQ(query.status_of_adding(endless.c_str()), PDH_CSTATUS_BAD_COUNTERNAME);
}

TEST_F(PdhQueries, AddTheSamePathAsOftenAsWanted) {
  OpenQuery query;
  const PDH_HCOUNTER first = query.add("\\Test Clock\\Ticks");
  const PDH_HCOUNTER second = query.add("\\Test Clock\\Ticks");
  EXPECT_NE(first, second);
  clock_.update([](Values& values) noexcept { values.set(0, 5); });
  ASSERT_EQ(query.collect(), kDone);
  ASSERT_EQ(PdhRemoveCounter(first), kDone);
  EXPECT_EQ(formatted(second).value, 5.0);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(second).value, 5.0);
}

TEST_F(PdhQueries, HaveNoDataWithoutCountersOrRows) {
  OpenQuery query;
  EXPECT_EQ(query.collect(), PDH_NO_DATA);
  const PDH_HCOUNTER absent = query.add("\\Test Disks(absent)\\Reads/sec");
  EXPECT_EQ(query.collect(), PDH_NO_DATA);
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(query.collect(), kDone) << "one of two has data";
  EXPECT_EQ(formatted(ticks).result, kDone);
  EXPECT_EQ(formatted(absent).result, PDH_INVALID_DATA);
}

TEST_F(PdhQueries, SayThatACounterWasNotCollected) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(formatted(ticks).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(ticks).status, PDH_CSTATUS_ITEM_NOT_VALIDATED);
  EXPECT_EQ(raw(ticks).CStatus, PDH_CSTATUS_ITEM_NOT_VALIDATED);
}

TEST_F(PdhQueries, FindAnAbsentInstanceOnceItAppears) {
  OpenQuery query;
  const PDH_HCOUNTER queue = query.add("\\Test Disks(sdc)\\Queue Length");
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(queue).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(queue).status, PDH_CSTATUS_NO_INSTANCE);
  EXPECT_EQ(raw(queue).CStatus, PDH_CSTATUS_NO_INSTANCE);
  Instance sdc = *disks_.create_instance("sdc");
  count(sdc, 0, 3);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(queue).value, 3.0);
  EXPECT_EQ(formatted(ticks).result, kDone);
}

TEST_F(PdhQueries, LoseAnInstanceThatIsClosedAndASetThatEnds) {
  OpenQuery query;
  const PDH_HCOUNTER queue = query.add("\\Test Disks(sda)\\Queue Length");
  const PDH_HCOUNTER other = query.add("\\Test Disks(sdb)\\Queue Length");
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(queue).result, kDone);
  sda_.close();
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(queue).status, PDH_CSTATUS_NO_INSTANCE);
  EXPECT_EQ(formatted(other).result, kDone);
  sdb_.close();
  disks_.close();
  EXPECT_EQ(query.collect(), PDH_NO_DATA);
  EXPECT_EQ(formatted(other).status, PDH_CSTATUS_NO_OBJECT);
}

TEST_F(PdhQueries, LoseTheInstancesOfAProviderThatWasKilled) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // With a heartbeat, so that its end shows in memory.
    auto other = *Provider::create({.name = "victim", .directory = directory_.path()});
    const auto set = other.add(kDisks);
    const auto disk = set->create_instance("victim");
    for (;;) ::pause();
  }
  ASSERT_GT(pid, 0);
  OpenQuery query;
  PDH_HCOUNTER queue = nullptr;
  bool is_there = false;
  for (int turn = 0; turn < 2000 && !is_there; ++turn) {
    // Adding looks for new providers.
    queue = query.add("\\Test Disks(victim)\\Queue Length");
    static_cast<void>(query.collect());
    is_there = formatted(queue).result == kDone;
    if (!is_there) ::usleep(5000);
  }
  EXPECT_TRUE(is_there);
  ::kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  static_cast<void>(query.collect());
  EXPECT_EQ(formatted(queue).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(queue).status, PDH_CSTATUS_NO_INSTANCE);
}

TEST_F(PdhQueries, StampSamplesWithLocalTime) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  LONGLONG time = 0;
  ASSERT_EQ(PdhCollectQueryDataWithTime(query.get(), &time), kDone);
  const FILETIME stamp = raw(ticks).TimeStamp;
  const auto of_value =
      static_cast<LONGLONG>(ULONGLONG{stamp.dwHighDateTime} << 32 | stamp.dwLowDateTime);
  EXPECT_EQ(of_value, time);
  SYSTEMTIME from_stamp{}, local{};
  GetLocalTime(&local);
  ASSERT_TRUE(FileTimeToSystemTime(&stamp, &from_stamp));
  EXPECT_EQ(from_stamp.wYear, local.wYear);
}

TEST_F(PdhQueries, ScaleWithinTheirLimits) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  EXPECT_EQ(PdhSetCounterScaleFactor(ticks, PDH_MAX_SCALE), kDone);
  EXPECT_EQ(PdhSetCounterScaleFactor(ticks, PDH_MIN_SCALE), kDone);
  EXPECT_EQ(PdhSetCounterScaleFactor(ticks, PDH_MAX_SCALE + 1), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhSetCounterScaleFactor(ticks, PDH_MIN_SCALE - 1), PDH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace meterbank::test
