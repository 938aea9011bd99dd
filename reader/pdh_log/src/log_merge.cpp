// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_merge.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

// For each path of `other`, its place in `first`; a path that is there twice is taken in order.
Result<std::vector<std::size_t>> match_paths(const std::vector<std::string>& first,
                                             const std::vector<std::string>& other,
                                             const std::string& names) {
  std::unordered_map<std::string, std::deque<std::size_t>, KeyedFoldedHash, FoldedEqual> places;
  for (std::size_t i = 0; i < first.size(); ++i) places[first[i]].push_back(i);
  std::vector<std::size_t> columns;
  const char* const remedy = "relog each file with the same -c PATH first";
  for (const auto& path : other) {
    const auto place = places.find(path);
    if (place == places.end() || place->second.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  names + ": different counters: only the second has '" + path + "'", remedy);
    }
    columns.push_back(place->second.front());
    place->second.pop_front();
  }
  if (other.size() < first.size()) {
    return fail(ErrorCode::kInvalidArgument,
                names + ": different counters: " + std::to_string(first.size()) + " and " +
                    std::to_string(other.size()),
                remedy);
  }
  return columns;
}

}  // namespace

Result<LogMerge::Source> LogMerge::join(LogReader log, const LogHeader& first,
                                        const std::string& first_name) {
  auto columns = match_paths(first.paths, log.header().paths, first_name + " and " + log.name());
  if (!columns) return tl::make_unexpected(columns.error());
  std::chrono::minutes shift{0};
  const auto& zone = log.header().zone;
  if (zone && first.zone) {
    shift = std::chrono::minutes(zone->bias_minutes - first.zone->bias_minutes);
  }
  return Source{std::move(log), std::move(*columns), shift, {}, false};
}

Result<LogMerge> LogMerge::open(std::span<const std::string> files) {
  LogMerge merge;
  merge.sources_.reserve(files.size());
  for (const auto& file : files) {
    auto log = LogReader::open(file);
    if (!log) return tl::make_unexpected(log.error());
    // The first file is joined to itself, so its columns are where they are.
    const auto first = merge.sources_.empty() ? log->header() : merge.header();
    const auto first_name = merge.sources_.empty() ? file : merge.sources_.front().log.name();
    auto source = join(std::move(*log), first, first_name);
    if (!source) return tl::make_unexpected(source.error());
    if (auto head = advance(*source); !head) return tl::make_unexpected(head.error());
    merge.sources_.push_back(std::move(*source));
  }
  return merge;
}

Result<void> LogMerge::advance(Source& source) {
  const auto more = source.log.next(source.head);
  if (!more) return tl::make_unexpected(more.error());
  source.has_head = *more;
  source.head.time += source.shift;
  return {};
}

Result<bool> LogMerge::next(LogRecord& record) {
  // Not when it was taken: a fault behind a record is no fault of that record.
  if (taken_) {
    if (auto head = advance(sources_[*taken_]); !head) return tl::make_unexpected(head.error());
    taken_.reset();
  }
  Source* earliest = nullptr;
  for (auto& source : sources_) {
    if (!source.has_head) continue;
    if (earliest == nullptr || source.head.time < earliest->head.time) earliest = &source;
  }
  if (earliest == nullptr) return false;
  record.time = earliest->head.time;
  record.values.resize(earliest->columns.size());
  for (std::size_t i = 0; i < earliest->columns.size(); ++i) {
    record.values[earliest->columns[i]] = earliest->head.values[i];
  }
  taken_ = static_cast<std::size_t>(earliest - sources_.data());
  return true;
}

}  // namespace meterbank
