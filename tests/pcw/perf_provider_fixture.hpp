// SPDX-License-Identifier: Apache-2.0
//
// A user-mode provider with one set, as programs for Windows make it.
#pragma once

#include <perflib.h>
#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pcw_fixture.hpp"

namespace meterbank::test {

inline constexpr GUID kProvider = {
    0xec9fa54c, 0xab41, 0x4f1e, {0x9a, 0x8a, 0xcf, 0x9b, 0x7f, 0x8e, 1, 2}};
inline constexpr GUID kQueues = {
    0x51d1685c, 0x35ed, 0x45be, {0x99, 0xfe, 0x17, 0x26, 0x1a, 0x4f, 0x27, 3}};
inline constexpr GUID kOther = {
    0x51d1685c, 0x35ed, 0x45be, {0x99, 0xfe, 0x17, 0x26, 0x1a, 0x4f, 0x27, 4}};
inline const std::string kQueuesName = "{51d1685c-35ed-45be-99fe-17261a4f2703}";
inline constexpr DWORD kGood = ERROR_SUCCESS;
inline constexpr DWORD kInvalid = ERROR_INVALID_PARAMETER;
inline constexpr DWORD kMissing = ERROR_NOT_FOUND;
inline constexpr DWORD kTaken = ERROR_ALREADY_EXISTS;

// As the generator for Windows lays it out.
struct Template {
  PERF_COUNTERSET_INFO set;
  PERF_COUNTER_INFO counters[2];
};
inline Template queues(ULONG kind = PERF_COUNTERSET_MULTI_INSTANCES, ULONGLONG attributes = 0) {
  return {
      {kQueues, kProvider, 2, kind},
      {{1, PERF_COUNTER_RAWCOUNT, 0, sizeof(ULONG), PERF_DETAIL_NOVICE, 0, 0},
       {2, PERF_COUNTER_LARGE_RAWCOUNT, attributes, sizeof(ULONGLONG), PERF_DETAIL_NOVICE, 0, 8}}};
}

class PerfProviderTest : public PcwTest {
 protected:
  PerfProviderTest() { forget_calls(); }
  ~PerfProviderTest() override { stop(); }

  void start(PERFLIBREQUEST callback = nullptr) {
    GUID guid = kProvider;
    ASSERT_EQ(PerfStartProvider(&guid, callback, &provider_), kGood) << pcw::last_refusal();
  }
  void stop() {
    if (provider_ != nullptr) PerfStopProvider(std::exchange(provider_, nullptr));
  }
  DWORD set_info(Template info) { return PerfSetCounterSetInfo(provider_, &info.set, sizeof info); }
  PPERF_COUNTERSET_INSTANCE create(PCWSTR name, ULONG id, const GUID& set = kQueues) {
    SetLastError(0);
    return PerfCreateInstance(provider_, &set, name, id);
  }
  DWORD error_of_create(PCWSTR name, ULONG id, const GUID& set = kQueues) {
    EXPECT_EQ(create(name, id, set), nullptr);
    return GetLastError();
  }

  // Of the row called "a", in the order of the schema.
  std::vector<std::uint64_t> values_of_a() const { return values_of(collect(kQueuesName), "a"); }

  // What a ControlCallback is called with; it has no context, so there is one of them.
  struct Call {
    ULONG code = 0;
    std::vector<std::byte> buffer;
  };
  static std::vector<Call> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  static void forget_calls() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
  }
  static std::vector<ULONG> codes() {
    std::vector<ULONG> codes;
    for (const Call& call : calls()) codes.push_back(call.code);
    return codes;
  }
  static inline std::function<ULONG(ULONG)> answer_;
  static ULONG WINAPI control(ULONG code, PVOID buffer, ULONG bytes) {
    const auto* const begin = static_cast<const std::byte*>(buffer);
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back({code, {begin, begin + bytes}});
    }
    return answer_ ? answer_(code) : kGood;
  }

  HANDLE provider_ = nullptr;

 private:
  // The threads of the provider write it, also while a test reads what it has.
  static inline std::mutex mutex_;
  static inline std::vector<Call> calls_;
};

}  // namespace meterbank::test
