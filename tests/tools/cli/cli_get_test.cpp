// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "../../support/file_size_limit.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::cli::cli_get_test {
namespace {

class CliGet : public CliTest {};

TEST_F(CliGet, PrintsALevelAtOnceWithoutWaitingForASecondSample) {
  open_shop();

  // An hour's interval would time out if a second sample were waited for.
  const auto outcome =
      meterbank({"get", "shop_sales/fruit/stock", "-i", "1h", "--timeout", "10s", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto document = parse_json(outcome.out);
  EXPECT_EQ(document["samples"].size(), 1U);
  EXPECT_EQ(document["samples"][0]["value"], 17);
}

TEST_F(CliGet, TakesASecondSampleByItselfForARate) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales/fruit/sold", "-i", "20ms", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto document = parse_json(outcome.out);
  ASSERT_EQ(document["samples"].size(), 1U);
  EXPECT_EQ(document["samples"][0]["status"], "ok");
  EXPECT_EQ(document["samples"][0]["value"], 0);
  EXPECT_EQ(document["samples"][0]["unit"], "{item}/s");
}

TEST_F(CliGet, SaysThatAFirstSampleHasNoRateInsteadOfZero) {
  open_shop();

  const auto outcome =
      meterbank({"get", "shop_sales/fruit/sold", "-n", "2", "-i", "20ms", "-f", "jsonl"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 2U);
  const auto first = parse_json(lines[0])["samples"][0];
  EXPECT_TRUE(first["value"].is_null());
  EXPECT_EQ(first["status"], "no-rate-yet");
  EXPECT_EQ(parse_json(lines[1])["samples"][0]["status"], "ok");
  EXPECT_GT(parse_json(lines[1])["interval_s"], 0.0);
}

TEST_F(CliGet, ShowsADashForAMissingRateInATable) {
  open_shop({"fruit"});

  const auto outcome =
      meterbank({"get", "shop_sales/sold", "-n", "2", "-i", "20ms", "-f", "table"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].back(), '-');
  EXPECT_EQ(lines[2].substr(lines[2].size() - 4), "0 /s");
}

TEST_F(CliGet, UnderstandsBothSpellingsOfAPath) {
  open_shop();

  const auto windows = meterbank({"get", "\\Shop Sales(fruit)\\Stock", "-f", "json"});
  const auto brief = meterbank({"get", "shop_sales/fruit/stock", "-f", "json"});

  ASSERT_EQ(windows.code, kExitDone) << windows.err;
  ASSERT_EQ(brief.code, kExitDone) << brief.err;
  EXPECT_EQ(parse_json(windows.out)["samples"][0]["path"],
            parse_json(brief.out)["samples"][0]["path"]);
}

TEST_F(CliGet, LeavesOutExcludedPaths) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_*/*/sto*", "-X", "*/bread/*", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto document = parse_json(outcome.out);
  ASSERT_EQ(document["samples"].size(), 1U);
  EXPECT_EQ(document["samples"][0]["instance"], "fruit");
}

TEST_F(CliGet, ReadsPathsFromAFileAndSkipsComments) {
  open_shop();
  std::ofstream(file("paths")) << "# what we sell\n\n  shop_sales/bread/stock  \n";

  const auto outcome = meterbank({"get", "-c", file("paths"), "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(parse_json(outcome.out)["samples"][0]["instance"], "bread");
}

TEST_F(CliGet, ReadsOneProviderIfAskedTo) {
  open_shop();
  auto rival = Provider::create({.name = "rival", .directory = directory_});
  ASSERT_TRUE(rival);
  auto sales = rival->add(kSales);
  ASSERT_TRUE(sales);
  auto fruit = sales->create_instance("fruit");
  ASSERT_TRUE(fruit);

  const auto both = meterbank({"get", "shop_sales/fruit/stock", "-f", "json"});
  const auto one =
      meterbank({"get", "shop_sales/fruit/stock", "--provider", "rival", "-f", "json"});

  EXPECT_EQ(parse_json(both.out)["samples"].size(), 2U);
  ASSERT_EQ(one.code, kExitDone) << one.err;
  const auto document = parse_json(one.out);
  ASSERT_EQ(document["samples"].size(), 1U);
  EXPECT_EQ(document["samples"][0]["provider"], "rival@" + std::to_string(::getpid()));
}

TEST_F(CliGet, ShowsStoredValuesOnRequest) {
  open_shop();
  aisles_[0].add(Sales::kSold, 41);

  const auto outcome = meterbank({"get", "shop_sales/fruit/sold", "--raw", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto row = parse_json(outcome.out)["samples"][0];
  EXPECT_EQ(row["value"], 41);
  EXPECT_EQ(row["status"], "ok");  // that of its rate is another
}

TEST_F(CliGet, ScalesBytesForPeopleAndNotWhenToldSo) {
  open_shop({"fruit"});

  const auto scaled = meterbank({"get", "shop_sales/label_bytes", "-f", "table"});
  const auto base = meterbank({"get", "shop_sales/label_bytes", "-f", "table", "--units=base"});

  EXPECT_NE(scaled.out.find("1.50 MiB"), std::string::npos) << scaled.out;
  EXPECT_NE(base.out.find("1572864 By"), std::string::npos) << base.out;
}

TEST_F(CliGet, PrintsTheStoredDigitsOfALevelWithoutAUnit) {
  provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
  ovens_ = *provider_->add(kBakery);
  Instance large = *ovens_.create_instance("large");
  for (const std::uint64_t stored : {UINT64_MAX, std::uint64_t{9'007'199'254'740'993}}) {
    large.set(0, stored);
    const auto digits = std::to_string(stored);
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, {"--raw"}, {"--units=base"}}) {
      std::vector<std::string> arguments{"get", "bakery/large/loaves", "-f", "table"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const auto outcome = meterbank(arguments);
      EXPECT_TRUE(holds(outcome.out, " " + digits)) << outcome.out << outcome.err;
    }
  }
}

TEST_F(CliGet, StopsAfterTheTimeThatWasAskedFor) {
  open_shop();

  // -n 0 alone would go on until the timeout, and one sample is what neither option gives.
  const auto outcome = meterbank({"get", "shop_sales/stock", "--for", "60ms", "-i", "20ms", "-f",
                                  "jsonl", "--timeout", "60s"});
  const auto longer = meterbank(
      {"get", "shop_sales/stock", "--for", "1s", "-i", "20ms", "-f", "jsonl", "--timeout", "60s"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(longer.code, kExitDone) << longer.err;
  EXPECT_LE(outcome.lines().size(), 4U);  // at 0, 20, 40 and 60 ms
  EXPECT_GT(longer.lines().size(), outcome.lines().size());
}

TEST_F(CliGet, EndsWithCode124WhenTheTimeoutRunsOut) {
  open_shop();

  const auto outcome = meterbank(
      {"get", "shop_sales/stock", "-n", "0", "-i", "10ms", "--timeout", "50ms", "-f", "jsonl"});

  EXPECT_EQ(outcome.code, kExitTimeout);
  EXPECT_NE(outcome.err.find("--timeout"), std::string::npos);
}

// The listings of a directory, by any process.
class DirectoryListings {
 public:
  explicit DirectoryListings(const std::string& directory) : events_(::inotify_init1(IN_CLOEXEC)) {
    ::inotify_add_watch(events_.get(), directory.c_str(), IN_CLOSE_NOWRITE | IN_ONLYDIR);
  }
  // Until one has ended since this was made.
  void wait_for_one() const {
    std::array<std::byte, 4096> event{};
    EXPECT_GT(::read(events_.get(), event.data(), event.size()), 0);
  }

 private:
  UniqueFd events_;
};

TEST_F(CliGet, WaitsForAProviderThatIsNotThereYet) {
  const DirectoryListings listings(directory_);
  std::thread later([&] {
    listings.wait_for_one();
    open_shop();
  });

  const auto outcome = meterbank({"get", "shop_sales/stock", "--wait", "60s", "-f", "json"});
  later.join();

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(parse_json(outcome.out)["samples"].size(), 2U);
}

TEST_F(CliGet, WritesAFileCompleteAndLeavesNoOtherBehind) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales/stock", "-f", "csv", "-o", file("out.csv")});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(read(file("out.csv")).substr(0, 5), "time,");
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    EXPECT_NE(entry.path().extension(), ".part");
  }
}

TEST_F(CliGet, IsAnEnvironmentErrorWhenTheFileCannotBeWritten) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales/stock", "-o", file("no/such/place.csv")});

  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_NE(outcome.err.find("place.csv"), std::string::npos);
}

TEST_F(CliGet, StrictRefusesToPrintPartOfAnAnswer) {
  open_shop();

  const auto loose = meterbank({"get", "shop_sales/stock", "shop_sales/stoke", "-f", "json"});
  const auto strict =
      meterbank({"get", "shop_sales/stock", "shop_sales/stoke", "-f", "json", "--strict"});

  EXPECT_EQ(loose.code, kExitNo);
  EXPECT_EQ(parse_json(loose.out)["samples"].size(), 2U);
  EXPECT_EQ(strict.code, kExitNo);
  EXPECT_EQ(strict.out, "");
}

// ---- Where output goes ----

TEST_F(CliGet, EndsQuietlyWhenTheReaderOfAPipeHasSeenEnough) {
  open_shop();
  FlushTrap trap([] {
    errno = EPIPE;
    return -1;
  });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{
      "get", "shop_sales/stock", "-n", "0", "-i", "500ms", "-f", "jsonl", "--dir", directory_};

  // At a short interval a busy machine misses samples, which get would rightly report.
  EXPECT_EQ(run(arguments, out, err), kExitDone);
  EXPECT_EQ(err.str(), "");
}

TEST_F(CliGet, ReportsAFullDisk) {
  open_shop();
  FlushTrap trap([] {
    errno = ENOSPC;
    return -1;
  });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{"get", "shop_sales/stock", "--dir", directory_};

  EXPECT_EQ(run(arguments, out, err), kExitEnvironment);
  EXPECT_NE(err.str().find("cannot write"), std::string::npos);
}

class CliFullDisk : public CliGet {
 protected:
  // A recording that does not fit. Returns the name of what was kept of it.
  std::string record(const std::string& format, rlim_t room, Outcome& outcome) {
    const test::FileSizeLimit limit(room);
    outcome = meterbank({"get", "shop_sales/stock", "-n", "0", "-i", "1ms", "--timeout", "60s",
                         "-f", format, "-o", file("out")});
    const auto part = file("out." + std::to_string(::getpid()) + ".part");
    return std::filesystem::exists(part) ? part : std::string();
  }
};

TEST_F(CliFullDisk, KeepsTheSamplesThatWereWrittenAndSaysHowManyAndWhere) {
  open_shop();
  std::ofstream(file("out")) << "the recording of yesterday";
  Outcome outcome;

  const auto kept = record("csv", 3000, outcome);

  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_EQ(read(file("out")), "the recording of yesterday");
  ASSERT_NE(kept, "") << outcome.err;
  const auto text = read(kept);
  EXPECT_TRUE(text.ends_with("\r\n"));
  const auto rows = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
  EXPECT_GT(rows, 20U);
  EXPECT_EQ(rows % 2, 0U);  // a sample has two
  const auto says = "the first " + std::to_string(rows / 2) + " samples are in " + kept;
  EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("cannot write " + file("out")), std::string::npos) << outcome.err;
}

TEST_F(CliFullDisk, KeepsADocumentThatIsWhole) {
  open_shop();
  for (rlim_t room = 3000; room < 3600; room += 17) {
    Outcome outcome;
    const auto kept = record("json", room, outcome);
    ASSERT_NE(kept, "") << room << ": " << outcome.err;
    const auto text = read(kept);
    ASSERT_TRUE(is_json(text)) << room << ": " << text;
    const auto samples = parse_json(text)["samples"].size() / 2;
    const auto says = "the first " + std::to_string(samples) + " samples";
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    std::filesystem::remove(kept);
  }
}

TEST_F(CliFullDisk, LeavesNothingWhereNotEvenOneSampleFits) {
  open_shop();
  Outcome outcome;

  EXPECT_EQ(record("csv", 100, outcome), "");
  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_FALSE(std::filesystem::exists(file("out")));
}

TEST_F(CliGet, ASampleThatTakesLongMissesNoOther) {
  open_shop();

  // A nanosecond has passed long before the sample is there.
  for (const char* const path : {"shop_sales/stock", "shop_sales/sold"}) {
    const auto outcome = meterbank({"get", path, "-i", "100us", "--raw", "-f", "csv"});
    EXPECT_EQ(outcome.code, kExitDone);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CliGet, CompletesItsDocumentWhenInterrupted) {
  open_shop();
  FlushTrap trap([] { return ::raise(SIGINT); });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{
      "get", "shop_sales/stock", "-n", "0", "-i", "1ms", "-f", "json", "--dir", directory_};

  EXPECT_EQ(run(arguments, out, err), kExitDone);
  EXPECT_TRUE(is_json(trap.str())) << trap.str();
}

TEST_F(CliGet, SaysByItsCodeThatItWasInterruptedBeforeTheLastSample) {
  open_shop();
  FlushTrap trap([] { return ::raise(SIGINT); });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{
      "get", "shop_sales/stock", "-n", "5000", "-i", "1ms", "-f", "jsonl", "--dir", directory_};

  EXPECT_EQ(run(arguments, out, err), kExitInterrupted);
}

// ---- watch and demo without a terminal ----

TEST_F(CliGet, WatchPrintsRowsWithoutATerminal) {
  open_shop();

  const auto outcome = meterbank({"watch", "shop_sales/fruit/stock", "-i", "10ms", "-n", "3"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.lines().size(), 3U);
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

TEST_F(CliGet, WatchEndsWellWhenInterrupted) {
  open_shop();
  FlushTrap trap([] { return ::raise(SIGINT); });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{"watch", "shop_sales/stock", "-n", "5000", "-i", "1ms",
                                           "--dir", directory_};

  EXPECT_EQ(run(arguments, out, err), kExitDone);
}

// Of which one is a distribution with three percentiles.
constexpr std::size_t kDemoRows = 5 + 3;

TEST_F(CliGet, DemoPrintsThreeSamplesOfFiveCountersAndEnds) {
  const auto outcome = meterbank({"demo", "-i", "30ms", "-f", "jsonl"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) {
    EXPECT_EQ(parse_json(line)["samples"].size(), kDemoRows) << line;
  }
}

TEST_F(CliGet, DemoTakesAsManySamplesAsItIsToldTo) {
  const auto outcome = meterbank({"demo", "-n", "2", "-i", "20ms", "-f", "csv"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.lines().size(), 1U + 2U * kDemoRows);
}

TEST_F(CliGet, DemoPrintsATableByDefault) {
  const auto lines = meterbank({"demo", "-i", "20ms", "-n", "1"}).lines();

  ASSERT_EQ(lines.size(), 1U + kDemoRows);
  EXPECT_EQ(lines[0].substr(0, 4), "TIME");
}

// ---- -o ----

TEST_F(CliGet, WritesToADeviceInsteadOfReplacingIt) {
  open_shop();

  const auto null = meterbank({"get", "shop_sales/stock", "-o", "/dev/null"});

  EXPECT_EQ(null.code, kExitDone) << null.err;
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(CliGet, WritesThroughALinkAndKeepsIt) {
  open_shop();
  std::ofstream(file("target.csv")) << "old";
  std::filesystem::create_symlink(file("target.csv"), file("link.csv"));

  const auto outcome = meterbank({"get", "shop_sales/stock", "-f", "csv", "-o", file("link.csv")});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_symlink(file("link.csv")));
  EXPECT_EQ(read(file("target.csv")).substr(0, 5), "time,");
}

}  // namespace
}  // namespace meterbank::cli::cli_get_test
