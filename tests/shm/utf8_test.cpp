// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace meterbank {
namespace {

using namespace std::string_view_literals;

struct Malformed {
  std::string_view why;
  std::string_view bytes;
  std::size_t replaced;  // maximal subparts
};

const std::vector<Malformed> kMalformed = {
    {"lonely continuation byte", "\x80"sv, 1},
    {"two continuation bytes", "\x80\xBF"sv, 2},
    {"overlong slash, two bytes", "\xC0\xAF"sv, 2},
    {"overlong NUL, two bytes", "\xC0\x80"sv, 2},
    {"overlong DEL", "\xC1\xBF"sv, 2},
    {"overlong slash, three bytes", "\xE0\x80\xAF"sv, 3},
    {"largest overlong, three bytes", "\xE0\x9F\xBF"sv, 3},
    {"overlong slash, four bytes", "\xF0\x80\x80\xAF"sv, 4},
    {"largest overlong, four bytes", "\xF0\x8F\xBF\xBF"sv, 4},
    {"first high surrogate", "\xED\xA0\x80"sv, 3},
    {"last low surrogate", "\xED\xBF\xBF"sv, 3},
    {"surrogate pair", "\xED\xA0\xBD\xED\xB8\x80"sv, 6},
    {"first beyond U+10FFFF", "\xF4\x90\x80\x80"sv, 4},
    {"five-byte form", "\xF8\x88\x80\x80\x80"sv, 5},
    {"never a byte of UTF-8", "\xFE\xFF"sv, 2},
    {"truncated two-byte form", "\xC3"sv, 1},
    {"truncated three-byte form", "\xE2\x84"sv, 1},
    {"truncated four-byte form", "\xF0\x9F\x98"sv, 1},
    {"truncated, then ASCII", "\xE2\x84k"sv, 1},
    {"truncated, then a lead byte", "\xE2\x84\xC3\xA9"sv, 1},
};

TEST(Utf8, AcceptsTheFirstAndLastCodePointOfEachLength) {
  const std::vector<char32_t> edges = {0x00,    0x7F,    0x80,    0x7FF,    0x800,
                                       0xD7FF,  0xE000,  0xFFFD,  0xFFFF,   0x10000,
                                       0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF};
  for (const char32_t code_point : edges) {
    std::string text;
    append_utf8(code_point, text);
    const DecodedCodePoint decoded = decode_utf8(text);
    EXPECT_TRUE(decoded.valid) << std::hex << static_cast<unsigned>(code_point);
    EXPECT_EQ(decoded.code_point, code_point);
    EXPECT_EQ(decoded.length, text.size());
    EXPECT_TRUE(is_valid_utf8(text));
  }
}

TEST(Utf8, EveryCodePointSurvivesEncodingAndDecoding) {
  std::string text;
  for (char32_t code_point = 0; code_point <= kLastCodePoint; ++code_point) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    text.clear();
    append_utf8(code_point, text);
    const DecodedCodePoint decoded = decode_utf8(text);
    ASSERT_TRUE(decoded.valid);
    ASSERT_EQ(decoded.code_point, code_point);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndTruncatedSequences) {
  for (const Malformed& row : kMalformed) {
    EXPECT_FALSE(is_valid_utf8(row.bytes)) << row.why;
    EXPECT_EQ(find_invalid_utf8(row.bytes), 0U) << row.why;
    EXPECT_FALSE(decode_utf8(row.bytes).valid) << row.why;
  }
}

TEST(Utf8, ReplacesEachMaximalSubpartOnce) {
  for (const Malformed& row : kMalformed) {
    const RepairedText repaired = repair_utf8(row.bytes);
    EXPECT_EQ(repaired.replaced, row.replaced) << row.why;
    EXPECT_TRUE(repaired.altered()) << row.why;
    EXPECT_TRUE(is_valid_utf8(repaired.text)) << row.why;
  }
}

TEST(Utf8, ContinuesBehindAnInvalidSequence) {
  EXPECT_EQ(repair_utf8("\xE2\x84k"sv).text, "\uFFFDk");
  EXPECT_EQ(repair_utf8("\xE2\x84\xC3\xA9"sv).text, "\uFFFD\u00E9");
  EXPECT_EQ(repair_utf8("a\xF0\x9Fz\x80"sv).text, "a\uFFFDz\uFFFD");
}

TEST(Utf8, FindsTheFirstInvalidByteWhereverItStands) {
  for (std::size_t position = 0; position < 40; ++position) {
    std::string text(40, 'a');
    text[position] = '\xFF';
    EXPECT_EQ(find_invalid_utf8(text), position);
  }
}

TEST(Utf8, NeverDecodesPastTheEndOfTheView) {
  // The bytes behind the view would complete the code point.
  const std::string_view whole = "\xF0\x9F\x98\x80"sv;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const DecodedCodePoint decoded = decode_utf8(whole.substr(0, size));
    EXPECT_FALSE(decoded.valid);
    EXPECT_EQ(decoded.length, size);
  }
  EXPECT_EQ(decode_utf8({}).length, 0U);
}

