// SPDX-License-Identifier: Apache-2.0
//
// What the program printed, as a document. Apart from the fixture, because it is most of what a
// test compiles.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

// Compiled once, in cli_fixture.cpp.
extern template class nlohmann::basic_json<>;

namespace meterbank::cli {

using Json = nlohmann::json;

// Throws if the text is not JSON.
[[nodiscard]] Json parse_json(const std::string& text);
[[nodiscard]] bool is_json(const std::string& text);

}  // namespace meterbank::cli
