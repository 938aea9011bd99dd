// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/table/pdh_lines.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

Result<std::unique_ptr<TableLines>> PdhLines::open(const std::string& path) {
  auto log = LogReader::open(path);
  if (!log) return tl::make_unexpected(std::move(log.error()));
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  std::unique_ptr<PdhLines> lines(
      new PdhLines(*std::move(log), unknown ? 0 : std::uint64_t{bytes}));
  if (auto read = lines->read_header(); !read) return tl::make_unexpected(std::move(read.error()));
  return lines;
}

// What is no path of a counter is a counter of that name.
PdhLines::Column PdhLines::column_of(const std::string& path) {
  Column column{"log", "columns", "", path};
  const auto parsed = parse_path(path);
  if (!parsed || !parsed->counter) return column;
  const auto set = literal_of(parsed->set);
  const auto counter = literal_of(*parsed->counter);
  const auto provider = literal_of(parsed->provider.value_or("log"));
  const auto instance = literal_of(parsed->whole_instance().value_or(""));
  if (!set || !counter || !provider || !instance) return column;
  column = {*provider, *set, *instance, *counter};
  if (parsed->index && *parsed->index != 0) column.instance += fmt::format("#{}", *parsed->index);
  return column;
}

Result<void> PdhLines::read_header() {
  std::set<Column> known;
  for (const std::string& path : log_.header().paths) {
    columns_.push_back(column_of(path));
    if (known.insert(columns_.back()).second) continue;
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: two columns are '{}'", log_.name(), escape_for_terminal(path)),
                "meterbank relog, with each path once");
  }
  // So that the first record is read.
  column_ = columns_.size();
  return {};
}

Result<bool> PdhLines::next(TableValue& value) {
  while (column_ == columns_.size()) {
    auto read = log_.next(record_);
    if (!read || !*read) return read;
    ++line_;
    column_ = 0;
    const auto bias =
        std::chrono::minutes(log_.header().zone ? log_.header().zone->bias_minutes : 0);
    const auto since_1970 = record_.time.time_since_epoch() + bias;
    if (since_1970.count() <= 0) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: a time before 1970", log_.name()),
                  "meterbank relog, from a later time on");
    }
    time_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(since_1970).count());
  }
  const Column& column = columns_[column_];
  value = {line_,
           time_ns_,
           column.provider,
           column.set,
           column.instance,
           column.counter,
           std::move(record_.values[column_]),
           {},
           {}};
  ++column_;
  return true;
}

std::string PdhLines::note() const {
  if (log_.header().zone) return {};
  return log_.name() + " does not say in which zone its times are: they were taken for UTC";
}

}  // namespace meterbank::cli
