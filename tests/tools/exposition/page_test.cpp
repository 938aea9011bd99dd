// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "exposition_fixture.hpp"

namespace meterbank::exposition {
namespace {

using ::testing::Test;

constexpr std::array kOther{
    CounterSpec{.id = 9, .name = "Sold", .symbol = "sold", .type = CounterType::kLargeRawCount}};
constexpr CountersetSpec kOtherShop{.name = "Other Shop", .symbol = "shop", .counters = kOther};

class Page : public PageTest {
 protected:
  Page() : shop_(*provider_->add(kShop)) {}

  [[nodiscard]] Instance aisle(std::string_view name) const {
    Instance instance = *shop_.create_instance(name);
    instance.update([](Values& values) {
      values.add(Shop::kSold, 7U);
      values.set(Shop::kStock, 18'446'744'073'709'551'615U);
      values.set(Shop::kWeight, 3U);
      values.set(Shop::kPause, 1500U);
    });
    Recorder time = instance.recorder(Shop::kTime);
    for (const double seconds : {0.5, 1.5, 1.6, 20.0, 1000.0}) time.record(seconds);
    instance.text(Shop::kState).set("open");
    return instance;
  }

  Registration shop_;
};

TEST_F(Page, NamesAndScalesCountersByTheConventionsOfPrometheus) {
  const Instance fruit = aisle("fruit");
  EXPECT_EQ(counters_of(page(PageFormat::kText)),
            R"(# HELP meterbank_shop_sold_total Items sold.
# TYPE meterbank_shop_sold_total counter
meterbank_shop_sold_total{provider="corner",aisle="fruit"} 7
# HELP meterbank_shop_stock Items in the shop.
# TYPE meterbank_shop_stock gauge
meterbank_shop_stock{provider="corner",aisle="fruit"} 18446744073709551615
# HELP meterbank_shop_of_labels_bytes Size of the labels.
# TYPE meterbank_shop_of_labels_bytes gauge
meterbank_shop_of_labels_bytes{provider="corner",aisle="fruit"} 3072
# HELP meterbank_shop_pause_seconds Length of a pause.
# TYPE meterbank_shop_pause_seconds gauge
meterbank_shop_pause_seconds{provider="corner",aisle="fruit"} 1.5
# HELP meterbank_shop_serving_time_seconds Time of one customer.
# TYPE meterbank_shop_serving_time_seconds histogram
meterbank_shop_serving_time_seconds_bucket{provider="corner",aisle="fruit",le="+Inf"} 5
meterbank_shop_serving_time_seconds_sum{provider="corner",aisle="fruit"} 1023.6
meterbank_shop_serving_time_seconds_count{provider="corner",aisle="fruit"} 5
# HELP meterbank_shop_state_info Open or closed.
# TYPE meterbank_shop_state_info gauge
meterbank_shop_state_info{provider="corner",aisle="fruit",state="open"} 1
)");
}

TEST_F(Page, HasFamiliesUnitsAndAnEndInOpenMetrics) {
  const Instance fruit = aisle("fruit");
  const std::string text = page(PageFormat::kOpenMetrics);
  EXPECT_NE(text.find("# HELP meterbank_shop_sold Items sold.\n"
                      "# TYPE meterbank_shop_sold counter\n"
                      "meterbank_shop_sold_total{provider=\"corner\",aisle=\"fruit\"} 7\n"),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE meterbank_shop_pause_seconds gauge\n"
                      "# UNIT meterbank_shop_pause_seconds seconds\n"),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE meterbank_shop_state info\n"
                      "meterbank_shop_state_info{"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST_F(Page, HasTheClassicBucketsThatAreAskedFor) {
  const Instance fruit = aisle("fruit");
  PageOptions options;
  options.names.emplace_back("*serving_time*");
  options.buckets = {0.1, 1, 2, 3, 128, 5000};
  // 0.5 lies below the range, which begins at 0.5; 20 is in (16, 32]; 1000 is beyond 128.
  const std::vector<std::string> expected = {"le=\"0.1\"} 0", "le=\"1.0\"} 1",   "le=\"2.0\"} 3",
                                             "le=\"3.0\"} 3", "le=\"128.0\"} 4", "le=\"5000.0\"} 4",
                                             "le=\"+Inf\"} 5"};
  const std::vector<std::string> series = series_of(page(PageFormat::kText, options));
  ASSERT_EQ(series.size(), expected.size() + 2);
  for (std::size_t index = 0; index < expected.size(); ++index) {
    EXPECT_TRUE(series[index].ends_with(expected[index])) << series[index];
  }
}

TEST_F(Page, IsTheSameInPiecesOfAnySize) {
  std::vector<Instance> aisles;
  for (int number = 0; number < 50; ++number) aisles.push_back(aisle(std::to_string(number)));
  const auto taken = snapshot();
  for (const PageFormat format : {PageFormat::kText, PageFormat::kOpenMetrics,
                                  PageFormat::kOpenMetrics2, PageFormat::kProtobuf}) {
    const std::string whole = page_of(taken, format, {}, std::size_t{1} << 20);
    EXPECT_EQ(page_of(taken, format, {}, 1), whole);
    EXPECT_EQ(page_of(taken, format, {}, 1000), whole);
  }
}

TEST_F(Page, IsTheUnionOfItsShardsWhichShareNothing) {
  std::vector<Instance> aisles;
  for (int number = 0; number < 100; ++number) aisles.push_back(aisle(std::to_string(number)));
  const auto taken = snapshot();
  std::vector<std::string> all = series_of(page_of(taken, PageFormat::kText));
  std::vector<std::string> shards;
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    PageOptions options;
    options.shard = shard;
    options.shards = 4;
    const auto part = series_of(page_of(taken, PageFormat::kText, options));
    EXPECT_GT(part.size(), all.size() / 8);
    shards.insert(shards.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  std::sort(shards.begin(), shards.end());
  EXPECT_EQ(shards, all);
}

TEST_F(Page, HasOnlyWhatItsFiltersName) {
  const Instance fruit = aisle("fruit");
  const Instance bread = aisle("bread");
  const auto series_with = [this](auto change) {
    PageOptions options;
    change(options);
    return series_of(counters_of(page(PageFormat::kText, options)));
  };
  EXPECT_EQ(series_with([](PageOptions& options) { options.instances.emplace_back("bre*"); })[0],
            "meterbank_shop_sold_total{provider=\"corner\",aisle=\"bread\"} 7");
  EXPECT_EQ(
      series_with([](PageOptions& options) { options.instances.emplace_back("bre*"); }).size(), 8U);
  EXPECT_EQ(series_with([](PageOptions& options) {
              options.names.emplace_back("meterbank_shop_sold_total");
            }).size(),
            2U);
  EXPECT_EQ(series_with([](PageOptions& options) { options.names.emplace_back("*_sold"); }).size(),
            2U);
  EXPECT_TRUE(
      series_with([](PageOptions& options) { options.sets.emplace_back("bakery"); }).empty());
  EXPECT_EQ(series_with([](PageOptions& options) { options.sets.emplace_back("Shop"); }).size(),
            16U);
  EXPECT_TRUE(
      series_with([](PageOptions& options) { options.providers.emplace_back("other"); }).empty());
  EXPECT_TRUE(series_with([](PageOptions& options) { options.host = HostRows::kAlone; }).empty());
}

TEST_F(Page, LeavesOutPublishedTotalsUnlessTheyAreNamed) {
  const Instance fruit = aisle("fruit");
  const Instance total = aisle("_Total");
  const Instance of_node = aisle("0,_Total");
  EXPECT_EQ(page(PageFormat::kText).find("_Total"), std::string::npos);
  PageOptions options;
  options.instances.emplace_back("_Total");
  EXPECT_NE(page(PageFormat::kText, options).find("aisle=\"_Total\"} 7"), std::string::npos);
}

TEST_F(Page, EscapesWhatTextsAndNamesContain) {
  const Instance fruit = aisle("say \"hi\" \\ ü");
  fruit.text(Shop::kState).set(std::string_view("a\"b\\c\nd\0e\xff", 10));
  const std::string text = page(PageFormat::kText);
  EXPECT_NE(text.find("aisle=\"say \\\"hi\\\" \\\\ ü\",state=\"a\\\"b\\\\c\\nd\xef\xbf\xbd"
                      "e\xef\xbf\xbd\"} 1\n"),
            std::string::npos)
      << text;
}

TEST_F(Page, TellsRegistrationsApartThatHaveTheSameLabels) {
  Provider second = *Provider::create({.name = "corner", .directory = directory_.path()});
  const Registration shop = *second.add(kShop);
  const Instance here = aisle("fruit");
  Instance there = *shop.create_instance("fruit");
  const std::vector<std::string> series = series_of(counters_of(page(PageFormat::kText)));
  std::set<std::string> names;
  for (const std::string& line : series) {
    EXPECT_TRUE(names.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_EQ(series.size(), 16U);
}

TEST_F(Page, KeepsBothOfTwoMetricsThatShareAName) {
  const Instance fruit = aisle("fruit");
  Provider second = *Provider::create({.name = "other", .directory = directory_.path()});
  const Registration shop = *second.add(kOtherShop);
  Instance there = *shop.create_instance("fruit");
  there.set(0U, 5U);
  const std::string text = page(PageFormat::kText);
  EXPECT_NE(text.find("meterbank_shop_sold_total{provider=\"corner\",aisle=\"fruit\"} 7\n"),
            std::string::npos);
  const std::string digits = Guid::from_name("other", "Other Shop").text().substr(1, 8);
  EXPECT_NE(text.find("meterbank_shop_" + digits +
                      "_sold{provider=\"other\",instance_name=\"fruit\"} 5\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("meterbank_snapshot_families_renamed 1\n"), std::string::npos);
}

TEST_F(Page, HasAtMost64DescriptionsOfOneSetAndCountsTheRest) {
  constexpr std::array kTypes = {
      CounterType::kBulkCount,     CounterType::kCounter,     CounterType::kSampleCounter,
      CounterType::kDelta,         CounterType::kLargeDelta,  CounterType::kRawCount,
      CounterType::kLargeRawCount, CounterType::kRawCountHex, CounterType::kLargeRawCountHex};
  std::vector<Provider> providers;
  std::vector<Registration> registrations;
  std::vector<Instance> instances;
  // No two of these are counted alike.
  for (std::size_t number = 0; number < 70; ++number) {
    const std::array counters{
        CounterSpec{.id = 1, .name = "x", .symbol = "x", .type = kTypes.at(number / 9)},
        CounterSpec{.id = 2, .name = "y", .symbol = "y", .type = kTypes.at(number % 9)}};
    providers.push_back(
        *Provider::create({.name = "p" + std::to_string(number), .directory = directory_.path()}));
    registrations.push_back(
        *providers.back().add({.name = "Set",
                               .symbol = "set",
                               .guid = *Guid::parse("12345678-0000-0000-0000-000000000001"),
                               .counters = counters}));
    instances.push_back(*registrations.back().create_instance("i"));
  }
  const std::string text = page(PageFormat::kText);
  EXPECT_NE(text.find("meterbank_snapshot_rows_left_out 6\n"), std::string::npos) << text;
}

TEST_F(Page, CountsPathsThatMatchNothing) {
  const Instance fruit = aisle("fruit");
  Snapshots taking = *Snapshots::open(
      {.catalog = {.directory = directory_.path()}, .patterns = {"shop/*/sold", "no_such_set"}});
  const std::string text = page_of(taking.take(), PageFormat::kText);
  EXPECT_NE(text.find("meterbank_snapshot_paths_unmatched 1\n"), std::string::npos);
}

TEST_F(Page, JoinsTheSetsOfProvidersThatDeclaredThemAlike) {
  const Instance fruit = aisle("fruit");
  Provider second = *Provider::create({.name = "other", .directory = directory_.path()});
  const Registration shop = *second.add(kShop);
  Instance there = *shop.create_instance("bread");
  const std::string text = page(PageFormat::kText);
  EXPECT_NE(text.find("# TYPE meterbank_shop_sold_total counter\n"
                      "meterbank_shop_sold_total{provider=\"corner\",aisle=\"fruit\"} 7\n"
                      "meterbank_shop_sold_total{provider=\"other\",aisle=\"bread\"} 0\n"),
            std::string::npos)
      << text;
}

TEST_F(Page, CallsThingsAsRulesWantIt) {
  const Instance fruit = aisle("fruit");
  SnapshotOptions options = {.catalog = {.directory = directory_.path()}};
  MetricRule sold;
  sold.counter = Glob("sold");
  sold.name = "items_sold";
  sold.help = "What left.";
  MetricRule labels;
  labels.set = Glob("sh*");
  labels.label = "shelf";
  MetricRule no_state;
  no_state.counter = Glob("State");
  no_state.drop = true;
  options.names.rules = {sold, no_state, labels};
  Snapshots taking = *Snapshots::open(options);
  const std::string text = page_of(taking.take(), PageFormat::kText);
  EXPECT_NE(text.find("# HELP meterbank_items_sold_total What left.\n"
                      "# TYPE meterbank_items_sold_total counter\n"
                      "meterbank_items_sold_total{provider=\"corner\",shelf=\"fruit\"} 7\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("meterbank_shop_stock{provider=\"corner\",shelf=\"fruit\"}"),
            std::string::npos);
  EXPECT_EQ(text.find("meterbank_shop_state"), std::string::npos);
}

TEST_F(Page, EndsTheSeriesOfAProviderThatEndedAndSaysThatItIsDown) {
  Snapshots taking = snapshots();
  {
    Provider second =
        *Provider::create({.name = "other", .directory = directory_.path(), .keep_record = true});
    const Registration shop = *second.add(kShop);
    const Instance there = *shop.create_instance("bread");
    EXPECT_NE(page_of(taking.take(), PageFormat::kText).find("aisle=\"bread\""), std::string::npos);
  }
  const std::string text = page_of(taking.take(), PageFormat::kText);
  EXPECT_EQ(text.find("aisle=\"bread\""), std::string::npos);
  const std::string pid = std::to_string(::getpid());
  EXPECT_NE(text.find("meterbank_provider_up{provider=\"other\",pid=\"" + pid + "\"} 0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("meterbank_provider_up{provider=\"corner\",pid=\"" + pid + "\"} 1\n"),
            std::string::npos);
}

TEST_F(Page, GivesAnInstanceThatWasCreatedAnewAnotherStart) {
  Snapshots taking = snapshots();
  const auto start_of = [&taking] {
    const auto taken = taking.take();
    return taken->layout->blocks.at(0).starts_ns.at(0);
  };
  Instance fruit = aisle("fruit");
  const std::uint64_t first = start_of();
  EXPECT_EQ(start_of(), first);
  fruit.close();
  fruit = aisle("fruit");
  const std::uint64_t second = start_of();
  EXPECT_GT(second, first);
  EXPECT_EQ(start_of(), second);
}

}  // namespace
}  // namespace meterbank::exposition
