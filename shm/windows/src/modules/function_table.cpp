// SPDX-License-Identifier: Apache-2.0
//
// Functions are only names here, declared without their parameters; so no header that declares them
// may be included. Those of other libraries are weak: a program that reads need not be linked with
// what publishes, and the other way round. A weak name takes nothing out of an archive, so the
// targets of those libraries ask the linker for one function of each of their objects.
#include "function_table.hpp"

// clang-format off: a name a line.
// ..._NAMES(SAME, WIDE): SAME for one body, WIDE for one of each width of wchar_t.
#define METERBANK_KERNEL_NAMES(SAME, WIDE) \
  SAME(CloseHandle)                        \
  SAME(CompareFileTime)                    \
  SAME(CreateEventA)                       \
  WIDE(CreateEventW)                       \
  SAME(DuplicateHandle)                    \
  SAME(FileTimeToSystemTime)               \
  SAME(FreeLibrary)                        \
  SAME(GetCurrentProcess)                  \
  SAME(GetCurrentProcessId)                \
  SAME(GetCurrentThreadId)                 \
  SAME(GetLastError)                       \
  SAME(GetLocalTime)                       \
  SAME(GetModuleHandleA)                   \
  WIDE(GetModuleHandleW)                   \
  WIDE(GetProcAddress)                     \
  SAME(GetProcessId)                       \
  SAME(GetSystemTime)                      \
  SAME(GetSystemTimeAsFileTime)            \
  SAME(GetSystemTimePreciseAsFileTime)     \
  SAME(GetTickCount)                       \
  SAME(GetTickCount64)                     \
  SAME(IsBadReadPtr)                       \
  SAME(IsBadWritePtr)                      \
  SAME(LoadLibraryA)                       \
  SAME(LoadLibraryExA)                     \
  WIDE(LoadLibraryExW)                     \
  WIDE(LoadLibraryW)                       \
  SAME(QueryPerformanceCounter)            \
  SAME(QueryPerformanceFrequency)          \
  SAME(ResetEvent)                         \
  SAME(SetEvent)                           \
  SAME(SetLastError)                       \
  SAME(Sleep)                              \
  SAME(SystemTimeToFileTime)               \
  SAME(WaitForMultipleObjects)             \
  SAME(WaitForSingleObject)                \
  SAME(lstrcmpA)                           \
  WIDE(lstrcmpW)                           \
  SAME(lstrcmpiA)                          \
  WIDE(lstrcmpiW)                          \
  SAME(lstrlenA)                           \
  WIDE(lstrlenW)
#define METERBANK_NATIVE_NAMES(SAME, WIDE) \
  SAME(NtQuerySystemTime)                  \
  WIDE(RtlInitUnicodeString)
#define METERBANK_OLE_NAMES(SAME, WIDE) \
  WIDE(CLSIDFromString)                 \
  WIDE(IIDFromString)                   \
  WIDE(StringFromGUID2)
#define METERBANK_PERFLIB_NAMES(SAME, WIDE) \
  WIDE(PerfStartProvider)                   \
  WIDE(PerfStartProviderEx)                 \
  SAME(PerfStopProvider)                    \
  SAME(PerfSetCounterSetInfo)               \
  WIDE(PerfCreateInstance)                  \
  WIDE(PerfQueryInstance)                   \
  SAME(PerfDeleteInstance)                  \
  SAME(PerfSetULongCounterValue)            \
  SAME(PerfSetULongLongCounterValue)        \
  SAME(PerfIncrementULongCounterValue)      \
  SAME(PerfIncrementULongLongCounterValue)  \
  SAME(PerfDecrementULongCounterValue)      \
  SAME(PerfDecrementULongLongCounterValue)  \
  SAME(PerfSetCounterRefValue)              \
  WIDE(PerfEnumerateCounterSet)             \
  WIDE(PerfEnumerateCounterSetInstances)    \
  WIDE(PerfQueryCounterSetRegistrationInfo) \
  WIDE(PerfOpenQueryHandle)                 \
  SAME(PerfCloseQueryHandle)                \
  SAME(PerfAddCounters)                     \
  SAME(PerfDeleteCounters)                  \
  SAME(PerfQueryCounterInfo)                \
  SAME(PerfQueryCounterData)

