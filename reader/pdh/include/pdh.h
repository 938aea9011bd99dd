// SPDX-License-Identifier: Apache-2.0
//
// The Performance Data Helper: counters by their paths, as most programs for Windows read them.
// Functions with text exist in two forms, ...A for char, which is UTF-8 here, and ...W for WCHAR;
// the name without a letter is one of them, as UNICODE says. What is not declared here does not
// exist on this system: dialogs, SQL, binary logs, WMI, numbered names.
//
// Thread safety  All functions may be called concurrently; calls about one query wait for each
//                other.
// Errors         ERROR_SUCCESS or a code of <pdhmsg.h>. A handle that is not open is
//                PDH_INVALID_HANDLE, whatever its value; lack of memory is
//                PDH_MEMORY_ALLOCATION_FAILURE.
// Progress       Collecting is bounded; where providers compute rows on demand, it waits for them
//                at most 5 s.
// Cost           Values are computed once after each collection, when the first of them is asked
//                for.
// Lifetime       Closing a query closes its counters. What is stored in a caller's buffer is the
//                caller's.
// Units          A capacity counts bytes where structures are returned, else characters with their
//                terminators. A capacity of 0 asks for the one that is needed: PDH_MORE_DATA.
#pragma once

#include "guiddef.h"
#include "pdhmsg.h"
#include "winbase.h"
#include "windef.h"
#include "winerror.h"
#include "winperf.h"

typedef DWORD PDH_STATUS;
#define PDH_FUNCTION PDH_STATUS WINAPI

#define PDH_CVERSION_WIN40 METERBANK_CAST(DWORD, 0x0400)
#define PDH_CVERSION_WIN50 METERBANK_CAST(DWORD, 0x0500)
#define PDH_VERSION METERBANK_CAST(DWORD, PDH_CVERSION_WIN50 + 0x0003)

#define IsSuccessSeverity(code) ((METERBANK_CAST(DWORD, code) & 0xc0000000U) == 0x00000000U)
#define IsInformationalSeverity(code) ((METERBANK_CAST(DWORD, code) & 0xc0000000U) == 0x40000000U)
#define IsWarningSeverity(code) ((METERBANK_CAST(DWORD, code) & 0xc0000000U) == 0x80000000U)
#define IsErrorSeverity(code) ((METERBANK_CAST(DWORD, code) & 0xc0000000U) == 0xc0000000U)

// In characters, with the terminator.
#define MAX_COUNTER_PATH 256
#define PDH_MAX_COUNTER_NAME 1024
#define PDH_MAX_INSTANCE_NAME 1024
#define PDH_MAX_COUNTER_PATH 2048

// Numbers, which are never used twice.
typedef HANDLE PDH_HCOUNTER, HCOUNTER;
typedef HANDLE PDH_HQUERY, HQUERY;
typedef HANDLE PDH_HLOG, HLOG;
#define H_REALTIME_DATASOURCE NULL

#define PDH_FMT_RAW METERBANK_CAST(DWORD, 0x00000010)
#define PDH_FMT_ANSI METERBANK_CAST(DWORD, 0x00000020)
#define PDH_FMT_UNICODE METERBANK_CAST(DWORD, 0x00000040)
#define PDH_FMT_LONG METERBANK_CAST(DWORD, 0x00000100)
#define PDH_FMT_DOUBLE METERBANK_CAST(DWORD, 0x00000200)
#define PDH_FMT_LARGE METERBANK_CAST(DWORD, 0x00000400)
#define PDH_FMT_NOSCALE METERBANK_CAST(DWORD, 0x00001000)
#define PDH_FMT_1000 METERBANK_CAST(DWORD, 0x00002000)
#define PDH_FMT_NODATA METERBANK_CAST(DWORD, 0x00004000)
#define PDH_FMT_NOCAP100 METERBANK_CAST(DWORD, 0x00008000)

#define PERF_DETAIL_COSTLY METERBANK_CAST(DWORD, 0x00010000)
#define PERF_DETAIL_STANDARD METERBANK_CAST(DWORD, 0x0000ffff)

#define PDH_MAX_SCALE 7
#define PDH_MIN_SCALE (-7)

