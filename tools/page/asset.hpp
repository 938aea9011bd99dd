// SPDX-License-Identifier: Apache-2.0
//
// The page: one document of HTML, CSS and JavaScript, joined by join.cmake. It holds no data and no
// secret.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::page {

struct Asset {
  std::string before, after;  // of the data, where a file has some
  std::string policy;         // Content-Security-Policy that lets these scripts run, and no others
};

// The same object at each call. May throw std::bad_alloc.
[[nodiscard]] const Asset& page_asset();

}  // namespace meterbank::page
