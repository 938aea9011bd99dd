// SPDX-License-Identifier: Apache-2.0
//
// A program for Windows, unchanged: processor time of each CPU, once a second, through PerfLib.
// `windows_consumer [COUNT [MILLISECONDS]]`. Publish first: `meterbank host &`.
#include <perflib.h>
#include <stdio.h>
#include <windows.h>

#include <map>
#include <string>

DEFINE_GUID(ProcessorInformation,  //
            0xb4fc721a, 0x0378, 0x476f, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36);

struct Wanted {  // "% Processor Time", id 0, which counts idleness; of all instances
  PERF_COUNTER_IDENTIFIER Id = {
      ProcessorInformation, 0, sizeof(Wanted), 0, PERF_WILDCARD_COUNTER, 0, 0};
  alignas(8) WCHAR Name[8] = PERF_WILDCARD_INSTANCE;
};

// The library wrote the block, so its sizes are as documented.
static void Print(const PERF_DATA_HEADER* data) {
  static std::map<std::wstring, LONGLONG> idle;  // of the read before
  static LONGLONG before;
  const auto* counter = reinterpret_cast<const PERF_COUNTER_HEADER*>(data + 1);
  const auto* rows = reinterpret_cast<const PERF_MULTI_INSTANCES*>(counter + 1);
  const auto* at = reinterpret_cast<const BYTE*>(rows + 1);
  const auto passed = static_cast<double>(data->PerfTime100NSec - before);
  for (ULONG row = 0; row < rows->dwInstances; ++row) {
    const auto* instance = reinterpret_cast<const PERF_INSTANCE_HEADER*>(at);
    const auto* value = reinterpret_cast<const PERF_COUNTER_DATA*>(at + instance->Size);
    const auto* name = reinterpret_cast<PCWSTR>(instance + 1);
    const auto now = *reinterpret_cast<const LONGLONG*>(value + 1);
    const double busy = 100 - 100 * static_cast<double>(now - idle[name]) / passed;
    if (before != 0) wprintf(L"%-10s %6.1f %%\n", name, busy < 0 ? 0 : busy);
    idle[name] = now;
    at += instance->Size + value->dwSize;
  }
  before = data->PerfTime100NSec;
}

int wmain(int argc, wchar_t* argv[]) {
  const long count = argc > 1 ? wcstol(argv[1], nullptr, 10) : MAXLONG;
  const auto interval = static_cast<DWORD>(argc > 2 ? wcstoul(argv[2], nullptr, 10) : 1000);
  HANDLE query = nullptr;
  ULONG size = 0, error = PerfOpenQueryHandle(nullptr, &query);
  Wanted wanted;
  if (error == ERROR_SUCCESS) error = PerfAddCounters(query, &wanted.Id, sizeof(wanted));
  if (error == ERROR_SUCCESS) error = wanted.Id.Status;
  alignas(PERF_DATA_HEADER) static BYTE buffer[1 << 20];  // larger than any result of so few
  auto* const data = reinterpret_cast<PERF_DATA_HEADER*>(buffer);
  for (long sample = 0; error == ERROR_SUCCESS && sample <= count; ++sample) {
    if (sample != 0) Sleep(interval);
    error = PerfQueryCounterData(query, data, sizeof(buffer), &size);
    if (error == ERROR_SUCCESS) Print(data);
  }
  if (error != ERROR_SUCCESS) wprintf(L"error %lu\n", error);
  PerfCloseQueryHandle(query);
  return error == ERROR_SUCCESS ? 0 : 1;
}