TEST(Utf8, RefusesToEncodeInvalidCodePoints) {
  std::string text;
  append_utf8(0xD800, text);
  append_utf8(0xDFFF, text);
  append_utf8(0x110000, text);
  EXPECT_EQ(text, "\uFFFD\uFFFD\uFFFD");
}

TEST(Utf8, CountsCharactersNotBytes) {
  EXPECT_EQ(count_code_points(""), 0U);
  EXPECT_EQ(count_code_points("na\u00EFve \U0001F600"), 7U);
  EXPECT_EQ(count_code_points("\xE2\x84k"sv), 2U);
}

TEST(Utf8, ShortensBetweenCodePoints) {
  const std::string text = "ab\u20AC";  // the euro sign takes three bytes
  EXPECT_EQ(repair_utf8(text, 5).text, text);
  EXPECT_FALSE(repair_utf8(text, 5).shortened);
  for (const std::size_t limit : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
    const RepairedText repaired = repair_utf8(text, limit);
    EXPECT_EQ(repaired.text, "ab") << limit;
    EXPECT_TRUE(repaired.shortened) << limit;
  }
  EXPECT_EQ(repair_utf8(text, 0).text, "");
}

TEST(Utf8, StaysWithinTheLimitAlthoughReplacementsAreLonger) {
  const RepairedText repaired = repair_utf8(std::string(1025, '\xFF'), 1023);
  EXPECT_EQ(repaired.text.size(), 1023U);
  EXPECT_EQ(repaired.replaced, 341U);
  EXPECT_TRUE(repaired.shortened);
}

TEST(Utf8, FlagsControlCharactersButKeepsThem) {
  const RepairedText repaired = repair_utf8("a\x1B[2J"sv);
  EXPECT_TRUE(repaired.has_controls);
  EXPECT_EQ(repaired.text, "a\x1B[2J");
  EXPECT_FALSE(repair_utf8("plain").has_controls);
}

TEST(Utf8, LeavesGoodTextAlone) {
  const std::string text = "eth0 \u0130stanbul \u4E2D\u6587 \U0001F600 \\ \"";
  EXPECT_EQ(repair_utf8(text).text, text);
  EXPECT_FALSE(repair_utf8(text).altered());
  EXPECT_EQ(escape_for_terminal(text), text);
}

TEST(Utf8, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(escape_for_terminal("a\x1B]0;x\x07"), "a\\u{1b}]0;x\\u{7}");
  EXPECT_EQ(escape_for_terminal("line\nnext\r\t"), "line\\u{a}next\\u{d}\\u{9}");
  EXPECT_EQ(escape_for_terminal("nul\0end"sv), "nul\\u{0}end");
  EXPECT_EQ(escape_for_terminal("del\x7F"), "del\\u{7f}");
  EXPECT_EQ(escape_for_terminal("csi\u009B"
                                "2J"),
            "csi\\u{9b}2J");
  EXPECT_EQ(escape_for_terminal("\x9B"
                                "2J"),
            "\\x{9b}2J");
  EXPECT_EQ(escape_for_terminal("\xE2\x80"), "\\x{e2}\\x{80}");
}

TEST(Utf8, AnEscapeAlwaysMeansWhatItSays) {
  EXPECT_EQ(escape_for_terminal("\\u{1b}"), "\\u{5c}u{1b}");
  EXPECT_EQ(escape_for_terminal("\\x{9b}"), "\\u{5c}x{9b}");
  EXPECT_EQ(escape_for_terminal("\\\\u{"), "\\\\u{5c}u{");
  EXPECT_EQ(escape_for_terminal(R"(\\host\Set(a)\user)"), R"(\\host\Set(a)\user)");
}

TEST(Utf8, EscapesWhatNoTerminalShows) {
  for (const char32_t code_point :
       {0xADU,   0x34FU,  0x115FU,  0x180BU,  0x200BU,  0x2060U,  0x2064U,  0x206FU,
        0x3164U, 0xE000U, 0xF8FFU,  0xFDD0U,  0xFE00U,  0xFE0FU,  0xFEFFU,  0xFFA0U,
        0xFFF9U, 0xFFFEU, 0x1FFFFU, 0xE0001U, 0xE007FU, 0xE0100U, 0xF0000U, 0x10FFFFU}) {
    std::string text = "a";
    append_utf8(code_point, text);
    EXPECT_EQ(escape_for_terminal(text).substr(0, 4), "a\\u{") << static_cast<unsigned>(code_point);
  }
}

