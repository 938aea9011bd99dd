// SPDX-License-Identifier: Apache-2.0
//
// From a file to a Manifest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/manifest/manifest.hpp"
#include "generator/manifest/place.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::generator {

inline constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20;

// Reads at most kManifestBytesMax bytes of a regular file, pipe or terminal. Errors: the system's
// (kNoSpace never), kLimit for a longer one.
[[nodiscard]] Result<std::string> read_manifest(const std::string& path);

// XML if the first thing in it is `<`, else TOML. Whatever is wrong with its form goes to
// `problems`; without a manifest if nothing useful is left of it. Any bytes are good enough to be
// refused.
[[nodiscard]] std::optional<Manifest> parse_manifest(std::string_view text, const std::string& file,
                                                     Problems& problems);

}  // namespace meterbank::generator
