// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/grammar.hpp"
#include "cli/session/exit_code.hpp"
#include "log_fixture.hpp"
#include "meterbank/base/machine_name.hpp"

namespace meterbank::cli::typeperf_test {
namespace {

class Typeperf : public CliTest {
 protected:
  // A log of all stocks with two records, between which something happens.
  [[nodiscard]] WholeLog two_records(const std::function<void()>& between) const {
    bool is_first = true;
    FlushTrap target([&] {
      if (std::exchange(is_first, false)) between();
      return 0;
    });
    std::ostream out(&target);
    std::ostringstream err;
    const std::vector<std::string> arguments{
        "typeperf", R"(\Shop Sales(*)\Stock)", "-sc", "2", "-si", "0.01", "--dir", directory_};
    EXPECT_EQ(run(arguments, out, err), kExitDone) << err.str();
    std::ofstream(file("x.csv")) << target.str();
    return read_whole_log(file("x.csv"));
  }
};

constexpr const char* kStock = R"(\Shop Sales(fruit)\Stock)";

TEST_F(Typeperf, WritesTheHeaderOfTheWindowsForm) {
  const ScopedTimeZone zone("EST5");
  open_shop();

  const auto outcome = meterbank({"typeperf", kStock, "-sc", "1", "-si", "0.01"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto end = outcome.out.find("\r\n");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(outcome.out.substr(0, end),
            "\"(PDH-CSV 4.0) (EST)(300)\",\"\\\\" + machine_name() + kStock + "\"");
  EXPECT_EQ(with_nines(outcome.out.substr(end + 2)), "\"99/99/9999 99:99:99.999\",\"99\"\r\n");
  EXPECT_TRUE(outcome.out.ends_with("\"17\"\r\n")) << outcome.out;
}

TEST_F(Typeperf, SeparatesByTabsOnRequest) {
  const ScopedTimeZone zone("UTC0");
  open_shop();

  const auto outcome = meterbank({"typeperf", kStock, "-sc", "1", "-f", "TSV"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 27), "\"(PDH-TSV 4.0) (UTC)(0)\"\t\"\\");
}

TEST_F(Typeperf, WritesLocalTime) {
  open_shop({"fruit"});
  const auto take = [this](const char* zone) {
    const ScopedTimeZone scope(zone);
    EXPECT_EQ(meterbank({"typeperf", kStock, "-sc", "1", "-o", file("x.csv"), "-y"}).code,
              kExitDone);
    return read_whole_log(file("x.csv")).records.at(0).time;
  };

  const auto utc = take("UTC0");
  const auto east = take("<+14>-14");

  EXPECT_GE(east - utc, std::chrono::hours(14));
  EXPECT_LT(east - utc, std::chrono::hours(15));
}

TEST_F(Typeperf, FirstRecordHasABlankForARate) {
  open_shop({"fruit"});

  const auto outcome = meterbank(
      {"typeperf", R"(\Shop Sales(*)\*)", "-sc", "3", "-si", "0.02", "-o", file("x.csv")});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto log = read_whole_log(file("x.csv"));
  ASSERT_EQ(log.records.size(), 3U);
  ASSERT_EQ(log.header.paths.size(), 3U);
  EXPECT_EQ(log.column(0), (std::vector<std::string>{"", "0", "0"}));
  EXPECT_EQ(log.column(1), (std::vector<std::string>{"17", "17", "17"}));
  EXPECT_NE(read(file("x.csv")).find(",\" \","), std::string::npos);
}

TEST_F(Typeperf, UnderstandsItsOwnColumnsAsPaths) {
  open_shop();
  const auto path = "\\\\" + machine_name() + kStock;

  const auto outcome = meterbank({"typeperf", path, "-sc", "1", "-o", file("x.csv")});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(read_whole_log(file("x.csv")).header.paths, std::vector<std::string>{path});
}

TEST_F(Typeperf, TellsProvidersOfTheSamePathApart) {
  open_shop({"fruit"});
  auto rival = Provider::create({.name = "rival", .directory = directory_});
  ASSERT_TRUE(rival);
  auto sales = rival->add(kSales);
  ASSERT_TRUE(sales);
  auto fruit = sales->create_instance("fruit");
  ASSERT_TRUE(fruit);

  ASSERT_EQ(meterbank({"typeperf", kStock, "-sc", "1", "-o", file("x.csv")}).code, kExitDone);

  auto paths = read_whole_log(file("x.csv")).header.paths;
  std::sort(paths.begin(), paths.end());
  const auto pid = std::to_string(::getpid());
  EXPECT_EQ(paths,
            (std::vector<std::string>{"\\\\rival@" + pid + kStock, "\\\\shop@" + pid + kStock}));
}

TEST_F(Typeperf, ReadsPathsFromAFileAndListsThem) {
  open_shop();

  const auto listed = meterbank({"typeperf", "-qx", "shop sales", "-o", file("c.txt")});
  const auto sampled =
      meterbank({"typeperf", "-cf", file("c.txt"), "-sc", "1", "-o", file("x.csv")});

  ASSERT_EQ(listed.code, kExitDone) << listed.err;
  ASSERT_EQ(sampled.code, kExitDone) << sampled.err;
  EXPECT_EQ(read(file("c.txt")),
            "\\Shop Sales(bread)\\Label Bytes\n"
            "\\Shop Sales(bread)\\Sold/sec\n"
            "\\Shop Sales(bread)\\Stock\n"
            "\\Shop Sales(fruit)\\Label Bytes\n"
            "\\Shop Sales(fruit)\\Sold/sec\n"
            "\\Shop Sales(fruit)\\Stock\n");
  EXPECT_EQ(read_whole_log(file("x.csv")).header.paths.size(), 6U);
}

TEST_F(Typeperf, ListsTheRowThatAReaderMakesAndWhoseANamesakeIs) {
  open_shop({"fruit"});
  open_bakery();
  auto rival = *Provider::create({.name = "rival", .directory = directory_});
  const auto instance = *rival.add(kSales)->create_instance("fruit");
  const auto paths = meterbank({"typeperf", "-qx"}).lines();
  const std::string at = fmt::format("@{}", ::getpid());
  EXPECT_EQ(paths.size(), 9U);
  for (const std::string& expected :
       {std::string(R"(\Bakery(_Total)\Loaves)"), std::string(R"(\Bakery(right)\Loaves)"),
        R"(\\rival)" + at + R"(\Shop Sales(fruit)\Stock)",
        R"(\\shop)" + at + R"(\Shop Sales(fruit)\Stock)"}) {
    EXPECT_EQ(std::count(paths.begin(), paths.end(), expected), 1) << expected;
  }
}

TEST_F(Typeperf, ListsCountersWithoutInstances) {
  open_shop();

  const auto outcome = meterbank({"typeperf", "-q"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out,
            "\\Shop Sales(*)\\Label Bytes\n"
            "\\Shop Sales(*)\\Sold/sec\n"
            "\\Shop Sales(*)\\Stock\n");
}

TEST_F(Typeperf, SuggestsAnObject) {
  open_shop();

  const auto outcome = meterbank({"typeperf", "-q", "Shop Sals"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("try: Shop Sales"), std::string::npos) << outcome.err;
}

TEST_F(Typeperf, TakesOptionsFromASettingsFileAndTypedOnesCountMore) {
  open_shop();
  std::ofstream(file("s.ini")) << "[counter]\n" << kStock << "\n[f]\nTSV\n[sc]\n7\n[si]\n0.01\n";

  const auto outcome =
      meterbank({"typeperf", "-config", file("s.ini"), "-sc", "2", "-o", file("x.tsv")});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto log = read_whole_log(file("x.tsv"));
  EXPECT_EQ(log.header.format, LogFormat::kTsv);
  EXPECT_EQ(log.records.size(), 2U);
}

TEST_F(Typeperf, ReplacesAFileOnlyIfToldTo) {
  open_shop();
  std::ofstream(file("x.csv")) << "mine";

  const auto refused = meterbank({"typeperf", kStock, "-sc", "1", "-o", file("x.csv")});
  const auto before = read(file("x.csv"));
  const auto replaced = meterbank({"typeperf", kStock, "-sc", "1", "-o", file("x.csv"), "-y"});

  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_NE(refused.err.find("-y"), std::string::npos) << refused.err;
  EXPECT_EQ(before, "mine");
  EXPECT_EQ(replaced.code, kExitDone) << replaced.err;
  EXPECT_NE(read(file("x.csv")), "mine");
}

TEST_F(Typeperf, ReadsThisMachineOnly) {
  open_shop();

  const auto here = meterbank({"typeperf", kStock, "-sc", "1", "-s", machine_name()});
  const auto there = meterbank({"typeperf", kStock, "-sc", "1", "-s", "no-such-machine"});

  EXPECT_EQ(here.code, kExitDone) << here.err;
  EXPECT_EQ(there.code, kExitUsage);
  EXPECT_NE(there.err.find("only this machine"), std::string::npos) << there.err;
}

TEST_F(Typeperf, ShowsHelpForAQuestionMark) {
  EXPECT_EQ(run_plainly({"typeperf", "-?"}).out, run_plainly({"help", "typeperf"}).out);
  EXPECT_EQ(run_plainly({"relog", "/?"}).out, run_plainly({"help", "relog"}).out);
}

TEST_F(Typeperf, ReportsInvalidOptions) {
  struct Case {
    std::vector<std::string> arguments;
    const char* expected;
  };
  const std::vector<Case> cases{
      {{"typeperf"}, "no counter"},
      {{"typeperf", "-q", "-qx"}, "exclude each other"},
      {{"typeperf", kStock, "-q"}, "exclude each other"},
      {{"typeperf", kStock, "-f", "BIN"}, "-f CSV or -f TSV"},
      {{"typeperf", kStock, "-f", "SQL"}, "databases are not written to"},
      {{"typeperf", kStock, "-f", "xml"}, "no format 'xml'"},
      {{"typeperf", kStock, "-o", "x.blg"}, "binary logs"},
      {{"typeperf", kStock, "-sc"}, "-sc needs a value"},
      {{"typeperf", kStock, "-sc", "0"}, "'0' is not a number of records"},
      {{"typeperf", kStock, "-sc", "-1"}, "'-1' is not a number"},
      {{"typeperf", kStock, "-sc", "many"}, "'many' is not a number"},
      {{"typeperf", kStock, "-si", "soon"}, "'soon' is not a time span"},
      {{"typeperf", kStock, "-si", "0"}, "too short"},
      {{"typeperf", kStock, "-sx", "1"}, "no option '-sx'"},
      {{"typeperf", kStock, "-z"}, "try: meterbank typeperf --help"},
      {{"typeperf", kStock, "-o", ""}, "is empty"},
      {{"typeperf", kStock, "--color", "red"}, "--color: no 'red'"},
      {{"typeperf", "-cf", "/no/such/file"}, "cannot read"},
      {{"typeperf", "-config", "/no/such/file"}, "cannot read"}};
  for (const auto& bad : cases) {
    const auto outcome = meterbank(bad.arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << bad.expected;
    EXPECT_EQ(outcome.out, "") << bad.expected;
    EXPECT_NE(outcome.err.find(bad.expected), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Typeperf, NamesTheLineOfASettingsFileThatIsWrong) {
  for (const auto& [text, place] : std::vector<std::pair<const char*, const char*>>{
           {"TSV\n", ":1: a value"}, {"[f]\nTSV\n[colour]\n", ":3: no section"}, {"[f\n", ":1:"}}) {
    std::ofstream(file("s.ini")) << text;
    const auto outcome = meterbank({"typeperf", "-config", file("s.ini")});
    EXPECT_EQ(outcome.code, kExitUsage) << text;
    EXPECT_NE(outcome.err.find("s.ini" + std::string(place)), std::string::npos) << outcome.err;
  }
}

TEST_F(Typeperf, NamesACounterThatIsNotThere) {
  open_shop();

  const auto outcome = meterbank({"typeperf", kStock, R"(\Shop Sales(fruit)\Stoke)", "-sc", "1"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("Stoke"), std::string::npos);
  EXPECT_NE(outcome.out.find("\"17\""), std::string::npos);
}

TEST_F(Typeperf, ColumnsStayAsTheyWereWhenTheLogWasOpened) {
  open_shop({"fruit", "bread"});
  // The second record is taken after bread went and milk came.
  const auto log = two_records([this] {
    aisles_.pop_back();
    auto milk = sales_.create_instance("milk");
    ASSERT_TRUE(milk);
    aisles_.push_back(std::move(*milk));
  });
  ASSERT_EQ(log.header.paths.size(), 2U);
  ASSERT_EQ(log.records.size(), 2U);
  EXPECT_EQ(log.column(0), (std::vector<std::string>{"17", "17"}));
  EXPECT_EQ(log.column(1), (std::vector<std::string>{"17", ""}));
}

TEST_F(Typeperf, AColumnBelongsToTheNameAndTheIdWhereBothMakeTheRow) {
  provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
  CountersetSpec spec = kSales;
  spec.identity = InstanceIdentity::kNameAndId;
  sales_ = *provider_->add(spec);
  const auto create = [this](std::uint32_t id) {
    aisles_.push_back(*sales_.create_instance("fruit", {.id = id}));
    aisles_.back().set(Sales::kStock, id);
  };
  for (const std::uint32_t id : {1U, 2U}) create(id);
  // The second record is taken after fruit#1 went and fruit#3 came.
  const auto log = two_records([&] {
    aisles_.front().close();
    create(3);
  });
  ASSERT_EQ(log.header.paths.size(), 2U);
  EXPECT_NE(log.header.paths[0].find(R"(\Shop Sales(fruit#1)\Stock)"), std::string::npos);
  EXPECT_NE(log.header.paths[1].find(R"(\Shop Sales(fruit#2)\Stock)"), std::string::npos);
  EXPECT_EQ(log.column(0), (std::vector<std::string>{"1", ""}));
  EXPECT_EQ(log.column(1), (std::vector<std::string>{"2", "2"}));
}

TEST_F(Typeperf, ShowsSamplesOfARecordingThatAreAsFarApartAsAskedFor) {
  record::MadeRecording made({});
  made.ticks(0, 21);
  made.write(file("made.mbr"));
  const auto outcome =
      run_plainly({"typeperf", "--log", file("made.mbr"), R"(\queues(eu)\count)", "-si", "5"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.lines().size(), 1U + 5U) << outcome.out;
}

TEST_F(Typeperf, GetWritesTheSameLogs) {
  open_shop({"fruit"});

  const auto csv = meterbank({"get", kStock, "-f", "pdh-csv"});
  const auto tsv = meterbank({"get", kStock, "-f", "pdh-tsv"});
  const auto list = meterbank({"list", "-f", "pdh-csv"});

  ASSERT_EQ(csv.code, kExitDone) << csv.err;
  EXPECT_EQ(csv.out.substr(0, 14), "\"(PDH-CSV 4.0)");
  EXPECT_EQ(tsv.out.substr(0, 14), "\"(PDH-TSV 4.0)");
  EXPECT_EQ(list.code, kExitUsage);
}

// Command lines in the manner of the Windows documentation.
TEST_F(Typeperf, UnderstandsTheExamplesOfTheWindowsDocumentation) {
  const std::vector<std::vector<std::string>> examples{
      {"typeperf", R"(\Processor(_Total)\% Processor Time)"},
      {"typeperf", "-cf", "counters.txt", "-si", "5", "-sc", "50", "-f", "TSV", "-o", "c2.tsv"},
      {"typeperf", "/cf", "counters.txt", "/si", "5", "/sc", "50", "/f", "TSV", "/o", "c2.tsv"},
      {"typeperf", "-qx", "PhysicalDisk", "-o", "counters.txt"},
      {"typeperf", "/QX", "PhysicalDisk", "/O", "counters.txt"},
      {"typeperf", "-si", "00:01:30", R"(\Memory\Available Bytes)", "-y"},
      {"relog", "trace_log.csv", "-cf", "counter_file.txt", "-o", "reduced.csv", "-t", "30"},
      {"relog", "trace_log.csv", "/cf", "counter_file.txt", "/o", "reduced.tsv", "/t", "30", "/f",
       "tsv"},
      {"relog", "logfile.csv", "-c", R"(\Processor(_Total)\% Processor Time)", "-o", "l.csv"},
      {"relog", "logfile.csv", "-q", "-o", "counters.txt"},
      {"relog", "logfile.csv", "-b", "11/21/2026", "09:00:00", "-e", "11/21/2026 10:00:00"}};
  for (const auto& example : examples) {
    const auto invocation = parse_arguments(example);
    ASSERT_TRUE(invocation) << example[1] << invocation.error().message();
    EXPECT_EQ(invocation->verb, example[0] == "relog" ? Verb::kRelog : Verb::kTypeperf);
  }
  EXPECT_EQ(parse_arguments(examples[2])->interval, std::chrono::seconds(5));
  EXPECT_EQ(parse_arguments(examples[2])->samples, 50U);
  EXPECT_EQ(parse_arguments(examples[2])->format, Format::kPdhTsv);
  EXPECT_EQ(parse_arguments(examples[5])->interval, std::chrono::seconds(90));
  EXPECT_EQ(parse_arguments(examples[7])->relog.every, 30U);
  EXPECT_TRUE(parse_arguments(examples[10])->relog.begin);
}

}  // namespace
}  // namespace meterbank::cli::typeperf_test
