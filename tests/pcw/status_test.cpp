// SPDX-License-Identifier: Apache-2.0
//
// What a ControlCallback of another process returns, and what a PerfLib consumer gets to see of it.
#include <perflib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windows.h>

#include <cstddef>
#include <cstring>

#include "pcw_fixture.hpp"

namespace meterbank::test::status_test {
namespace {

constexpr GUID kProvider = {0x3f7c10d2, 0x58ab, 0x4e69, {0x92, 0x1d, 0x6b, 0x04, 0xe7, 0xc3, 1, 1}};
constexpr GUID kSet = {0x3f7c10d2, 0x58ab, 0x4e69, {0x92, 0x1d, 0x6b, 0x04, 0xe7, 0xc3, 1, 2}};
constexpr ULONG kGood = ERROR_SUCCESS;
// Bit 29 marks codes of an application's own.
constexpr ULONG kOwnCode = 0x2000'0abc;

// What the callback of a process answers.
struct Script {
  ULONG request = 0;                      // the one that is refused, 0: none
  ULONG counter = PERF_WILDCARD_COUNTER;  // for PERF_ADD_COUNTER: this one, or all
  ULONG code = kOwnCode;
};
Script script;  // of a child

ULONG WINAPI control(ULONG code, PVOID buffer, ULONG) {
  if (code != script.request) return kGood;
  if (code == PERF_ADD_COUNTER && script.counter != PERF_WILDCARD_COUNTER) {
    PERF_COUNTER_IDENTITY identity;
    std::memcpy(&identity, static_cast<std::byte*>(buffer) + sizeof(WNODE_HEADER), sizeof identity);
    if (identity.CounterId != script.counter) return kGood;
  }
  return script.code;
}

bool publish() {
  struct {
    PERF_COUNTERSET_INFO set;
    PERF_COUNTER_INFO counters[2];
  } info = {{kSet, kProvider, 2, PERF_COUNTERSET_MULTI_INSTANCES},
            {{1, PERF_COUNTER_RAWCOUNT, 0, sizeof(ULONG), PERF_DETAIL_NOVICE, 0, 0},
             {2, PERF_COUNTER_LARGE_RAWCOUNT, 0, sizeof(ULONGLONG), PERF_DETAIL_NOVICE, 0, 8}}};
  GUID guid = kProvider;
  HANDLE provider = nullptr;
  return PerfStartProvider(&guid, control, &provider) == kGood &&
         PerfSetCounterSetInfo(provider, &info.set, sizeof info) == kGood &&
         PerfCreateInstance(provider, &kSet, L"row", 1) != nullptr;
}

// A process with a provider and a row, until the object ends.
class ProviderProcess {
 public:
  explicit ProviderProcess(const Script& its) {
    int ready[2];
    int end[2];
    EXPECT_EQ(::pipe(ready), 0);
    EXPECT_EQ(::pipe(end), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(end[1]);
      script = its;
      char byte = publish() ? 'y' : 'n';
      if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
      ::_exit(::read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    ::close(end[0]);
    ::close(ready[1]);
    end_ = end[1];
    char byte = 'n';
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    ::close(ready[0]);
  }
  ProviderProcess(const ProviderProcess&) = delete;
  ProviderProcess& operator=(const ProviderProcess&) = delete;
  ~ProviderProcess() {
    ::close(end_);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_ = -1;
  int end_ = -1;
};

// An identifier of all rows.
struct Wanted {
  PERF_COUNTER_IDENTIFIER header;
  WCHAR name[2];
};
Wanted wanted(ULONG counter) {
  Wanted identifier{};
  identifier.header.CounterSetGuid = kSet;
  identifier.header.Size = sizeof identifier;
  identifier.header.CounterId = counter;
  identifier.header.InstanceId = 0xffffffff;
  identifier.name[0] = L'*';
  return identifier;
}
static_assert(sizeof(Wanted) == 48);

class PerfStatus : public PcwTest {
 protected:
  PerfStatus() { EXPECT_EQ(PerfOpenQueryHandle(nullptr, &query_), kGood); }
  ~PerfStatus() override { PerfCloseQueryHandle(query_); }

  // The status of each identifier.
  std::vector<ULONG> add(std::initializer_list<ULONG> counters) {
    std::vector<Wanted> all;
    for (const ULONG counter : counters) all.push_back(wanted(counter));
    EXPECT_EQ(PerfAddCounters(query_, &all.front().header,
                              static_cast<DWORD>(all.size() * sizeof(Wanted))),
              kGood);
    std::vector<ULONG> statuses;
    for (const Wanted& each : all) statuses.push_back(each.header.Status);
    return statuses;
  }
  // The status of each block of a result.
  [[nodiscard]] std::vector<ULONG> read() const {
    std::vector<std::byte> bytes(4096);
    DWORD size = 0;
    EXPECT_EQ(PerfQueryCounterData(query_, reinterpret_cast<PPERF_DATA_HEADER>(bytes.data()),
                                   static_cast<DWORD>(bytes.size()), &size),
              kGood);
    std::vector<ULONG> statuses;
    for (std::size_t at = sizeof(PERF_DATA_HEADER); at < size;) {
      PERF_COUNTER_HEADER block;
      std::memcpy(&block, bytes.data() + at, sizeof block);
      statuses.push_back(block.dwStatus);
      at += block.dwSize;
    }
    return statuses;
  }
  static ULONG enumerate() {
    std::vector<std::byte> bytes(4096);
    DWORD size = 0;
    return PerfEnumerateCounterSetInstances(nullptr, &kSet,
                                            reinterpret_cast<PPERF_INSTANCE_HEADER>(bytes.data()),
                                            static_cast<DWORD>(bytes.size()), &size);
  }

  HANDLE query_ = nullptr;
};

using Codes = std::vector<ULONG>;

TEST_F(PerfStatus, OfACounterIsWhatTheCallbackReturnsWhenItIsAdded) {
  const ProviderProcess provider({.request = PERF_ADD_COUNTER});
  EXPECT_EQ(add({PERF_WILDCARD_COUNTER}), Codes{kOwnCode});
  EXPECT_EQ(read(), Codes{kOwnCode});
  EXPECT_EQ(enumerate(), kGood);
}

TEST_F(PerfStatus, OfOneCounterIsNotThatOfAnother) {
  const ProviderProcess provider({.request = PERF_ADD_COUNTER, .counter = 2});
  EXPECT_EQ(add({1, 2, 1}), (Codes{kGood, kOwnCode, kGood}));
  EXPECT_EQ(read(), (Codes{kGood, kOwnCode, kGood}));
  EXPECT_EQ(add({1}), Codes{kGood});
  EXPECT_EQ(add({2}), Codes{kOwnCode});
  EXPECT_EQ(read(), (Codes{kGood, kOwnCode, kGood, kGood, kOwnCode}));
  Wanted refused = wanted(2);
  EXPECT_EQ(PerfDeleteCounters(query_, &refused.header, sizeof refused), kGood);
  EXPECT_EQ(refused.header.Status, kGood);
  EXPECT_EQ(read(), (Codes{kGood, kGood, kGood}));
}

TEST_F(PerfStatus, OfACounterIsGoodWhereOneProviderTakesIt) {
  const ProviderProcess refuses({.request = PERF_ADD_COUNTER});
  const ProviderProcess accepts({});
  EXPECT_EQ(add({1}), Codes{kGood});
  EXPECT_EQ(read(), Codes{kGood});
}

TEST_F(PerfStatus, OfAnEnumerationIsWhatTheCallbackReturns) {
  const ProviderProcess provider({.request = PERF_ENUM_INSTANCES});
  EXPECT_EQ(enumerate(), kOwnCode);
  EXPECT_EQ(add({1}), Codes{kGood});
  EXPECT_EQ(read(), Codes{kGood});
}

TEST_F(PerfStatus, OfABlockIsWhatTheCallbackReturnsWhenACollectionStarts) {
  const ProviderProcess provider({.request = PERF_COLLECT_START});
  EXPECT_EQ(add({1, PERF_WILDCARD_COUNTER}), (Codes{kGood, kGood}));
  EXPECT_EQ(read(), (Codes{kOwnCode, kOwnCode}));
  EXPECT_EQ(enumerate(), kGood);
}

TEST_F(PerfStatus, IsNotWhatTheCallbackReturnsWhenSomethingEnds) {
  for (const ULONG request : {ULONG{PERF_REMOVE_COUNTER}, ULONG{PERF_COLLECT_END}}) {
    const ProviderProcess provider({.request = request});
    EXPECT_EQ(add({1}), Codes{kGood});
    EXPECT_EQ(read(), Codes{kGood});
    Wanted identifier = wanted(1);
    EXPECT_EQ(PerfDeleteCounters(query_, &identifier.header, sizeof identifier), kGood);
    EXPECT_EQ(identifier.header.Status, kGood);
  }
}

TEST_F(PerfStatus, IsNotWhatKernelModeCallsAnError) {
  Codes read_so_far;
  for (const ULONG status : {ULONG{0x40000003}, ULONG{0xC0000001}}) {
    const ProviderProcess provider({.request = PERF_ADD_COUNTER, .code = status});
    read_so_far.push_back(kGood);
    EXPECT_EQ(add({1}), Codes{kGood});
    EXPECT_EQ(read(), read_so_far);
  }
}

}  // namespace
}  // namespace meterbank::test::status_test
