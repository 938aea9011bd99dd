// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

using namespace std::string_view_literals;

NameFault fault_of(std::string_view name, NameKind kind = NameKind::kInstance) {
  return check_name(name, kind).fault;
}

TEST(NameRules, AcceptNamesAsTheWorldHasThem) {
  for (const std::string_view name :
       {"eth0", "_Total", "0,3", "/dev/sda1", "% User Time", "(sd-pam)", "C:\\", "*", "a#1",
        "\u4E2D\u6587", "\U0001F600", " "}) {
    EXPECT_TRUE(check_name(name, NameKind::kInstance).ok()) << name;
    EXPECT_TRUE(check_name(name, NameKind::kCounterset).ok()) << name;
    EXPECT_TRUE(check_name(name, NameKind::kCounter).ok()) << name;
  }
}

TEST(NameRules, AllowNoNameOnlyForTheInstanceOfASingleInstanceSet) {
  EXPECT_EQ(fault_of("", NameKind::kSingleInstance), NameFault::kNone);
  EXPECT_EQ(fault_of("", NameKind::kInstance), NameFault::kEmpty);
  EXPECT_EQ(fault_of("", NameKind::kCounter), NameFault::kEmpty);
  EXPECT_EQ(fault_of("", NameKind::kCounterset), NameFault::kEmpty);
  EXPECT_EQ(fault_of("", NameKind::kProvider), NameFault::kEmpty);
}

TEST(NameRules, EndAt1023Bytes) {
  EXPECT_EQ(fault_of(std::string(1022, 'n')), NameFault::kNone);
  EXPECT_EQ(fault_of(std::string(1023, 'n')), NameFault::kNone);
  EXPECT_EQ(fault_of(std::string(1024, 'n')), NameFault::kTooLong);
  EXPECT_EQ(fault_of(std::string(1025, 'n')), NameFault::kTooLong);
  EXPECT_EQ(fault_of(std::string(1024, 'n'), NameKind::kSingleInstance), NameFault::kTooLong);
}

TEST(NameRules, CountBytesNotCharacters) {
  std::string name;
  while (name.size() < 1023) name += "\u20AC";
  EXPECT_EQ(name.size(), 1023U);
  EXPECT_EQ(fault_of(name), NameFault::kNone);
  EXPECT_EQ(fault_of(name + "\u20AC"), NameFault::kTooLong);
}

TEST(NameRules, RefuseEveryControlCharacter) {
  for (char32_t code_point = 1; code_point < 0xA1; ++code_point) {
    std::string name = "n";
    append_utf8(code_point, name);
    const bool control = code_point < 0x20 || (code_point > 0x7E && code_point < 0xA0);
    EXPECT_EQ(fault_of(name), control ? NameFault::kControlCharacter : NameFault::kNone)
        << static_cast<unsigned>(code_point);
  }
}

TEST(NameRules, FindAFaultAtEveryPlaceOfALongName) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char wrong : {'\0', '\x1f', '\x7f', '\xff'}) {
        std::string name(size, '~');
        name[at] = wrong;
        const NameCheck check = check_name(name, NameKind::kInstance);
        EXPECT_FALSE(check.ok()) << size << ", " << at;
        EXPECT_EQ(check.offset, at);
      }
    }
    EXPECT_TRUE(check_name(std::string(size, ' '), NameKind::kInstance).ok());
  }
}

TEST(NameRules, TellANulFromOtherControlCharacters) {
  EXPECT_EQ(fault_of("eth0\0"sv), NameFault::kNul);
  EXPECT_EQ(fault_of("\0"sv), NameFault::kNul);
  EXPECT_EQ(fault_of("\0"sv, NameKind::kSingleInstance), NameFault::kNul);
}

TEST(NameRules, RefuseWhatIsNotUtf8) {
  for (const std::string_view name :
       {"a\xFF"sv, "\xC0\x80"sv, "\xED\xA0\x80"sv, "\xE2\x84"sv, "\x80"sv, "\xF4\x90\x80\x80"sv}) {
    EXPECT_EQ(fault_of(name), NameFault::kNotUtf8);
  }
}

TEST(NameRules, PointAtTheFirstFault) {
  EXPECT_EQ(check_name("ab\x1B\xFF"sv, NameKind::kCounter).offset, 2U);
  EXPECT_EQ(check_name("\u20AC\xFF\x1B"sv, NameKind::kCounter).offset, 3U);
  EXPECT_EQ(check_name("\u20AC\xFF\x1B"sv, NameKind::kCounter).fault, NameFault::kNotUtf8);
  EXPECT_EQ(check_name(std::string(2000, '\xFF'), NameKind::kCounter).fault, NameFault::kTooLong);
}

TEST(NameRules, DescribeAFaultInOnePrintableLine) {
  const auto line = [](std::string_view name, NameKind kind) {
    return describe(check_name(name, kind), name, kind);
  };
  EXPECT_EQ(line("x\x1B[2J"sv, NameKind::kCounter),
            "counter name 'x\\u{1b}[2J' contains a control character at byte 1");
  EXPECT_EQ(line("", NameKind::kCounterset), "counterset name is empty");
  EXPECT_EQ(line("a\xFF"sv, NameKind::kInstance),
            "instance name 'a\uFFFD' is not valid UTF-8 at byte 1");
  EXPECT_EQ(
      line(std::string(1024, 'n'), NameKind::kProvider),
      "provider name '" + std::string(64, 'n') + "...' is longer than 1023 bytes (it has 1024)");
}

TEST(NameRules, HaveATextAndARemedyForEachFault) {
  for (const NameFault fault : {NameFault::kEmpty, NameFault::kTooLong, NameFault::kNul,
                                NameFault::kControlCharacter, NameFault::kNotUtf8}) {
    EXPECT_NE(text_of(fault), text_of(NameFault::kNone));
    EXPECT_FALSE(remedy_for(fault).empty());
  }
}

}  // namespace
}  // namespace meterbank
