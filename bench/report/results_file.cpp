// SPDX-License-Identifier: Apache-2.0
#include "report/results_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

namespace meterbank::bench {
namespace {

// Keeps its keys in the order in which they are written here.
using Json = nlohmann::ordered_json;
using Failure = tl::unexpected<std::string>;

constexpr std::string_view kFormat = "meterbank_bench 1";

Json json_of(const Conditions& conditions) {
  return {{"date", conditions.date},
          {"processor", conditions.processor},
          {"family", conditions.family},
          {"model", conditions.model},
          {"processors", conditions.processors},
          {"vector_bits", conditions.vector_bits},
          {"kernel", conditions.kernel},
          {"compiler", conditions.compiler},
          {"build", conditions.build}};
}

Conditions conditions_of(const Json& json) {
  Conditions conditions;
  conditions.date = json.at("date").get<std::string>();
  conditions.processor = json.at("processor").get<std::string>();
  conditions.family = json.at("family").get<std::string>();
  conditions.model = json.at("model").get<std::string>();
  conditions.processors = json.at("processors").get<unsigned>();
  conditions.vector_bits = json.at("vector_bits").get<unsigned>();
  conditions.kernel = json.at("kernel").get<std::string>();
  conditions.compiler = json.at("compiler").get<std::string>();
  conditions.build = json.at("build").get<std::string>();
  return conditions;
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> number_of(const Json& json) {
  if (json.is_null()) return {};
  return json.get<double>();
}

// A number that is not finite becomes null.
Json json_of(const std::optional<Spread>& spread, bool once) {
  if (!spread) return nullptr;
  if (once) return {{"median", spread->median}};
  return {{"p10", spread->p10}, {"median", spread->median}, {"p90", spread->p90}};
}

std::optional<Spread> spread_of(const Json& json) {
  if (json.is_null() || json.at("median").is_null()) return {};
  const double median = json.at("median").get<double>();
  const bool has_ends = json.contains("p10") && json.contains("p90");
  if (!has_ends) return Spread{median, median, median};
  if (json.at("p10").is_null() || json.at("p90").is_null()) return {};
  return Spread{json.at("p10").get<double>(), median, json.at("p90").get<double>()};
}

Json json_of(const ResultRow& row) {
  return {{"group", row.group},
          {"name", row.name},
          {"measured", json_of(row.measured, row.once)},
          {"limit", json_of(row.limit, row.once)},
          {"unit", row.unit},
          {"ratio", json_of(row.ratio, row.once)},
          {"instructions", json_of(row.instructions)},
          {"hold", json_of(row.hold)},
          {"hold_is_ratio", row.hold_is_ratio},
          {"verdict", row.verdict}};
}

ResultRow row_of(const Json& json) {
  ResultRow row;
  row.group = json.at("group").get<std::string>();
  row.name = json.at("name").get<std::string>();
  row.unit = json.at("unit").get<std::string>();
  row.measured = spread_of(json.at("measured"));
  row.once = row.measured && !json.at("measured").contains("p10");
  row.limit = spread_of(json.at("limit"));
  row.ratio = spread_of(json.at("ratio"));
  row.instructions = number_of(json.at("instructions"));
  row.hold = number_of(json.at("hold"));
  row.hold_is_ratio = json.at("hold_is_ratio").get<bool>();
  row.verdict = json.at("verdict").get<std::string>();
  return row;
}

// `place` is where reading fails, if it does: "row 3: ".
Results results_of(const Json& json, std::string& place) {
  Results results;
  results.conditions = conditions_of(json.at("conditions"));
  results.quick = json.at("quick").get<bool>();
  for (const Json& row : json.at("rows")) {
    place = fmt::format("row {}: ", results.rows.size() + 1);
    results.rows.push_back(row_of(row));
  }
  return results;
}

// Without "[json.exception.type_error.302] " in front.
std::string reason(const Json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t close = what.find("] ");
  return std::string(close == std::string_view::npos ? what : what.substr(close + 2));
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Failure cannot_write(const std::string& path, const char* why) {
  return Failure(
      fmt::format("cannot write {}: {}; name a file in a folder that you may write to", path, why));
}

constexpr std::string_view kWanted = "name a file that meterbank_bench --json wrote";

Failure cannot_use(const std::string& path, const std::string& why) {
  return Failure(fmt::format("cannot use {}: {}; {}", path, why, kWanted));
}

}  // namespace

tl::expected<void, std::string> try_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) return cannot_write(path, std::strerror(EISDIR));
  const std::string temporary = path + ".tmp";
  if (!File(std::fopen(temporary.c_str(), "w"))) return cannot_write(path, std::strerror(errno));
  ::unlink(temporary.c_str());
  return {};
}

tl::expected<void, std::string> write_results(const std::string& path, const Results& results) {
  Json json = {{"format", kFormat}, {"quick", results.quick}};
  json["conditions"] = json_of(results.conditions);
  json["rows"] = Json::array();
  for (const ResultRow& row : results.rows) json["rows"].push_back(json_of(row));
  const std::string text = json.dump(1) + "\n";

  const std::string temporary = path + ".tmp";
  File file(std::fopen(temporary.c_str(), "w"));
  const bool is_written =
      file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const bool is_closed = is_written && std::fclose(file.release()) == 0;
  if (is_closed && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Failure failure = cannot_write(path, std::strerror(errno));
  ::unlink(temporary.c_str());
  return failure;
}

tl::expected<Results, std::string> read_results(const std::string& path) {
  File file(std::fopen(path.c_str(), "r"));
  std::string text;
  char piece[1 << 16];
  for (std::size_t size = 1; file && size != 0;) {
    size = std::fread(piece, 1, sizeof piece, file.get());
    text.append(piece, size);
  }
  if (!file || std::ferror(file.get()) != 0) {
    return Failure(fmt::format("cannot read {}: {}; {}", path, std::strerror(errno), kWanted));
  }
  std::string place;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != kFormat) {
      return cannot_use(path, fmt::format("it does not say \"format\": \"{}\"", kFormat));
    }
    return results_of(json, place);
  } catch (const Json::exception& error) {
    return cannot_use(path, place + reason(error));
  }
}

}  // namespace meterbank::bench
