// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/path.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../support/depth.hpp"
#include "meterbank/reader/glob.hpp"

namespace meterbank::path_test {
namespace {

using namespace std::string_view_literals;

constexpr GlobOptions kEscapes{.backslash_escapes = true};

CounterPath parsed(std::string_view text) {
  const Result<CounterPath> path = parse_path(text);
  EXPECT_TRUE(path.has_value()) << text << ": " << (path ? "" : path.error().what);
  return path.value_or(CounterPath{});
}

Error refused(std::string_view text) {
  const Result<CounterPath> path = parse_path(text);
  EXPECT_FALSE(path.has_value()) << text;
  return path ? Error{} : path.error();
}

// What stands between "column " and the end of the message.
std::string complaint(std::string_view text) {
  const Error error = refused(text);
  EXPECT_EQ(error.code, ErrorCode::kBadPath);
  const std::size_t column = error.what.rfind("column ");
  return column == std::string::npos ? error.what : error.what.substr(column);
}

const std::vector<std::string_view> kTenWindowsForms = {
    R"(\Set\Counter)",
    R"(\Set(inst)\Counter)",
    R"(\Set(inst#3)\Counter)",
    R"(\Set(parent/inst)\Counter)",
    R"(\Set(parent/inst#3)\Counter)",
    R"(\\host\Set\Counter)",
    R"(\\host\Set(inst)\Counter)",
    R"(\\host\Set(inst#3)\Counter)",
    R"(\\host\Set(parent/inst)\Counter)",
    R"(\\host\Set(parent/inst#3)\Counter)",
};

TEST(PathParser, ReadsEveryPartOfTheLongestWindowsForm) {
  const CounterPath path = parsed(R"(\\orders@4711\Thread(nginx/worker 1#2)\% User Time)");
  EXPECT_EQ(path.provider, "orders");
  EXPECT_EQ(path.provider_pid, 4711U);
  EXPECT_EQ(path.set, "Thread");
  EXPECT_EQ(path.parent, "nginx");
  EXPECT_EQ(path.instance, "worker 1");
  EXPECT_EQ(path.index, 2U);
  EXPECT_EQ(path.counter, "% User Time");
  EXPECT_EQ(path.second_word, std::nullopt);
  EXPECT_EQ(path.spelling, PathSpelling::kWindows);
  EXPECT_EQ(path.whole_instance(), "nginx/worker 1");
}

TEST(PathParser, LeavesOutWhatWasNotWritten) {
  const CounterPath path = parsed(R"(\System\Processes)");
  EXPECT_EQ(path.provider, std::nullopt);
  EXPECT_EQ(path.provider_pid, std::nullopt);
  EXPECT_EQ(path.parent, std::nullopt);
  EXPECT_EQ(path.instance, std::nullopt);
  EXPECT_EQ(path.whole_instance(), std::nullopt);
  EXPECT_EQ(path.index, std::nullopt);
}

TEST(PathParser, KeepsTheInstanceIndexOfADuplicate) {
  EXPECT_EQ(parsed(R"(\Process(svchost)\ID)").index, std::nullopt);
  EXPECT_EQ(parsed(R"(\Process(svchost#0)\ID)").index, 0U);
  EXPECT_EQ(parsed(R"(\Process(svchost#12)\ID)").index, 12U);
  EXPECT_EQ(parsed(R"(\Process(svchost#4294967293)\ID)").index, kInstanceIndexMax);
  EXPECT_EQ(parsed(R"(\Process(svchost#*)\ID)").index, kAnyInstanceIndex);
  EXPECT_EQ(parsed("process/svchost#0/id").index, 0U);
  EXPECT_EQ(parsed("process/svchost#*/id").index, kAnyInstanceIndex);
}

TEST(PathParser, TakesAHashForANameUnlessACanonicalNumberFollows) {
  for (const std::string_view name :
       {"C#", "#1", "a#b", "a#07", "a#-1", "a#1x", "a#?", "#", "a# 1"}) {
    const CounterPath path = parsed("\\Set(" + std::string(name) + ")\\Counter");
    EXPECT_EQ(path.instance, std::string(name));
    EXPECT_EQ(path.index, std::nullopt) << name;
  }
  const CounterPath twice = parsed(R"(\Set(a#1#2)\Counter)");
  EXPECT_EQ(twice.instance, "a#1");
  EXPECT_EQ(twice.index, 2U);
  EXPECT_EQ(parsed(R"(\Set(a)\Counter#1)").counter, "Counter#1");
}

TEST(PathParser, TakesAnInstanceThatBeginsWithASlashForAFileName) {
  const CounterPath path = parsed(R"(\Filesystem(/var/lib)\Free Bytes)");
  EXPECT_EQ(path.parent, std::nullopt);
  EXPECT_EQ(path.instance, "/var/lib");
  EXPECT_EQ(parsed(R"(\Filesystem(/)\Free Bytes)").instance, "/");
  EXPECT_EQ(parsed(R"(\Filesystem(a/)\Free Bytes)").instance, "a/");
}

TEST(PathParser, SplitsTheParentAtTheFirstSlash) {
  const CounterPath path = parsed(R"(\Set(a/b/c)\Counter)");
  EXPECT_EQ(path.parent, "a");
  EXPECT_EQ(path.instance, "b/c");
  EXPECT_EQ(path.whole_instance(), "a/b/c");
}

TEST(PathParser, AllowsParenthesesAndBackslashesInsideAnInstance) {
  EXPECT_EQ(parsed(R"(\Process((sd-pam))\ID)").instance, "(sd-pam)");
  EXPECT_EQ(parsed(R"(\Set(a)b(c)\Counter)").instance, "a)b(c");
  const CounterPath path = parsed(R"(\Set(C:\)\Counter)");
  EXPECT_EQ(path.instance, R"(C:\\)");
  EXPECT_EQ(literal_of(*path.instance), R"(C:\)");
}

TEST(PathParser, TakesParenthesesBehindASpaceForThoseOfTheSet) {
  const CounterPath one = parsed(R"(\Ferry Line (All)\Passengers)");
  EXPECT_EQ(one.set, "Ferry Line (All)");
  EXPECT_EQ(one.instance, std::nullopt);
  const CounterPath many = parsed(R"(\Diagnostics (Per-CPU) (x)(0 (a)#1)\Drops)");
  EXPECT_EQ(many.set, "Diagnostics (Per-CPU) (x)");
  EXPECT_EQ(many.instance, "0 (a)");
  EXPECT_EQ(many.index, 1U);
}

TEST(PathParser, AllowsAnythingButABackslashInACounter) {
  EXPECT_EQ(parsed(R"(\Set\Bytes/sec (total) #1)").counter, "Bytes/sec (total) #1");
}

TEST(PathParser, KeepsWildcardsInEveryPart) {
  const CounterPath path = parsed(R"(\\*\Proc*(*/w?rker*#*)\*)");
  EXPECT_EQ(path.provider, "*");
  EXPECT_EQ(path.set, "Proc*");
  EXPECT_EQ(path.parent, "*");
  EXPECT_EQ(path.instance, "w?rker*");
  EXPECT_EQ(path.index, kAnyInstanceIndex);
  EXPECT_EQ(path.counter, "*");
  EXPECT_EQ(parsed(R"(\Processor Information(*)\% User Time)").instance, "*");
  EXPECT_EQ(parsed("disk_*/sd?/read*").set, "disk_*");
}

TEST(PathParser, ReadsOneTwoAndThreeShortWords) {
  const CounterPath one = parsed("processor_information");
  EXPECT_EQ(one.set, "processor_information");
  EXPECT_EQ(one.second_word, std::nullopt);
  EXPECT_EQ(one.instance, std::nullopt);
  EXPECT_EQ(one.counter, std::nullopt);

  const CounterPath three = parsed("processor_information/0,_Total/user_time");
  EXPECT_EQ(three.instance, "0,_Total");
  EXPECT_EQ(three.counter, "user_time");
  EXPECT_EQ(three.second_word, std::nullopt);
  EXPECT_EQ(three.spelling, PathSpelling::kShort);
}

TEST(PathParser, KeepsBothReadingsOfASecondShortWord) {
  const CounterPath path = parsed("process/worker#3");
  EXPECT_EQ(path.instance, std::nullopt);
  EXPECT_EQ(path.counter, std::nullopt);
  ASSERT_TRUE(path.second_word.has_value());

  const CounterPath counter = path.reading_as_counter();
  EXPECT_EQ(counter.counter, "worker#3");
  EXPECT_EQ(counter.instance, std::nullopt);
  EXPECT_EQ(counter.second_word, std::nullopt);

  const CounterPath instance = path.reading_as_instance();
  EXPECT_EQ(instance.instance, "worker");
  EXPECT_EQ(instance.index, 3U);
  EXPECT_EQ(instance.counter, std::nullopt);
  EXPECT_EQ(instance.second_word, std::nullopt);
}

TEST(PathParser, HasOneReadingWhereThereIsNoSecondWord) {
  const CounterPath path = parsed("process/worker/user_time");
  EXPECT_EQ(path.reading_as_counter(), path);
  EXPECT_EQ(path.reading_as_instance(), path);
}

TEST(PathParser, ReadsTheProviderOfAShortPath) {
  EXPECT_EQ(parsed("orders:venue/eu/accepted").provider, "orders");
  const CounterPath with_pid = parsed("orders@4711:venue");
  EXPECT_EQ(with_pid.provider, "orders");
  EXPECT_EQ(with_pid.provider_pid, 4711U);
  EXPECT_EQ(parsed("*:venue").provider, "*");
  EXPECT_EQ(parsed("venue/eth0:1/bytes").provider, std::nullopt);
  EXPECT_EQ(parsed("venue/eth0:1/bytes").instance, "eth0:1");
}

TEST(PathParser, TakesAnAtSignForANameUnlessANumberFollows) {
  for (const std::string_view name : {"user@host", "@7", "a@", "a@07", "a@7b"}) {
    const CounterPath path = parsed(std::string(name) + ":set");
    EXPECT_EQ(path.provider, std::string(name));
    EXPECT_EQ(path.provider_pid, std::nullopt);
  }
}

TEST(PathParser, TakesEscapedCharactersForWhatTheyAre) {
  const CounterPath path = parsed(R"(pub\:a\@1:set\:b/a\/b\#3/\*\?\[\]\\)");
  EXPECT_EQ(path.provider, "pub:a@1");
  EXPECT_EQ(path.provider_pid, std::nullopt);
  EXPECT_EQ(path.set, "set:b");
  EXPECT_EQ(path.instance, "a/b#3");
  EXPECT_EQ(path.index, std::nullopt);
  EXPECT_EQ(path.counter, R"(\*\?[]\\)");
  EXPECT_EQ(literal_of(*path.counter), R"(*?[]\)");
}

TEST(PathParser, MatchesALiteralStarByItsPattern) {
  const CounterPath path = parsed(R"(set/a\*/c)");
  EXPECT_TRUE(glob_matches(*path.instance, "A*", kEscapes));
  EXPECT_FALSE(glob_matches(*path.instance, "ab", kEscapes));
}

TEST(PathParser, TakesALeadingColonForAShortPathThatBeginsWithAnEscape) {
  EXPECT_EQ(parsed(R"(:\*set/counter)").set, R"(\*set)");
  EXPECT_EQ(parsed(R"(:\*set/counter)").provider, std::nullopt);
  EXPECT_EQ(parsed(R"(:\*pub:set)").provider, R"(\*pub)");
}

TEST(PathParser, NamesTheColumnAndWhatIsMissing) {
  EXPECT_EQ(complaint(""), "column 1: expected a path, found the end");
  EXPECT_EQ(complaint(R"(\)"), R"(column 2: expected a counterset after '\', found the end)");
  EXPECT_EQ(complaint(R"(\\)"), R"(column 3: expected a provider after '\\', found the end)");
  EXPECT_EQ(complaint(R"(\\\Set\C)"), R"(column 3: expected a provider after '\\', found '\')");
  EXPECT_EQ(complaint(R"(\\pub)"),
            R"(column 6: expected '\' and a counterset after the provider, found the end)");
  EXPECT_EQ(complaint(R"(\\pub\)"), R"(column 7: expected a counterset after '\', found the end)");
  EXPECT_EQ(complaint(R"(\Set)"), R"(column 5: expected '\' and a counter, found the end)");
  EXPECT_EQ(complaint(R"(\Set(i))"), R"(column 8: expected '\' and a counter, found the end)");
  EXPECT_EQ(complaint(R"(\Set\)"), R"(column 6: expected a counter after '\', found the end)");
  EXPECT_EQ(complaint(R"(\(i)\C)"), "column 2: expected a counterset before '(', found '('");
  EXPECT_EQ(complaint(R"(\Set(i\C)"), R"(column 7: expected ')' after the instance, found '\')");
  EXPECT_EQ(complaint(R"(\Set(i)x\C)"),
            R"(column 8: expected '\' and the counter after ')', found 'x')");
  EXPECT_EQ(complaint(R"(\Set()\C)"),
            "column 6: expected an instance between '(' and ')', found ')'");
  EXPECT_EQ(complaint(R"(\Set\Sub\C)"),
            R"(column 5: expected '(' or the counter as the last part, found '\')");
  EXPECT_EQ(complaint(R"(\Seti)\C)"),
            "column 6: expected '(' or the counter as the last part, found ')'");
  EXPECT_EQ(complaint(R"(\Set (i\C)"),
            R"(column 8: expected ')' after the parenthesis of the counterset, found '\')");
  EXPECT_EQ(complaint(R"(\Set (i))\C)"),
            "column 9: expected '(' or the counter as the last part, found ')'");
  EXPECT_EQ(complaint(R"(\\p\\C)"), R"(column 5: expected a counterset, found '\')");
}

TEST(PathParser, NamesTheColumnInAShortPath) {
  EXPECT_EQ(complaint("/set"), "column 1: expected a counterset or a provider, found '/'");
  EXPECT_EQ(complaint(":"), "column 2: expected a counterset or a provider, found the end");
  EXPECT_EQ(complaint("::set"), "column 2: expected a counterset or a provider, found ':'");
  EXPECT_EQ(complaint("pub:"), "column 5: expected a counterset after ':', found the end");
  EXPECT_EQ(complaint("set/"),
            "column 5: expected a counter or an instance after '/', found the end");
  EXPECT_EQ(complaint("set//c"),
            "column 5: expected a counter or an instance after '/', found '/'");
  EXPECT_EQ(complaint("set/i/"), "column 7: expected a counter after the instance, found the end");
  EXPECT_EQ(complaint("set/i/c/d"), "column 8: expected the end after the counter, found '/'");
  EXPECT_EQ(complaint(R"(set\)"),
            R"(column 5: expected one of / * ? [ ] \ : # @ after '\', found the end)");
  EXPECT_EQ(complaint(R"(set\Q)"),
            R"(column 5: expected one of / * ? [ ] \ : # @ after '\', found 'Q')");
}

TEST(PathParser, CountsColumnsInCharacters) {
  EXPECT_EQ(complaint("\u4E2D\u6587//c"),
            "column 4: expected a counter or an instance after '/', found '/'");
  EXPECT_EQ(complaint("set\\\u20AC"),
            "column 5: expected one of / * ? [ ] \\ : # @ after '\\', found '\u20AC'");
}

TEST(PathParser, RefusesNumbersThatCannotBeIds) {
  EXPECT_EQ(complaint(R"(\Set(a#4294967294)\C)").substr(0, 18), "column 6: expected");
  EXPECT_EQ(complaint("set/a#4294967295/c").substr(0, 18), "column 5: expected");
  EXPECT_EQ(complaint("set/a#99999999999999999999999/c").substr(0, 18), "column 5: expected");
  EXPECT_EQ(complaint("pub@4294967296:set").substr(0, 18), "column 1: expected");
  EXPECT_EQ(parsed(R"(set/a\#99999999999999999999999/c)").instance, "a#99999999999999999999999");
}

TEST(PathParser, RefusesControlCharactersAndWhatIsNotUtf8) {
  EXPECT_EQ(complaint("set/counter\r"), "column 12: expected no control character, found '\\u{d}'");
  EXPECT_EQ(complaint("set\0x"sv), "column 4: expected no control character, found '\\u{0}'");
  EXPECT_EQ(complaint("set/\xC0\xAF"sv), "column 5: expected UTF-8, found '\\x{c0}'");
  EXPECT_EQ(complaint("\\S\xED\xA0\x80\\C"sv), "column 3: expected UTF-8, found '\\x{ed}'");
}

TEST(PathParser, RefusesPathsWithoutEnd) {
  EXPECT_TRUE(parse_path(std::string(kPathBytesMax, 's')).has_value());
  EXPECT_FALSE(parse_path(std::string(kPathBytesMax + 1, 's')).has_value());
}

TEST(PathParser, ShowsThePathWithoutItsControlCharacters) {
  EXPECT_EQ(refused("a\x1B[2J").what.substr(0, 15), "path 'a\\u{1b}[2");
}

TEST(PathParser, OffersARemedyThatIsAPath) {
  EXPECT_EQ(refused(R"(Set(inst)\Counter)").remedy, R"(write '\Set(inst)\Counter')");
  EXPECT_EQ(refused(R"(\Set(inst))").remedy, R"(write '\Set(inst)\*')");
  EXPECT_EQ(refused(R"(\Set\)").remedy, R"(write '\Set\*')");
  EXPECT_EQ(refused(R"(\\Set(i)\Counter)").remedy,
            R"(write '\\Set(i)\Counter\*', or one backslash in front if no provider is meant)");
}

TEST(PathPrinter, RoundTripsTheTenWindowsForms) {
  for (const std::string_view text : kTenWindowsForms) {
    const CounterPath path = parsed(text);
    EXPECT_EQ(print_path(path), text);
    const Result<std::string> windows = print_windows(path);
    ASSERT_TRUE(windows.has_value()) << text;
    EXPECT_EQ(*windows, text);
  }
}

TEST(PathPrinter, RoundTripsIndexZeroWildcardsAndFileNames) {
  for (const std::string_view text :
       {R"(\Set(inst#0)\Counter)", R"(\Set(*)\*)", R"(\\*\*(*/*#*)\*)", R"(\S?t(in?t*)\C*)",
        R"(\Set(/var/lib)\Counter)", R"(\Set(C:\)\Counter)", R"(\Set((sd-pam))\Counter)",
        R"(\Ferry Line (All)\Passengers)", R"(\Diagnostics (Per-CPU)(0)\Drops)",
        R"(\\web@17\Set(C#)\Bytes/sec)", "\\Stra\u00DFe(\u4E2D)\\\u03A3"}) {
    EXPECT_EQ(print_path(parsed(text)), text);
  }
}

TEST(PathPrinter, RoundTripsShortPaths) {
  for (const std::string_view text :
       {"set", "set/x", "set/x#3", "set/x#*", R"(set/x\#3)", "set/inst/counter", "set/inst#0/c",
        "pub:set", "pub@12:set/x", "*:set/*/c*", R"(set/a\/b/c)", R"(set/\*/\\)",
        R"(p\:q:s\:t/u:v/w:x)", R"(p\@1:set)", "user@host:set", R"(:\*set/c)", R"(:\?p:set)",
        R"(set/\[x\]/c)", "processor_information/0,_Total/user_time"}) {
    EXPECT_EQ(print_path(parsed(text)), text);
    EXPECT_EQ(print_short(parsed(text)), text);
  }
}

TEST(PathPrinter, TurnsAWindowsPathIntoAShortOne) {
  const auto shortened = [](std::string_view text) { return print_short(parsed(text)); };
  EXPECT_EQ(shortened(R"(\\pub@7\Set(inst#3)\Counter)"), "pub@7:Set/inst#3/Counter");
  EXPECT_EQ(shortened(R"(\Set(parent/inst)\Bytes/sec)"), R"(Set/parent\/inst/Bytes\/sec)");
  EXPECT_EQ(shortened(R"(\Set\Counter)"), "Set/Counter");
  EXPECT_EQ(shortened(R"(\Set(C:\)\[x])"), R"(Set/C:\\/\[x\])");
}

TEST(PathPrinter, TurnsAShortPathIntoAWindowsOne) {
  const Result<std::string> text = print_windows(parsed(R"(pub:set/a\/b/c)"));
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, R"(\\pub\set(a/b)\c)");
}

TEST(PathPrinter, RefusesWhatTheWindowsSpellingCannotSay) {
  for (const std::string_view text :
       {"set", "set/x", R"(set/a\*/c)", R"(set/a\?/c)", R"(set/a\#3/c)", R"(set/a/b\\c)",
        R"(s(t/a/c)", R"(s\\t/a/c)", R"(p\\q:s/a/c)", R"(p\@3:s/a/c)"}) {
    const Result<std::string> windows = print_windows(parsed(text));
    ASSERT_FALSE(windows.has_value()) << text << " became " << *windows;
    EXPECT_EQ(windows.error().code, ErrorCode::kBadPath);
  }
}

TEST(PathPrinter, FallsBackToTheShortSpelling) {
  const RowNames row{.provider = "", .set = "Process", .instance = "svchost#1", .counter = "ID"};
  EXPECT_EQ(print_path(path_of(row)), R"(Process/svchost\#1/ID)");
}

TEST(PathPrinter, NamesAllCountersOfOneInstanceByAStar) {
  EXPECT_EQ(print_short(parsed("set/inst").reading_as_instance()), "set/inst/*");
  EXPECT_EQ(print_short(parsed("set/counter").reading_as_counter()), "set/counter");
}

TEST(PathPrinter, WritesRowsFromPlainNames) {
  const RowNames row{
      .provider = "host", .set = "Disk", .instance = "sda/1", .counter = "Bytes/sec"};
  EXPECT_EQ(print_path(path_of(row)), R"(\\host\Disk(sda/1)\Bytes/sec)");
  EXPECT_EQ(print_path(path_of(row, PathSpelling::kShort)), R"(host:Disk/sda\/1/Bytes\/sec)");
  const RowNames single{.provider = "", .set = "Memory", .instance = "", .counter = "Free"};
  EXPECT_EQ(print_path(path_of(single)), R"(\Memory\Free)");
}

std::string random_name(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"a", "B", "\\", "/", "*", "?", "#", "3",     "0",
                                                   "(", ")", "[",  "]", ":", "@", " ", "\u20AC"};
  std::string name;
  for (std::size_t left = 1 + random() % 5; left != 0; --left) {
    name += kPieces[random() % kPieces.size()];
  }
  return name;
}

