// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

class CliFormats : public CliTest {};

// RFC 4180, as strict as it gets: records end in CR LF, quotes only where they may stand.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      record.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      record.emplace_back();
    } else if (!quoted && c == '\r') {
      EXPECT_EQ(text.at(++i), '\n');
      records.push_back(std::exchange(record, std::vector<std::string>(1)));
    } else {
      EXPECT_TRUE(quoted || c != '\n');
      record.back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(record, std::vector<std::string>(1)) << "last record without a line end";
  return records;
}

TEST_F(CliFormats, PipesGetPlainRowsWithoutHeadingsOrColour) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales/fruit/stock"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(with_nines(outcome.out),
            "9999-99-99T99:99:99.999Z\tshop_sales/fruit/stock\t99\t{item}\n");
}

TEST_F(CliFormats, EachRowNamesItsProviderWhereThereAreSeveral) {
  open_shop({"fruit"});
  auto rival = *Provider::create({.name = "rival", .directory = directory_});
  auto sales = *rival.add(kSales);
  const Instance fruit = *sales.create_instance("fruit");
  const std::string pid = std::to_string(::getpid());

  for (const char* const format : {"table", "plain", "tsv", "csv", "json", "jsonl"}) {
    const auto outcome = meterbank({"get", "shop_sales/fruit/stock", "-f", format});
    ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
    EXPECT_NE(outcome.out.find("rival@" + pid), std::string::npos) << format << outcome.out;
    EXPECT_NE(outcome.out.find("shop@" + pid), std::string::npos) << format << outcome.out;
  }
}

TEST_F(CliFormats, PlainRowsOfSeveralProvidersArePathsThatCanBeAskedFor) {
  open_shop({"fruit"});
  auto rival = *Provider::create({.name = "rival", .directory = directory_});
  auto sales = *rival.add(kSales);
  const Instance fruit = *sales.create_instance("fruit");

  const auto lines = meterbank({"get", "shop_sales/fruit/stock", "-f", "plain"}).lines();

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0], lines[1]);
  for (const auto& line : lines) {
    const auto path = line.substr(line.find('\t') + 1, line.rfind('\t') - line.find('\t') - 1);
    const auto asked = path.substr(0, path.find('\t'));
    const auto one = meterbank({"get", asked, "-f", "tsv"});
    ASSERT_EQ(one.code, kExitDone) << asked << ": " << one.err;
    EXPECT_EQ(one.lines().size(), 2U) << asked;
  }
}

// Paths are put together from a part of the row and one of the counter, each made once.
TEST_F(CliFormats, PathsAreThoseOfTheValuesWhateverTheNames) {
  auto provider = *Provider::create({.name = "odd:names@7", .directory = directory_});
  auto aisles = *provider.add(kSales);
  constexpr CountersetSpec kLone{.name = "Lone",
                                 .symbol = "lone",
                                 .instances = InstanceKind::kSingle,
                                 .counters = kSalesCounters};
  auto lone = *provider.add(kLone);
  std::vector<Instance> live;
  for (const char* const name : {"a/b", "c#7", "\u202e\u0301", "_Total", "a \\ *", "\"q\", [x]"}) {
    live.push_back(*aisles.create_instance(name));
  }
  live.push_back(*lone.create_instance(""));

  const Catalog catalog = *Catalog::open({.directory = directory_});
  Query query = *Query::compile(catalog, {});
  Sample sample;
  query.collect(sample);
  std::vector<std::string> expected, printed;
  for (const Row& row : sample) {
    for (const Value& value : row) expected.push_back(value.short_path());
  }
  ASSERT_EQ(expected.size(), 21U);

  const auto json = meterbank({"get", "*/*", "*/*/*", "--raw", "-f", "json"});
  ASSERT_EQ(json.code, kExitDone) << json.err;
  const Json document = parse_json(json.out);
  for (const auto& row : document["samples"]) printed.push_back(row["path"].get<std::string>());
  std::sort(expected.begin(), expected.end());
  std::sort(printed.begin(), printed.end());
  printed.erase(std::unique(printed.begin(), printed.end()), printed.end());
  EXPECT_EQ(printed, expected);

  std::vector<std::string> plain, escaped;
  for (const auto& line : meterbank({"get", "*/*", "*/*/*", "--raw", "-f", "plain"}).lines()) {
    const auto from = line.find('\t') + 1;
    plain.push_back(line.substr(from, line.find('\t', from) - from));
  }
  for (const auto& path : expected) escaped.push_back(escape_for_terminal(path));
  std::sort(escaped.begin(), escaped.end());
  std::sort(plain.begin(), plain.end());
  plain.erase(std::unique(plain.begin(), plain.end()), plain.end());
  EXPECT_EQ(plain, escaped);
}