#define METERBANK_PDH_NAMES(SAME, WIDE) \
  SAME(PdhAddCounterA)                  \
  WIDE(PdhAddCounterW)                  \
  SAME(PdhAddEnglishCounterA)           \
  WIDE(PdhAddEnglishCounterW)           \
  SAME(PdhBindInputDataSourceA)         \
  WIDE(PdhBindInputDataSourceW)         \
  SAME(PdhCalculateCounterFromRawValue) \
  SAME(PdhCloseLog)                     \
  SAME(PdhCloseQuery)                   \
  SAME(PdhCollectQueryData)             \
  SAME(PdhCollectQueryDataEx)           \
  SAME(PdhCollectQueryDataWithTime)     \
  SAME(PdhComputeCounterStatistics)     \
  SAME(PdhConnectMachineA)              \
  WIDE(PdhConnectMachineW)              \
  SAME(PdhEnumMachinesA)                \
  WIDE(PdhEnumMachinesW)                \
  SAME(PdhEnumObjectItemsA)             \
  WIDE(PdhEnumObjectItemsW)             \
  SAME(PdhEnumObjectsA)                 \
  WIDE(PdhEnumObjectsW)                 \
  SAME(PdhExpandCounterPathA)           \
  WIDE(PdhExpandCounterPathW)           \
  SAME(PdhExpandWildCardPathA)          \
  WIDE(PdhExpandWildCardPathW)          \
  SAME(PdhFormatFromRawValue)           \
  SAME(PdhGetCounterInfoA)              \
  WIDE(PdhGetCounterInfoW)              \
  SAME(PdhGetCounterTimeBase)           \
  SAME(PdhGetDataSourceTimeRangeA)      \
  SAME(PdhGetDataSourceTimeRangeH)      \
  WIDE(PdhGetDataSourceTimeRangeW)      \
  SAME(PdhGetDllVersion)                \
  SAME(PdhGetFormattedCounterArrayA)    \
  WIDE(PdhGetFormattedCounterArrayW)    \
  SAME(PdhGetFormattedCounterValue)     \
  SAME(PdhGetLogFileSize)               \
  SAME(PdhGetRawCounterArrayA)          \
  WIDE(PdhGetRawCounterArrayW)          \
  SAME(PdhGetRawCounterValue)           \
  SAME(PdhIsRealTimeQuery)              \
  SAME(PdhMakeCounterPathA)             \
  WIDE(PdhMakeCounterPathW)             \
  SAME(PdhOpenLogA)                     \
  WIDE(PdhOpenLogW)                     \
  SAME(PdhOpenQueryA)                   \
  SAME(PdhOpenQueryH)                   \
  WIDE(PdhOpenQueryW)                   \
  SAME(PdhParseCounterPathA)            \
  WIDE(PdhParseCounterPathW)            \
  SAME(PdhParseInstanceNameA)           \
  WIDE(PdhParseInstanceNameW)           \
  SAME(PdhRemoveCounter)                \
  SAME(PdhSetCounterScaleFactor)        \
  SAME(PdhSetQueryTimeRange)            \
  SAME(PdhUpdateLogA)                   \
  WIDE(PdhUpdateLogW)                   \
  SAME(PdhValidatePathA)                \
  SAME(PdhValidatePathExA)              \
  WIDE(PdhValidatePathExW)              \
  WIDE(PdhValidatePathW)
// clang-format on

#define METERBANK_DECLARE_SAME(name) void name();
#define METERBANK_DECLARE_WIDE(name) \
  void name();                       \
  void meterbank_utf16_##name();
#define METERBANK_DECLARE_WEAK_SAME(name) [[gnu::weak]] void name();
#define METERBANK_DECLARE_WEAK_WIDE(name) \
  [[gnu::weak]] void name();              \
  [[gnu::weak]] void meterbank_utf16_##name();
#define METERBANK_SAME_ROW(name) {#name, name, name},
#define METERBANK_WIDE_ROW(name) {#name, name, meterbank_utf16_##name},

extern "C" {
METERBANK_KERNEL_NAMES(METERBANK_DECLARE_SAME, METERBANK_DECLARE_WIDE)
METERBANK_NATIVE_NAMES(METERBANK_DECLARE_SAME, METERBANK_DECLARE_WIDE)
METERBANK_OLE_NAMES(METERBANK_DECLARE_SAME, METERBANK_DECLARE_WIDE)
METERBANK_PERFLIB_NAMES(METERBANK_DECLARE_WEAK_SAME, METERBANK_DECLARE_WEAK_WIDE)
METERBANK_PDH_NAMES(METERBANK_DECLARE_WEAK_SAME, METERBANK_DECLARE_WEAK_WIDE)
}

namespace meterbank::windows {
namespace {

constexpr NamedFunction kKernel[] = {
    METERBANK_KERNEL_NAMES(METERBANK_SAME_ROW, METERBANK_WIDE_ROW)};
constexpr NamedFunction kNative[] = {
    METERBANK_NATIVE_NAMES(METERBANK_SAME_ROW, METERBANK_WIDE_ROW)};
constexpr NamedFunction kOle[] = {METERBANK_OLE_NAMES(METERBANK_SAME_ROW, METERBANK_WIDE_ROW)};
constexpr NamedFunction kPerfLib[] = {
    METERBANK_PERFLIB_NAMES(METERBANK_SAME_ROW, METERBANK_WIDE_ROW)};
constexpr NamedFunction kPdh[] = {METERBANK_PDH_NAMES(METERBANK_SAME_ROW, METERBANK_WIDE_ROW)};

constexpr Module kModules[] = {
    {"advapi32", kPerfLib}, {"api-ms-win-core-perfcounters-l1-1-0", kPerfLib},
    {"kernel32", kKernel},  {"kernelbase", kKernel},
    {"ntdll", kNative},     {"ole32", kOle},
    {"pdh", kPdh},
};

}  // namespace

std::span<const Module> modules() noexcept { return kModules; }

}  // namespace meterbank::windows
