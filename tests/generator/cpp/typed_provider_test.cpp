// SPDX-License-Identifier: Apache-2.0
//
// Programs that count through generated types, and what readers see of them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <type_traits>

#include "../../support/cooked_values.hpp"
#include "../../support/temporary_directory.hpp"
#include "../loaded.hpp"
#include "forms.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "orders.hpp"

namespace meterbank {
namespace {

constexpr std::uint64_t kBeyondDoubles = (std::uint64_t{1} << 53) + 1;

// The schema of the manifest, as it was before there was a generator.
constexpr std::array kByHand{
    CounterSpec{.id = 1,
                .name = "Accepted/sec",
                .symbol = "accepted",
                .type = CounterType::kBulkCount,
                .unit = "{order}",
                .help = "Orders that went on to the venue."},
    CounterSpec{.id = 2,
                .name = "Rejected/sec",
                .symbol = "rejected",
                .type = CounterType::kBulkCount,
                .unit = "{order}",
                .help = "Orders that broke a limit and were sent back."},
    CounterSpec{.id = 3,
                .name = "Bytes Received/sec",
                .symbol = "bytes_received",
                .type = CounterType::kBulkCount,
                .unit = "By",
                .help = "Bytes of order messages."},
    CounterSpec{.id = 4,
                .name = "Queue Depth",
                .symbol = "queue_depth",
                .type = CounterType::kLargeRawCount,
                .unit = "{order}",
                .help = "Orders that wait for the venue."},
    CounterSpec{.id = 5,
                .name = "Latency",
                .symbol = "latency",
                .type = CounterType::kBulkCount,
                .unit = "s",
                .help = "Time from the last byte of an order to the first byte of its answer.",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 4, .least = 1e-6, .most = 10}},
    CounterSpec{.id = 6,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .help = "What the connection to the venue is doing.",
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 16}};
constexpr CountersetSpec kByHandSet{.name = "Demo Orders",
                                    .symbol = "demo_orders",
                                    .help = "An imaginary order gateway, one instance a venue.",
                                    .label = "venue",
                                    .counters = kByHand};

TEST(TypedProvider, HasTheSchemaThatOneWritesByHand) {
  const auto generated = encode_schema(orders::kDemoOrdersSet, "orders");
  const auto by_hand = encode_schema(kByHandSet, "orders");
  ASSERT_TRUE(generated);
  ASSERT_TRUE(by_hand);
  EXPECT_EQ(*generated, *by_hand);
  EXPECT_NE(*generated, *encode_schema(kByHandSet, "others"));  // by its GUID
}

TEST(TypedProvider, HasTheSchemaOfTheManifest) {
  const auto manifest =
      generator::test::manifest_of_file(METERBANK_CPP_TESTS "/manifests/forms.toml");
  const std::array typed{&soup::kPotsSet, &soup::kFaultsSet, &soup::kSoupOrdersSet,
                         &soup::kTablesSet};
  ASSERT_EQ(manifest.countersets.size(), typed.size());
  for (std::size_t i = 0; i < typed.size(); ++i) {
    std::vector<CounterSpec> counters;
    const CountersetSpec spec = generator::spec_of(manifest, manifest.countersets[i], counters);
    EXPECT_EQ(*encode_schema(*typed[i], "soup"), *encode_schema(spec, "soup"));
    EXPECT_EQ(form_of(*typed[i]).shards, form_of(spec).shards);
    EXPECT_EQ(typed[i]->consistency, spec.consistency);
  }
}

class TypedProviderTest : public testing::Test {
 protected:
  std::map<std::string, test::KeptValue> now() {
    catalog_ = *Catalog::open({.directory = directory_.path()});
    query_ = *Query::compile(*catalog_, {});
    query_->collect(sample_);
    std::map<std::string, test::KeptValue> rows;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample_))
      rows.emplace(row.counter->symbol, row);
    return rows;
  }
  std::uint64_t raw(const std::string& symbol) { return now().at(symbol).raw.value; }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "soup", .directory = directory_.path()});
  std::optional<Catalog> catalog_;
  std::optional<Query> query_;
  Sample sample_;
};

