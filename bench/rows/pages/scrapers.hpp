// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "rows.hpp"

namespace meterbank::bench {

void scraper_rows(const std::string& directory, std::size_t series, const Effort& effort,
                  Table& table);

}  // namespace meterbank::bench
