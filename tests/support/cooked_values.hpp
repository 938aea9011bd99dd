// SPDX-License-Identifier: Apache-2.0
//
// The values of a sample all at once, for tests that look at several of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meterbank/reader/sample.hpp"

namespace meterbank::test {

// With what it refers to, so it outlives the iteration.
struct KeptValue : Value {
  KeptValue() = default;
  explicit KeptValue(const Value& value)
      : Value(value), kept_row(std::make_shared<const Row>(*value.row)) {
    row = kept_row.get();
    if (value.distribution != nullptr) {
      kept_distribution = std::make_shared<const Distribution>(*value.distribution);
      distribution = kept_distribution.get();
    }
    if (value.text) {
      kept_text = std::make_shared<const std::string>(*value.text);
      text = *kept_text;
    }
  }

  std::shared_ptr<const Row> kept_row;
  std::shared_ptr<const Distribution> kept_distribution;
  std::shared_ptr<const std::string> kept_text;
};

inline std::vector<KeptValue> cooked_values(const Sample* older, const Sample& newer,
                                            CookOptions options = {}) {
  std::vector<KeptValue> values;
  for (const Row& row : older == nullptr ? newer.rows(options) : newer.since(*older, options)) {
    for (const Value& value : row) values.emplace_back(value);
  }
  return values;
}
inline std::vector<KeptValue> cooked_values(const Sample& older, const Sample& newer,
                                            CookOptions options = {}) {
  return cooked_values(&older, newer, options);
}

}  // namespace meterbank::test
