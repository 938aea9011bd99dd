// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "pcp/answers/fetch_answer.hpp"
#include "pcp/answers/label_answers.hpp"
#include "pcp/answers/name_answers.hpp"
#include "pcp/layout/observer.hpp"

namespace meterbank::pcp {
namespace {

constexpr int kDomain = 478;

constexpr std::array kCounters{
    CounterSpec{.id = 1, .name = "Sold/sec", .symbol = "sold", .help = "Items sold."},
    CounterSpec{.id = 2,
                .name = "Stock",
                .symbol = "stock",
                .type = CounterType::kLargeRawCount,
                .unit = "KiBy"}};
constexpr CountersetSpec kShop{
    .name = "Shop", .symbol = "shop", .help = "A shop.", .label = "aisle", .counters = kCounters};

class PcpLayout : public ::testing::Test {
 protected:
  [[nodiscard]] Provider provider(const std::string& name) const {
    return *Provider::create({.name = name, .directory = directory_.path()});
  }
  [[nodiscard]] Observer observer() const {
    Observer made =
        *Observer::open({.catalog = {.directory = directory_.path()}, .domain = kDomain});
    made.look();
    return made;
  }
  [[nodiscard]] static std::vector<std::string> names(const Layout& layout) {
    std::vector<std::string> found;
    for (const Metric& metric : layout.metrics) found.push_back(metric.name);
    return found;
  }
  // External names of instances with their values.
  [[nodiscard]] static std::map<std::string, std::uint64_t> values(
      const Observer& observer, const std::string& name, const pmProfile* profile = nullptr) {
    static FetchAnswer answer;
    const Metric* const metric = observer.layout().find(name);
    if (metric == nullptr) return {{"no metric", 0}};
    const pmResult* const result = answer.make(std::span(&metric->desc.pmid, 1), observer, profile);
    const Domain& domain = *observer.layout().find_domain(metric->desc.indom);
    std::map<std::string, std::uint64_t> found;
    for (int value = 0; value < result->vset[0]->numval; ++value) {
      const pmValue& one = result->vset[0]->vlist[value];
      const auto instance =
          std::find_if(domain.instances.begin(), domain.instances.end(),
                       [&one](const ShownInstance& shown) { return shown.id == one.inst; });
      std::uint64_t number = 0;
      std::memcpy(&number, one.value.pval->vbuf, sizeof number);
      found[instance->name] = number;
    }
    return found;
  }

  test::TemporaryDirectory directory_;
};

using Values = std::map<std::string, std::uint64_t>;
using Names = std::vector<std::string>;

TEST_F(PcpLayout, JoinsTheSetsOfProvidersInOneMetricAndOneDomain) {
  Provider corner = provider("corner");
  Provider mall = provider("mall");
  const auto corner_shop = corner.add(kShop);
  const auto mall_shop = mall.add(kShop);
  Instance fruit = *corner_shop->create_instance("fruit");
  Instance bread = *mall_shop->create_instance("bread");
  fruit.add(0U, 3);
  bread.add(0U, 5);

  const Observer found = observer();

  EXPECT_EQ(names(found.layout()), (Names{"meterbank.shop.sold", "meterbank.shop.stock"}));
  EXPECT_EQ(values(found, "meterbank.shop.sold"), (Values{{"corner/fruit", 3}, {"mall/bread", 5}}));
}

TEST_F(PcpLayout, DescribesMetricsAndDomains) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit \"1\"");

  const Observer found = observer();

  const Metric& stock = *found.layout().find("meterbank.shop.stock");
  EXPECT_EQ(stock.desc.type, PM_TYPE_U64);
  EXPECT_EQ(stock.desc.sem, PM_SEM_INSTANT);
  EXPECT_EQ(pmUnitsStr(&stock.desc.units), std::string("Kbyte"));
  const Metric& sold = *found.layout().find("meterbank.shop.sold");
  EXPECT_EQ(sold.desc.sem, PM_SEM_COUNTER);
  EXPECT_EQ(sold.oneline, "Items sold.");
  EXPECT_EQ(sold.help, "Items sold.");
  EXPECT_EQ(pmID_domain(sold.desc.pmid), static_cast<unsigned>(kDomain));
  const Domain& domain = *found.layout().find_domain(sold.desc.indom);
  EXPECT_EQ(domain.oneline, "A shop.");
  const std::string labels = labels_of(found.layout(), domain, domain.instances[0]);
  EXPECT_NE(labels.find(R"("provider":"corner")"), std::string::npos) << labels;
  EXPECT_NE(labels.find(R"("aisle":"fruit \"1\"")"), std::string::npos) << labels;
}

TEST_F(PcpLayout, KeepsIdentifiersInAnotherAgentWhateverElseIsThere) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit");
  const Observer before = observer();
  Provider early = provider("a");
  const auto other = early.add({.name = "Aaa", .symbol = "aaa", .counters = kCounters});
  const Instance row = *other->create_instance("x");

