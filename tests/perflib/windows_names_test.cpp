// SPDX-License-Identifier: Apache-2.0
//
// What <windows.h> and its neighbours offer besides counters.
#include <gtest/gtest.h>
#include <objbase.h>
#include <windows.h>

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace {

// Every order that C++ allows.
static_assert(std::is_same_v<unsigned __int64, ULONGLONG>);
static_assert(std::is_same_v<__int64 unsigned, ULONG64>);
static_assert(std::is_same_v<const __int64, const LONGLONG>);
static_assert(std::is_same_v<__int32 const, const LONG>);
static_assert(std::is_same_v<unsigned __int16, WORD> && std::is_same_v<unsigned __int8, BYTE>);
static_assert(std::is_same_v<WCHAR, wchar_t> && std::is_same_v<DWORD, ULONG>);
static_assert(sizeof(LARGE_INTEGER) == 8 && sizeof(HANDLE) == sizeof(void*));

DEFINE_GUID(kSetGuid, 0xb4fc721a, 0x0378, 0x476f, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36);

TEST(WindowsGuid, ReadsAndPrintsItsText) {
  WCHAR text[39];
  ASSERT_EQ(StringFromGUID2(kSetGuid, text, 39), 39);
  EXPECT_STREQ(text, L"{B4FC721A-0378-476F-89BA-A5A79F810B36}");
  EXPECT_EQ(StringFromGUID2(kSetGuid, text, 38), 0);
  CLSID back;
  ASSERT_EQ(CLSIDFromString(text, &back), S_OK);
  EXPECT_TRUE(IsEqualGUID(back, kSetGuid));
  EXPECT_EQ(CLSIDFromString(L"{b4fc721a-0378-476f-89ba-a5a79f810b36}", &back), S_OK);
  EXPECT_TRUE(back == kSetGuid);
}

TEST(WindowsGuid, RefusesMalformedGuids) {
  for (const WCHAR* text :
       {L"", L"{", L"b4fc721a-0378-476f-89ba-a5a79f810b36",
        L"{b4fc721a-0378-476f-89ba-a5a79f810b36}x", L"{b4fc721a-0378-476f-89ba-a5a79f810b3\u0101}",
        L"{b4fc721a-0378-476f-89ba-a5a79f810b3g}"}) {
    CLSID guid = kSetGuid;
    EXPECT_EQ(CLSIDFromString(text, &guid), CO_E_CLASSSTRING);
    EXPECT_TRUE(guid == GUID_NULL);
  }
  EXPECT_EQ(CLSIDFromString(nullptr, nullptr), E_INVALIDARG);
}

TEST(WindowsTime, GoesThereAndBack) {
  struct Case {
    SYSTEMTIME parts;
    LONGLONG steps;
  };
  // A day each from the calendar's corners; steps counted with another program.
  for (const Case& each :
       {Case{{1601, 1, 1, 1, 0, 0, 0, 0}, 0}, Case{{1970, 1, 4, 1, 0, 0, 0, 0}, 116444736000000000},
        Case{{2000, 2, 2, 29, 23, 59, 59, 999}, 125963423999990000},
        Case{{2024, 12, 2, 31, 12, 0, 0, 1}, 133801200000010000},
        Case{{2100, 3, 1, 1, 0, 0, 0, 0}, 157520160000000000}}) {
    FILETIME time;
    ASSERT_TRUE(SystemTimeToFileTime(&each.parts, &time));
    EXPECT_EQ(static_cast<LONGLONG>(time.dwHighDateTime) << 32 | time.dwLowDateTime, each.steps);
    SYSTEMTIME back;
    ASSERT_TRUE(FileTimeToSystemTime(&time, &back));
    EXPECT_EQ(std::memcmp(&back, &each.parts, sizeof back), 0) << each.steps;
  }
}

TEST(WindowsTime, RefusesDatesThatDoNotExist) {
  FILETIME time;
  for (const SYSTEMTIME& parts :
       {SYSTEMTIME{2023, 2, 0, 29, 0, 0, 0, 0}, SYSTEMTIME{2100, 2, 0, 29, 0, 0, 0, 0},
        SYSTEMTIME{2023, 13, 0, 1, 0, 0, 0, 0}, SYSTEMTIME{2023, 0, 0, 1, 0, 0, 0, 0},
        SYSTEMTIME{2023, 1, 0, 0, 0, 0, 0, 0}, SYSTEMTIME{1600, 1, 0, 1, 0, 0, 0, 0},
        SYSTEMTIME{2023, 1, 0, 1, 24, 0, 0, 0}, SYSTEMTIME{2023, 1, 0, 1, 0, 60, 0, 0},
        SYSTEMTIME{2023, 1, 0, 1, 0, 0, 60, 0}, SYSTEMTIME{2023, 1, 0, 1, 0, 0, 0, 1000}}) {
    SetLastError(ERROR_SUCCESS);
    EXPECT_FALSE(SystemTimeToFileTime(&parts, &time));
    EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_INVALID_PARAMETER));
  }
  const FILETIME last{0xf06c7fff, 0x7fff35f4};
  const FILETIME behind{0xf06c8000, 0x7fff35f4};
  SYSTEMTIME parts;
  ASSERT_TRUE(FileTimeToSystemTime(&last, &parts));
  EXPECT_EQ(parts.wYear, 30827);
  EXPECT_EQ(parts.wDay, 31);
  EXPECT_FALSE(FileTimeToSystemTime(&behind, &parts));
}