TEST(Utf8, KeepsJoinersWhereAScriptIsSpelledWithThem) {
  const std::string persian = "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645";
  const std::string hindi = "\u0915\u094D\u200D\u0937";
  EXPECT_EQ(escape_for_terminal(persian), persian);
  EXPECT_EQ(escape_for_terminal(hindi), hindi);
  EXPECT_EQ(escape_for_terminal("pay\u200Cpal"), "pay\\u{200c}pal");
  EXPECT_EQ(escape_for_terminal("\u0645\u200C"), "\u0645\\u{200c}");
  EXPECT_EQ(escape_for_terminal("\u0645\u200C\u200C\u0645"), "\u0645\\u{200c}\\u{200c}\u0645");
}

TEST(Utf8, KeepsTheMarksOfALanguageAndEscapesAFlood) {
  std::string letter = "e";
  for (unsigned i = 0; i < kMarksMax; ++i) letter += "\u0301";
  EXPECT_EQ(escape_for_terminal(letter + "x" + letter), letter + "x" + letter);
  EXPECT_EQ(escape_for_terminal(letter + "\u0301x"), letter + "\\u{301}x");
  // One without a letter would sit on what stands before the text.
  EXPECT_EQ(escape_for_terminal("\u0301x"), "\\u{301}x");
  EXPECT_EQ(escape_for_terminal("a\x1b\u0301"), "a\\u{1b}\\u{301}");
}

TEST(Utf8, ShowsAsciiOnlyWhereTheTerminalIsNotOneOfUtf8) {
  // Its second byte is CSI to a terminal of Latin-1.
  EXPECT_EQ(escape_for_terminal("\u015B x", Charset::kAscii), "\\u{15b} x");
  EXPECT_EQ(escape_composed("a\u2026 \u00B1", Composed::kLine, Charset::kAscii), "a~ \\u{b1}");
}

TEST(Utf8, TheLastGateKeepsCleanTextAndTheLayoutOfAPage) {
  const std::string page = "\x1b[1mNAME\x1b[0m\ta\\u{1b}b\r\nnext\n";
  EXPECT_EQ(escape_composed(page, Composed::kPage), page);
  EXPECT_EQ(escape_composed("a\nb\t", Composed::kLine), "a\\u{a}b\\u{9}");
  EXPECT_EQ(escape_composed("\x1b[2J\x1b]0;x\x07\r\x1b[1;31m\x1b[", Composed::kPage),
            "\\u{1b}[2J\\u{1b}]0;x\\u{7}\\u{d}\\u{1b}[1;31m\\u{1b}[");
  std::string every;
  for (char32_t c = 0; c < 0x3000; ++c) append_utf8(c, every);
  const auto once = escape_composed(every, Composed::kPage);
  EXPECT_EQ(escape_composed(once, Composed::kPage), once);
}

TEST(Utf8, NeverCutsAnEscapeOrALetterWithItsMarks) {
  EXPECT_EQ(unit_bytes("\\u{1b}x"), 6U);
  EXPECT_EQ(unit_bytes("\\x{9b}x"), 6U);
  EXPECT_EQ(unit_bytes("\\user"), 1U);
  EXPECT_EQ(unit_bytes("e\u0301\u0302x"), 5U);
  EXPECT_EQ(unit_bytes(""), 0U);
}

TEST(Utf8, EscapesWhatWouldMakeALineReadOtherwise) {
  const std::vector<char32_t> kHidden = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                         0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};
  for (const char32_t code_point : kHidden) {
    std::string text = "a";
    append_utf8(code_point, text);
    const std::string shown = escape_for_terminal(text);
    EXPECT_EQ(shown.substr(0, 4), "a\\u{") << static_cast<unsigned>(code_point);
    EXPECT_EQ(shown.find(text.substr(1)), std::string::npos);
  }
}

TEST(Utf8, NoByteStringMakesTheTerminalTextUnsafe) {
  std::uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (int index = 0; index < 8; ++index) {
      state = state * 1664525U + 1013904223U;
      bytes.push_back(static_cast<char>(state >> 24U));
    }
    const std::string shown = escape_for_terminal(bytes);
    ASSERT_TRUE(is_valid_utf8(shown));
    for (std::string_view rest = shown; !rest.empty();) {
      const DecodedCodePoint decoded = decode_utf8(rest);
      ASSERT_FALSE(is_control(decoded.code_point) || is_bidi_control(decoded.code_point) ||
                   is_line_separator(decoded.code_point));
      rest.remove_prefix(decoded.length);
    }
  }
}

TEST(PlainBytes, EndAtEachByteThatIsNotPrintingAsciiWhereverItStands) {
  for (int value = 0; value < 256; ++value) {
    const bool is_plain = value >= ' ' && value <= '~';
    for (const char neighbour : {' ', 'a', '~'}) {
      for (std::size_t at = 0; at < 20; ++at) {
        std::string text(20, neighbour);
        text[at] = static_cast<char>(value);
        EXPECT_EQ(plain_bytes(text), is_plain ? text.size() : at) << value;
      }
    }
  }
  EXPECT_EQ(plain_bytes(""), 0U);
}

}  // namespace
}  // namespace meterbank
