// SPDX-License-Identifier: Apache-2.0
//
// A counterset with as many plain counters as a test wants words.
#pragma once

#include <string>
#include <vector>

#include "meterbank/publisher.hpp"

namespace meterbank::test {

class NumberedSet {
 public:
  explicit NumberedSet(std::uint32_t words, std::string name = "Numbers") : name_(std::move(name)) {
    texts_.reserve(words);
    for (std::uint32_t word = 0; word < words; ++word) {
      texts_.push_back("word_" + std::to_string(word));
      counters_.push_back({.id = word + 1,
                           .name = texts_.back(),
                           .symbol = texts_.back(),
                           .type = CounterType::kLargeRawCount});
    }
    symbol_ = "set_" + std::to_string(std::hash<std::string>{}(name_));
  }
  [[nodiscard]] CountersetSpec spec() const {
    return {.name = name_, .symbol = symbol_, .counters = counters_};
  }

 private:
  std::string name_;
  std::string symbol_;
  std::vector<std::string> texts_;
  std::vector<CounterSpec> counters_;
};

}  // namespace meterbank::test
