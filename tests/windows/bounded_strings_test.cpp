// SPDX-License-Identifier: Apache-2.0
//
// <strsafe.h>: each documented result of each form.
#include <gtest/gtest.h>
#include <strsafe.h>

#include <string>

namespace {

constexpr HRESULT kBadText = STRSAFE_E_INVALID_PARAMETER;
constexpr HRESULT kCutShort = STRSAFE_E_INSUFFICIENT_BUFFER;

TEST(BoundedStrings, CopyWhatFitsAndCutTheRest) {
  WCHAR wide[4];
  EXPECT_EQ(StringCchCopyW(wide, 4, L"abc"), S_OK);
  EXPECT_STREQ(wide, L"abc");
  EXPECT_EQ(StringCchCopyW(wide, 4, L"wxyz"), kCutShort);
  EXPECT_STREQ(wide, L"wxy");
  EXPECT_EQ(StringCbCopyW(wide, sizeof wide, L"abcd"), kCutShort);
  EXPECT_STREQ(wide, L"abc");
  EXPECT_EQ(StringCbCopyW(wide, sizeof(WCHAR) - 1, L""), kBadText);
  EXPECT_EQ(StringCchCopyW(wide, 1, L""), S_OK);
  EXPECT_STREQ(wide, L"");
  char narrow[4];
  EXPECT_EQ(StringCchCopyA(narrow, 4, "abc"), S_OK);
  EXPECT_EQ(StringCbCopyA(narrow, 3, "abc"), kCutShort);
  EXPECT_STREQ(narrow, "ab");
}

TEST(BoundedStrings, CopyAtMostSoMuchOfTheSource) {
  WCHAR wide[4];
  EXPECT_EQ(StringCchCopyNW(wide, 4, L"abcdef", 2), S_OK);
  EXPECT_STREQ(wide, L"ab");
  EXPECT_EQ(StringCchCopyNW(wide, 4, L"abcdef", 4), kCutShort);
  EXPECT_STREQ(wide, L"abc");
  EXPECT_EQ(StringCbCopyNW(wide, sizeof wide, L"abcdef", 3 * sizeof(WCHAR)), S_OK);
  EXPECT_STREQ(wide, L"abc");
  EXPECT_EQ(StringCchCopyNW(wide, 4, L"a", STRSAFE_MAX_CCH), kBadText);
  EXPECT_STREQ(wide, L"");
  char narrow[4];
  EXPECT_EQ(StringCchCopyNA(narrow, 4, "abcdef", 1), S_OK);
  EXPECT_EQ(StringCbCopyNA(narrow, 4, "bcdef", 1), S_OK);
  EXPECT_STREQ(narrow, "b");
}

TEST(BoundedStrings, AppendWhatFitsAndCutTheRest) {
  WCHAR wide[5] = L"a";
  EXPECT_EQ(StringCchCatW(wide, 5, L"bc"), S_OK);
  EXPECT_EQ(StringCbCatW(wide, sizeof wide, L"de"), kCutShort);
  EXPECT_STREQ(wide, L"abcd");
  EXPECT_EQ(StringCchCatNW(wide, 5, L"", 7), S_OK);
  EXPECT_EQ(StringCbCatNW(wide, sizeof wide, L"xyz", sizeof(WCHAR)), kCutShort);
  EXPECT_STREQ(wide, L"abcd");
  char narrow[5] = "a";
  EXPECT_EQ(StringCchCatA(narrow, 5, "b"), S_OK);
  EXPECT_EQ(StringCbCatA(narrow, 5, "c"), S_OK);
  EXPECT_EQ(StringCchCatNA(narrow, 5, "dx", 1), S_OK);
  EXPECT_EQ(StringCbCatNA(narrow, 5, "e", 1), kCutShort);
  EXPECT_STREQ(narrow, "abcd");
}

TEST(BoundedStrings, AppendNothingToWhatHasNoEnd) {
  char endless[3] = {'x', 'y', 'z'};
  EXPECT_EQ(StringCchCatA(endless, 3, "a"), kBadText);
  EXPECT_EQ(std::string(endless, 3), "xyz");
}

TEST(BoundedStrings, MeasureUpToTheirRoom) {
  std::size_t length = 7;
  EXPECT_EQ(StringCchLengthW(L"abc", 4, &length), S_OK);
  EXPECT_EQ(length, 3U);
  EXPECT_EQ(StringCbLengthW(L"abc", 4 * sizeof(WCHAR), &length), S_OK);
  EXPECT_EQ(length, 3 * sizeof(WCHAR));
  EXPECT_EQ(StringCchLengthA("abc", 4, nullptr), S_OK);
  EXPECT_EQ(StringCchLengthA("abc", 3, &length), kBadText);
  EXPECT_EQ(length, 0U);
  EXPECT_EQ(StringCbLengthA(nullptr, 3, &length), kBadText);
  EXPECT_EQ(StringCchLengthA("abc", 0, &length), kBadText);
  EXPECT_EQ(StringCchLengthA("abc", std::size_t{STRSAFE_MAX_CCH} + 1, &length), kBadText);
}

TEST(BoundedStrings, RefuseRoomThatIsNone) {
  char text[2] = "x";
  for (const std::size_t room : {std::size_t{0}, std::size_t{STRSAFE_MAX_CCH} + 1}) {
    EXPECT_EQ(StringCchCopyA(text, room, "a"), kBadText);
    EXPECT_EQ(StringCchCatA(text, room, "a"), kBadText);
    EXPECT_EQ(StringCchPrintfA(text, room, "a"), kBadText);
  }
  EXPECT_STREQ(text, "x");
  EXPECT_EQ(StringCchCopyA(nullptr, 2, "a"), kBadText);
  EXPECT_EQ(StringCchPrintfW(nullptr, 2, L"a"), kBadText);
  EXPECT_EQ(StringCchCatA(text, 2, nullptr), kBadText);
  EXPECT_STREQ(text, "x");
  EXPECT_EQ(StringCchCopyA(text, 2, nullptr), kBadText);
  EXPECT_STREQ(text, "");
}

TEST(BoundedStrings, PrintAsWindowsReadsFormats) {
  WCHAR wide[100];
  EXPECT_EQ(StringCchPrintfW(wide, 100, L"%s|%S|%hs|%ls|%c", L"a", "b", "c", L"d", L'e'), S_OK);
  EXPECT_STREQ(wide, L"a|b|c|d|e");
  char narrow[100];
  EXPECT_EQ(StringCchPrintfA(narrow, 100, "%s|%S|%ws", "a", L"\u00e4", L"c"), S_OK);
  EXPECT_STREQ(narrow, "a|\xc3\xa4|c");
  EXPECT_EQ(StringCbPrintfW(wide, sizeof wide, L"%lu %ld %I64u %llx %Iu %u", DWORD{0xffffffff},
                            LONG{-5}, ~0ULL, 0x123456789abcULL, SIZE_T{1} << 40, 7U),
            S_OK);
  EXPECT_STREQ(wide, L"4294967295 -5 18446744073709551615 123456789abc 1099511627776 7");
  EXPECT_EQ(StringCbPrintfA(narrow, sizeof narrow, "[%*d][%-5s][%.2f][%p]", 4, 42, "ab", 0.5,
                            reinterpret_cast<void*>(0xabc)),
            S_OK);
  EXPECT_STREQ(narrow, "[  42][ab   ][0.50][0000000000000ABC]");
}

TEST(BoundedStrings, CutWhatTheyPrint) {
  WCHAR wide[4];
  EXPECT_EQ(StringCchPrintfW(wide, 4, L"%d", 12345), kCutShort);
  EXPECT_STREQ(wide, L"123");
  EXPECT_EQ(StringCchPrintfW(wide, 4, L"%"), kBadText);
  EXPECT_STREQ(wide, L"");
  EXPECT_EQ(StringCchPrintfW(wide, 4, nullptr), kBadText);
}

HRESULT print_list(WCHAR* target, std::size_t capacity, const WCHAR* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const HRESULT result = StringCchVPrintfW(target, capacity, format, arguments);
  va_end(arguments);
  return result;
}

TEST(BoundedStrings, PrintAListOfArguments) {
  WCHAR wide[16];
  EXPECT_EQ(print_list(wide, 16, L"%s=%d", L"x", 1), S_OK);
  EXPECT_STREQ(wide, L"x=1");
}

}  // namespace