TEST_F(CliFormats, ATableGetsAColumnWhenASecondProviderComes) {
  open_shop({"fruit"});
  std::optional<Provider> rival;
  Registration sales;
  std::optional<Instance> fruit;
  FlushTrap trap([&] {
    if (!rival) {
      rival = *Provider::create({.name = "rival", .directory = directory_});
      sales = *rival->add(kSales);
      fruit = *sales.create_instance("fruit");
    }
    return trap.str().find("rival@") == std::string::npos ? 0 : ::raise(SIGINT);
  });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{"get",       "shop_sales/fruit/stock",
                                           "-f",        "table",
                                           "-i",        "10ms",
                                           "-n",        "0",
                                           "--timeout", "60s",
                                           "--dir",     directory_};

  ASSERT_EQ(run(arguments, out, err), kExitDone) << err.str();
  const Outcome outcome{kExitDone, trap.str(), err.str()};
  EXPECT_EQ(outcome.lines()[0].find("PROVIDER"), std::string::npos);
  const auto headings = outcome.out.find("PROVIDER");
  ASSERT_NE(headings, std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("PROVIDER", headings + 1), std::string::npos);
  EXPECT_NE(outcome.out.find("rival@", headings), std::string::npos);
  EXPECT_EQ(outcome.out.substr(0, headings).find("rival@"), std::string::npos);
}

TEST_F(CliFormats, CsvQuotesWhatNeedsQuotes) {
  const std::string awkward = "say \"a, b\"";
  open_shop({awkward});

  const auto outcome = meterbank({"get", "shop_sales/stock", "-f", "csv"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto records = parse_csv(outcome.out);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0], (std::vector<std::string>{"time", "provider", "set", "instance", "counter",
                                                  "value", "unit", "status"}));
  ASSERT_EQ(records[1].size(), records[0].size());
  EXPECT_EQ(records[1][3], awkward);
  EXPECT_EQ(records[1][5], "17");
}

TEST_F(CliFormats, CsvLeavesAMissingValueEmpty) {
  open_shop({"fruit"});

  const auto outcome = meterbank({"get", "shop_sales/sold", "-n", "2", "-i", "10ms", "-f", "csv"});

  const auto records = parse_csv(outcome.out);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1][5], "");
  EXPECT_EQ(records[1][7], "no-rate-yet");
  EXPECT_EQ(records[2][5], "0");
}

TEST_F(CliFormats, TsvHasAFieldForEveryHeading) {
  open_shop();

  const auto lines = meterbank({"get", "shop_sales/stock", "-f", "tsv"}).lines();

  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 7) << line;
  }
}

TEST_F(CliFormats, JsonIsOneDocumentOfAllSamples) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales", "-n", "3", "-i", "10ms", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto document = parse_json(outcome.out);
  EXPECT_EQ(document["schema"], "meterbank.sample/2");
  EXPECT_EQ(document["samples"].size(), 3U * 2U * 3U);
  for (const auto& row : document["samples"]) {
    for (const char* key : {"path", "time", "set", "instance", "counter", "provider", "kind",
                            "unit", "value", "raw", "status"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
  }
}

TEST_F(CliFormats, JsonKeepsAllDigitsOfAnInteger) {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, kLargest);

  const auto number = meterbank({"get", "shop_sales/stock", "--raw", "-f", "json"});
  const auto text =
      meterbank({"get", "shop_sales/stock", "--raw", "-f", "json", "--json-int=string"});

  EXPECT_EQ(parse_json(number.out)["samples"][0]["value"].get<std::uint64_t>(), kLargest);
  EXPECT_EQ(parse_json(text.out)["samples"][0]["value"], std::to_string(kLargest));
}

