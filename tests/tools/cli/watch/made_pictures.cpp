// SPDX-License-Identifier: Apache-2.0
#include "made_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/format/quantity.hpp"

namespace meterbank::cli {
namespace {

using view::Cell;
using view::Line;
using view::Mood;
using view::Picture;
using view::Place;

constexpr std::uint64_t kSecond = 1'000'000'000;

Place place_of_set() {
  Place place;
  place.screen = view::Screen::kSet;
  place.set = "shop_sales";
  place.provider = "shop@48213";
  return place;
}

Place place_of_instance() {
  auto place = place_of_set();
  place.screen = view::Screen::kInstance;
  place.instance = "bread";
  return place;
}

std::vector<double> wave(double height, double phase, std::size_t length = 40) {
  std::vector<double> values;
  for (std::size_t i = 0; i < length; ++i) {
    values.push_back(height * (1 + std::sin(static_cast<double>(i) / 5 + phase)));
  }
  return values;
}

Line line_of(std::string key, std::vector<Cell> cells, std::vector<double> trend = {}) {
  Line line;
  line.key = std::move(key);
  line.cells = std::move(cells);
  line.trend = std::move(trend);
  return line;
}

Picture picture_of(const Place& place) {
  Picture picture;
  picture.place = place;
  picture.crumbs.push_back({"meterbank", {}});
  picture.time_ns = kMadeTimeNs;
  picture.last_ns = kMadeTimeNs;
  picture.first_ns = kMadeTimeNs - 900 * kSecond;
  return picture;
}

view::Section providers() {
  view::Section section;
  section.title = "Providers";
  section.columns = {{"provider", {}, false}, {"state", {}, false}, {"age", {}, true},
                     {"sets", {}, true},      {"rows", {}, true},   {"why", {}, false}};
  section.lines = {
      line_of("shop@48213",
              {{"shop@48213"}, {"live", Mood::kGood}, {"2h05m"}, {"3"}, {"48"}, {""}}),
      line_of(
          "bakery@77",
          {{"bakery@77"}, {"hung", Mood::kWarning}, {"3d04h"}, {"1"}, {"6"}, {"silent for 8 s"}}),
      line_of("cellar@901", {{"cellar@901"},
                             {"dead", Mood::kBad},
                             {"12m30s"},
                             {"1"},
                             {"4"},
                             {"ended 12 s ago; last values are kept"}}),
      line_of("attic@5", {{"attic@5"},
                          {"unreadable", Mood::kBad},
                          {"-"},
                          {"-"},
                          {"-"},
                          {"runs as another user (uid 65534)"}})};
  for (auto& line : section.lines) line.opens = Place{};
  section.lines[1].details = {"bakery@77 lives and has not ticked for 8 s",
                              "no thread publishes; its sets: ovens"};
  section.total = section.all = section.lines.size();
  return section;
}

view::Section busiest_sets() {
  view::Section section;
  section.title = "Busiest sets";
  section.columns = {
      {"set", {}, false}, {"provider", {}, false}, {"instances", {}, true}, {"updates", {}, true}};
  for (int i = 0; i < 12; ++i) {
    section.lines.push_back(line_of(fmt::format("set{}", i),
                                    {{fmt::format("shop_sales_{}", i)},
                                     {"shop@48213"},
                                     {fmt::format("{}", 12 - i)},
                                     {fmt::format("{:.1f} k/s", 18.4 / (1 + i))}},
                                    wave(100, i)));
  }
  section.trend = "updates";
  section.total = section.lines.size();
  section.all = 14;
  section.chosen_column = 3;
  return section;
}

view::Section leases() {
  view::Section section;
  section.title = "Hardware counters";
  section.columns = {{"holder", {}, false}, {"event", {}, false}, {"cpus", {}, false}};
  section.total = section.all = 0;
  return section;
}

}  // namespace

Picture overview_of_shop() {
  auto picture = picture_of({});
  picture.problems = {"bakery@77 silent for 8 s",
                      "totals leave out 2 providers of other users; --across-users adds them"};
  picture.sections = {providers(), busiest_sets(), leases()};
  return picture;
}

Picture set_of_shop() {
  auto picture = picture_of(place_of_set());
  picture.place.sort = "turnover";
  picture.place.grouping = view::Grouping::kProvider;
  picture.crumbs.push_back({"shop@48213", {}});
  picture.crumbs.push_back({"shop_sales", place_of_set()});
  view::Section section;
  section.title = "shop_sales";
  section.columns = {{"aisle", {}, false},      {"sold", "Items that left the shop.", true},
                     {"stock", {}, true},       {"turnover", {}, true},
                     {"latency.p50", {}, true}, {"latency.p99", {}, true},
                     {"label_bytes", {}, true}, {"note", {}, false}};
  section.trend = "turnover";
  section.chosen_column = 3;
  section.lines.push_back(
      line_of("shop@48213", {{"shop@48213"}, {"6.21 k/s"}, {"1,204"}, {"18.4 k/s"}}));
  section.lines.back().is_group = true;
  const char* const aisles[] = {"bread",    "fruit",  "milk", "wine",
                                "東京の棚", "cheese", "tea",  "salt"};
  for (std::size_t i = 0; i < std::size(aisles); ++i) {
    const auto share = static_cast<double>(i + 1);
    section.lines.push_back(
        line_of(aisles[i],
                {{aisles[i]},
                 {fmt::format("{:.0f} /s", 900 / share)},
                 {fmt::format("{}", 40 * (i + 1))},
                 {fmt::format("{:.2f} k/s", 8.4 / share), i == 0 ? Mood::kWarning : Mood::kPlain},
                 {"112 µs"},
                 {"1.27 ms"},
                 {"1.5 MiB"},
                 {"open"}},
                wave(50 / share, share)));
    section.lines.back().details = {"sold: Items that left the shop.",
                                    "rate in {item}/s; id 1, shop@48213"};
    section.lines.back().opens = place_of_instance();
  }
  section.lines[3].is_pinned = true;
  section.lines[3].trend[38] = std::nan("");
  section.total = 8;
  section.all = 40;
  picture.sections = {section};
  return picture;
}

Picture instance_of_shop() {
  auto picture = picture_of(place_of_instance());
  picture.place.counter = "latency";
  picture.is_frozen = true;
  picture.place.at_ns = kMadeTimeNs;
  picture.crumbs.push_back({"shop@48213", {}});
  picture.crumbs.push_back({"shop_sales", place_of_set()});
  picture.crumbs.push_back({"bread", place_of_instance()});
  view::Section section;
  section.title = "Counters";
  section.columns = {{"counter", {}, false},
                     {"now", {}, true},
                     {"least", {}, true},
                     {"mean", {}, true},
                     {"most", {}, true}};
  section.trend = "last 40";
  for (const char* const name : {"sold", "stock", "turnover", "latency", "label_bytes"}) {
    section.lines.push_back(
        line_of(name, {{name}, {"1.27 k/s"}, {"0 /s"}, {"844 /s"}, {"2.10 k/s"}}, wave(10, 1)));
    section.lines.back().details = {std::string(name) + ": what it is", "rate in {item}/s; id 1"};
  }
  section.total = section.all = 5;
  picture.sections = {section};
  view::Plot plot;
  plot.title = "latency.p99";
  plot.unit = "us";
  view::Plot::Curve curve;
  curve.name = "latency.p99";
  view::HeatMap heat;
  heat.title = "latency";
  heat.unit = "us";
  for (int i = 0; i <= 16; ++i) heat.edges.push_back(50 * std::exp2(i / 2.0));
  constexpr std::size_t kMoments = 150;
  for (std::size_t i = 0; i < kMoments; ++i) {
    plot.times_ns.push_back(kMadeTimeNs - (kMoments - 1 - i) * 6 * kSecond);
    const bool is_gap = i > 40 && i < 46;
    const double middle = 700 + 300 * std::sin(static_cast<double>(i) / 12);
    curve.low.push_back(is_gap ? std::nan("") : middle - 50);
    // One spike of a single moment.
    curve.high.push_back(is_gap ? std::nan("") : i == 100 ? 4000 : middle + 50);
    std::vector<float> column;
    for (int row = 0; row < 16 && !is_gap; ++row) {
      const double away = std::log2(heat.edges[static_cast<std::size_t>(row)] / middle);
      column.push_back(static_cast<float>(std::floor(900 * std::exp(-2 * away * away))));
    }
    if (i == 100) column[13] = 3;
    std::copy(column.begin(), column.end(), heat.counts.add(column.size()).begin());
  }
  heat.times_ns = plot.times_ns;
  heat.largest = 900;
  plot.curves.push_back(std::move(curve));
  picture.plots.push_back(std::move(plot));
  view::Histogram histogram;
  histogram.title = "latency now";
  histogram.unit = "us";
  histogram.percentiles = {
      {"p50", "412 µs"}, {"p90", "844 µs"}, {"p99", "1.27 ms"}, {"p99.9", "3.90 ms"}};
  histogram.edges = heat.edges;
  for (const float count : heat.counts.back())
    histogram.counts.push_back(static_cast<double>(count));
  picture.heat = std::move(heat);
  picture.histogram = std::move(histogram);
  return picture;
}

std::vector<std::pair<std::string, std::string>> odd_names() {
  return {{"long", std::string(1023, 'x')},
          {"right to left", "\u05e9\u05dc\u05d5\u05dd \u202eevil\u202c"},
          {"escapes", "\x1b[2J\x1b]0;title\x07"},
          {"controls", std::string("a\tb\nc\rd\0e\x7f", 10)},
          {"C1", "\u009b31m"},
          {"wide", "東京東京東京東京東京東京東京東京東京東京"},
          {"combining",
           "e\u0301a\u0308o\u0302 e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"},
          {"joiners", "👨\u200d👩\u200d👧"},
          {"not UTF-8", "\xff\xfe\xc0\x80"},
          {"empty", ""}};
}

}  // namespace meterbank::cli
