// SPDX-License-Identifier: Apache-2.0
//
// The same in all three kinds of characters.
#include <cwchar>
#include <string_view>

#include "meterbank/pdh/utf16_functions.h"
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

class PdhWidths : public PdhTest {
 protected:
  Provider provider_ = provider("disks");
  Registration disks_ = *provider_.add(kDisks);
  // One unit of a wchar_t, two of UTF-16, four of UTF-8.
  Instance disk_ = *disks_.create_instance("\xf0\x9f\x92\xbe");
};

TEST_F(PdhWidths, AreCharsWideOnesAndUtf16) {
  OpenQuery query;
  PDH_HCOUNTER narrow = nullptr, wide = nullptr, utf16 = nullptr;
  ASSERT_EQ(PdhAddCounterA(query.get(), "\\Test Disks(*)\\Queue Length", 0, &narrow), kDone);
  ASSERT_EQ(PdhAddCounterW(query.get(), L"\\Test Disks(\U0001f4be)\\Queue Length", 0, &wide),
            kDone);
  ASSERT_EQ(meterbank_utf16_PdhAddCounterW(query.get(), u"\\Test Disks(\U0001f4be)\\Queue Length",
                                           0, &utf16),
            kDone);
  disk_.set(Disk::kQueue, 6);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(wide).value, 6.0);
  EXPECT_EQ(formatted(utf16).value, 6.0);

  PDH_FMT_COUNTERVALUE_ITEM_W items[4];
  DWORD bytes = sizeof items, count = 0;
  ASSERT_EQ(PdhGetFormattedCounterArrayW(narrow, PDH_FMT_LONG, &bytes, &count, items), kDone);
  EXPECT_EQ(bytes, sizeof items[0] + 2 * sizeof(wchar_t));
  EXPECT_STREQ(items[0].szName, L"\U0001f4be");
  bytes = sizeof items;
  ASSERT_EQ(
      meterbank_utf16_PdhGetFormattedCounterArrayW(narrow, PDH_FMT_LONG, &bytes, &count, items),
      kDone);
  EXPECT_EQ(bytes, sizeof items[0] + 3 * sizeof(char16_t));
  char16_t name[3];
  std::memcpy(name, items[0].szName, sizeof name);
  EXPECT_EQ(std::u16string_view(name), u"\U0001f4be");
}

TEST_F(PdhWidths, CountCharactersOfLists) {
  DWORD narrow = 0, wide = 0, utf16 = 0;
  EXPECT_EQ(PdhExpandWildCardPathA(nullptr, "\\Test Disks(*)\\Queue Length", nullptr, &narrow, 0),
            PDH_MORE_DATA);
  EXPECT_EQ(PdhExpandWildCardPathW(nullptr, L"\\Test Disks(*)\\Queue Length", nullptr, &wide, 0),
            PDH_MORE_DATA);
  EXPECT_EQ(meterbank_utf16_PdhExpandWildCardPathW(nullptr, u"\\Test Disks(*)\\Queue Length",
                                                   nullptr, &utf16, 0),
            PDH_MORE_DATA);
  EXPECT_EQ(narrow, wide + 3);
  EXPECT_EQ(utf16, wide + 1);
}

TEST_F(PdhWidths, RefuseWhatIsNoText) {
  OpenQuery query;
  PDH_HCOUNTER counter = nullptr;
  const char16_t lonely[] = {u'\\', u'a', u'(', 0xd800, u')', u'\\', u'b', 0};
  EXPECT_EQ(meterbank_utf16_PdhAddCounterW(query.get(), lonely, 0, &counter),
            PDH_CSTATUS_BAD_COUNTERNAME);
  EXPECT_EQ(meterbank_utf16_PdhValidatePathW(lonely), PDH_CSTATUS_BAD_COUNTERNAME);
}

TEST_F(PdhWidths, TakePathsApartAlike) {
  alignas(8) std::byte room[512];
  DWORD bytes = sizeof room;
  auto* const elements = reinterpret_cast<PDH_COUNTER_PATH_ELEMENTS_W*>(room);
  ASSERT_EQ(PdhParseCounterPathW(L"\\o(p/\U0001f4be#1)\\c", elements, &bytes, 0), kDone);
  EXPECT_STREQ(elements->szInstanceName, L"\U0001f4be");
  wchar_t path[64];
  DWORD characters = 64;
  ASSERT_EQ(PdhMakeCounterPathW(elements, path, &characters, 0), kDone);
  EXPECT_STREQ(path, L"\\o(p/\U0001f4be#1)\\c");
  EXPECT_EQ(characters, std::wcslen(path) + 1);
  bytes = sizeof room;
  ASSERT_EQ(meterbank_utf16_PdhParseCounterPathW(u"\\o(p/\U0001f4be#1)\\c", elements, &bytes, 0),
            kDone);
  char16_t path16[64];
  characters = 64;
  ASSERT_EQ(meterbank_utf16_PdhMakeCounterPathW(elements, path16, &characters, 0), kDone);
  EXPECT_EQ(std::u16string_view(path16), u"\\o(p/\U0001f4be#1)\\c");
}

}  // namespace
}  // namespace meterbank::test