// Logs are text, CSV or TSV: PdhOpenLog creates one, or opens it for reading.
#define PDH_LOG_READ_ACCESS METERBANK_CAST(DWORD, 0x00010000)
#define PDH_LOG_WRITE_ACCESS METERBANK_CAST(DWORD, 0x00020000)
#define PDH_LOG_UPDATE_ACCESS METERBANK_CAST(DWORD, 0x00040000)
#define PDH_LOG_ACCESS_MASK METERBANK_CAST(DWORD, 0x000f0000)
#define PDH_LOG_CREATE_NEW METERBANK_CAST(DWORD, 0x00000001)
#define PDH_LOG_CREATE_ALWAYS METERBANK_CAST(DWORD, 0x00000002)
#define PDH_LOG_OPEN_ALWAYS METERBANK_CAST(DWORD, 0x00000003)
#define PDH_LOG_OPEN_EXISTING METERBANK_CAST(DWORD, 0x00000004)
#define PDH_LOG_CREATE_MASK METERBANK_CAST(DWORD, 0x0000000f)
#define PDH_LOG_TYPE_UNDEFINED 0
#define PDH_LOG_TYPE_CSV 1
#define PDH_LOG_TYPE_TSV 2
#define PDH_LOG_TYPE_SQL 7
#define PDH_LOG_TYPE_BINARY 8
#define PDH_FLAGS_CLOSE_QUERY METERBANK_CAST(DWORD, 0x00000001)

#define PDH_NOEXPANDCOUNTERS 1
#define PDH_NOEXPANDINSTANCES 2
#define PDH_REFRESHCOUNTERS 4

// Values as they are stored. `SecondValue` is the base of a fraction or an average, or the time
// that the formula of the type uses: nanoseconds, steps of 100 ns, or ticks of the clock that the
// counter names.
typedef struct _PDH_RAW_COUNTER {
  DWORD CStatus;
  FILETIME TimeStamp;  // local time
  LONGLONG FirstValue;
  LONGLONG SecondValue;
  DWORD MultiCount;
} PDH_RAW_COUNTER, *PPDH_RAW_COUNTER;

