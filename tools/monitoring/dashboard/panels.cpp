// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/panels.hpp"

#include <utility>

#include "monitoring/safe_text.hpp"

namespace meterbank::monitoring {
namespace {

constexpr int kColumns = 24;
constexpr int kPanelHeight = 8;

// "A", "B", ...: a panel has few queries.
std::string reference(std::size_t number) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(number)));
}

Json target(std::size_t number, const PanelQuery& query) {
  return {{"refId", reference(number)},
          {"datasource", chosen_data_source()},
          {"editorMode", "code"},
          {"expr", query.query},
          {"legendFormat", query.legend},
          {"range", true},
          {"instant", false}};
}

Json panel(std::string_view type, const PanelText& text, Json targets) {
  Json made = {{"type", type}, {"title", grafana_text(text.title)}};
  if (!text.description.empty()) made["description"] = grafana_text(text.description);
  made["datasource"] = chosen_data_source();
  made["targets"] = std::move(targets);
  return made;
}

Json steps(std::string_view color) {
  return {{"mode", "absolute"}, {"steps", Json::array({{{"value", nullptr}, {"color", color}}})}};
}

Json legend() {
  return {{"displayMode", "list"},
          {"placement", "bottom"},
          {"showLegend", true},
          {"calcs", Json::array()}};
}

}  // namespace

Json chosen_data_source() {
  return {{"type", "prometheus"}, {"uid", "${" + std::string(kDataSource) + "}"}};
}

Json time_series(const PanelText& text, const std::vector<PanelQuery>& queries,
                 const PanelUnit& unit) {
  Json targets = Json::array();
  for (const PanelQuery& query : queries) targets.push_back(target(targets.size(), query));
  Json made = panel("timeseries", text, std::move(targets));
  Json custom = {{"drawStyle", "line"},
                 {"lineWidth", 1},
                 {"fillOpacity", 10},
                 {"showPoints", "never"},
                 {"spanNulls", false},
                 {"axisPlacement", "auto"},
                 {"axisLabel", grafana_text(unit.axis_label)}};
  made["fieldConfig"] = {{"defaults",
                          {{"unit", unit.id},
                           {"color", {{"mode", "palette-classic"}}},
                           {"custom", std::move(custom)}}},
                         {"overrides", Json::array()}};
  made["options"] = {{"legend", legend()}, {"tooltip", {{"mode", "multi"}, {"sort", "desc"}}}};
  return made;
}

Json heat_map(const PanelText& text, const std::string& query, const PanelUnit& unit) {
  Json wanted = target(0, {query, {}});
  wanted["format"] = "heatmap";
  Json made = panel("heatmap", text, Json::array({std::move(wanted)}));
  made["fieldConfig"] = {{"defaults", {{"custom", Json::object()}}}, {"overrides", Json::array()}};
  made["options"] = {{"calculate", false},
                     {"cellGap", 1},
                     {"color",
                      {{"mode", "scheme"},
                       {"scheme", "Oranges"},
                       {"fill", "dark-orange"},
                       {"scale", "exponential"},
                       {"exponent", 0.5},
                       {"steps", 64},
                       {"reverse", false}}},
                     {"yAxis", {{"unit", unit.id}, {"axisPlacement", "left"}, {"reverse", false}}},
                     {"legend", {{"show", true}}},
                     {"tooltip", {{"mode", "single"}, {"yHistogram", false}}},
                     {"showValue", "never"}};
  return made;
}

Json label_table(const PanelText& text, const std::string& query) {
  Json wanted = target(0, {query, {}});
  wanted["format"] = "table";
  wanted["range"] = false;
  wanted["instant"] = true;
  Json made = panel("table", text, Json::array({std::move(wanted)}));
  made["fieldConfig"] = {{"defaults", {{"custom", {{"align", "auto"}}}}},
                         {"overrides", Json::array()}};
  made["options"] = {{"showHeader", true}, {"cellHeight", "sm"}};
  Json hidden = {{"Time", true}, {"Value", true}};
  made["transformations"] =
      Json::array({{{"id", "organize"}, {"options", {{"excludeByName", std::move(hidden)}}}}});
  return made;
}

Json up_timeline(const PanelText& text, const PanelQuery& query) {
  Json made = panel("state-timeline", text, Json::array({target(0, query)}));
  Json down = {{"text", "down"}, {"color", "red"}, {"index", 0}};
  Json up = {{"text", "up"}, {"color", "green"}, {"index", 1}};
  Json mapping = {{"type", "value"}, {"options", {{"0", std::move(down)}, {"1", std::move(up)}}}};
  made["fieldConfig"] = {{"defaults",
                          {{"color", {{"mode", "thresholds"}}},
                           {"thresholds", steps("green")},
                           {"mappings", Json::array({std::move(mapping)})},
                           {"custom", {{"lineWidth", 0}, {"fillOpacity", 70}}}}},
                         {"overrides", Json::array()}};
  made["options"] = {{"mergeValues", true},  {"showValue", "auto"},
                     {"alignValue", "left"}, {"rowHeight", 0.9},
                     {"legend", legend()},   {"tooltip", {{"mode", "single"}, {"sort", "none"}}}};
  return made;
}

void PanelGrid::begin_row(const std::string& title) {
  end_line();
  panels_.push_back({{"id", ++id_},
                     {"type", "row"},
                     {"title", grafana_text(title)},
                     {"collapsed", false},
                     {"gridPos", {{"h", 1}, {"w", kColumns}, {"x", 0}, {"y", y_}}},
                     {"panels", Json::array()}});
  ++y_;
}

void PanelGrid::add(const Json& panel, PanelWidth width) {
  const int columns = static_cast<int>(width);
  if (x_ + columns > kColumns) end_line();
  Json placed = {{"id", ++id_}};
  placed.update(panel);
  placed["gridPos"] = {{"h", kPanelHeight}, {"w", columns}, {"x", x_}, {"y", y_}};
  panels_.push_back(std::move(placed));
  x_ += columns;
}

void PanelGrid::end_line() {
  if (x_ != 0) y_ += kPanelHeight;
  x_ = 0;
}

}  // namespace meterbank::monitoring
