// SPDX-License-Identifier: Apache-2.0
//
// Which rows consumers are shown that mostly ask for a row by its set and name alone.
#pragma once

#include <string_view>
#include <unordered_set>

#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {

// One for each list of rows, which are handed over in the order of comes_before().
class RowsByName {
 public:
  // `has_others`: some rows are of providers that are not trusted.
  explicit RowsByName(bool has_others) noexcept : has_others_(has_others) {}

  // False for a row that would pass for another one: called as the total that the reader makes, or
  // a row of an untrusted provider called as one of a trusted provider, or as the one row of a set
  // that providers share. The instance outlives this.
  [[nodiscard]] bool shows(const ProviderView& provider, const Counterset& set,
                           const InstanceView& instance) {
    if (is_called_total(set, instance)) return false;
    if (!provider.trusted) return !is_shared(set.instances) && !trusted_.contains(instance.name);
    if (has_others_) trusted_.insert(instance.name);
    return true;
  }

 private:
  bool has_others_;
  std::unordered_set<std::string_view, KeyedFoldedHash, FoldedEqual> trusted_;
};

}  // namespace meterbank
