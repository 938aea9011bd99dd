// SPDX-License-Identifier: Apache-2.0
//
// Which word was meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meterbank::generator {

// Gathers the words that could have been meant. Case and the marks between words make no
// difference, one edit in three characters is a slip.
class NearWord {
 public:
  explicit NearWord(std::string_view word);
  void consider(std::string_view candidate);
  // "did you mean 'name'?", or else what was given.
  [[nodiscard]] std::string hint(std::string otherwise) const;

 private:
  std::string word_;
  std::size_t limit_;
  std::string best_;
};

}  // namespace meterbank::generator
