// SPDX-License-Identifier: Apache-2.0
#include "log_source.hpp"

#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>

#include "meterbank/pdh_log/log_filter.hpp"
#include "meterbank/windows/perf_time.hpp"

namespace meterbank::pdh {
namespace {

constexpr std::int64_t kStepsPerMillisecond = 10'000;  // of 100 ns

// A log has numbers without types: they are values by themselves.
FoundSet set_of_log() {
  auto set = std::make_shared<Counterset>();
  CounterView& counter = set->counters.emplace_back();
  counter.type = CounterType::kLargeRawCount;
  counter.form = ValueForm::kReal;
  return set;
}

}  // namespace

PDH_STATUS open_logs(const std::vector<std::string>& files, std::optional<LogMerge>& logs) {
  auto opened = LogMerge::open(files);
  if (opened) {
    logs.emplace(std::move(*opened));
    return ERROR_SUCCESS;
  }
  switch (opened.error().system_error) {
    case 0:
      return PDH_UNABLE_READ_LOG_HEADER;
    case ENOENT:
      return PDH_FILE_NOT_FOUND;
    case EACCES:
      return PDH_ACCESS_DENIED;
    default:
      return PDH_LOG_FILE_OPEN_ERROR;
  }
}

std::int64_t local_time_of(LogTime time) noexcept {
  return windows_time_of(std::uint64_t{0}) + time.time_since_epoch().count() * kStepsPerMillisecond;
}

LogTime log_time_at(std::int64_t local_time) noexcept {
  const std::int64_t steps = local_time - windows_time_of(std::uint64_t{0});
  return LogTime(std::chrono::milliseconds(steps / kStepsPerMillisecond));
}

PDH_STATUS LogSource::set_range(std::int64_t begin, std::int64_t end) {
  std::optional<LogMerge> again;
  if (const PDH_STATUS status = open_logs(files_, again); status != ERROR_SUCCESS) return status;
  logs_ = std::move(*again);
  older_ = newer_ = LogRecord();
  is_broken_ = false;
  begin_ = begin;
  end_ = end;
  return ERROR_SUCCESS;
}

PDH_STATUS LogSource::find(const PathElements& path, FoundCounter& found) {
  const auto pattern = print_elements(path);
  if (!pattern) return PDH_CSTATUS_BAD_COUNTERNAME;
  const std::vector<std::string>& paths = logs_.header().paths;
  auto chosen = choose_log_columns(paths, {*pattern});
  if (!chosen) return PDH_CSTATUS_BAD_COUNTERNAME;
  if (chosen->columns.empty()) return PDH_ENTRY_NOT_IN_LOG_FILE;
  found.set = set_of_log();
  found.counter = found.set->counters.data();
  found.columns = std::move(chosen->columns);
  found.is_wildcard = has_wildcard(path.whole_instance()) || path.index == kAnyInstanceIndex;
  if (!found.is_wildcard) found.columns.resize(1);
  if (instances_.empty()) {
    instances_.resize(paths.size());
    for (std::size_t column = 0; column < paths.size(); ++column) {
      const auto elements = parse_elements(paths[column]);
      if (!elements) continue;
      instances_[column] = numbered_name(elements->whole_instance(), elements->index.value_or(0));
    }
  }
  return ERROR_SUCCESS;
}

PDH_STATUS LogSource::collect(std::vector<FoundCounter> counters) {
  LogRecord record;
  do {
    if (is_broken_) return PDH_INVALID_DATA;
    const auto more = logs_.next(record);
    is_broken_ = !more;
    if (is_broken_) return PDH_INVALID_DATA;
    if (!*more || local_time_of(record.time) > end_) return PDH_NO_MORE_DATA;
  } while (local_time_of(record.time) < begin_);
  older_ = std::exchange(newer_, std::move(record));
  counters_ = std::move(counters);
  return ERROR_SUCCESS;
}

std::int64_t LogSource::local_time() const noexcept { return local_time_of(newer_.time); }

Reading LogSource::reading_of(std::size_t column) const {
  Reading reading;
  reading.name = instances_[column];
  const std::string& text = newer_.values[column];
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), reading.value);
  if (text.empty() || parsed.ec != std::errc{}) return reading;
  const bool is_same = column < older_.values.size() && older_.values[column] == text;
  reading.status = is_same ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_NEW_DATA;
  reading.raw_status = reading.status;
  reading.raw.value = std::bit_cast<std::uint64_t>(reading.value);
  return reading;
}

std::vector<std::vector<Reading>> LogSource::readings(CookOptions /*options*/) const {
  std::vector<std::vector<Reading>> all;
  all.reserve(counters_.size());
  for (const FoundCounter& counter : counters_) {
    std::vector<Reading>& readings = all.emplace_back();
    for (const std::size_t column : counter.columns) readings.push_back(reading_of(column));
  }
  return all;
}

}  // namespace meterbank::pdh
