// SPDX-License-Identifier: Apache-2.0
//
// What is printed of a recording of two machines, on which a provider has one name and one pid.
#include <algorithm>
#include <string>
#include <vector>

#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "../cli_json.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/base/machine_name.hpp"

namespace meterbank::cli::merged_output_test {
namespace {

using record::MadeRecording;

class MergedOutput : public CliTest {
 protected:
  MergedOutput() {
    MadeRecording web({});
    web.ticks(0, 20);
    web.write(file("web1.mbr"));
    // Ten seconds ahead in its values, not in its time.
    MadeRecording db({.host = "db", .boot = "2", .recorder = 2});
    for (std::uint64_t second = 10; second < 30; ++second) {
      db.tick(second, 0, -10 * static_cast<std::int64_t>(MadeRecording::kSecond));
    }
    db.write(file("db.mbr"));
    const auto merged =
        run_plainly({"log", "merge", file("web1.mbr"), file("db.mbr"), "-o", file("both.mbr")});
    EXPECT_EQ(merged.code, kExitDone) << merged.err;
  }
  // The depth on both machines in second 8: 56 on web1, and 126 on db.
  [[nodiscard]] Outcome depth(const std::string& format) const {
    return of_both({"get", "queues/eu/depth", "-f", format});
  }
  [[nodiscard]] Outcome of_both(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(),
                     {"--log", file("both.mbr"), "--at", "@1700000008", "--across-users"});
    return run_plainly(arguments);
  }
  static std::vector<std::string> sorted(std::vector<std::string> lines) {
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

TEST_F(MergedOutput, HasAColumnOfHostsInTables) {
  const auto lines = sorted(depth("table").lines());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(holds(lines[2], "HOST")) << lines[2];
  EXPECT_TRUE(holds(lines[0] + lines[1], "shop@42   db    ")) << lines[0] << lines[1];
  EXPECT_TRUE(holds(lines[0] + lines[1], "shop@42   web1  ")) << lines[0] << lines[1];
}

TEST_F(MergedOutput, NamesTheHostLastInLinesOfFields) {
  EXPECT_EQ(
      sorted(depth("plain").lines()),
      (std::vector<std::string>{"2023-11-14T22:13:28.000Z\tshop@42:queues/eu/depth\t126\t\tdb",
                                "2023-11-14T22:13:28.000Z\tshop@42:queues/eu/depth\t56\t\tweb1"}));
  EXPECT_EQ(
      sorted(depth("csv").lines()),
      (std::vector<std::string>{"2023-11-14T22:13:28.000Z,shop@42,queues,eu,depth,126,,ok,db\r",
                                "2023-11-14T22:13:28.000Z,shop@42,queues,eu,depth,56,,ok,web1\r",
                                "time,provider,set,instance,counter,value,unit,status,host\r"}));
}

TEST_F(MergedOutput, NamesTheHostOfEachRowInJson) {
  for (const char* const format : {"json", "jsonl"}) {
    const Json document = parse_json(depth(format).out);
    std::map<std::string, double> values;
    for (const Json& row : document["samples"]) values[row.value("host", "")] = row["value"];
    EXPECT_EQ(values, (std::map<std::string, double>{{"db", 126}, {"web1", 56}})) << format;
  }
}

TEST_F(MergedOutput, KeepsTheHostsApartForCollectors) {
  auto lines = sorted(depth("influx").lines());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("queues,host=db,instance=eu,provider=shop@42 depth=126 "))
      << lines[0];
  EXPECT_TRUE(lines[1].starts_with("queues,host=web1,instance=eu,provider=shop@42 depth=56 "))
      << lines[1];
  lines = sorted(depth("collectd").lines());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("PUTVAL \"db/queues-shop@42.eu/gauge-depth\"")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("PUTVAL \"web1/queues-shop@42.eu/gauge-depth\"")) << lines[1];
  lines = sorted(depth("statsd").lines());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("queues.db.shop_42-")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("queues.web1.shop_42-")) << lines[1];
  const auto page = depth("openmetrics").out;
  EXPECT_TRUE(holds(page, "host=\"db\"")) << page;
  EXPECT_TRUE(holds(page, "host=\"web1\"")) << page;
}

TEST_F(MergedOutput, HasTheHostAsTheMachineOfAColumn) {
  const auto lines = depth("pdh-csv").lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(holds(lines[0], "\"\\\\db\\queues(eu)\\depth\"")) << lines[0];
  EXPECT_TRUE(holds(lines[0], "\"\\\\web1\\queues(eu)\\depth\"")) << lines[0];
  EXPECT_TRUE(holds(lines[1], "\"56\"")) << lines[1];
  EXPECT_TRUE(holds(lines[1], "\"126\"")) << lines[1];
}