typedef struct _PDH_RAW_COUNTER_ITEM_A {
  LPSTR szName;
  PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_A, *PPDH_RAW_COUNTER_ITEM_A;
typedef struct _PDH_RAW_COUNTER_ITEM_W {
  LPWSTR szName;
  PDH_RAW_COUNTER RawValue;
} PDH_RAW_COUNTER_ITEM_W, *PPDH_RAW_COUNTER_ITEM_W;

__extension__ typedef struct _PDH_FMT_COUNTERVALUE {
  DWORD CStatus;
  union {
    LONG longValue;
    double doubleValue;
    LONGLONG largeValue;
    LPCSTR AnsiStringValue;
    LPCWSTR WideStringValue;
  };
} PDH_FMT_COUNTERVALUE, *PPDH_FMT_COUNTERVALUE;

typedef struct _PDH_FMT_COUNTERVALUE_ITEM_A {
  LPSTR szName;
  PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_A, *PPDH_FMT_COUNTERVALUE_ITEM_A;
typedef struct _PDH_FMT_COUNTERVALUE_ITEM_W {
  LPWSTR szName;
  PDH_FMT_COUNTERVALUE FmtValue;
} PDH_FMT_COUNTERVALUE_ITEM_W, *PPDH_FMT_COUNTERVALUE_ITEM_W;

typedef struct _PDH_STATISTICS {
  DWORD dwFormat;
  DWORD count;
  PDH_FMT_COUNTERVALUE min;
  PDH_FMT_COUNTERVALUE max;
  PDH_FMT_COUNTERVALUE mean;
} PDH_STATISTICS, *PPDH_STATISTICS;

typedef struct _PDH_COUNTER_PATH_ELEMENTS_A {
  LPSTR szMachineName;
  LPSTR szObjectName;
  LPSTR szInstanceName;
  LPSTR szParentInstance;
  DWORD dwInstanceIndex;
  LPSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_A, *PPDH_COUNTER_PATH_ELEMENTS_A;
typedef struct _PDH_COUNTER_PATH_ELEMENTS_W {
  LPWSTR szMachineName;
  LPWSTR szObjectName;
  LPWSTR szInstanceName;
  LPWSTR szParentInstance;
  DWORD dwInstanceIndex;
  LPWSTR szCounterName;
} PDH_COUNTER_PATH_ELEMENTS_W, *PPDH_COUNTER_PATH_ELEMENTS_W;

typedef struct _PDH_DATA_ITEM_PATH_ELEMENTS_A {
  LPSTR szMachineName;
  GUID ObjectGUID;
  DWORD dwItemId;
  LPSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_A, *PPDH_DATA_ITEM_PATH_ELEMENTS_A;
typedef struct _PDH_DATA_ITEM_PATH_ELEMENTS_W {
  LPWSTR szMachineName;
  GUID ObjectGUID;
  DWORD dwItemId;
  LPWSTR szInstanceName;
} PDH_DATA_ITEM_PATH_ELEMENTS_W, *PPDH_DATA_ITEM_PATH_ELEMENTS_W;

__extension__ typedef struct _PDH_COUNTER_INFO_A {
  DWORD dwLength;
  DWORD dwType;
  DWORD CVersion;
  DWORD CStatus;
  LONG lScale;
  LONG lDefaultScale;
  DWORD_PTR dwUserData;
  DWORD_PTR dwQueryUserData;
  LPSTR szFullPath;
  union {
    PDH_DATA_ITEM_PATH_ELEMENTS_A DataItemPath;
    PDH_COUNTER_PATH_ELEMENTS_A CounterPath;
    struct {
      LPSTR szMachineName;
      LPSTR szObjectName;
      LPSTR szInstanceName;
      LPSTR szParentInstance;
      DWORD dwInstanceIndex;
      LPSTR szCounterName;
    };
  };
  LPSTR szExplainText;
  DWORD DataBuffer[1];
} PDH_COUNTER_INFO_A, *PPDH_COUNTER_INFO_A;
__extension__ typedef struct _PDH_COUNTER_INFO_W {
  DWORD dwLength;
  DWORD dwType;
  DWORD CVersion;
  DWORD CStatus;
  LONG lScale;
  LONG lDefaultScale;
  DWORD_PTR dwUserData;
  DWORD_PTR dwQueryUserData;
  LPWSTR szFullPath;
  union {
    PDH_DATA_ITEM_PATH_ELEMENTS_W DataItemPath;
    PDH_COUNTER_PATH_ELEMENTS_W CounterPath;
    struct {
      LPWSTR szMachineName;
      LPWSTR szObjectName;
      LPWSTR szInstanceName;
      LPWSTR szParentInstance;
      DWORD dwInstanceIndex;
      LPWSTR szCounterName;
    };
  };
  LPWSTR szExplainText;
  DWORD DataBuffer[1];
} PDH_COUNTER_INFO_W, *PPDH_COUNTER_INFO_W;

typedef struct _PDH_TIME_INFO {
  LONGLONG StartTime;  // local time, as FILETIME counts it
  LONGLONG EndTime;
  DWORD SampleCount;
} PDH_TIME_INFO, *PPDH_TIME_INFO;

static_assert(sizeof(PDH_RAW_COUNTER) == 40 && sizeof(PDH_FMT_COUNTERVALUE) == 16, "as on Windows");
static_assert(sizeof(PDH_COUNTER_PATH_ELEMENTS_W) == 48, "as on Windows");
static_assert(sizeof(PDH_COUNTER_INFO_W) == 112, "as on Windows");

EXTERN_C_START

PDH_FUNCTION PdhGetDllVersion(LPDWORD version);

// ---- Queries ----

// `source` is the name of a text log, or null for this machine as it is now. A collection of a log
// is its next record; PDH_NO_MORE_DATA is behind the last one.
PDH_FUNCTION PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY* query);
PDH_FUNCTION PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY* query)
    METERBANK_WIDE_SYMBOL(PdhOpenQueryW);
// `source` is of PdhBindInputDataSource, or null.
PDH_FUNCTION PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user, PDH_HQUERY* query);
PDH_FUNCTION PdhCloseQuery(PDH_HQUERY query);
BOOL WINAPI PdhIsRealTimeQuery(PDH_HQUERY query);

// Only the instance may have wildcards. An instance that is absent is found once it appears. Names
// exist in one language, so the English form is the same.
PDH_FUNCTION PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER* counter);
PDH_FUNCTION PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER* counter)
    METERBANK_WIDE_SYMBOL(PdhAddCounterW);
PDH_FUNCTION PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user,
                                   PDH_HCOUNTER* counter);
