// SPDX-License-Identifier: Apache-2.0
#include "page/feed/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cli/format/json.hpp"

namespace meterbank::page {
namespace {

using Times = std::vector<std::uint64_t>;

// Appends members to a JSON object.
std::string with_members(std::string object, const std::string& members) {
  object.pop_back();
  return object + ',' + members + '}';
}

struct Kept {
  std::size_t drop = 0, keep = 0;

  [[nodiscard]] std::string json() const { return fmt::format("[{},{}]", drop, keep); }
};

bool is_same(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

// How many of the first `count` numbers are the same. Nearly all are, so blocks are compared bit by
// bit, and single numbers only in a block that differs.
std::size_t count_same(const double* one, const double* other, std::size_t count) {
  constexpr std::size_t kBlock = 32;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    std::uint64_t differences = 0;
    for (std::size_t at = begin; at < end; ++at) {
      differences |=
          std::bit_cast<std::uint64_t>(one[at]) ^ std::bit_cast<std::uint64_t>(other[at]);
    }
    for (std::size_t at = begin; differences != 0 && at < end; ++at) {
      if (!is_same(one[at], other[at])) return at;
    }
  }
  return count;
}

// How many moments of `now` are those of `before` behind the ones that have left.
Kept kept_moments(const Times& before, const Times& now) {
  if (now.empty()) return {before.size(), 0};
  const auto found = std::lower_bound(before.begin(), before.end(), now.front());
  const auto differs = std::mismatch(found, before.end(), now.begin(), now.end()).first;
  return {static_cast<std::size_t>(found - before.begin()),
          static_cast<std::size_t>(differs - found)};
}

bool is_like(const view::Plot& one, const view::Plot& other) {
  return one.title == other.title && one.unit == other.unit &&
         std::equal(one.curves.begin(), one.curves.end(), other.curves.begin(), other.curves.end(),
                    [](const auto& a, const auto& b) { return a.name == b.name; });
}

Kept kept_of(const view::Plot& before, const view::Plot& now) {
  Kept kept = kept_moments(before.times_ns, now.times_ns);
  for (std::size_t i = 0; i < now.curves.size(); ++i) {
    const auto& was = before.curves[i];
    const auto& is = now.curves[i];
    kept.keep = count_same(was.low.data() + kept.drop, is.low.data(), kept.keep);
    kept.keep = count_same(was.high.data() + kept.drop, is.high.data(), kept.keep);
  }
  return kept;
}

Kept kept_of(const view::HeatMap& before, const view::HeatMap& now) {
  Kept kept = kept_moments(before.times_ns, now.times_ns);
  for (std::size_t at = 0; at < kept.keep; ++at) {
    if (!std::ranges::equal(before.counts[kept.drop + at], now.counts[at])) kept.keep = at;
  }
  return kept;
}

// How much of a trend is still in the next one, which may have grown or moved by up to two moments.
Kept kept_of_trend(const std::vector<double>& before, const std::vector<double>& now) {
  const std::size_t drop_most = std::min<std::size_t>(before.size(), 2);
  for (std::size_t drop = 0; drop <= drop_most; ++drop) {
    const std::size_t keep = before.size() - drop;
    if (keep <= now.size() && count_same(now.data(), before.data() + drop, keep) == keep) {
      return {drop, keep};
    }
  }
  return {};
}

// How much of the trend before stays, of each line of each section; appends it to `json`, too.
std::vector<std::vector<std::size_t>> kept_trends(const view::Picture& before,
                                                  const view::Picture& now, std::string& json) {
  std::vector<std::vector<std::size_t>> kept_all(now.sections.size());
  json += '[';
  for (std::size_t s = 0; s < now.sections.size(); ++s) {
    const auto& lines = now.sections[s].lines;
    json += s == 0 ? "[" : ",[";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_known = s < before.sections.size() && i < before.sections[s].lines.size() &&
                            before.sections[s].lines[i].key == lines[i].key;
      const Kept kept =
          is_known ? kept_of_trend(before.sections[s].lines[i].trend, lines[i].trend) : Kept{};
      kept_all[s].push_back(kept.keep);
      json += (i == 0 ? "" : ",") + kept.json();
    }
    json += ']';
  }
  json += ']';
  return kept_all;
}

void append_column(std::string& out, const std::vector<double>& values) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

bool is_one_line(const view::Plot::Curve& curve) {
  return std::equal(curve.low.begin(), curve.low.end(), curve.high.begin(), curve.high.end(),
                    is_same);
}

}  // namespace

std::string json_of(const Shown& shown, bool plots_apart) {
  view::KnownMoments known;
  if (plots_apart) {
    for (const auto& plot : shown.picture.plots) known.plots.push_back(plot.times_ns.size());
  }
  std::string json = view::json_of(shown.picture, known);
  if (!shown.over) return json;
  return with_members(std::move(json),
                      fmt::format("\"over\":{},\"shift\":{}", view::json_of(*shown.over),
                                  -static_cast<double>(shown.later_ns) / 1e6));
}

std::optional<std::string> tail_json(const Shown& before, const Shown& now) {
  const auto& was = before.picture;
  if (now.over || !(was.place == now.picture.place) || now.picture.plots.empty() ||
      was.plots.size() != now.picture.plots.size() ||
      was.heat.has_value() != now.picture.heat.has_value()) {
    return std::nullopt;
  }
  view::KnownMoments known;
  std::string kept_all;
  for (std::size_t i = 0; i < was.plots.size(); ++i) {
    const auto& plot = now.picture.plots[i];
    if (!is_like(was.plots[i], plot)) return std::nullopt;
    const Kept kept = kept_of(was.plots[i], plot);
    kept_all += (i == 0 ? "" : ",") + kept.json();
    known.plots.push_back(kept.keep);
  }
  std::string members = "\"kept\":[" + kept_all + "],\"trends\":";
  known.trends = kept_trends(was, now.picture, members);
  if (const auto& heat = now.picture.heat) {
    if (was.heat->edges != heat->edges) return std::nullopt;
    const Kept kept = kept_of(*was.heat, *heat);
    known.heat = kept.keep;
    members += ",\"heatKept\":" + kept.json();
  }
  return with_members(view::json_of(now.picture, known), members);
}

std::string series_of(const Shown& shown) {
  cli::JsonWriter json;
  json.begin_object().key("plots").begin_array();
  std::string columns;
  for (const auto& plot : shown.picture.plots) {
    json.begin_object().key("title").text(plot.title).key("unit").text(plot.unit);
    json.key("log").boolean(plot.is_logarithmic);
    json.key("points").number(std::uint64_t{plot.times_ns.size()}).key("curves").begin_array();
    std::vector<double> times;
    times.reserve(plot.times_ns.size());
    for (const auto time : plot.times_ns) times.push_back(static_cast<double>(time) / 1e6);
    append_column(columns, times);
    for (const auto& curve : plot.curves) {
      const bool is_line = is_one_line(curve);
      json.begin_object().key("name").text(curve.name).key("same").boolean(is_line).end_object();
      append_column(columns, curve.low);
      if (!is_line) append_column(columns, curve.high);
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  std::string header = json.take();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const auto bytes = static_cast<std::uint32_t>(header.size());
  std::string out = "MBS1";
  out.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  return out + header + columns;
}

std::string event_of(const char* name, const std::string& json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

}  // namespace meterbank::page
