// SPDX-License-Identifier: Apache-2.0
//
// From elements to the model.
#pragma once

#include "generator/input/elements.hpp"
#include "generator/manifest/manifest.hpp"
#include "generator/manifest/place.hpp"

namespace meterbank::generator {

// Fills all of `manifest` but its file, language and hash; the language it goes by.
void build(const Element& root, Manifest& manifest, Problems& problems);

}  // namespace meterbank::generator
