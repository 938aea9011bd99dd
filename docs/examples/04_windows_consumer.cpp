// SPDX-License-Identifier: Apache-2.0
//
// A program for Windows, unchanged: processor time of each CPU, once a second, through PerfLib.
// `windows_consumer [COUNT [MILLISECONDS]]`; without a count it does not end. Publish first:
// `meterbank host &`.
#include <perflib.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include <map>
#include <string>
#include <vector>

DEFINE_GUID(ProcessorInformation,  //
            0xb4fc721a, 0x0378, 0x476f, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36);
constexpr ULONG PercentProcessorTime = 0;  // 100 ns of idleness, shown as what is left

// One identifier: the counter above, of all instances.
static ULONG AddProcessorTime(HANDLE query) {
  struct {
    PERF_COUNTER_IDENTIFIER Identifier;
    alignas(8) WCHAR Name[8];
  } wanted = {};
  wanted.Identifier.CounterSetGuid = ProcessorInformation;
  wanted.Identifier.Size = sizeof(wanted);
  wanted.Identifier.CounterId = PercentProcessorTime;
  wanted.Identifier.InstanceId = PERF_WILDCARD_COUNTER;
  wcscpy_s(wanted.Name, PERF_WILDCARD_INSTANCE);
  const ULONG error = PerfAddCounters(query, &wanted.Identifier, sizeof(wanted));
  return error != ERROR_SUCCESS ? error : wanted.Identifier.Status;
}

// Keeps its buffer between reads, and enlarges it when instances have been added.
static ULONG ReadData(HANDLE query, std::vector<BYTE>& buffer) {
  for (;;) {
    DWORD needed = 0;
    const ULONG error =
        PerfQueryCounterData(query, reinterpret_cast<PPERF_DATA_HEADER>(buffer.data()),
                             static_cast<DWORD>(buffer.size()), &needed);
    if (error != ERROR_NOT_ENOUGH_MEMORY) return error;
    buffer.resize(needed);
  }
}

struct Reading {
  LONGLONG Time100ns = 0;
  std::map<std::wstring, ULONGLONG> Idle;  // by the name of the processor
};

// The library wrote the block, so its sizes are as documented; a block from elsewhere would have to
// be checked step by step.
static bool Parse(const std::vector<BYTE>& buffer, Reading& reading) {
  const auto* data = reinterpret_cast<const PERF_DATA_HEADER*>(buffer.data());
  const auto* block = reinterpret_cast<const PERF_COUNTER_HEADER*>(data + 1);
  if (data->dwNumCounters != 1 || block->dwType != PERF_MULTIPLE_INSTANCES) return false;
  reading.Time100ns = data->PerfTime100NSec;
  const auto* rows = reinterpret_cast<const PERF_MULTI_INSTANCES*>(block + 1);
  const auto* at = reinterpret_cast<const BYTE*>(rows + 1);
  for (ULONG row = 0; row < rows->dwInstances; ++row) {
    const auto* instance = reinterpret_cast<const PERF_INSTANCE_HEADER*>(at);
    const auto* value = reinterpret_cast<const PERF_COUNTER_DATA*>(at + instance->Size);
    reading.Idle[reinterpret_cast<PCWSTR>(instance + 1)] =
        *reinterpret_cast<const ULONGLONG*>(value + 1);
    at += instance->Size + value->dwSize;
  }
  return true;
}

int wmain(int argc, wchar_t* argv[]) {
  const long count = argc > 1 ? wcstol(argv[1], nullptr, 10) : MAXLONG;
  const auto interval = static_cast<DWORD>(argc > 2 ? wcstoul(argv[2], nullptr, 10) : 1000);
  HANDLE query = nullptr;
  ULONG error = PerfOpenQueryHandle(nullptr, &query);
  if (error == ERROR_SUCCESS) error = AddProcessorTime(query);
  std::vector<BYTE> buffer;
  Reading older;
  for (long sample = 0; error == ERROR_SUCCESS && sample <= count; ++sample) {
    if (sample != 0) Sleep(interval);
    Reading newer;
    error = ReadData(query, buffer);
    if (error != ERROR_SUCCESS || !Parse(buffer, newer)) break;
    for (const auto& [name, idle] : newer.Idle) {
      const auto before = older.Idle.find(name);
      if (before == older.Idle.end()) continue;
      const auto passed = static_cast<double>(newer.Time100ns - older.Time100ns);
      const double busy = 100.0 * (1.0 - static_cast<double>(idle - before->second) / passed);
      wprintf(L"%-10s %6.1f %%\n", name.c_str(), busy < 0 ? 0 : busy > 100 ? 100 : busy);
    }
    older = newer;
  }
  if (error != ERROR_SUCCESS) wprintf(L"error %lu\n", error);
  PerfCloseQueryHandle(query);
  return error == ERROR_SUCCESS && !older.Idle.empty() ? 0 : 1;
}
