// SPDX-License-Identifier: Apache-2.0
//
// The rules that check() puts together, one function and one file for each kind. They do not stand
// on each other: each is sound for any Manifest, so that all faults are found in one run.
#pragma once

#include "generator/manifest/manifest.hpp"
#include "generator/manifest/place.hpp"

namespace meterbank::generator {

void check_provider(const Manifest& manifest, Problems& problems);
// Over the whole document, and within each set.
void check_unique(const Manifest& manifest, Problems& problems);
void check_names(const Manifest& manifest, const Counterset& counterset, Problems& problems);
// base, time, frequency, multi.
void check_links(const Manifest& manifest, const Counterset& counterset, Problems& problems);
// What the words of a counter are, and what the options of its set make of them.
void check_forms(const Manifest& manifest, const Counterset& counterset, Problems& problems);
// C structures and their members, and what else kernel mode asks for.
void check_structures(const Manifest& manifest, const Counterset& counterset, Problems& problems);
void check_resources(const Manifest& manifest, Problems& problems);

}  // namespace meterbank::generator