PDH_FUNCTION PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                                   PDH_HCOUNTER* counter)
    METERBANK_WIDE_SYMBOL(PdhAddEnglishCounterW);
PDH_FUNCTION PdhRemoveCounter(PDH_HCOUNTER counter);

// PDH_NO_DATA: the query has no counters, or all of its counters lack data.
PDH_FUNCTION PdhCollectQueryData(PDH_HQUERY query);
// Starts a thread that collects once every `seconds` and sets the event each time; returns at once.
// The first collection is one interval later. The event may be null. The next call for this query,
// a call with 0 seconds and PdhCloseQuery end the thread, and wait if it is collecting.
// PDH_NO_DATA: the query has no counters.
PDH_FUNCTION PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event);
// `time` is that of the sample, in local time.
PDH_FUNCTION PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG* time);

// ---- Values ----

// `type` may be null. If the value cannot be computed, the result is PDH_INVALID_DATA or
// PDH_CALC_NEGATIVE_..., and the status of `value` gives the reason.
PDH_FUNCTION PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                         PPDH_FMT_COUNTERVALUE value);
PDH_FUNCTION PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value);

// One item an instance, by name; the second of a name is `name#1`, the third `name#2`.
PDH_FUNCTION PdhGetFormattedCounterArrayA(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes,
                                          LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_A items);
PDH_FUNCTION PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes,
                                          LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items)
    METERBANK_WIDE_SYMBOL(PdhGetFormattedCounterArrayW);
PDH_FUNCTION PdhGetRawCounterArrayA(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                                    PPDH_RAW_COUNTER_ITEM_A items);
PDH_FUNCTION PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                                    PPDH_RAW_COUNTER_ITEM_W items)
    METERBANK_WIDE_SYMBOL(PdhGetRawCounterArrayW);

// `older` may be null where the type needs one value alone.
PDH_FUNCTION PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format,
                                             PPDH_RAW_COUNTER newer, PPDH_RAW_COUNTER older,
                                             PPDH_FMT_COUNTERVALUE value);
// `base` is what PdhGetCounterTimeBase gives; types without a time do not look at it.
PDH_FUNCTION PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG* base, PPDH_RAW_COUNTER newer,
                                   PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value);
// The values are a ring whose oldest entry is `first`.
PDH_FUNCTION PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first,
                                         DWORD count, PPDH_RAW_COUNTER values,
                                         PPDH_STATISTICS statistics);

// Ticks a second of the clock that the counter's type takes.
PDH_FUNCTION PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG* base);
// A power of ten, 0 until it is set: the scale that a provider suggests is never applied by itself.
PDH_FUNCTION PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor);
PDH_FUNCTION PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN with_help, LPDWORD bytes,
                                PPDH_COUNTER_INFO_A info);
PDH_FUNCTION PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_help, LPDWORD bytes,
                                PPDH_COUNTER_INFO_W info) METERBANK_WIDE_SYMBOL(PdhGetCounterInfoW);

// ---- Logs ----

// `access` is READ_ACCESS with OPEN_EXISTING, or WRITE_ACCESS with CREATE_NEW or CREATE_ALWAYS;
// `bytes_max` is 0. Reading stores the type; what the query and the caption are is of no account.
PDH_FUNCTION PdhOpenLogA(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD bytes_max,
                         LPCSTR caption, PDH_HLOG* log);
PDH_FUNCTION PdhOpenLogW(LPCWSTR file, DWORD access, LPDWORD type, PDH_HQUERY query,
                         DWORD bytes_max, LPCWSTR caption, PDH_HLOG* log)
    METERBANK_WIDE_SYMBOL(PdhOpenLogW);
// Collects and appends a record. The columns are those of the first one. `text` is ignored.
PDH_FUNCTION PdhUpdateLogA(PDH_HLOG log, LPCSTR text);
PDH_FUNCTION PdhUpdateLogW(PDH_HLOG log, LPCWSTR text) METERBANK_WIDE_SYMBOL(PdhUpdateLogW);
// The log must be open for writing.
PDH_FUNCTION PdhGetLogFileSize(PDH_HLOG log, LONGLONG* bytes);
PDH_FUNCTION PdhCloseLog(PDH_HLOG log, DWORD flags);

