// SPDX-License-Identifier: Apache-2.0
#include "query_request.hpp"

#include <utility>

#include "meterbank/reader/path.hpp"

namespace meterbank {

const PatternMatch& QueryRequest::Pattern::reading_in(const Counterset& set) const {
  return as_instance && as_counter.counters_of(set).empty() ? *as_instance : as_counter;
}

const PatternMatch* QueryRequest::Pattern::numbered() const noexcept {
  const PatternMatch& match = as_instance ? *as_instance : as_counter;
  return match.has_number() ? &match : nullptr;
}

Result<QueryRequest> QueryRequest::of_patterns(const std::vector<std::string>& patterns,
                                               const std::vector<std::string>& excluded) {
  static const std::vector<std::string> everything{"*"};
  QueryRequest request;
  for (const std::string& text : patterns.empty() ? everything : patterns) {
    auto path = parse_path(text);
    if (!path) return tl::make_unexpected(std::move(path.error()));
    std::optional<PatternMatch> as_instance;
    if (path->second_word) as_instance.emplace(path->reading_as_instance());
    request.patterns.push_back({text, PatternMatch(path->reading_as_counter()),
                                std::move(as_instance), !patterns.empty()});
  }
  request.excluded.reserve(excluded.size());
  for (const std::string& text : excluded) request.excluded.emplace_back(text, GlobOptions{true});
  return request;
}

}  // namespace meterbank