  const Observer after = observer();

  for (const Metric& metric : before.layout().metrics) {
    const Metric* const same = after.layout().find(metric.name);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(same->desc.pmid, metric.desc.pmid);
    EXPECT_EQ(same->desc.indom, metric.desc.indom);
    EXPECT_EQ(after.layout().find_domain(same->desc.indom)->instances[0].id,
              before.layout().find_domain(same->desc.indom)->instances[0].id);
  }
}

TEST_F(PcpLayout, NamesBothOfTwoMetricsThatDifferInTheirDescriptions) {
  Provider corner = provider("corner");
  Provider mall = provider("mall");
  constexpr std::array kOther{CounterSpec{.id = 1,
                                          .name = "Sold",
                                          .symbol = "sold",
                                          .type = CounterType::kLargeRawCount,
                                          .unit = "By"}};
  const auto corner_shop = corner.add(kShop);
  const auto mall_shop = mall.add({.name = "Shop", .symbol = "shop", .counters = kOther});
  Instance fruit = *corner_shop->create_instance("fruit");
  Instance bread = *mall_shop->create_instance("bread");
  fruit.add(0U, 3);
  bread.set(0U, 5);

  const Observer found = observer();

  const Names all = names(found.layout());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], "meterbank.shop.sold");
  EXPECT_TRUE(all[1].starts_with("meterbank.shop.sold_")) << all[1];
  EXPECT_EQ(all[1].size(), all[0].size() + 9);
  EXPECT_EQ(values(found, all[0]).size() + values(found, all[1]).size(), 2U);
  EXPECT_NE(found.layout().metrics[0].desc.pmid, found.layout().metrics[1].desc.pmid);
}

TEST_F(PcpLayout, NeverHasAMetricAndANodeOfOneName) {
  Provider corner = provider("corner");
  Provider mall = provider("mall");
  constexpr std::array kPlain{CounterSpec{.id = 1, .name = "Time", .symbol = "time"}};
  constexpr std::array kSpread{CounterSpec{.id = 1,
                                           .name = "Time",
                                           .symbol = "time",
                                           .unit = "s",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 0, .least = 1, .most = 100}}};
  const auto plain = corner.add({.name = "Shop", .symbol = "shop", .counters = kPlain});
  const auto spread = mall.add({.name = "Shop", .symbol = "shop", .counters = kSpread});
  const Instance fruit = *plain->create_instance("fruit");
  const Instance bread = *spread->create_instance("bread");

  const Names all = names(observer().layout());

  ASSERT_EQ(all.size(), 8U);
  for (const std::string& name : all) {
    EXPECT_TRUE(std::none_of(all.begin(), all.end(), [&name](const std::string& other) {
      return other.starts_with(name + ".");
    })) << name;
  }
}

TEST_F(PcpLayout, NamesBothOfTwoSetsOfOneProviderWhoseNamesBecomeOne) {
  Provider corner = provider("corner");
  const auto first = corner.add({.name = "Shop", .symbol = "shop", .counters = kCounters});
  const auto second = corner.add({.name = "Shop 2", .symbol = "SHOP_", .counters = kCounters});
  const Instance one = *first->create_instance("x");
  const Instance two = *second->create_instance("x");

  const Names all = names(observer().layout());

  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], "meterbank.shop.sold");
  EXPECT_TRUE(all[2].starts_with("meterbank.shop_")) << all[2];
}

TEST_F(PcpLayout, NamesAllInstancesWhoseNamesBecomeOne) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  Instance space = *shop->create_instance("a b");
  Instance line = *shop->create_instance("a_b");
  space.add(0U, 1);
  line.add(0U, 2);

  const Values found = values(observer(), "meterbank.shop.sold");

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.begin()->first, "corner/a_b");
  EXPECT_TRUE(found.rbegin()->first.starts_with("corner/a_b#"));
}

