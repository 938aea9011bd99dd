// SPDX-License-Identifier: Apache-2.0
//
// What pugixml takes and XML does not allow: document types, entities that are not declared.
#pragma once

#include "generator/input/elements.hpp"

namespace meterbank::generator {

// False if the text must not be parsed at all.
[[nodiscard]] bool check_xml_text(const SourceText& source, Problems& problems);

}  // namespace meterbank::generator
