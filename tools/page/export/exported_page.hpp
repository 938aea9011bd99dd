// SPDX-License-Identifier: Apache-2.0
//
// The page as one file with its data in it, which needs neither server nor network.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "page/feed/scene.hpp"

namespace meterbank::page {

struct ExportLimits {
  std::size_t pictures = 1000;
  std::size_t json_bytes = std::size_t{64} << 20;  // before compression
  std::size_t rows = 1000;                         // of each table; the rest is left out
};

struct ExportedPage {
  std::string html;
  std::vector<std::string> problems;  // what was left out; the page says it too
};

// Follows the links of pictures from the overview on, the nearest first. `stop` ends it between two
// pictures; the page is not whole then. May throw std::bad_alloc.
[[nodiscard]] ExportedPage exported_page(Scene& scene, const ExportLimits& limits = {},
                                         const std::stop_token& stop = {});

}  // namespace meterbank::page