TEST_F(TypedProviderTest, ShowsWhatWasCounted) {
  const auto pots = soup::Pots::add(provider_);
  ASSERT_TRUE(pots) << pots.error().message();
  auto pot = pots->create("gulasch");
  ASSERT_TRUE(pot) << pot.error().message();
  pot->update([](soup::PotsUpdate& row) noexcept {
    row.add_spoons(kBeyondDoubles);
    row.add_crumbs(7);
    row.set_guests(12);
    row.subtract_guests(2);
    row.set_recipe_bytes(100);
    row.add_recipe_bytes(11);
    row.set_temperature(20);
    row.add_temperature(-37.5);
    row.set_balance(-5);
    row.add_balance(-4);
    row.set_last_taste(0.25);
    row.add_last_taste(0.5);
    row.set_last_debt(std::numeric_limits<std::int64_t>::min());
    row.add_last_debt(1);
    row.set_last_order(kBeyondDoubles);
    row.subtract_last_order(1);
    row.record_wait(0.5);
    row.set_state("simmering");
    row.add_helping(300);
    row.add_helping_base(2);
    row.set_full(3);
    row.set_full_base(4);
    row.stamp(1);
  });
  const auto rows = now();
  EXPECT_EQ(rows.at("spoons").raw.value, kBeyondDoubles);
  EXPECT_EQ(rows.at("crumbs").raw.value, 7U);
  EXPECT_EQ(rows.at("guests").cooked.value, 10);
  EXPECT_EQ(rows.at("recipe_bytes").cooked.value, 111);
  EXPECT_EQ(rows.at("temperature").cooked.value, -17.5);
  EXPECT_EQ(rows.at("balance").cooked.value, -9);
  EXPECT_EQ(rows.at("last_taste").cooked.value, 0.75);
  EXPECT_NE(rows.at("last_taste").set_ns, 0U);
  EXPECT_EQ(static_cast<std::int64_t>(rows.at("last_debt").raw.value),
            std::numeric_limits<std::int64_t>::min() + 1);
  EXPECT_EQ(rows.at("last_order").raw.value, kBeyondDoubles - 1);
  EXPECT_EQ(rows.at("wait").distribution->count, 1U);
  EXPECT_EQ(*rows.at("state").text, "simmering");
  EXPECT_EQ(rows.at("helping").raw.value, 300U);
  EXPECT_EQ(rows.at("helping").raw.base, 2U);
  EXPECT_EQ(rows.at("full").raw.base, 4U);
  EXPECT_TRUE(rows.at("spoons").raw.stamped);
  EXPECT_EQ(rows.at("spoons").instance().name, "gulasch");
}

TEST_F(TypedProviderTest, CountsOneByOneToo) {
  auto pot = soup::Pots::add(provider_)->create("one");
  pot->add_spoons(2);
  pot->spoons_counter().add(1);
  pot->set_guests(3);
  pot->add_guests(2);
  pot->subtract_guests(1);
  pot->set_temperature(1.5);
  pot->add_temperature(1);
  pot->set_balance(4);
  pot->add_balance(-6);
  pot->set_last_debt(-2);
  pot->add_last_debt(-1);
  pot->set_last_order(kBeyondDoubles);
  pot->add_last_order(2);
  pot->record_wait(1);
  pot->wait_recorder().record(2);
  pot->set_state("done");
  const auto rows = now();
  EXPECT_EQ(rows.at("spoons").raw.value, 3U);
  EXPECT_EQ(rows.at("guests").cooked.value, 4);
  EXPECT_EQ(rows.at("temperature").cooked.value, 2.5);
  EXPECT_EQ(rows.at("balance").cooked.value, -2);
  EXPECT_EQ(static_cast<std::int64_t>(rows.at("last_debt").raw.value), -3);
  EXPECT_EQ(rows.at("last_order").raw.value, kBeyondDoubles + 2);
  EXPECT_EQ(rows.at("wait").distribution->count, 2U);
  EXPECT_EQ(*rows.at("state").text, "done");
}

TEST_F(TypedProviderTest, LendsItsInstanceToWhoWantsMore) {
  auto pot = soup::Pots::add(provider_)->create("one");
  pot->instance().gauge(soup::PotsCounter::kTemperature).set_unsigned(3);
  pot->instance().gauge(soup::PotsCounter::kBalance).set_signed(-3);
  EXPECT_EQ(now().at("temperature").cooked.value, 3);
  Gauge tasted = pot->last_taste_gauge();
  tasted.set_signed(-4);
  pot->instance().update([&tasted](Values& values) { values.set_unsigned(tasted, 5); });
  const auto rows = now();
  EXPECT_EQ(rows.at("balance").cooked.value, -3);
  EXPECT_EQ(rows.at("last_taste").cooked.value, 5);
}