TEST_F(CliFormats, JsonEscapesNames) {
  const std::string awkward = "a\"b\\c — ü";
  open_shop({awkward});

  const auto outcome = meterbank({"get", "shop_sales/stock", "-f", "json"});

  EXPECT_EQ(parse_json(outcome.out)["samples"][0]["instance"], awkward);
}

TEST_F(CliFormats, NamesCannotTurnTextAround) {
  open_shop({"left\u202eright"});

  for (const char* format : {"table", "plain", "tsv", "csv", "json", "jsonl"}) {
    const auto outcome = meterbank({"get", "shop_sales/stock", "-f", format});
    ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
    EXPECT_EQ(outcome.out.find("\u202e"), std::string::npos) << format;
    EXPECT_NE(outcome.out.find("202e"), std::string::npos) << format;
  }
}

// Writes 1234.5 as "1.234,5".
struct CommaNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(CliFormats, MachineFormatsDoNotKnowTheLocale) {
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, 1'234'567);
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  std::ostringstream control;  // the locale does what it says
  control << 1234.5;

  const auto lines =
      meterbank({"get", "shop_sales", "-n", "2", "-i", "10ms", "-f", "jsonl"}).lines();
  const auto csv = meterbank({"get", "shop_sales/stock", "-f", "csv"}).out;
  std::locale::global(before);

  EXPECT_EQ(control.str(), "1.234,5");
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) EXPECT_TRUE(is_json(line)) << line;
  EXPECT_NE(csv.find(",1234567,"), std::string::npos) << csv;
}

TEST_F(CliFormats, MachinesGetBaseUnits) {
  constexpr std::array kClock{CounterSpec{.id = 1,
                                          .name = "Frequency",
                                          .symbol = "frequency",
                                          .type = CounterType::kLargeRawCount,
                                          .unit = "MHz",
                                          .help = "Of the clock."}};
  auto provider = Provider::create({.name = "clock", .directory = directory_});
  ASSERT_TRUE(provider);
  auto set = provider->add({.name = "Clock", .symbol = "clock", .counters = kClock});
  ASSERT_TRUE(set);
  auto instance = set->create_instance("a");
  ASSERT_TRUE(instance);
  instance->update([](Values& values) noexcept { values.set(0U, 2600); });

  const auto row = parse_json(meterbank({"get", "clock", "-f", "json"}).out)["samples"][0];
  const auto raw = parse_json(meterbank({"get", "clock", "--raw", "-f", "json"}).out);
  const auto listed = parse_json(meterbank({"list", "clock", "-f", "json"}).out)[0];

  EXPECT_EQ(row["value"], 2.6e9);
  EXPECT_EQ(row["unit"], "Hz");
  EXPECT_EQ(row["raw"], 2600);
  EXPECT_EQ(raw["samples"][0]["value"], 2600);
  EXPECT_EQ(raw["samples"][0]["unit"], "MHz");
  EXPECT_EQ(listed["unit"], "Hz");
}

TEST_F(CliFormats, ColourIsAChoice) {
  open_shop();

  const auto never = meterbank({"get", "shop_sales/stock", "-f", "table"});
  const auto always = meterbank({"get", "shop_sales/stock", "-f", "table", "--color=always"});

  EXPECT_EQ(never.out.find('\x1b'), std::string::npos);
  EXPECT_NE(always.out.find('\x1b'), std::string::npos);
}

TEST_F(CliFormats, NoColorBeatsTheTerminalAndTheFlagBeatsBoth) {
  std::ostringstream out;
  std::ostringstream err;
  const Console terminal{out, err, true, true};
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  ::unsetenv("CLICOLOR_FORCE");
  EXPECT_TRUE(wants_color(ColorWhen::kAuto, terminal));

  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_color(ColorWhen::kAuto, terminal));
  EXPECT_TRUE(wants_color(ColorWhen::kAlways, terminal));

  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_FALSE(wants_color(ColorWhen::kAuto, terminal));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_color(ColorWhen::kAuto, {out, err}));
  EXPECT_FALSE(wants_color(ColorWhen::kNever, terminal));
  ::unsetenv("NO_COLOR");
  ::unsetenv("CLICOLOR_FORCE");

  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_color(ColorWhen::kAuto, terminal));
  EXPECT_FALSE(has_screen(terminal));
}

}  // namespace
}  // namespace meterbank::cli