TEST_F(PcpLayout, TellsProvidersOfOneNameApartWhileBothLive) {
  std::optional<Provider> first = provider("corner");
  const auto first_shop = first->add(kShop);
  std::optional<Instance> fruit = *first_shop->create_instance("fruit");
  Observer watching = observer();
  Provider second = provider("corner");
  const auto second_shop = second.add(kShop);
  Instance bread = *second_shop->create_instance("bread");
  watching.look();
  const Values both = values(watching, "meterbank.shop.sold");

  fruit.reset();
  first.reset();
  watching.look();

  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(both.contains("corner/fruit"));
  const std::string named = "corner@" + std::to_string(::getpid()) + "/bread";
  EXPECT_TRUE(both.contains(named));
  EXPECT_EQ(values(watching, "meterbank.shop.sold"), (Values{{named, 0}})) << "it keeps its name";
}

TEST_F(PcpLayout, MultipliesStoredValuesWherePcpHasNoSuchScale) {
  constexpr std::array kScaled{CounterSpec{.id = 1,
                                           .name = "Sent",
                                           .symbol = "sent",
                                           .type = CounterType::kLargeRawCount,
                                           .unit = "kBy"}};
  Provider corner = provider("corner");
  const auto shop = corner.add({.name = "Shop", .symbol = "shop", .counters = kScaled});
  Instance fruit = *shop->create_instance("fruit");
  // As a double it would lose its last digits.
  fruit.set(0U, 9'007'199'254'740'993U);

  EXPECT_EQ(values(observer(), "meterbank.shop.sent"),
            (Values{{"corner/fruit", 9'007'199'254'740'993'000U}}));
}

TEST_F(PcpLayout, LeavesOutWhatProvidersPublishAsTotals) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit");
  const Instance total = *shop->create_instance("_Total");

  EXPECT_EQ(values(observer(), "meterbank.shop.sold"), (Values{{"corner/fruit", 0}}));
}

TEST_F(PcpLayout, SaysWhatChanged) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit");
  Observer found = observer();
  EXPECT_EQ(found.take_changes(), unsigned{PMCD_NAMES_CHANGE | PMCD_LABEL_CHANGE});
  found.look();
  EXPECT_EQ(found.take_changes(), 0U);

  const Instance bread = *shop->create_instance("bread");
  found.look();

  EXPECT_EQ(found.take_changes(), unsigned{PMCD_LABEL_CHANGE})
      << "an instance has no name of a metric";
}

TEST_F(PcpLayout, HasAtMostSoManyMetricsOfOneProviderAndCountsTheRest) {
  Provider corner = provider("corner");
  Provider mall = provider("mall");
  const auto corner_shop = corner.add(kShop);
  const auto corner_more = corner.add({.name = "More", .symbol = "more", .counters = kCounters});
  const auto mall_shop = mall.add({.name = "Mall", .symbol = "mall", .counters = kCounters});
  const Instance one = *corner_shop->create_instance("x");
  const Instance two = *corner_more->create_instance("x");
  const Instance three = *mall_shop->create_instance("x");
  auto catalog = *Catalog::open({.directory = directory_.path()});
  auto query = *Query::compile(catalog, {});
  LayoutMaker maker(kDomain, {.metrics = 4, .metrics_of_provider = 3});

  const Layout layout = maker.make(query.selected());

  EXPECT_EQ(layout.metrics.size(), 4U);
  EXPECT_EQ(layout.metrics_left_out, 2U);
}

TEST_F(PcpLayout, AnswersWithTheInstancesThatAProfileWants) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit");
  const Instance bread = *shop->create_instance("bread");
  const Observer found = observer();
  const Metric& sold = *found.layout().find("meterbank.shop.sold");
  const Domain& domain = *found.layout().find_domain(sold.desc.indom);
  int wanted = domain.instances[0].id;
  pmInDomProfile one{sold.desc.indom, PM_PROFILE_EXCLUDE, 1, &wanted};
  pmProfile profile{PM_PROFILE_INCLUDE, 1, &one};

  EXPECT_EQ(values(found, "meterbank.shop.sold", &profile),
            (Values{{domain.instances[0].name, 0}}));
  one.state = PM_PROFILE_INCLUDE;
  EXPECT_EQ(values(found, "meterbank.shop.sold", &profile),
            (Values{{domain.instances[1].name, 0}}));
  profile = {PM_PROFILE_EXCLUDE, 0, nullptr};
  EXPECT_EQ(values(found, "meterbank.shop.sold", &profile), Values{});
}

// The value of the only instance of a metric, rounded; nothing: it has none.
std::optional<long> rounded(const Observer& observer, const char* name) {
  FetchAnswer answer;
  const pmID id = observer.layout().find(name)->desc.pmid;
  const pmResult* const result = answer.make(std::span(&id, 1), observer, nullptr);
  if (result->vset[0]->numval != 1) return std::nullopt;
  double value = 0;
  std::memcpy(&value, result->vset[0]->vlist[0].value.pval->vbuf, sizeof value);
  return std::lround(value);
}

