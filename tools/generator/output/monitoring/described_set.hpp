// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/manifest/manifest.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::generator {

// The set as a reader sees it once a provider has published it, as far as names, units and help
// texts go: forms of blocks and of distributions are left out.
[[nodiscard]] meterbank::Counterset described_set(const Manifest& manifest, const Counterset& set);

}  // namespace meterbank::generator
