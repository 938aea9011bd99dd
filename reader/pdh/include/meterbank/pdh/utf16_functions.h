// SPDX-License-Identifier: Apache-2.0
//
// The functions of <pdh.h> with wide characters as programs with a wchar_t of 16 bits know them:
// there METERBANK_WIDE_SYMBOL leads the Windows names here. For programs that want UTF-16 without
// -fshort-wchar, and for the library itself. Text in their structures is UTF-16, too, whatever the
// pointers are called.
#pragma once

#include "pdh.h"

EXTERN_C_START

PDH_FUNCTION meterbank_utf16_PdhOpenQueryW(const char16_t* source, DWORD_PTR user,
                                           PDH_HQUERY* query);
PDH_FUNCTION meterbank_utf16_PdhAddCounterW(PDH_HQUERY query, const char16_t* path, DWORD_PTR user,
                                            PDH_HCOUNTER* counter);
PDH_FUNCTION meterbank_utf16_PdhAddEnglishCounterW(PDH_HQUERY query, const char16_t* path,
                                                   DWORD_PTR user, PDH_HCOUNTER* counter);
PDH_FUNCTION meterbank_utf16_PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format,
                                                          LPDWORD bytes, LPDWORD count,
                                                          PPDH_FMT_COUNTERVALUE_ITEM_W items);
PDH_FUNCTION meterbank_utf16_PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD bytes,
                                                    LPDWORD count, PPDH_RAW_COUNTER_ITEM_W items);
PDH_FUNCTION meterbank_utf16_PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_help,
                                                LPDWORD bytes, PPDH_COUNTER_INFO_W info);
PDH_FUNCTION meterbank_utf16_PdhOpenLogW(const char16_t* file, DWORD access, LPDWORD type,
                                         PDH_HQUERY query, DWORD bytes_max, const char16_t* caption,
                                         PDH_HLOG* log);
PDH_FUNCTION meterbank_utf16_PdhUpdateLogW(PDH_HLOG log, const char16_t* text);
PDH_FUNCTION meterbank_utf16_PdhBindInputDataSourceW(PDH_HLOG* log, const char16_t* files);
PDH_FUNCTION meterbank_utf16_PdhGetDataSourceTimeRangeW(const char16_t* file, LPDWORD entries,
                                                        PPDH_TIME_INFO range, LPDWORD bytes);
PDH_FUNCTION meterbank_utf16_PdhParseCounterPathW(const char16_t* path,
                                                  PPDH_COUNTER_PATH_ELEMENTS_W elements,
                                                  LPDWORD bytes, DWORD flags);
PDH_FUNCTION meterbank_utf16_PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements,
                                                 char16_t* path, LPDWORD characters, DWORD flags);
PDH_FUNCTION meterbank_utf16_PdhParseInstanceNameW(const char16_t* text, char16_t* name,
                                                   LPDWORD name_characters, char16_t* parent,
                                                   LPDWORD parent_characters, LPDWORD index);
PDH_FUNCTION meterbank_utf16_PdhConnectMachineW(const char16_t* machine);
PDH_FUNCTION meterbank_utf16_PdhEnumMachinesW(const char16_t* source, char16_t* list,
                                              LPDWORD characters);
PDH_FUNCTION meterbank_utf16_PdhEnumObjectsW(const char16_t* source, const char16_t* machine,
                                             char16_t* list, LPDWORD characters, DWORD detail,
                                             BOOL refresh);
PDH_FUNCTION meterbank_utf16_PdhEnumObjectItemsW(const char16_t* source, const char16_t* machine,
                                                 const char16_t* object, char16_t* counters,
                                                 LPDWORD counter_characters, char16_t* instances,
                                                 LPDWORD instance_characters, DWORD detail,
                                                 DWORD flags);
PDH_FUNCTION meterbank_utf16_PdhExpandWildCardPathW(const char16_t* source, const char16_t* path,
                                                    char16_t* list, LPDWORD characters,
                                                    DWORD flags);
PDH_FUNCTION meterbank_utf16_PdhExpandCounterPathW(const char16_t* path, char16_t* list,
                                                   LPDWORD characters);
PDH_FUNCTION meterbank_utf16_PdhValidatePathW(const char16_t* path);
PDH_FUNCTION meterbank_utf16_PdhValidatePathExW(PDH_HLOG source, const char16_t* path);

EXTERN_C_END