TEST(WindowsTime, RunsForward) {
  LARGE_INTEGER first;
  LARGE_INTEGER second;
  FILETIME before;
  FILETIME after;
  QueryPerformanceCounter(&first);
  GetSystemTimeAsFileTime(&before);
  Sleep(2);
  QueryPerformanceCounter(&second);
  GetSystemTimePreciseAsFileTime(&after);
  EXPECT_GE(second.QuadPart - first.QuadPart, 2'000'000);
  EXPECT_EQ(CompareFileTime(&before, &before), 0);
  EXPECT_EQ(CompareFileTime(&before, &after), -CompareFileTime(&after, &before));
  EXPECT_GT(GetTickCount64(), 0U);
}

TEST(SecureStrings, KeepWhatFitsAndEmptyWhatDoesNot) {
  WCHAR text[6];
  EXPECT_EQ(wcscpy_s(text, L"abcde"), 0);
  EXPECT_STREQ(text, L"abcde");
  EXPECT_EQ(wcscpy_s(text, L"abcdef"), ERANGE);
  EXPECT_STREQ(text, L"");
  EXPECT_EQ(wcsncpy_s(text, 6, L"abcdef", 3), 0);
  EXPECT_STREQ(text, L"abc");
  EXPECT_EQ(wcscat_s(text, L"de"), 0);
  EXPECT_STREQ(text, L"abcde");
  EXPECT_EQ(wcscat_s(text, L"f"), ERANGE);
  EXPECT_STREQ(text, L"");
  EXPECT_EQ(wcsncpy_s(text, _countof(text), L"abcdefgh", _TRUNCATE), STRUNCATE);
  EXPECT_STREQ(text, L"abcde");
  EXPECT_EQ(wcscpy_s(text, 6, nullptr), EINVAL);
  EXPECT_EQ(wcscpy_s(nullptr, 6, L"a"), EINVAL);
  EXPECT_EQ(wcscpy_s(text, 0, L"a"), EINVAL);
  char narrow[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(strcat_s(narrow, "a"), EINVAL);  // it had no end
  EXPECT_STREQ(narrow, "");
  EXPECT_EQ(strcpy_s(narrow, "abc"), 0);
  EXPECT_EQ(strnlen_s(narrow, 2), 2U);
  EXPECT_EQ(_wcsicmp(L"_Total", L"_TOTAL"), 0);
  EXPECT_LT(_stricmp("a", "B"), 0);
}

TEST(SecureStrings, CopyMemoryWithinBounds) {
  int source[2] = {1, 2};
  int target[2] = {7, 7};
  EXPECT_EQ(memcpy_s(target, sizeof target, source, sizeof source), 0);
  EXPECT_EQ(target[1], 2);
  EXPECT_EQ(memcpy_s(target, 4, source, 8), ERANGE);
  EXPECT_EQ(target[0], 0);
  EXPECT_EQ(target[1], 2);
}

template <typename... Arguments>
std::wstring formatted(const wchar_t* format, Arguments... arguments) {
  wchar_t text[256];
  const int length = swprintf_s(text, format, arguments...);
  return length < 0 ? L"failed" : std::wstring(text, static_cast<std::size_t>(length));
}

TEST(WindowsFormats, PrintStringsOfBothWidthsByWhatTheyAre) {
  EXPECT_EQ(formatted(L"%s|%ls|%ws|%S|%hs", L"a", L"b", L"c", "d", "e"), L"a|b|c|d|e");
  EXPECT_EQ(formatted(L"[%5s][%-5s][%.2s]", L"ab", "cd", L"efg"), L"[   ab][cd   ][ef]");
  EXPECT_EQ(formatted(L"%s", "\xc3\xa4\xff"), L"\u00e4\u00ff");
  EXPECT_EQ(formatted(L"%s", static_cast<const wchar_t*>(nullptr)), L"(null)");
  EXPECT_EQ(formatted(L"%c%C%%", L'x', 'y'), L"xy%");
}

TEST(WindowsFormats, PrintNumbersWithTheBitsTheyHave) {
  EXPECT_EQ(formatted(L"%lu %ld", DWORD{0xffffffff}, LONG{-5}), L"4294967295 -5");
  EXPECT_EQ(formatted(L"%I64u %I64d", ~0ULL, -7LL), L"18446744073709551615 -7");
  EXPECT_EQ(formatted(L"%llu %lld", 1ULL << 40, -(1LL << 40)), L"1099511627776 -1099511627776");
  EXPECT_EQ(formatted(L"%08lX 0x%x", 0xbeefU, -1), L"0000BEEF 0xffffffff");
  EXPECT_EQ(formatted(L"%hu %hhd", 65537, 255), L"1 -1");
  EXPECT_EQ(formatted(L"%u", -1), L"4294967295");
  EXPECT_EQ(formatted(L"%.3f|%8.2f|%-8.1f|%e", 1.0 / 3, 2.5, 2.5, 1e10),
            L"0.333|    2.50|2.5     |1.000000e+10");
  EXPECT_EQ(formatted(L"%*d|%-*d|%.*f", 5, 42, 5, 42, 1, 2.25), L"   42|42   |2.2");
  EXPECT_EQ(formatted(L"%p", reinterpret_cast<void*>(0xabc)), L"0000000000000ABC");
  EXPECT_EQ(formatted(L"%d", PERF_DETAIL_NOVICE), L"100");
}

TEST(WindowsFormats, FailWhereThereIsNoArgumentOrNoRoom) {
  EXPECT_EQ(formatted(L"%d"), L"failed");
  EXPECT_EQ(formatted(L"%*d", 1), L"failed");
  EXPECT_EQ(formatted(L"%"), L"failed");
  EXPECT_EQ(formatted(L"%k", 1), L"failed");
  EXPECT_EQ(formatted(L"%1000000000d", 1), L"failed");
  wchar_t small[4];
  EXPECT_EQ(swprintf_s(small, L"%s", L"abc"), 3);
  EXPECT_EQ(swprintf_s(small, L"%s", L"abcd"), -1);
  EXPECT_STREQ(small, L"");
  EXPECT_EQ(_snwprintf_s(small, _TRUNCATE, L"%s", L"abcd"), -1);
  EXPECT_STREQ(small, L"abc");
  EXPECT_EQ(_snwprintf_s(small, 2, L"%s", L"abcd"), -1);
  EXPECT_STREQ(small, L"ab");
  char narrow[8];
  EXPECT_EQ(sprintf_s(narrow, "%s-%S", "a", L"\u00e4"), 4);
  EXPECT_STREQ(narrow, "a-\xc3\xa4");
}

TEST(WindowsErrors, BecomeResultsAndBack) {
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_SUCCESS), S_OK);
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), E_INVALIDARG);
  EXPECT_TRUE(FAILED(E_FAIL) && SUCCEEDED(S_FALSE));
  EXPECT_EQ(HRESULT_CODE(E_INVALIDARG), 87U);
}

}  // namespace
