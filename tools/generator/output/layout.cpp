// SPDX-License-Identifier: Apache-2.0
#include "generator/output/layout.hpp"

namespace meterbank::generator {

std::size_t columns_of(std::string_view text) noexcept { return text.size(); }

std::string lay_out(std::string_view text) { return std::string(text); }

}  // namespace meterbank::generator
