// SPDX-License-Identifier: Apache-2.0
//
// The rules between the parts of a manifest, and between a manifest and the one before it.
#pragma once

#include "generator/manifest/manifest.hpp"
#include "generator/manifest/place.hpp"

namespace meterbank::generator {

// Everything that Provider::add(), PcwRegister() and the generated code rely on: nothing that
// passes here is refused by encode_schema(). Adds nothing if there are problems already: they are
// those of parse_manifest(), and what it could not read would be found missing.
void check(const Manifest& manifest, Problems& problems);

// What readers of `old` would miss in `manifest`, or take for something else: sets and counters
// that are gone, counters of another type, form or unit, ids that now mean something else, other
// GUIDs.
void check_against(const Manifest& manifest, const Manifest& old, Problems& problems);

}  // namespace meterbank::generator
