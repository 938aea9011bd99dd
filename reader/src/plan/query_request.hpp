// SPDX-License-Identifier: Apache-2.0
//
// What a query was asked for, read once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "match/pattern_match.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/item_query.hpp"

namespace meterbank {

// Immutable, shared by a query and the parts that were compiled for it. It has patterns or items.
struct QueryRequest {
  struct Pattern {
    std::string text;
    PatternMatch as_counter;
    std::optional<PatternMatch> as_instance;  // of a second word
    bool is_asked = true;                     // false: the default, it stands for "everything"

    // A set decides for itself, so that no provider changes what the path means in another's set.
    [[nodiscard]] const PatternMatch& reading_in(const Counterset& set) const;
    // The reading with a number; null: none has one.
    [[nodiscard]] const PatternMatch* numbered() const noexcept;
  };
  struct Item {
    explicit Item(QueryItem asked) : item(std::move(asked)), name(item.instances) {}

    QueryItem item;
    Glob name;
  };

  std::vector<Pattern> patterns;
  std::vector<Glob> excluded;
  std::vector<Item> items;

  // Fails with kBadPath.
  static Result<QueryRequest> of_patterns(const std::vector<std::string>& patterns,
                                          const std::vector<std::string>& excluded);
};

// Whether an item's rows are summed, for which all of them are needed.
[[nodiscard]] bool wants_total(const QueryRequest::Item& asked, InstanceKind kind) noexcept;

}  // namespace meterbank
