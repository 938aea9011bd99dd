// SPDX-License-Identifier: Apache-2.0
//
// The small functions of <windows.h> and <winternl.h>, and each code that they document.
#include <gtest/gtest.h>
#include <ntstatus.h>
#include <windows.h>
#include <winternl.h>

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "../support/sanitizers.hpp"

namespace {

TEST(NumberText, HasTheDigitsOfItsRadix) {
  WCHAR wide[36];
  EXPECT_EQ(_itow_s(-255, wide, 36, 10), 0);
  EXPECT_STREQ(wide, L"-255");
  EXPECT_EQ(_itow_s(-255, wide, 16), 0);
  EXPECT_STREQ(wide, L"ffffff01");
  EXPECT_EQ(_itow_s(-1, wide, 36, 2), 0);
  EXPECT_STREQ(wide, L"11111111111111111111111111111111");
  EXPECT_EQ(_i64tow_s(std::numeric_limits<long long>::min(), wide, 36, 10), 0);
  EXPECT_STREQ(wide, L"-9223372036854775808");
  char narrow[66];
  EXPECT_EQ(_itoa_s(0, narrow, 10), 0);
  EXPECT_STREQ(narrow, "0");
  EXPECT_EQ(_ui64toa_s(~0ULL, narrow, 66, 36), 0);
  EXPECT_STREQ(narrow, "3w5e11264sgsf");
  EXPECT_EQ(_ui64tow_s(7, wide, 36, 2), 0);
  EXPECT_STREQ(wide, L"111");
  EXPECT_EQ(_i64toa_s(-7, narrow, 66, 10), 0);
  EXPECT_STREQ(narrow, "-7");
}

TEST(NumberText, IsEmptyWhereItCannotBe) {
  WCHAR text[4] = L"abc";
  EXPECT_EQ(_itow_s(1, nullptr, 4, 10), EINVAL);
  EXPECT_EQ(_itow_s(1, text, 0, 10), EINVAL);
  EXPECT_STREQ(text, L"abc");
  EXPECT_EQ(_itow_s(1234, text, 4, 10), EINVAL);
  EXPECT_STREQ(text, L"");
  EXPECT_EQ(_itow_s(-123, text, 4, 10), EINVAL);
  EXPECT_EQ(_itow_s(1, text, 4, 1), EINVAL);
  EXPECT_EQ(_itow_s(1, text, 4, 37), EINVAL);
  EXPECT_EQ(_itow_s(123, text, 4, 10), 0);
}

TEST(StackMemory, IsOfTheHeapWhereItIsMuch) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1008}, std::size_t{100'000}}) {
    auto* const memory = static_cast<unsigned char*>(_malloca(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0U);
    memory[0] = 1;
    memory[bytes - 1] = 2;
    _freea(memory);
  }
  _freea(nullptr);
}

TEST(StackMemory, IsNullWhereThereIsNone) {
  if (meterbank::test::kHasSanitizer) GTEST_SKIP() << "a sanitizer ends the program";
  // Parsed, or the compiler would know that it is too much.
  const std::size_t too_much = std::strtoull("18446744073709551614", nullptr, 10);
  EXPECT_EQ(_malloca(too_much), nullptr);
}

TEST(PlainStrings, AreComparedByCodePoints) {
  EXPECT_EQ(lstrcmpW(L"a", L"b"), -1);
  EXPECT_EQ(lstrcmpW(L"b", L"a"), 1);
  EXPECT_EQ(lstrcmpW(L"a", L"a"), 0);
  EXPECT_EQ(lstrcmpW(L"a", L"A"), 1);
  EXPECT_EQ(lstrcmpiW(L"\u00c4_Total", L"\u00e4_TOTAL"), 0);
  EXPECT_EQ(lstrcmpiA("\xc3\x84", "\xc3\xa4"), 0);
  EXPECT_EQ(lstrcmpA("ab", "a"), 1);
  EXPECT_EQ(lstrcmpiA("A", "b"), -1);
  EXPECT_EQ(lstrlenW(L"abc"), 3);
  EXPECT_EQ(lstrlenA("abcd"), 4);
}

