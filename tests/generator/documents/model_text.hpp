// SPDX-License-Identifier: Apache-2.0
//
// Everything that a manifest says, to compare two of them: which values are said, and what they
// are. Left out are places, the language and what depends on the bytes of the file.
#pragma once

#include <string>

#include "generator/manifest/manifest.hpp"

namespace meterbank::generator::test {

[[nodiscard]] std::string model_text(const Manifest& manifest);

}  // namespace meterbank::generator::test
