// SPDX-License-Identifier: Apache-2.0
//
// Values that a provider computes when it is asked.
#include <unistd.h>

#include <array>

#include "../../support/scripted_provider.hpp"
#include "../../support/wave_schema.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::cli {
namespace {

using test::kWaves;
using test::ScriptedProvider;

class CliCallback : public CliTest {
 protected:
  void open_sea(std::uint32_t code = 0) {
    provider_.emplace(*Provider::create({.name = "sea", .directory = directory_}));
    sales_ = *provider_->add(kWaves, [code](CallbackRequest& request) {
      request.add("red", 3, std::array<std::uint64_t, 4>{10, 20, 30, 40});
      request.add("blue", 4, std::array<std::uint64_t, 4>{11, 21, 31, 41});
      return code;
    });
  }
  static void stay_silent(PacketSocket&, const ChannelRequest&) {}
};

TEST_F(CliCallback, GetShowsValuesThatAreComputedWhenAsked) {
  open_sea();
  const auto outcome = meterbank({"get", "waves/*/height", "-f", "json"});
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto document = parse_json(outcome.out);
  EXPECT_FALSE(document.contains("errors"));
  ASSERT_EQ(document["samples"].size(), 2U);
  EXPECT_EQ(document["samples"][0]["path"], "waves/red/height");
  EXPECT_EQ(document["samples"][0]["instance_id"], 3);
  EXPECT_EQ(document["samples"][0]["value"], 10);
  EXPECT_EQ(document["samples"][0]["status"], "ok");
  EXPECT_TRUE(document["samples"][0].contains("age_s"));
}

TEST_F(CliCallback, GetTakesTwoSamplesForARate) {
  open_sea();
  const auto outcome = meterbank({"get", "waves/red/crests", "-i", "10ms", "-f", "csv"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  ASSERT_EQ(outcome.lines().size(), 2U);
  EXPECT_NE(outcome.lines()[1].find(",0,{crest}/s,ok"), std::string::npos) << outcome.out;
}

TEST_F(CliCallback, APathIsMatchedWithInstancesThatOnlyExistWhenAsked) {
  open_sea();
  const auto outcome = meterbank({"get", "waves/red/height", "waves/reed/height"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("no instance matches 'waves/reed/height'; try: waves/red/height"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("waves/red/height\t10"), std::string::npos) << outcome.out;
}

TEST_F(CliCallback, AProviderThatDoesNotAnswerIsNamedAndTheOthersAreShown) {
  open_sea();
  const ScriptedProvider hung(directory_, kWaves, stay_silent, "hung");
  const std::string label = "hung@" + std::to_string(::getpid());
  const auto text = meterbank({"get", "waves/*/height", "--callback-timeout", "500ms"});
  EXPECT_EQ(text.code, kExitNo);
  EXPECT_EQ(text.lines().size(), 2U) << text.out;
  EXPECT_EQ(text.err, "meterbank: " + label +
                          " Waves: no answer within 0.5 s; try: --callback-timeout 10s\n");
  const auto json =
      meterbank({"get", "waves/*/height", "--callback-timeout", "500ms", "-f", "json"});
  EXPECT_EQ(json.code, kExitNo);
  const auto document = parse_json(json.out);
  EXPECT_EQ(document["samples"].size(), 2U);
  ASSERT_EQ(document["errors"].size(), 1U);
  EXPECT_EQ(document["errors"][0]["provider"], label);
  EXPECT_EQ(document["errors"][0]["set"], "waves");
  EXPECT_EQ(document["errors"][0]["outcome"], "timeout");
  EXPECT_EQ(document["errors"][0]["reason"], "no answer within 0.5 s");
}

TEST_F(CliCallback, ReportsAFailureOnceAndNotWithEachSample) {
  open_sea();
  const ScriptedProvider hung(directory_, kWaves, stay_silent, "hung");
  const auto outcome = meterbank(
      {"get", "waves/*/height", "--callback-timeout", "5ms", "-n", "3", "-i", "10ms", "-q"});
  // A busy machine may keep the sea from answering in time as well; that is said of it, once.
  for (const std::string who : {"hung@", "sea@"}) {
    const std::size_t first = outcome.err.find(who);
    EXPECT_EQ(outcome.err.find(who, first + 1), std::string::npos) << outcome.err;
  }
  EXPECT_NE(outcome.err.find("hung@"), std::string::npos) << outcome.err;
}

TEST_F(CliCallback, ACodeOfTheCallbackIsShownWithItsRows) {
  open_sea(5);
  const auto outcome = meterbank({"get", "waves/*/height", "-f", "jsonl"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("Waves: the callback returned 5"), std::string::npos) << outcome.err;
  const auto line = parse_json(outcome.out);
  EXPECT_EQ(line["samples"].size(), 2U);
  EXPECT_EQ(line["errors"][0]["outcome"], "returned-code");
  EXPECT_EQ(line["errors"][0]["code"], 5);
}

TEST_F(CliCallback, ReportsMissingAnswersAndNotMissingProviders) {
  const ScriptedProvider hung(directory_, kWaves, stay_silent, "hung");
  const auto outcome = meterbank({"get", "waves", "--callback-timeout", "20ms"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("Waves: no answer within 0.02 s"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(CliCallback, TheTimeoutIsASpanOfTime) {
  const auto outcome = meterbank({"get", "--callback-timeout", "soon"});
  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_NE(outcome.err.find("--callback-timeout: 'soon' is not a time span"), std::string::npos);
}

TEST_F(CliCallback, ExpressionsCountWithWhatWasAnswered) {
  open_sea();
  const auto outcome = meterbank({"get", "-e", "twice = 2 * {waves/red/height}", "-f", "csv"});
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("twice,20,"), std::string::npos) << outcome.out;
}

TEST_F(CliCallback, TypeperfListsAndSamples) {
  open_sea();
  const auto list = meterbank({"typeperf", "-qx", "Waves"});
  EXPECT_NE(list.out.find("\\Waves(red)\\Height\n"), std::string::npos) << list.out << list.err;
  const auto log = meterbank({"typeperf", "\\Waves(red)\\Height", "-sc", "1", "-f", "CSV"});
  EXPECT_EQ(log.code, kExitDone) << log.err;
  EXPECT_NE(log.out.find("\"10"), std::string::npos) << log.out;
}

TEST_F(CliCallback, ListCountsInstancesThatOnlyExistWhenAsked) {
  open_sea();
  const auto created = *sales_.create_instance("green");
  const auto sets = meterbank({"list", "-f", "json"});
  ASSERT_EQ(sets.code, kExitDone) << sets.err;
  ASSERT_EQ(parse_json(sets.out).size(), 1U);
  EXPECT_EQ(parse_json(sets.out)[0]["instances"], 3);
  const auto instances = meterbank({"list", "--instances", "waves", "-f", "csv"});
  EXPECT_EQ(instances.lines().size(), 4U) << instances.out;
  const auto counters = meterbank({"list", "waves", "-f", "json"});
  EXPECT_EQ(parse_json(counters.out).size(), 3U) << counters.out;
}

class CliRegistrations : public CliCallback {};

TEST_F(CliRegistrations, AreListedWithStateFlagsAndInterest) {
  open_sea();
  open_bakery();
  auto catalog = *Catalog::open({.directory = directory_});
  const auto query = *Query::compile(catalog, {"waves"});
  while (catalog.providers().front()->interested(catalog.providers().front()->sets.front()) == 0) {
    std::this_thread::yield();
  }
  const auto outcome = meterbank({"list", "--registrations", "-f", "json"});
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto listed = parse_json(outcome.out);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0]["set"], "waves");
  EXPECT_EQ(listed[0]["state"], "inserted");
  EXPECT_EQ(listed[0]["flags"], "callback,interest");
  EXPECT_EQ(listed[0]["interested"], 1);
  EXPECT_EQ(listed[0]["generation"], 1);
  EXPECT_EQ(listed[1]["set"], "bakery");
  EXPECT_EQ(listed[1]["flags"], "");
  EXPECT_TRUE(listed[1]["interested"].is_null());
  EXPECT_EQ(listed[1]["instances"], 2);
}

TEST_F(CliRegistrations, AreShownAfterTheirCloseWhileTheyAreInTheDirectory) {
  open_sea();
  sales_.close();
  const auto outcome = meterbank({"list", "--registrations"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("\tclosed\t"), std::string::npos) << outcome.out;
}

TEST_F(CliRegistrations, ReportsAPathWithoutRegistrations) {
  open_sea();
  EXPECT_EQ(meterbank({"list", "--registrations", "waves"}).lines().size(), 1U);
  const auto outcome = meterbank({"list", "--registrations", "tides"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("no registration matches"), std::string::npos);
}

}  // namespace
}  // namespace meterbank::cli