TEST(PlainStrings, MayBeNull) {
  EXPECT_EQ(lstrcmpW(nullptr, nullptr), 0);
  EXPECT_EQ(lstrcmpW(nullptr, L""), -1);
  EXPECT_EQ(lstrcmpiA("", nullptr), 1);
  EXPECT_EQ(lstrlenW(nullptr), 0);
  EXPECT_EQ(lstrlenA(nullptr), 0);
}

TEST(ProcessHandle, IsDuplicatedAndClosed) {
  const HANDLE self = GetCurrentProcess();
  HANDLE copy = nullptr;
  ASSERT_TRUE(DuplicateHandle(self, self, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
  EXPECT_NE(copy, self);
  EXPECT_EQ(GetProcessId(copy), GetCurrentProcessId());
  HANDLE moved = nullptr;
  ASSERT_TRUE(DuplicateHandle(self, copy, self, &moved, 0, FALSE,
                              DUPLICATE_CLOSE_SOURCE | DUPLICATE_SAME_ACCESS));
  EXPECT_FALSE(CloseHandle(copy));
  EXPECT_TRUE(CloseHandle(moved));
  EXPECT_TRUE(CloseHandle(self));
  EXPECT_EQ(GetProcessId(self), GetCurrentProcessId());
}

TEST(ProcessHandle, IsToldFromEverythingElse) {
  constexpr DWORD kNoHandle = ERROR_INVALID_HANDLE;
  const HANDLE self = GetCurrentProcess();
  int object = 0;
  HANDLE copy = nullptr;
  SetLastError(0);
  EXPECT_FALSE(DuplicateHandle(self, &object, self, &copy, 0, FALSE, 0));
  EXPECT_EQ(GetLastError(), kNoHandle);
  EXPECT_EQ(copy, nullptr);
  EXPECT_FALSE(DuplicateHandle(&object, self, self, &copy, 0, FALSE, 0));
  EXPECT_FALSE(DuplicateHandle(self, self, nullptr, &copy, 0, FALSE, 0));
  SetLastError(0);
  EXPECT_EQ(GetProcessId(nullptr), 0U);
  EXPECT_EQ(GetLastError(), kNoHandle);
  SetLastError(0);
  EXPECT_FALSE(CloseHandle(nullptr));
  EXPECT_EQ(GetLastError(), kNoHandle);
}

TEST(BadMemory, IsWhatTheProcessHasNoRightTo) {
  static const char kConstant[] = "text";
  char text[4] = {};
  EXPECT_FALSE(IsBadReadPtr(kConstant, sizeof kConstant));
  EXPECT_TRUE(IsBadWritePtr(const_cast<char*>(kConstant), sizeof kConstant));
  EXPECT_FALSE(IsBadWritePtr(text, sizeof text));
  EXPECT_TRUE(IsBadReadPtr(nullptr, 1));
  EXPECT_TRUE(IsBadReadPtr(text, ~UINT_PTR{0}));
  EXPECT_TRUE(IsBadWritePtr(text, UINT_PTR{1} << 46));
  EXPECT_FALSE(IsBadReadPtr(nullptr, 0));
}

TEST(NativeTime, IsTheTimeOfTheSystem) {
  LARGE_INTEGER native;
  FILETIME time;
  GetSystemTimeAsFileTime(&time);
  ASSERT_EQ(NtQuerySystemTime(&native), STATUS_SUCCESS);
  const auto steps = static_cast<LONGLONG>(time.dwHighDateTime) << 32 | time.dwLowDateTime;
  EXPECT_GE(native.QuadPart, steps);
  EXPECT_EQ(NtQuerySystemTime(nullptr), STATUS_ACCESS_VIOLATION);
}

TEST(CountedString, IsMadeWithoutADriver) {
  UNICODE_STRING text;
  RtlInitUnicodeString(&text, L"abc");
  EXPECT_EQ(text.Length, 3 * sizeof(WCHAR));
  EXPECT_EQ(text.MaximumLength, 4 * sizeof(WCHAR));
}

}  // namespace