// Whatever characters the names consist of, a printed path finds the very row it was printed for.
TEST(PathPrinter, PrintsPathsThatReadBackAsTheRowTheyCameFrom) {
  std::mt19937 random(6);
  std::size_t windows_spelled = 0;
  const std::uint64_t rows = test::tries(100'000);
  for (std::uint64_t round = 0; round < rows; ++round) {
    const std::string provider = random() % 2 == 0 ? "" : random_name(random);
    const std::string set = random_name(random);
    const std::string instance = random_name(random);
    const std::string counter = random_name(random);
    const CounterPath row =
        path_of({.provider = provider, .set = set, .instance = instance, .counter = counter});
    for (const std::string& text : {print_path(row), print_short(row)}) {
      const Result<CounterPath> back = parse_path(text);
      ASSERT_TRUE(back.has_value()) << text << ": " << back.error().what;
      if (back->spelling == PathSpelling::kWindows) ++windows_spelled;
      ASSERT_EQ(back->provider.has_value(), !provider.empty()) << text;
      ASSERT_EQ(literal_of(back->provider.value_or("")), provider) << text;
      ASSERT_EQ(back->provider_pid, std::nullopt) << text;
      ASSERT_EQ(literal_of(back->set), set) << text;
      ASSERT_EQ(literal_of(back->whole_instance().value_or("")), instance) << text;
      ASSERT_EQ(back->index, std::nullopt) << text;
      ASSERT_EQ(literal_of(back->counter.value_or("")), counter) << text;
    }
  }
  EXPECT_GT(windows_spelled, rows / 100);
}

TEST(PathParser, GivesAPathOrAnErrorForEveryText) {
  std::mt19937 random(7);
  const std::string_view alphabet = "\\\\\\//()#*:@a1\xC3\x1B";
  std::size_t accepted = 0;
  const std::uint64_t rounds = test::tries(300'000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text(random() % 14, '\0');
    for (char& character : text) character = alphabet[random() % alphabet.size()];
    const Result<CounterPath> path = parse_path(text);
    if (!path) {
      ASSERT_EQ(path.error().code, ErrorCode::kBadPath);
      ASSERT_FALSE(path.error().what.empty());
      ASSERT_FALSE(path.error().remedy.empty()) << text;
      continue;
    }
    ++accepted;
    ASSERT_FALSE(path->set.empty());
    if (path->spelling == PathSpelling::kWindows) {
      ASSERT_EQ(print_path(*path), text);
    }
    const Result<CounterPath> again = parse_path(print_short(*path));
    ASSERT_TRUE(again.has_value()) << text << " -> " << print_short(*path);
    ASSERT_EQ(print_short(*again), print_short(*path)) << text;
    if (path->spelling == PathSpelling::kShort) {
      ASSERT_EQ(*again, *path) << text;
    }
  }
  EXPECT_GT(accepted, rounds / 30);
}

}  // namespace
}  // namespace meterbank::path_test
