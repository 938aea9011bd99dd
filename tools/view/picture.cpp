// SPDX-License-Identifier: Apache-2.0
#include "view/picture.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "cli/format/json.hpp"
#include "view/packed.hpp"
#include "view/picture_json.hpp"

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

template <typename List, typename Write>
void array(JsonWriter& json, const List& list, Write write) {
  json.begin_array();
  for (const auto& item : list) write(item);
  json.end_array();
}

void write_values(JsonWriter& json, std::span<const double> values, bool packed) {
  if (packed) {
    write_packed(json, values, !fit_binary32(values));
  } else {
    write_numbers(json, values);
  }
}

void write_line(JsonWriter& json, const Line& line, bool packed) {
  json.begin_object();
  write_line_members(json, line);
  if (!line.trend.empty()) write_values(json.key("trend"), line.trend, packed);
  json.end_object();
}

void write_section(JsonWriter& json, const Section& section, bool packed) {
  json.begin_object().key("title").text(section.title);
  write_columns(json.key("columns"), section.columns);
  array(json.key("lines"), section.lines,
        [&](const Line& line) { write_line(json, line, packed); });
  json.key("first").number(std::uint64_t{section.first});
  json.key("total").number(std::uint64_t{section.total});
  json.key("all").number(std::uint64_t{section.all});
  json.key("chosen").number(std::uint64_t{section.chosen_column});
  json.key("trend").text(section.trend).end_object();
}

void write_plot_times(JsonWriter& json, const Plot& plot, const Plot* before, bool packed) {
  if (!packed) {
    write_moments(json.key("times"), plot.times_ns);
  } else if (before == nullptr || before->times_ns != plot.times_ns) {
    write_packed_times(json.key("times"), plot.times_ns);
  }
}

void write_curve_values(JsonWriter& json, const Plot::Curve& curve, bool packed) {
  write_values(json.key("low"), curve.low, packed);
  if (!packed || !is_line(curve)) write_values(json.key("high"), curve.high, packed);
}

void write_plot(JsonWriter& json, const Plot& plot, const Plot* before, JsonForm form) {
  json.begin_object().key("title").text(plot.title).key("unit").text(plot.unit);
  json.key("log").boolean(plot.is_logarithmic);
  if (form.has_plot_values) write_plot_times(json, plot, before, form.is_packed);
  array(json.key("curves"), plot.curves, [&](const Plot::Curve& curve) {
    json.begin_object().key("name").text(curve.name);
    if (form.has_plot_values) write_curve_values(json, curve, form.is_packed);
    json.end_object();
  });
  if (!plot.note.empty()) json.key("note").text(plot.note);
  json.end_object();
}

void write_heat(JsonWriter& json, const HeatMap& heat) {
  json.begin_object().key("title").text(heat.title).key("unit").text(heat.unit);
  write_moments(json.key("times"), heat.times_ns);
  write_numbers(json.key("edges"), heat.edges);
  write_counts(json.key("counts"), heat.counts, 0);
  json.key("largest").number_or_null(heat.largest).end_object();
}

void write_histogram(JsonWriter& json, const Histogram& histogram) {
  json.begin_object().key("title").text(histogram.title).key("unit").text(histogram.unit);
  write_percentiles(json.key("percentiles"), histogram);
  write_numbers(json.key("edges"), histogram.edges);
  write_numbers(json.key("counts"), histogram.counts);
  json.key("outside").text(histogram.outside);
  json.end_object();
}

}  // namespace

void write_moment(JsonWriter& json, std::uint64_t realtime_ns) {
  json.number(static_cast<double>(realtime_ns) / 1e6);
}

void write_moments(JsonWriter& json, std::span<const std::uint64_t> times_ns) {
  array(json, times_ns, [&](std::uint64_t time) { write_moment(json, time); });
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  array(json, texts, [&](const std::string& text) { json.text(text); });
}

void write_numbers(JsonWriter& json, std::span<const double> values) {
  array(json, values, [&](double value) { json.rounded_or_null(value); });
}

void write_crumbs(JsonWriter& json, const std::vector<Crumb>& crumbs) {
  array(json, crumbs, [&](const Crumb& crumb) {
    json.begin_object().key("text").text(crumb.text).key("link").text(link_of(crumb.place));
    json.end_object();
  });
}

void write_columns(JsonWriter& json, const std::vector<Column>& columns) {
  array(json, columns, [&](const Column& column) {
    json.begin_object().key("heading").text(column.heading);
    json.key("help").text(column.help).key("number").boolean(column.is_number).end_object();
  });
}

void write_cell(JsonWriter& json, const Cell& cell) {
  if (cell.mood == Mood::kPlain) {
    json.text(cell.text);
    return;
  }
  json.begin_object().key("text").text(cell.text).key("mood").text(word_of(cell.mood));
  json.end_object();
}

void write_line_members(JsonWriter& json, const Line& line) {
  json.key("key").text(line.key);
  array(json.key("cells"), line.cells, [&](const Cell& cell) { write_cell(json, cell); });
  if (line.opens) json.key("opens").text(link_of(*line.opens));
  if (!line.details.empty()) write_texts(json.key("details"), line.details);
  if (line.is_pinned) json.key("pinned").boolean(true);
  if (line.is_group) json.key("group").boolean(true);
}

void write_counts(JsonWriter& json, const HeatColumns& columns, std::size_t first) {
  json.begin_array();
  for (std::size_t column = first; column < columns.size(); ++column) {
    array(json, columns[column], [&](float count) { json.number_or_null(count); });
  }
  json.end_array();
}

void write_percentiles(JsonWriter& json, const Histogram& histogram) {
  array(json, histogram.percentiles, [&](const Histogram::Percentile& percentile) {
    json.begin_object().key("name").text(percentile.name).key("text").text(percentile.text);
    json.end_object();
  });
}

bool is_line(const Plot::Curve& curve) {
  return std::equal(curve.low.begin(), curve.low.end(), curve.high.begin(), curve.high.end(),
                    is_same_number);
}

std::string json_of(const Picture& picture, JsonForm form) {
  JsonWriter json;
  json.begin_object().key("link").text(link_of(picture.place));
  write_crumbs(json.key("crumbs"), picture.crumbs);
  write_moment(json.key("time"), picture.time_ns);
  write_moment(json.key("first"), picture.first_ns);
  write_moment(json.key("last"), picture.last_ns);
  json.key("live").boolean(picture.is_live).key("frozen").boolean(picture.is_frozen);
  write_texts(json.key("problems"), picture.problems);
  array(json.key("sections"), picture.sections,
        [&](const Section& section) { write_section(json, section, form.is_packed); });
  const Plot* before = nullptr;
  array(json.key("plots"), picture.plots, [&](const Plot& plot) {
    write_plot(json, plot, before, form);
    before = &plot;
  });
  if (picture.heat) write_heat(json.key("heat"), *picture.heat);
  if (picture.histogram) write_histogram(json.key("histogram"), *picture.histogram);
  json.end_object();
  return json.take();
}

}  // namespace meterbank::view
