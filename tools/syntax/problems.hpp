// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a file: all faults, each at its place, so that one run is enough to mend it.
#pragma once

#include <string>
#include <vector>

#include "meterbank/shm/utf8.hpp"
#include "syntax/place.hpp"

namespace meterbank::syntax {

struct Problem {
  Place place;
  std::string what;  // "counter id 3 is used twice": no full stop
  std::string hint;  // "the first is in line 12; give this one another id"; may be empty
};

class Problems {
 public:
  void add(Place place, std::string what, std::string hint = {}) {
    all_.push_back({place, std::move(what), std::move(hint)});
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] const std::vector<Problem>& all() const noexcept { return all_; }

  // In the order of the file, each once:
  //   orders.toml:12:3: error: counter id 3 is used twice
  //   orders.toml:12:3: hint: the first is in line 9; give this one another id
  // At most kShownMax of them, then how many more there are. A file is a foreign text, so all of
  // it is cleaned (utf8.hpp).
  [[nodiscard]] std::string text(const std::string& file, Charset charset = Charset::kUtf8) const;

  static constexpr std::size_t kShownMax = 50;

 private:
  std::vector<Problem> all_;
};

}  // namespace meterbank::syntax