TEST_F(PcpLayout, HasQuantilesOfTheRecentValues) {
  constexpr std::array kSpread{CounterSpec{.id = 1,
                                           .name = "Other",
                                           .symbol = "other",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 0, .least = 1, .most = 100}},
                               CounterSpec{.id = 2,
                                           .name = "Time",
                                           .symbol = "time",
                                           .unit = "s",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 6, .least = 1, .most = 1000}}};
  constexpr const char* kMedian = "meterbank.shop.time.p50";
  Provider corner = provider("corner");
  const auto shop = corner.add({.name = "Shop", .symbol = "shop", .counters = kSpread});
  Instance fruit = *shop->create_instance("fruit");
  Recorder time = fruit.recorder(1U);
  auto found = *Observer::open({.catalog = {.directory = directory_.path()}, .domain = kDomain});
  Timestamp now = Timestamp::now();
  const auto look_after = [&](std::uint64_t ns) {
    now.monotonic_ns += ns;
    found.look(now);
    return rounded(found, kMedian);
  };
  for (int value = 0; value < 1000; ++value) time.record(8);
  EXPECT_EQ(look_after(0), 8) << "without a window: since the row began";
  EXPECT_EQ(look_after(RecentWindow::kMarkNs), std::nullopt) << "no value in the last minute";

  for (int value = 0; value < 3; ++value) time.record(64);

  EXPECT_EQ(look_after(1), 64);
  EXPECT_EQ(look_after(RecentWindow::kMarkNs - 2), 64);
  EXPECT_EQ(look_after(RecentWindow::kMarkNs), 64) << "the window is at most two minutes";
  EXPECT_EQ(look_after(RecentWindow::kMarkNs), std::nullopt);
  EXPECT_EQ(rounded(found, "meterbank.shop.time.max"), 64);
  EXPECT_EQ(rounded(found, "meterbank.shop.time.sum"), 1000 * 8 + 3 * 64);
}

TEST_F(PcpLayout, HasQuantilesOfAllValuesOfAnInstanceThatCameSince) {
  constexpr std::array kSpread{CounterSpec{.id = 1,
                                           .name = "Time",
                                           .symbol = "time",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 6, .least = 1, .most = 1000}}};
  Provider corner = provider("corner");
  const auto shop = corner.add({.name = "Shop", .symbol = "shop", .counters = kSpread});
  std::optional<Instance> fruit = *shop->create_instance("fruit");
  fruit->recorder(0U).record(8);
  auto found = *Observer::open({.catalog = {.directory = directory_.path()}, .domain = kDomain});
  Timestamp now = Timestamp::now();
  found.look(now);
  fruit.reset();
  fruit = *shop->create_instance("fruit");
  fruit->recorder(0U).record(64);
  now.monotonic_ns += RecentWindow::kMarkNs;

  found.look(now);

  EXPECT_EQ(rounded(found, "meterbank.shop.time.p50"), 64);
}

TEST_F(PcpLayout, ListsChildrenAndMetricsBelowAName) {
  Provider corner = provider("corner");
  const auto shop = corner.add(kShop);
  const Instance fruit = *shop->create_instance("fruit");
  const Observer found = observer();
  const auto list = [&found](const char* name, bool traverses) {
    char** texts = nullptr;
    int* kinds = nullptr;
    const int count = answer_children(found.layout(), name, traverses, &texts, &kinds);
    Names result;
    if (count < 0) return Names{pmErrStr(count)};
    for (int index = 0; index < count; ++index) {
      result.push_back(texts[index] + std::string(kinds[index] == PMNS_LEAF_STATUS ? "" : "."));
    }
    std::free(texts);
    std::free(kinds);
    return result;
  };

  EXPECT_EQ(list("meterbank", false), (Names{"shop."}));
  EXPECT_EQ(list("meterbank.shop", false), (Names{"sold", "stock"}));
  EXPECT_EQ(list("meterbank", true), (Names{"meterbank.shop.sold", "meterbank.shop.stock"}));
  EXPECT_EQ(list("meterbank.shop.sold", false), Names{});
  EXPECT_EQ(list("meterbank.sho", true), Names{pmErrStr(PM_ERR_NAME)});
  pmID id = 0;
  EXPECT_EQ(answer_id(found.layout(), "meterbank.shop", &id), PM_ERR_NONLEAF);
  EXPECT_EQ(answer_id(found.layout(), "meterbank.shop.sold", &id), 0);
  EXPECT_EQ(found.layout().find(id)->name, "meterbank.shop.sold");
}

}  // namespace
}  // namespace meterbank::pcp
