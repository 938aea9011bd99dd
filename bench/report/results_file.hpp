// SPDX-License-Identifier: Apache-2.0
//
// A run as a JSON file. Errors are one line for a person: what failed, why, what to try.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "report/results.hpp"

namespace meterbank::bench {

// Whether write_results() could make this file; asked before a long run.
[[nodiscard]] tl::expected<void, std::string> try_file(const std::string& path);

// The whole file or nothing: writes PATH.tmp and renames it.
[[nodiscard]] tl::expected<void, std::string> write_results(const std::string& path,
                                                            const Results& results);

[[nodiscard]] tl::expected<Results, std::string> read_results(const std::string& path);

}  // namespace meterbank::bench
