// SPDX-License-Identifier: Apache-2.0
#include "page/feed/answers.hpp"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "cli/format/json.hpp"
#include "view/packed.hpp"

namespace meterbank::page {
namespace {

// Appends members to a JSON object.
std::string with_members(std::string object, const std::string& members) {
  object.pop_back();
  return object + ',' + members + '}';
}

template <typename T>
void append_column(std::string& out, const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  out.append((8 - out.size() % 8) % 8, '\0');
}

void append_curve(const view::Plot::Curve& curve, cli::JsonWriter& header, std::string& columns) {
  const bool is_line = view::is_line(curve);
  const bool is_wide = !view::fit_binary32(curve.low) || !view::fit_binary32(curve.high);
  header.begin_object().key("name").text(curve.name).key("same").boolean(is_line);
  header.key("wide").boolean(is_wide).end_object();
  for (const auto* values : {&curve.low, is_line ? nullptr : &curve.high}) {
    if (values == nullptr) continue;
    if (is_wide) {
      append_column(columns, *values);
    } else {
      append_column(columns, view::binary32_of(*values));
    }
  }
}

void append_plots(const std::vector<view::Plot>& plots, cli::JsonWriter& header,
                  std::string& columns) {
  header.begin_array();
  const view::Plot* before = nullptr;
  for (const auto& plot : plots) {
    const bool has_times = before == nullptr || before->times_ns != plot.times_ns;
    header.begin_object().key("title").text(plot.title).key("unit").text(plot.unit);
    header.key("log").boolean(plot.is_logarithmic);
    header.key("points").number(std::uint64_t{plot.times_ns.size()});
    header.key("times").boolean(has_times).key("curves").begin_array();
    if (has_times) append_column(columns, view::milliseconds_of(plot.times_ns));
    for (const auto& curve : plot.curves) append_curve(curve, header, columns);
    header.end_array().end_object();
    before = &plot;
  }
  header.end_array();
}

}  // namespace

std::string json_of(const Shown& shown, view::JsonForm form) {
  std::string json = view::json_of(shown.picture, form);
  if (!shown.over) return json;
  return with_members(std::move(json),
                      fmt::format("\"over\":{},\"shift\":{}", view::json_of(*shown.over, form),
                                  -static_cast<double>(shown.later_ns) / 1e6));
}

std::string series_of(const Shown& shown) {
  cli::JsonWriter header;
  std::string columns;
  append_plots(shown.picture.plots, header.begin_object().key("plots"), columns);
  if (shown.over) append_plots(shown.over->plots, header.key("over"), columns);
  if (shown.picture.is_unfinished) header.key("unfinished").boolean(true);
  header.end_object();
  std::string text = header.take();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto bytes = static_cast<std::uint32_t>(text.size());
  std::string out = "MBS2";
  out.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  return out + text + columns;
}

std::string event_of(const char* name, const std::string& json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

}  // namespace meterbank::page
