// SPDX-License-Identifier: Apache-2.0
#include "view/picture.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "cli/format/json.hpp"

namespace meterbank::view {
namespace {

using cli::JsonWriter;

std::string_view word_of(Mood mood) {
  switch (mood) {
    case Mood::kPlain:
      return "plain";
    case Mood::kFaint:
      return "faint";
    case Mood::kGood:
      return "good";
    case Mood::kWarning:
      return "warning";
    case Mood::kBad:
      return "bad";
  }
  return "plain";
}

// Milliseconds with a fraction: what the clocks of a browser and of plots count in.
void moment(JsonWriter& json, std::uint64_t realtime_ns) {
  json.number(static_cast<double>(realtime_ns) / 1e6);
}

template <typename List, typename Write>
void array(JsonWriter& json, std::string_view key, const List& list, Write write) {
  json.key(key).begin_array();
  for (const auto& item : list) write(item);
  json.end_array();
}

void numbers(JsonWriter& json, std::string_view key, std::span<const double> values) {
  array(json, key, values, [&](double value) { json.rounded_or_null(value); });
}

void times(JsonWriter& json, std::span<const std::uint64_t> times_ns) {
  array(json, "times", times_ns, [&](std::uint64_t time) { moment(json, time); });
}

// All behind the first `known`.
template <typename T>
std::span<const T> behind(const std::vector<T>& list, std::size_t known) {
  return std::span(list).subspan(std::min(known, list.size()));
}

// 0 where the list says nothing of it.
std::size_t known_of(std::span<const std::size_t> list, std::size_t index) {
  return index < list.size() ? list[index] : 0;
}

void texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  array(json, key, values, [&](const std::string& text) { json.text(text); });
}

void write_line(JsonWriter& json, const Line& line, std::size_t known) {
  json.begin_object().key("key").text(line.key);
  array(json, "cells", line.cells, [&](const Cell& cell) {
    if (cell.mood == Mood::kPlain) {
      json.text(cell.text);
      return;
    }
    json.begin_object().key("text").text(cell.text).key("mood").text(word_of(cell.mood));
    json.end_object();
  });
  const auto trend = behind(line.trend, known);
  if (!trend.empty()) numbers(json, "trend", trend);
  if (line.opens) json.key("opens").text(link_of(*line.opens));
  if (!line.details.empty()) texts(json, "details", line.details);
  if (line.is_pinned) json.key("pinned").boolean(true);
  if (line.is_group) json.key("group").boolean(true);
  json.end_object();
}

void write_section(JsonWriter& json, const Section& section, std::span<const std::size_t> known) {
  json.begin_object().key("title").text(section.title);
  array(json, "columns", section.columns, [&](const Column& column) {
    json.begin_object().key("heading").text(column.heading);
    json.key("help").text(column.help).key("number").boolean(column.is_number).end_object();
  });
  json.key("lines").begin_array();
  for (std::size_t i = 0; i < section.lines.size(); ++i) {
    write_line(json, section.lines[i], known_of(known, i));
  }
  json.end_array();
  json.key("first").number(std::uint64_t{section.first});
  json.key("total").number(std::uint64_t{section.total});
  json.key("all").number(std::uint64_t{section.all});
  json.key("chosen").number(std::uint64_t{section.chosen_column});
  json.key("trend").text(section.trend).end_object();
}

void write_plot(JsonWriter& json, const Plot& plot, std::size_t known) {
  json.begin_object().key("title").text(plot.title).key("unit").text(plot.unit);
  json.key("log").boolean(plot.is_logarithmic);
  times(json, behind(plot.times_ns, known));
  array(json, "curves", plot.curves, [&](const Plot::Curve& curve) {
    json.begin_object().key("name").text(curve.name);
    numbers(json, "low", behind(curve.low, known));
    numbers(json, "high", behind(curve.high, known));
    json.end_object();
  });
  json.end_object();
}

void write_heat(JsonWriter& json, const HeatMap& heat, std::size_t known) {
  json.key("heat").begin_object().key("title").text(heat.title).key("unit").text(heat.unit);
  times(json, behind(heat.times_ns, known));
  numbers(json, "edges", heat.edges);
  json.key("counts").begin_array();
  for (std::size_t column = known; column < heat.counts.size(); ++column) {
    json.begin_array();
    for (const float count : heat.counts[column]) json.number_or_null(count);
    json.end_array();
  }
  json.end_array();
  json.key("largest").number_or_null(heat.largest).end_object();
}

void write_histogram(JsonWriter& json, const Histogram& histogram) {
  json.key("histogram").begin_object().key("title").text(histogram.title);
  json.key("unit").text(histogram.unit);
  array(json, "percentiles", histogram.percentiles, [&](const Histogram::Percentile& percentile) {
    json.begin_object().key("name").text(percentile.name).key("text").text(percentile.text);
    json.end_object();
  });
  numbers(json, "edges", histogram.edges);
  numbers(json, "counts", histogram.counts);
  json.end_object();
}

}  // namespace

std::string json_of(const Picture& picture, const KnownMoments& known) {
  JsonWriter json;
  json.begin_object().key("link").text(link_of(picture.place));
  array(json, "crumbs", picture.crumbs, [&](const Crumb& crumb) {
    json.begin_object().key("text").text(crumb.text).key("link").text(link_of(crumb.place));
    json.end_object();
  });
  moment(json.key("time"), picture.time_ns);
  moment(json.key("first"), picture.first_ns);
  moment(json.key("last"), picture.last_ns);
  json.key("live").boolean(picture.is_live).key("frozen").boolean(picture.is_frozen);
  texts(json, "problems", picture.problems);
  json.key("sections").begin_array();
  for (std::size_t i = 0; i < picture.sections.size(); ++i) {
    const bool is_new = i >= known.trends.size();
    write_section(json, picture.sections[i],
                  is_new ? std::span<const std::size_t>() : known.trends[i]);
  }
  json.end_array();
  json.key("plots").begin_array();
  for (std::size_t i = 0; i < picture.plots.size(); ++i) {
    write_plot(json, picture.plots[i], known_of(known.plots, i));
  }
  json.end_array();
  if (picture.heat) write_heat(json, *picture.heat, known.heat);
  if (picture.histogram) write_histogram(json, *picture.histogram);
  json.end_object();
  return json.take();
}

}  // namespace meterbank::view
