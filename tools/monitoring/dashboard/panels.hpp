// SPDX-License-Identifier: Apache-2.0
//
// Panels of Grafana as JSON, and their places on the dashboard.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "monitoring/dashboard/unit_ids.hpp"

namespace meterbank::monitoring {

// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

// Name of the variable with the data source. No label has capitals, so none has this name.
inline constexpr std::string_view kDataSource = "DATASOURCE";

// The data source that the reader of the dashboard has chosen.
[[nodiscard]] Json chosen_data_source();

struct PanelQuery {
  std::string query;
  std::string legend;  // "{{instance}} {{provider}}"
};

enum class PanelWidth : int { kThird = 8, kHalf = 12, kWhole = 24 };

struct PanelText {
  std::string title, description;  // for grafana_text(), which the panel applies
};

// What one panel shows; the place comes from PanelGrid.
[[nodiscard]] Json time_series(const PanelText& text, const std::vector<PanelQuery>& queries,
                               const PanelUnit& unit);
[[nodiscard]] Json heat_map(const PanelText& text, const std::string& query, const PanelUnit& unit);
// The labels of all series as they are now.
[[nodiscard]] Json label_table(const PanelText& text, const std::string& query);
// 1 is up, 0 is down.
[[nodiscard]] Json up_timeline(const PanelText& text, const PanelQuery& query);

// Puts panels side by side, and numbers them.
class PanelGrid {
 public:
  // A line with a title, below which panels begin.
  void begin_row(const std::string& title);
  void add(const Json& panel, PanelWidth width);
  [[nodiscard]] Json take() { return std::move(panels_); }

 private:
  void end_line();

  Json panels_ = Json::array();
  int id_ = 0;
  int x_ = 0, y_ = 0;
};

}  // namespace meterbank::monitoring
