// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

class CliList : public CliTest {};

TEST_F(CliList, ShowsASetWithItsProviderAndSize) {
  open_shop();

  const auto outcome = meterbank({"list", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto sets = parse_json(outcome.out);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0]["set"], "shop_sales");
  EXPECT_EQ(sets[0]["name"], "Shop Sales");
  EXPECT_EQ(sets[0]["kind"], "multi");
  EXPECT_EQ(sets[0]["instances"], 2);
  EXPECT_EQ(sets[0]["counters"], 3);
  EXPECT_EQ(sets[0]["provider"], "shop@" + std::to_string(::getpid()));
}

TEST_F(CliList, ShowsASetThatHasNoInstances) {
  open_shop({});

  const auto all = meterbank({"list", "-f", "json"});
  const auto counters = meterbank({"list", "shop_sales", "-f", "json"});

  ASSERT_EQ(all.code, kExitDone) << all.err;
  EXPECT_EQ(parse_json(all.out)[0]["instances"], 0);
  ASSERT_EQ(counters.code, kExitDone) << counters.err;
  EXPECT_EQ(parse_json(counters.out).size(), 3U);
}

TEST_F(CliList, HasAHeadingForPeopleAndNoneInAPipe) {
  open_shop();

  const auto table = meterbank({"list", "-f", "table"}).lines();
  const auto plain = meterbank({"list"}).lines();

  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].substr(0, 3), "SET");
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].substr(0, 11), "shop_sales\t");
}

TEST_F(CliList, ListsTheCountersOfAPath) {
  open_shop();

  const auto outcome = meterbank({"list", "shop_sales/sto*", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto counters = parse_json(outcome.out);
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0]["path"], "shop_sales/stock");
  EXPECT_EQ(counters[0]["windows_path"], "\\Shop Sales(*)\\Stock");
}

TEST_F(CliList, ListsEachCounterOnceOfASetThatHasATotal) {
  open_shop();
  open_bakery();

  const auto of_set = meterbank({"list", "bakery", "-f", "json"});
  const auto of_total = meterbank({"list", "bakery/_Total/loaves", "-f", "json"});
  const auto instances = meterbank({"list", "--instances", "bakery", "-f", "json"});

  ASSERT_EQ(of_set.code, kExitDone) << of_set.err;
  EXPECT_EQ(parse_json(of_set.out).size(), 1U) << of_set.out;
  ASSERT_EQ(of_total.code, kExitDone) << of_total.err;
  EXPECT_EQ(parse_json(of_total.out).size(), 1U) << of_total.out;
  ASSERT_EQ(instances.code, kExitDone) << instances.err;
  EXPECT_EQ(parse_json(instances.out).size(), 2U) << instances.out;
}

TEST_F(CliList, LongFormTellsAllThatIsKnown) {
  open_shop();

  const auto outcome = meterbank({"list", "-l", "shop_sales/sold"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  for (const char* fact :
       {"\\Shop Sales(*)\\Sold/sec", "shop_sales/sold", "rate", "perf_counter_bulk_count",
        "{item}/s", "Items that left the shop.", "1 in {", "fruit", "bread", "shop@"}) {
    EXPECT_NE(outcome.out.find(fact), std::string::npos) << fact << "\n" << outcome.out;
  }
}

TEST_F(CliList, ListsInstancesWithTheirIds) {
  open_shop();

  const auto outcome = meterbank({"list", "--instances", "shop_sales", "-f", "json"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto instances = parse_json(outcome.out);
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_NE(instances[0]["id"], instances[1]["id"]);
}

TEST_F(CliList, ListsProviders) {
  open_shop();

  const auto outcome = meterbank({"list", "--providers", "-f", "jsonl"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto provider = parse_json(outcome.out);
  EXPECT_EQ(provider["name"], "shop");
  EXPECT_EQ(provider["pid"], ::getpid());
  EXPECT_EQ(provider["state"], "live");
  EXPECT_EQ(provider["sets"], 1);
}

TEST_F(CliList, IsEmptyJsonWhenNothingIsPublished) {
  const auto outcome = meterbank({"list", "-f", "json"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_EQ(parse_json(outcome.out), Json::array());
}

}  // namespace
}  // namespace meterbank::cli
