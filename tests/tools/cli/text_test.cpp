// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cli/format/json.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/format/separated_values.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/log/moment_words.hpp"
#include "cli/session/waiter.hpp"
#include "cli/watch/terminal/keys.hpp"
#include "cli_json.hpp"
#include "logs/log_fixture.hpp"
#include "meterbank/pdh_log/log_format.hpp"

namespace meterbank::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Duration, UnderstandsUnitsPlainSecondsAndClockForm) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("5m"), seconds(300));
  EXPECT_EQ(parse_duration("1h"), seconds(3600));
  EXPECT_EQ(parse_duration("0.5"), milliseconds(500));
  EXPECT_EQ(parse_duration("2"), seconds(2));
  EXPECT_EQ(parse_duration("01:02:03"), seconds(3723));
  EXPECT_EQ(parse_duration("01:30"), seconds(90));
  EXPECT_EQ(parse_duration("100us"), std::chrono::microseconds(100));
}

TEST(Duration, RefusesMalformedDurations) {
  for (const char* text : {"", "ms", "-1", "+1", "1e3", "inf", "nan", "1 s", "5 minutes", "1:60",
                           "1:2:3:4", ":", "1:", "1.5:00", "1..2", "99999999999999", "1x"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, PrintsSpansOfEverySize) {
  EXPECT_EQ(print_duration(0), "0 s");
  EXPECT_EQ(print_duration(2.4e-9), "2.40 ns");
  EXPECT_EQ(print_duration(121e-6), "121 µs");
  EXPECT_EQ(print_duration(0.2), "200 ms");
  EXPECT_EQ(print_duration(12.34), "12.3 s");
  EXPECT_EQ(print_duration(134), "2m14s");
  EXPECT_EQ(print_duration(3 * 3600 + 5 * 60), "3h05m");
  EXPECT_EQ(print_duration(12 * 86400 + 4 * 3600), "12d04h");
}

TEST(Duration, IntervalsReadBackAsThemselves) {
  for (const char* text : {"250ms", "1s", "5m", "1h", "1500ms", "100us"}) {
    EXPECT_EQ(print_interval(*parse_duration(text)), text);
  }
}

TEST(Moments, AreUtcForMachines) {
  EXPECT_EQ(print_utc(1'795'251'880'002'000'000), "2026-11-21T09:04:40.002Z");
  EXPECT_EQ(print_utc(0), "1970-01-01T00:00:00.000Z");
}

// The clocks of Berlin show 02:10 then, and an hour later once more.
constexpr std::uint64_t kBeforeChange = 1'792'887'000'000'000'000;
constexpr std::uint64_t kHour = 3'600'000'000'000;

TEST(Moments, HaveADateUnlessTheyAreOfToday) {
  const ScopedTimeZone berlin("Europe/Berlin");
  EXPECT_EQ(print_moment(kBeforeChange, kBeforeChange + kHour), "02:10:00");
  EXPECT_EQ(print_moment(kBeforeChange, kBeforeChange + 24 * kHour), "2026-10-25 02:10:00");
  EXPECT_EQ(print_moment(kBeforeChange, kBeforeChange - 3 * kHour), "2026-10-25 02:10:00");
  // The same day of another year.
  EXPECT_EQ(print_moment(kBeforeChange, kBeforeChange + 365 * 24 * kHour), "2026-10-25 02:10:00");
}

TEST(Moments, OfARangeAllHaveADateIfOneNeedsIt) {
  const ScopedTimeZone berlin("Europe/Berlin");
  const auto form = form_of_range(kBeforeChange - 24 * kHour, kBeforeChange, kBeforeChange, true);
  EXPECT_EQ(print_local(kBeforeChange, form), "2026-10-25 02:10:00.000");
}

TEST(Moments, TellTheHoursApartThatAClockShowsTwice) {
  const ScopedTimeZone berlin("Europe/Berlin");
  EXPECT_TRUE(
      form_of_range(kBeforeChange - 200 * 24 * kHour, kBeforeChange + 200 * 24 * kHour, 0).offset);
  EXPECT_FALSE(form_of_range(kBeforeChange - 100 * 24 * kHour, kBeforeChange, 0).offset);
  const auto to = kBeforeChange + kHour;
  const auto form = form_of_range(kBeforeChange, to, to);
  EXPECT_EQ(print_local(kBeforeChange, form), "2026-10-25 02:10:00+02:00");
  EXPECT_EQ(print_local(to, form), "2026-10-25 02:10:00+01:00");
  for (const auto moment : {kBeforeChange, to}) {
    EXPECT_EQ(parse_moment(print_local(moment, form), to), moment);
  }
}

TEST(Moments, AreTheLastOfTheirTimeOfDayAlsoInAnHourThatOccursTwice) {
  const ScopedTimeZone berlin("Europe/Berlin");
  constexpr std::uint64_t kMinute = kHour / 60, kAgain = kBeforeChange + kHour;
  EXPECT_EQ(parse_moment("02:10", kAgain), kAgain);
  EXPECT_EQ(parse_moment("02:10", kAgain - 1), kBeforeChange);
  EXPECT_EQ(parse_moment("02:05", kAgain), kAgain - 5 * kMinute);
  EXPECT_EQ(parse_moment("02:15", kAgain), kBeforeChange + 5 * kMinute);
  EXPECT_EQ(parse_moment("02:10", kAgain + 20 * kHour), kAgain);
  EXPECT_EQ(parse_moment("02:10", kAgain + 23 * kHour), kAgain);  // of the day before
}

TEST(Moments, AreNotOfDaysThatDoNotExist) {
  for (const char* const text : {"2026-02-30T00:00", "2026-11-31 16:57", "2026-02-29", "2026-00-01",
                                 "2026-13-01", "2026-02-30T00:00Z", "2026-01-00"}) {
    EXPECT_FALSE(parse_moment(text, 0)) << text;
  }
  EXPECT_TRUE(parse_moment("2028-02-29", 0));
}

TEST(Quantity, ScalesBytesByIecAndTheRestBySi) {
  EXPECT_EQ(print_quantity(1'572'864, "By"), "1.50 MiB");
  EXPECT_EQ(print_quantity(1024, "By/s"), "1 KiB/s");
  EXPECT_EQ(print_quantity(18'402, "{order}/s"), "18.4 k/s");
  EXPECT_EQ(print_quantity(2910, "1/s"), "2.91 k/s");
  EXPECT_EQ(print_quantity(2.4e9, "Hz"), "2.40 GHz");
  EXPECT_EQ(print_quantity(7.4, "%"), "7.4 %");
  EXPECT_EQ(print_quantity(39.1e-6, "s"), "39.1 µs");
  EXPECT_EQ(print_quantity(39'000, "ns"), "39 µs");
  EXPECT_EQ(print_quantity(17, "{order}"), "17");
  EXPECT_EQ(print_quantity(512, "By"), "512 B");
  EXPECT_EQ(print_quantity(0.4, "1/s"), "0.40 /s");
}

TEST(Quantity, NeverPrintsAThousandOfAPrefix) {
  EXPECT_EQ(print_quantity(999'999, "1"), "1.00 M");
  EXPECT_EQ(print_quantity(999.9, "1"), "1.00 k");
}

TEST(Quantity, ShowsEveryDigitOfANumberWithoutAUnit) {
  EXPECT_EQ(print_quantity(21'151, ""), "21151");
  EXPECT_EQ(print_quantity(4'194'304, ""), "4194304");
}

TEST(Quantity, HasAnExponentWhereADoubleLacksDigits) {
  EXPECT_EQ(print_quantity(0x1p53 - 1, ""), "9007199254740991");
  EXPECT_EQ(print_quantity(0x1p64, ""), "1.84e+19");
  EXPECT_EQ(print_quantity(-1.7e308, ""), "-1.70e+308");
  EXPECT_EQ(print_quantity(1.7e308, "", UnitStyle::kBase), "1.70e+308");
  EXPECT_EQ(print_quantity(1.7e308, "By"), "1.70e+308 B");
  EXPECT_EQ(print_quantity(1.7e308, "{order}/s"), "1.70e+308 /s");
  EXPECT_EQ(print_quantity(1.7e308, "%"), "1.70e+308 %");
  EXPECT_EQ(print_quantity(9.994e20, "1"), "999 E");
}

TEST(Quantity, UnderstandsHundredths) {
  EXPECT_EQ(print_quantity(106, "10*-2"), "1.06");
  EXPECT_EQ(print_quantity(0, "10*-2"), "0");
  EXPECT_EQ(print_quantity(12'345, "10*-2"), "123");
}

TEST(Quantity, GivesProgramsOneUnitForEachDimension) {
  const auto frequency = in_base_unit(2600, "MHz");
  EXPECT_EQ(frequency.unit, "Hz");
  EXPECT_DOUBLE_EQ(frequency.value, 2.6e9);
  EXPECT_EQ(in_base_unit(39'000, "ns").unit, "s");
  EXPECT_EQ(print_exact(in_base_unit(39'000, "ns").value), "3.9e-05");
}

TEST(Quantity, HasNoExponentForMachinesThatKnowNone) {
  EXPECT_EQ(print_decimal(9.20904817234845e-05), "0.0000920905");
  EXPECT_EQ(print_decimal(5e-5), "0.00005");
  EXPECT_EQ(print_decimal(-0.00259), "-0.00259");
  EXPECT_EQ(print_decimal(17), "17");
  EXPECT_EQ(print_decimal(0), "0");
  EXPECT_EQ(print_decimal(1234.5678), "1234.57");
  EXPECT_EQ(print_decimal(0x1p60), "1152921504606846976");
  EXPECT_EQ(print_decimal(1e-40), "0");
  EXPECT_EQ(in_base_unit(3, "KiBy/s").unit, "By/s");
  EXPECT_DOUBLE_EQ(in_base_unit(3, "KiBy/s").value, 3072);
  EXPECT_EQ(in_base_unit(17, "{order}").unit, "{order}");
  EXPECT_DOUBLE_EQ(in_base_unit(17, "{order}").value, 17);
}

TEST(Quantity, KeepsBaseUnitsOnRequest) {
  EXPECT_EQ(print_quantity(2600, "MHz", UnitStyle::kBase), "2600000000 Hz");
  EXPECT_EQ(print_quantity(1.0 / 3, "{order}/s", UnitStyle::kBase), "0.3333 {order}/s");
  EXPECT_EQ(print_quantity(604.0176602683509, "{order}/s", UnitStyle::kBase), "604.018 {order}/s");
  EXPECT_EQ(print_quantity(1'572'864, "By", UnitStyle::kBase), "1572864 By");
  EXPECT_EQ(print_quantity(0.1, "", UnitStyle::kBase), "0.1");
}

TEST(TableText, MeasuresCellsAndNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("東京"), 4U);
}

TEST(TableText, CutsBetweenCharactersAndFillsUp) {
  EXPECT_EQ(fit("abc", 5), "abc  ");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("東京都", 4), "東… ");
  EXPECT_EQ(fit("abc", 0), "");
}

TEST(TableText, AlignsColumnsAndEndsLinesCleanly) {
  Table table({{"NAME"}, {"COUNT", Align::kRight}, {"NOTE"}});
  table.add({"a", "1", ""});
  table.add({"longer", "1000", "x"});

  EXPECT_EQ(table.headings(), "NAME    COUNT  NOTE\n");
  EXPECT_EQ(table.take_rows(), "a           1\nlonger   1000  x\n");
}

TEST(TableText, CutsTheLastColumnAtTheEdgeOfTheScreen) {
  Table table({{"NAME"}, {"HELP"}});
  table.limit(24, Table::Overflow::kCut);
  table.add({"stock", "Items that are in the shop."});

  EXPECT_EQ(table.take_rows(), "stock  Items that are i…\n");
}

TEST(TableText, BreaksTheLastColumnBetweenWords) {
  Table table({{"NAME"}, {"HELP"}});
  table.limit(24, Table::Overflow::kWrap);
  table.add({"stock", "Items that are in the shop."});

  EXPECT_EQ(table.take_rows(), "stock  Items that are in\n       the shop.\n");
}

TEST(TableText, LeavesLinesToTheTerminalWhereTooLittleRoomIsLeft) {
  Table table({{"NAME"}, {"HELP"}});
  table.limit(12, Table::Overflow::kCut);
  table.add({"stock", "Items that are in the shop."});

  EXPECT_EQ(table.take_rows(), "stock  Items that are in the shop.\n");
}

TEST(TableText, CutsTheWidestTextsWhereALineWouldBeTooLong) {
  Table table({{"NAME"}, {"INSTANCE"}, {"VALUE", Align::kRight}, {"NOTE"}});
  table.limit(40, Table::Overflow::kCut);
  table.add({std::string(1023, 'n'), std::string(1023, 'i'), "12.5", "(dead)"});

  const auto text = table.take_rows();

  EXPECT_EQ(display_width(text.substr(0, text.find('\n'))), 40U) << text;
  EXPECT_NE(text.find("12.5  (dead)\n"), std::string::npos) << text;
}

TEST(TableText, KeepsEightCellsOfEachTextInANarrowTerminal) {
  Table table({{"NAME"}, {"INSTANCE"}, {"VALUE", Align::kRight}, {"NOTE"}});
  table.limit(20, Table::Overflow::kCut);
  table.add({std::string(30, 'n'), std::string(30, 'i'), "12.5", ""});

  EXPECT_EQ(table.take_rows(), "nnnnnnn…  iiiiiii…   12.5\n");
}

TEST(TableText, CutsNoEscapeAndNoMarkFromItsLetter) {
  const auto shown = escape_for_terminal("ab\x1b\u0065\u0301\u0302z");

  EXPECT_EQ(shown, "ab\\u{1b}e\u0301\u0302z");
  EXPECT_EQ(fit(shown, 7), "ab…    ");
  EXPECT_EQ(fit(shown, 9), "ab\\u{1b}…");
  EXPECT_EQ(fit(shown, 10), "ab\\u{1b}e\u0301\u0302z");
  EXPECT_EQ(fit(escape_for_terminal("e\u0301\u0302zz"), 2), "e\u0301\u0302…");
}

TEST(TableText, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrap("ab " + std::string(9, 'x') + " c", 4, 2), "ab\n  xxxx\n  xxxx\n  x c");
}

TEST(TableText, TakesTheSameWidthHoweverManyMarksANameHas) {
  std::string flood = "e";
  for (int i = 0; i < 400; ++i) flood += "\u0301";
  Table table({{"NAME"}, {"VALUE", Align::kRight}, {""}});
  table.limit(60, Table::Overflow::kCut);
  table.add({flood, "1"});
  table.add({"plain", "2"});

  const auto text = table.take_rows();
  const auto first = text.substr(0, text.find('\n'));
  const auto second = text.substr(text.find('\n') + 1);

  EXPECT_LE(display_width(first), 60U);
  EXPECT_EQ(display_width(first) + 1, second.size()) << text;
}

TEST(TableText, ShowsAsciiOnlyWhereTheTerminalHasNothingElse) {
  Table table({{"NAME"}, {"VALUE", Align::kRight}}, Charset::kAscii);
  table.add({"\u015b", "1"});
  table.add({"12345678", "2"});

  EXPECT_EQ(table.take_rows(), "\\u{15b}       1\n12345678      2\n");
}

TEST(TableText, DefusesForeignText) {
  Table table({{"NAME"}});
  table.add({"x\x1b[2Jy"});

  EXPECT_EQ(table.take_rows().find('\x1b'), std::string::npos);
}

TEST(JsonText, SurvivesAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);

  const auto parsed = parse_json(json_text(bytes));

  EXPECT_EQ(parsed.get<std::string>().substr(0, 128), bytes.substr(0, 128));
}

// What is escaped for a terminal is escaped here, and comes back as it was.
TEST(JsonText, KeepsEachCodePointAndShowsNoHiddenOne) {
  const std::string text = "a\x1b\u009b\u202e\u200b\u00ad\U000E0041\uFE0F\U0010FFFF \\u{1b} \"\\";

  const auto shown = json_text(text);

  EXPECT_EQ(parse_json(shown).get<std::string>(), text);
  EXPECT_EQ(escape_composed(shown, Composed::kLine), shown);
  EXPECT_NE(shown.find("\\udb40\\udc41"), std::string::npos) << shown;
  EXPECT_EQ(json_text("\u015b", Charset::kAscii), "\"\\u015b\"");
}

TEST(JsonNumber, IsRoundedToSevenDigitsWhetherItIsWholeOrNot) {
  for (const double value : {0.0, -0.0, 1.0, -5.0, 0.5, 99'999.0, 123'456.5, 1'234'567.0,
                             9'999'999.0, 9'999'999.5, 10'000'000.0, 12'345'678.0, 1e300}) {
    JsonWriter json;
    json.rounded_or_null(value);
    EXPECT_EQ(json.take(), fmt::format("{:.7g}", value));
  }
}

// Appended to a line that a quotation mark and a formula stand in, which stays as it is.
using AppendField = void (*)(std::string_view, Charset, std::string&);
std::string field(AppendField append, std::string_view text) {
  const std::string line = "=\"before\",";
  std::string out = line;
  append(text, Charset::kUtf8, out);
  EXPECT_TRUE(out.starts_with(line)) << out;
  return out.substr(line.size());
}
std::string csv_field(std::string_view text) { return field(append_csv_field, text); }
std::string tsv_field(std::string_view text) { return field(append_tsv_field, text); }

TEST(CsvField, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "a\\u{a}b");
}

TEST(CsvField, MarksWhatASpreadsheetWouldTakeForAFormula) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+a"), "'+a");
  EXPECT_EQ(csv_field("-a"), "'-a");
  EXPECT_EQ(csv_field("-"), "'-");
  EXPECT_EQ(csv_field("@a"), "'@a");
  EXPECT_EQ(csv_field("\uFF1D1"), "'\uFF1D1");
  EXPECT_EQ(csv_field("  =a"), "'  =a");
  EXPECT_EQ(csv_field("=a,\"b\""), "\"'=a,\"\"b\"\"\"");
  EXPECT_EQ(csv_field("\t=a"), "\\u{9}=a");
  EXPECT_EQ(tsv_field("=1+1"), "'=1+1");
}

TEST(CsvField, LeavesNumbersAndOtherTextsAsTheyAre) {
  for (const char* const text : {"-5", "+5", "-1.5e-3", "1e9", "a=b", "'=a", "", "5-3"}) {
    EXPECT_EQ(csv_field(text), text);
    EXPECT_EQ(tsv_field(text), text);
  }
}

TEST(CsvField, MarksPathsOfALogAndNotThoseOfWindows) {
  const LogHeader header{LogFormat::kCsv, std::nullopt, {"=cmd", R"(\\m\Set\Counter)"}};

  EXPECT_EQ(print_log_header(header), "\"(PDH-CSV 4.0)\",\"'=cmd\",\"\\\\m\\Set\\Counter\"\r\n");
}

TEST(CadenceTest, KeepsItsDistanceHoweverLateTheWorkIs) {
  const Clock::time_point start{};
  Cadence cadence(start, milliseconds(100));

  cadence.advance(start + milliseconds(30));
  EXPECT_EQ(cadence.next(), start + milliseconds(100));
  EXPECT_EQ(cadence.missed(), 0U);

  cadence.advance(start + milliseconds(199));
  EXPECT_EQ(cadence.next(), start + milliseconds(200));
  EXPECT_EQ(cadence.missed(), 0U);
}

TEST(CadenceTest, CountsMissedBeatsAndDoesNotCatchUp) {
  const Clock::time_point start{};
  Cadence cadence(start, milliseconds(100));

  cadence.advance(start + milliseconds(350));

  EXPECT_EQ(cadence.missed(), 2U);
  EXPECT_EQ(cadence.next(), start + milliseconds(300));
}

TEST(Keys, TakesSequencesApart) {
  const auto keys = parse_keys("j\x1b[A\x1b[5~ü\x1b[99;5uq\x1b");

  ASSERT_EQ(keys.size(), 7U);
  EXPECT_EQ(keys[0].text, "j");
  EXPECT_EQ(keys[1].key, Key::kUp);
  EXPECT_EQ(keys[2].key, Key::kPageUp);
  EXPECT_EQ(keys[3].text, "ü");
  EXPECT_EQ(keys[4].key, Key::kUnknown);
  EXPECT_EQ(keys[5].text, "q");
  EXPECT_EQ(keys[6].key, Key::kEscape);
}

TEST(Units, OfTicksThatAreStoredAreNotThoseOfTheirRates) {
  CounterView busy;
  busy.type = CounterType::kTimer100Ns;
  busy.unit = "s";
  EXPECT_EQ(stored_unit(busy), "100.ns");
  EXPECT_EQ(cooked_unit(busy), "%");
  busy.type = CounterType::kLargeRawCount;
  EXPECT_EQ(stored_unit(busy), "s");
}

}  // namespace
}  // namespace meterbank::cli
