// SPDX-License-Identifier: Apache-2.0
//
// Functions are only names here: a declaration with their parameters would clash with none, and
// tell this table nothing. Those of other libraries are weak, so that a program which reads does
// not have to be linked with what publishes, and the other way round; meterbank::perflib and
// meterbank::pcw ask the linker for theirs.
#include "function_table.hpp"

// NAMES(SAME, WIDE): SAME for one body, WIDE for one of each width of wchar_t.
#define KERNEL_NAMES(SAME, WIDE)                                                              \
  SAME(CloseHandle)                                                                           \
  SAME(CompareFileTime) SAME(DuplicateHandle) SAME(FileTimeToSystemTime) SAME(FreeLibrary)    \
      SAME(GetCurrentProcess) SAME(GetCurrentProcessId) SAME(GetCurrentThreadId)              \
          SAME(GetLastError) SAME(GetLocalTime) SAME(GetModuleHandleA) WIDE(GetModuleHandleW) \
              WIDE(GetProcAddress) SAME(GetProcessId) SAME(GetSystemTime)                     \
                  SAME(GetSystemTimeAsFileTime) SAME(GetSystemTimePreciseAsFileTime)          \
                      SAME(GetTickCount) SAME(GetTickCount64) SAME(LoadLibraryA)              \
                          SAME(LoadLibraryExA) WIDE(LoadLibraryExW) WIDE(LoadLibraryW)        \
                              SAME(QueryPerformanceCounter) SAME(QueryPerformanceFrequency)   \
                                  SAME(SetLastError) SAME(Sleep) SAME(SystemTimeToFileTime)   \
                                      SAME(lstrcmpA) WIDE(lstrcmpW) SAME(lstrcmpiA)           \
                                          WIDE(lstrcmpiW) SAME(lstrlenA) WIDE(lstrlenW)
#define NATIVE_NAMES(SAME, WIDE) SAME(NtQuerySystemTime) WIDE(RtlInitUnicodeString)
#define OLE_NAMES(SAME, WIDE) WIDE(CLSIDFromString) WIDE(IIDFromString) WIDE(StringFromGUID2)
#define PERFLIB_NAMES(SAME, WIDE)                                                                 \
  WIDE(PerfStartProvider)                                                                         \
  WIDE(PerfStartProviderEx) SAME(PerfStopProvider) SAME(PerfSetCounterSetInfo)                    \
      WIDE(PerfCreateInstance) WIDE(PerfQueryInstance) SAME(PerfDeleteInstance)                   \
          SAME(PerfSetULongCounterValue) SAME(PerfSetULongLongCounterValue)                       \
              SAME(PerfIncrementULongCounterValue) SAME(PerfIncrementULongLongCounterValue)       \
                  SAME(PerfDecrementULongCounterValue) SAME(PerfDecrementULongLongCounterValue)   \
                      SAME(PerfSetCounterRefValue) WIDE(PerfEnumerateCounterSet)                  \
                          WIDE(PerfEnumerateCounterSetInstances)                                  \
                              WIDE(PerfQueryCounterSetRegistrationInfo) WIDE(PerfOpenQueryHandle) \
                                  SAME(PerfCloseQueryHandle) SAME(PerfAddCounters)                \
                                      SAME(PerfDeleteCounters) SAME(PerfQueryCounterInfo)         \
                                          SAME(PerfQueryCounterData)

#define DECLARE_SAME(name) void name();
#define DECLARE_WIDE(name) \
  void name();             \
  void meterbank_utf16_##name();
#define DECLARE_WEAK_SAME(name) [[gnu::weak]] void name();
#define DECLARE_WEAK_WIDE(name) \
  [[gnu::weak]] void name();    \
  [[gnu::weak]] void meterbank_utf16_##name();
#define SAME_ROW(name) {#name, name, name},
#define WIDE_ROW(name) {#name, name, meterbank_utf16_##name},

extern "C" {
KERNEL_NAMES(DECLARE_SAME, DECLARE_WIDE)
NATIVE_NAMES(DECLARE_SAME, DECLARE_WIDE)
OLE_NAMES(DECLARE_SAME, DECLARE_WIDE)
PERFLIB_NAMES(DECLARE_WEAK_SAME, DECLARE_WEAK_WIDE)
}

namespace meterbank::windows {
namespace {

constexpr NamedFunction kKernel[] = {KERNEL_NAMES(SAME_ROW, WIDE_ROW)};
constexpr NamedFunction kNative[] = {NATIVE_NAMES(SAME_ROW, WIDE_ROW)};
constexpr NamedFunction kOle[] = {OLE_NAMES(SAME_ROW, WIDE_ROW)};
constexpr NamedFunction kPerfLib[] = {PERFLIB_NAMES(SAME_ROW, WIDE_ROW)};

constexpr Module kModules[] = {
    {"advapi32", kPerfLib}, {"api-ms-win-core-perfcounters-l1-1-0", kPerfLib},
    {"kernel32", kKernel},  {"kernelbase", kKernel},
    {"ntdll", kNative},     {"ole32", kOle},
};

}  // namespace

std::span<const Module> modules() noexcept { return kModules; }

}  // namespace meterbank::windows