TEST_F(MergedOutput, TakesThePathsOfItsOwnColumns) {
  const auto columns = [&](std::vector<std::string> paths) {
    paths.insert(paths.begin(), "typeperf");
    paths.insert(paths.end(), {"-f", "csv"});
    return of_both(paths);
  };
  const std::string db = R"(\\db\queues(eu)\depth)", web = R"(\\WEB1\queues(eu)\depth)";
  const auto both = columns({db, web});
  EXPECT_TRUE(holds(both.out, "db") && holds(both.out, "web1")) << both.out << both.err;
  const auto one = columns({web});
  EXPECT_TRUE(holds(one.out, "web1") && !holds(one.out, "db")) << one.out << one.err;
  const auto mixed = columns({web, R"(\queues(eu)\count)"});
  EXPECT_EQ(mixed.code, kExitUsage) << mixed.out;
  EXPECT_TRUE(holds(mixed.err, "not the same for all machines")) << mixed.err;
}

TEST_F(MergedOutput, NamesTheHostInLists) {
  EXPECT_EQ(
      sorted(of_both({"list", "--instances", "-f", "plain"}).lines()),
      (std::vector<std::string>{"queues\teu\t0\tshop@42\tdb", "queues\teu\t0\tshop@42\tweb1"}));
  const auto counters = of_both({"list", "queues/*/depth", "-f", "tsv"}).lines();
  ASSERT_EQ(counters.size(), 3U);
  EXPECT_TRUE(holds(counters[0], "\tprovider\thost\t")) << counters[0];
}

TEST_F(MergedOutput, OfATableThatWasImportedIsThatOfTheRecording) {
  const auto before = run_plainly({"get", "--log", file("both.mbr"), "--from", "@0",
                                   "queues/*/depth", "-f", "csv", "-o", file("both.csv")});
  ASSERT_EQ(before.code, kExitDone) << before.err;
  const auto imported = run_plainly({"log", "convert", file("both.csv"), "-o", file("again.mbr")});
  ASSERT_EQ(imported.code, kExitDone) << imported.err;
  const auto again = run_plainly(
      {"get", "--log", file("again.mbr"), "--from", "@0", "queues/*/depth", "-f", "csv"});
  Outcome original;
  original.out = read(file("both.csv"));
  EXPECT_EQ(sorted(again.lines()), sorted(original.lines()));
}

TEST_F(MergedOutput, HasARowOfAnExpressionForEachHost) {
  const auto lines = sorted(
      of_both({"get", "-e", "twice = {queues/*/depth} + {queues/*/depth}", "-f", "plain"}).lines());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].ends_with("\t112\t\tweb1")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("\t252\t\tdb")) << lines[1];
}

TEST_F(MergedOutput, ChecksTheRowsOfEachHost) {
  auto outcome = of_both({"check", "queues/*/depth > 100"});
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_TRUE(outcome.out.starts_with(
      "CRITICAL: depth of shop@42:queues/eu on db is 126, above 100 (1 of 2 rows) | "
      "'shop@42:queues/eu/depth on db'=126;;~:100 'shop@42:queues/eu/depth on web1'=56;;~:100"))
      << outcome.out;
  outcome = of_both({"check", "queues/*/depth < 100", "-f", "json"});
  const Json document = parse_json(outcome.out);
  ASSERT_EQ(document["rows"].size(), 2U) << outcome.out;
  EXPECT_EQ(document["rows"][0]["host"], "web1") << outcome.out;
  EXPECT_EQ(document["rows"][1]["host"], "db") << outcome.out;
  outcome = of_both({"check", "2 * {queues/*/depth} > 200"});
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "of shop/eu on db is 252")) << outcome.out;
}

TEST_F(MergedOutput, CountsTheProvidersOfEachHost) {
  const auto outcome = of_both({"check", "--stale", "1m"});
  EXPECT_EQ(outcome.out, "OK: 2 providers with a heartbeat within 1m\n");
}

TEST_F(MergedOutput, OfARecordingOfOneHostNamesItWhereAFormatHasAMachine) {
  const auto of_one = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--log", file("db.mbr"), "--across-users"});
    return run_plainly(arguments);
  };
  ASSERT_NE(machine_name(), "db");
  EXPECT_TRUE(of_one({"get", "queues/eu/depth", "-f", "pdh-csv"})
                  .lines()
                  .at(0)
                  .ends_with("\"\\\\db\\queues(eu)\\depth\"\r"));
  for (const char* const path : {"\\queues(eu)\\depth", "\\\\db\\queues(eu)\\depth"}) {
    const auto log = of_one({"typeperf", path, "-sc", "1"}).lines();
    ASSERT_EQ(log.size(), 2U) << path;
    EXPECT_TRUE(log[0].ends_with("\"\\\\db\\queues(eu)\\depth\"\r")) << log[0];
  }
  EXPECT_TRUE(of_one({"get", "queues/eu/depth", "-f", "collectd"})
                  .out.starts_with("PUTVAL \"db/queues-shop.eu/gauge-depth\""));
  const auto csv = of_one({"get", "queues/eu/depth", "-f", "csv"}).lines();
  EXPECT_EQ(csv.at(0), "time,provider,set,instance,counter,value,unit,status\r");
}

}  // namespace
}  // namespace meterbank::cli::merged_output_test