// Several logs of the same counters are one, in order of time. A null list is this machine.
PDH_FUNCTION PdhBindInputDataSourceA(PDH_HLOG* log, LPCSTR files);
PDH_FUNCTION PdhBindInputDataSourceW(PDH_HLOG* log, LPCWSTR files)
    METERBANK_WIDE_SYMBOL(PdhBindInputDataSourceW);
// Reads the whole log.
PDH_FUNCTION PdhGetDataSourceTimeRangeA(LPCSTR file, LPDWORD entries, PPDH_TIME_INFO range,
                                        LPDWORD bytes);
PDH_FUNCTION PdhGetDataSourceTimeRangeW(LPCWSTR file, LPDWORD entries, PPDH_TIME_INFO range,
                                        LPDWORD bytes)
    METERBANK_WIDE_SYMBOL(PdhGetDataSourceTimeRangeW);
PDH_FUNCTION PdhGetDataSourceTimeRangeH(PDH_HLOG log, LPDWORD entries, PPDH_TIME_INFO range,
                                        LPDWORD bytes);
// Begins with the first record of the range.
PDH_FUNCTION PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range);

// ---- Paths ----

// An instance index that was not written is 0xffffffff.
PDH_FUNCTION PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A elements, LPDWORD bytes,
                                  DWORD flags);
PDH_FUNCTION PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements,
                                  LPDWORD bytes, DWORD flags)
    METERBANK_WIDE_SYMBOL(PdhParseCounterPathW);
PDH_FUNCTION PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A elements, LPSTR path,
                                 LPDWORD characters, DWORD flags);
PDH_FUNCTION PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path,
                                 LPDWORD characters, DWORD flags)
    METERBANK_WIDE_SYMBOL(PdhMakeCounterPathW);
// An index that was not written is 0.
PDH_FUNCTION PdhParseInstanceNameA(LPCSTR text, LPSTR name, LPDWORD name_characters, LPSTR parent,
                                   LPDWORD parent_characters, LPDWORD index);
PDH_FUNCTION PdhParseInstanceNameW(LPCWSTR text, LPWSTR name, LPDWORD name_characters,
                                   LPWSTR parent, LPDWORD parent_characters, LPDWORD index)
    METERBANK_WIDE_SYMBOL(PdhParseInstanceNameW);

// ---- What there is ----

// `source` is null: what a log has is not listed, PDH_INVALID_DATASOURCE.

// Lists are strings one behind the other, and an empty one as the end. `machine` is null for this
// machine; its own name, ".", "localhost" and an empty string mean the same, with backslashes in
// front or without. Of other machines there is nothing.

PDH_FUNCTION PdhConnectMachineA(LPCSTR machine);
PDH_FUNCTION PdhConnectMachineW(LPCWSTR machine) METERBANK_WIDE_SYMBOL(PdhConnectMachineW);
PDH_FUNCTION PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD characters);
PDH_FUNCTION PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD characters)
    METERBANK_WIDE_SYMBOL(PdhEnumMachinesW);
// `refresh` is ignored: lists are always of now.
PDH_FUNCTION PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD characters,
                             DWORD detail, BOOL refresh);
PDH_FUNCTION PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD characters,
                             DWORD detail, BOOL refresh) METERBANK_WIDE_SYMBOL(PdhEnumObjectsW);
PDH_FUNCTION PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters,
                                 LPDWORD counter_characters, LPSTR instances,
                                 LPDWORD instance_characters, DWORD detail, DWORD flags);
PDH_FUNCTION PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                 LPDWORD counter_characters, LPWSTR instances,
                                 LPDWORD instance_characters, DWORD detail, DWORD flags)
    METERBANK_WIDE_SYMBOL(PdhEnumObjectItemsW);

// Wildcards may be in the instance and in the counter.
PDH_FUNCTION PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD characters,
                                    DWORD flags);
PDH_FUNCTION PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD characters,
                                    DWORD flags) METERBANK_WIDE_SYMBOL(PdhExpandWildCardPathW);
PDH_FUNCTION PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD characters);
PDH_FUNCTION PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD characters)
    METERBANK_WIDE_SYMBOL(PdhExpandCounterPathW);