TEST_F(TypedProviderTest, PublishesNothingOfAnUpdateThatThrows) {
  auto pot = soup::Pots::add(provider_)->create("one");
  pot->add_spoons(1);
  EXPECT_THROW(pot->update([](auto& row) {
    row.add_spoons(5);
    throw 1;
  }),
               int);
  EXPECT_EQ(raw("spoons"), 1U);
  pot->update([](auto& row) { row.values().set(soup::PotsCounter::kSpoons, 40); });
  EXPECT_EQ(raw("spoons"), 40U);
}

TEST_F(TypedProviderTest, CountsFromAnyThreadWhereTheNameSaysSo) {
  auto faults = soup::Faults::add(provider_)->create();
  ASSERT_TRUE(faults) << faults.error().message();
  const auto spill = [&faults] {
    for (int i = 0; i < 1000; ++i) faults->add_spilled_from_any_thread(1);
  };
  std::thread one(spill);
  std::thread two(spill);
  one.join();
  two.join();
  faults->add_burnt(3);
  faults->set_cooks(2);
  faults->add_cooks_from_any_thread(4);
  faults->set_tips(2);
  faults->add_tips_from_any_thread(-5);
  faults->set_smell(0.5);
  auto orders = soup::SoupOrders::add(provider_)->create();
  ASSERT_TRUE(orders) << orders.error().message();
  orders->add_ordered(1);
  std::thread([&orders] { orders->add_ordered(2); }).join();
  const auto rows = now();
  EXPECT_EQ(rows.at("tips").cooked.value, -3);
  EXPECT_EQ(rows.at("smell").cooked.value, 0.5);
  EXPECT_EQ(rows.at("ordered").raw.value, 3U);
  EXPECT_EQ(rows.at("spilled").raw.value, 2000U);
  EXPECT_EQ(rows.at("burnt").raw.value, 3U);
  EXPECT_EQ(rows.at("cooks").raw.value, 6U);
}

TEST_F(TypedProviderTest, CountsInShards) {
  auto table = soup::Tables::add(provider_)->create("round");
  ASSERT_TRUE(table) << table.error().message();
  const auto serve = [&table](std::uint32_t heat) {
    table->update([heat](soup::TablesUpdate& row) noexcept {
      row.add_plates(2);
      row.raise_hottest(heat);
      row.add_seated(5);
      row.subtract_seated(1);
      row.record_eating(heat);
    });
    table->add_plates(1);
    table->lower_coldest(heat);
    table->plates_counter().add(1);
    table->eating_recorder().record(heat);
  };
  serve(60);
  std::thread(serve, 80).join();
  const auto rows = now();
  EXPECT_EQ(rows.at("plates").raw.value, 8U);
  EXPECT_EQ(rows.at("hottest").cooked.value, 80);
  EXPECT_EQ(rows.at("seated").cooked.value, 8);
  EXPECT_EQ(rows.at("eating").distribution->count, 4U);
}

TEST_F(TypedProviderTest, CountsIntoNothingWithoutARegistration) {
  soup::PotsInstance nothing;
  nothing.add_spoons(1);
  nothing.record_wait(1);
  nothing.set_state("nowhere");
  nothing.set_last_order(1);
  nothing.update([](auto& row) { row.set_last_taste(1); });
  auto nowhere = soup::Pots().create("pot");
  EXPECT_TRUE(nowhere || nowhere.error().code == ErrorCode::kClosed);
  EXPECT_TRUE(now().empty());
}

TEST_F(TypedProviderTest, ClosesWithItsOwner) {
  const auto pots = soup::Pots::add(provider_);
  {
    auto pot = pots->create("short");
    EXPECT_FALSE(pots->create("short"));
    soup::PotsInstance other = std::move(*pot);
    EXPECT_EQ(now().empty(), false);
    EXPECT_FALSE(pots->create("short"));
  }
  auto again = pots->create("short");
  EXPECT_TRUE(again);
  again->close();
  EXPECT_TRUE(now().empty());
  again->record_wait(1);  // harmless
  pots->close();
  EXPECT_FALSE(pots->create("late"));
  EXPECT_TRUE(soup::Pots::add(provider_));
}

}  // namespace
}  // namespace meterbank
