// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/dashboard.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "monitored_fixture.hpp"

namespace meterbank::monitoring {
namespace {

using nlohmann::json;
using test::CounterText;
using test::monitored;
using test::set_of;

json dashboard_of(const std::vector<Counterset>& sets) {
  return json::parse(grafana_dashboard(monitored(sets)));
}

json panel_of(const json& dashboard, const std::string& title) {
  for (const json& panel : dashboard.at("panels")) {
    if (panel.at("title") == title) return panel;
  }
  ADD_FAILURE() << "no panel " << title;
  return {};
}

std::string unit_of(const CounterText& counter) {
  const json panel =
      panel_of(dashboard_of({set_of("shop", {counter})}), std::string(counter.symbol));
  return panel.at("fieldConfig").at("defaults").at("unit");
}

TEST(GrafanaDashboard, HasTheSameBytesAgain) {
  const std::vector sets = {set_of("shop", {{"sold"}}, "aisle"), set_of("till", {{"opened"}})};
  const std::vector others = {sets[1], sets[0]};
  EXPECT_EQ(grafana_dashboard(monitored(sets)), grafana_dashboard(monitored(others)));
}

TEST(GrafanaDashboard, KeepsItsUidWhenCountersChange) {
  const json one = dashboard_of({set_of("shop", {{"sold"}})});
  EXPECT_EQ(one.at("uid"), dashboard_of({set_of("shop", {{"sold"}, {"stolen"}})}).at("uid"));
  EXPECT_NE(one.at("uid"), dashboard_of({set_of("till", {{"sold"}})}).at("uid"));
  EXPECT_NE(
      one.at("uid"),
      json::parse(grafana_dashboard(monitored({set_of("shop", {{"sold"}})}, "acme_"))).at("uid"));
}

TEST(GrafanaDashboard, ShowsCountersByTheirInstances) {
  const json dashboard = dashboard_of({set_of("shop", {{"sold"}}, "aisle")});
  const json query = panel_of(dashboard, "sold").at("targets").at(0);
  EXPECT_EQ(
      query.at("expr"),
      "sum by (instance, provider, aisle) (rate(meterbank_shop_sold_total{"
      "instance=~\"$instance\",provider=~\"$provider\",aisle=~\"$aisle\"}[$__rate_interval]))");
  EXPECT_EQ(query.at("legendFormat"), "{{instance}} {{provider}} {{aisle}}");
  std::vector<std::string> variables;
  for (const json& variable : dashboard.at("templating").at("list")) {
    variables.push_back(variable.at("name"));
  }
  EXPECT_EQ(variables, (std::vector<std::string>{"DATASOURCE", "instance", "provider", "aisle"}));
}

TEST(GrafanaDashboard, ShowsHistogramsAsPercentilesAndAsAHeatmap) {
  const json dashboard = dashboard_of(
      {set_of("shop", {{"time", CounterType::kBulkCount, "ms", ValueForm::kDistribution}})});
  const json percentiles = panel_of(dashboard, "time, percentiles");
  EXPECT_EQ(percentiles.at("targets").size(), 3U);
  EXPECT_EQ(percentiles.at("fieldConfig").at("defaults").at("unit"), "ms");
  const json heatmap = panel_of(dashboard, "time, observations a second");
  EXPECT_EQ(heatmap.at("type"), "heatmap");
  EXPECT_EQ(heatmap.at("targets").at(0).at("expr"),
            "sum (rate(meterbank_shop_time_milliseconds{instance=~\"$instance\","
            "provider=~\"$provider\"}[$__rate_interval]))");
}

TEST(GrafanaDashboard, ShowsSharesOfTimeAsPercentages) {
  const json dashboard = dashboard_of({set_of("shop", {{"idle", CounterType::kTimerInverse}})});
  const json panel = panel_of(dashboard, "idle");
  EXPECT_EQ(panel.at("fieldConfig").at("defaults").at("unit"), "percentunit");
  const std::string query = panel.at("targets").at(0).at("expr");
  EXPECT_TRUE(query.starts_with("1 - avg by (instance, provider) (rate(")) << query;
}

TEST(GrafanaDashboard, MapsUnitsToThoseOfGrafana) {
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount, "By"}), "binBps");
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount, "KiBy"}), "binBps");
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount, "{request}"}), "reqps");
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount, "{order}"}), "short");
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount}), "cps");
  EXPECT_EQ(unit_of({"x", CounterType::kBulkCount, "s"}), "percentunit");
  EXPECT_EQ(unit_of({"x", CounterType::kLargeRawCount, "MiBy"}), "bytes");
  EXPECT_EQ(unit_of({"x", CounterType::kLargeRawCount, "ms"}), "s");
  EXPECT_EQ(unit_of({"x", CounterType::kLargeRawCount, "%"}), "percentunit");
  EXPECT_EQ(unit_of({"x", CounterType::kLargeRawCount, "By/s"}), "binBps");
  EXPECT_EQ(unit_of({"x", CounterType::kTimer100Ns}), "percentunit");
  EXPECT_EQ(unit_of({"x", CounterType::kQueueLength}), "short");
}

TEST(GrafanaDashboard, NamesUnitsThatGrafanaDoesNotHaveAtTheAxis) {
  const json panel = panel_of(
      dashboard_of({set_of("shop", {{"sold", CounterType::kBulkCount, "{order}"}})}), "sold");
  EXPECT_EQ(panel.at("fieldConfig").at("defaults").at("custom").at("axisLabel"), "{order}/s");
}

TEST(GrafanaDashboard, ShowsTextsAndProvidersAsTables) {
  const json dashboard = dashboard_of(
      {set_of("shop", {{"sold"}, {"state", CounterType::kText, {}, ValueForm::kText}})});
  const json state = panel_of(dashboard, "state");
  EXPECT_EQ(state.at("type"), "table");
  EXPECT_TRUE(test::contains(std::string(state.at("targets").at(0).at("expr")),
                             "by (instance, provider, state) (meterbank_shop_state_info{"));
  EXPECT_EQ(panel_of(dashboard, "State of providers").at("type"), "state-timeline");
  EXPECT_EQ(panel_of(dashboard, "Processes").at("type"), "table");
}

}  // namespace
}  // namespace meterbank::monitoring