PDH_FUNCTION PdhValidatePathA(LPCSTR path);
PDH_FUNCTION PdhValidatePathW(LPCWSTR path) METERBANK_WIDE_SYMBOL(PdhValidatePathW);
// `source` is of PdhBindInputDataSource, or null.
PDH_FUNCTION PdhValidatePathExA(PDH_HLOG source, LPCSTR path);
PDH_FUNCTION PdhValidatePathExW(PDH_HLOG source, LPCWSTR path)
    METERBANK_WIDE_SYMBOL(PdhValidatePathExW);

EXTERN_C_END

#if defined(UNICODE) || defined(_UNICODE)
#define METERBANK_PDH_FORM(name) name##W
#define PDH_RAW_COUNTER_ITEM PDH_RAW_COUNTER_ITEM_W
#define PPDH_RAW_COUNTER_ITEM PPDH_RAW_COUNTER_ITEM_W
#define PDH_FMT_COUNTERVALUE_ITEM PDH_FMT_COUNTERVALUE_ITEM_W
#define PPDH_FMT_COUNTERVALUE_ITEM PPDH_FMT_COUNTERVALUE_ITEM_W
#define PDH_COUNTER_PATH_ELEMENTS PDH_COUNTER_PATH_ELEMENTS_W
#define PPDH_COUNTER_PATH_ELEMENTS PPDH_COUNTER_PATH_ELEMENTS_W
#define PDH_COUNTER_INFO PDH_COUNTER_INFO_W
#define PPDH_COUNTER_INFO PPDH_COUNTER_INFO_W
#else
#define METERBANK_PDH_FORM(name) name##A
#define PDH_RAW_COUNTER_ITEM PDH_RAW_COUNTER_ITEM_A
#define PPDH_RAW_COUNTER_ITEM PPDH_RAW_COUNTER_ITEM_A
#define PDH_FMT_COUNTERVALUE_ITEM PDH_FMT_COUNTERVALUE_ITEM_A
#define PPDH_FMT_COUNTERVALUE_ITEM PPDH_FMT_COUNTERVALUE_ITEM_A
#define PDH_COUNTER_PATH_ELEMENTS PDH_COUNTER_PATH_ELEMENTS_A
#define PPDH_COUNTER_PATH_ELEMENTS PPDH_COUNTER_PATH_ELEMENTS_A
#define PDH_COUNTER_INFO PDH_COUNTER_INFO_A
#define PPDH_COUNTER_INFO PPDH_COUNTER_INFO_A
#endif
#define PdhOpenQuery METERBANK_PDH_FORM(PdhOpenQuery)
#define PdhOpenLog METERBANK_PDH_FORM(PdhOpenLog)
#define PdhUpdateLog METERBANK_PDH_FORM(PdhUpdateLog)
#define PdhBindInputDataSource METERBANK_PDH_FORM(PdhBindInputDataSource)
#define PdhGetDataSourceTimeRange METERBANK_PDH_FORM(PdhGetDataSourceTimeRange)
#define PdhAddCounter METERBANK_PDH_FORM(PdhAddCounter)
#define PdhAddEnglishCounter METERBANK_PDH_FORM(PdhAddEnglishCounter)
#define PdhGetFormattedCounterArray METERBANK_PDH_FORM(PdhGetFormattedCounterArray)
#define PdhGetRawCounterArray METERBANK_PDH_FORM(PdhGetRawCounterArray)
#define PdhGetCounterInfo METERBANK_PDH_FORM(PdhGetCounterInfo)
#define PdhParseCounterPath METERBANK_PDH_FORM(PdhParseCounterPath)
#define PdhMakeCounterPath METERBANK_PDH_FORM(PdhMakeCounterPath)
#define PdhParseInstanceName METERBANK_PDH_FORM(PdhParseInstanceName)
#define PdhConnectMachine METERBANK_PDH_FORM(PdhConnectMachine)
#define PdhEnumMachines METERBANK_PDH_FORM(PdhEnumMachines)
#define PdhEnumObjects METERBANK_PDH_FORM(PdhEnumObjects)
#define PdhEnumObjectItems METERBANK_PDH_FORM(PdhEnumObjectItems)
#define PdhExpandWildCardPath METERBANK_PDH_FORM(PdhExpandWildCardPath)
#define PdhExpandCounterPath METERBANK_PDH_FORM(PdhExpandCounterPath)
#define PdhValidatePath METERBANK_PDH_FORM(PdhValidatePath)
#define PdhValidatePathEx METERBANK_PDH_FORM(PdhValidatePathEx)
