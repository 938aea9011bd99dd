// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace meterbank::cli {

// `meterbank diff`: what is not in SelectionOptions.
struct DiffOptions {
  struct Side {
    std::string path, from, to;  // moments as typed; empty: the beginning, the end
  };
  Side a, b;
  double least = 0.02;
  bool shows_all = false;
};

}  // namespace meterbank::cli
