// SPDX-License-Identifier: Apache-2.0
//
// What both languages of manifests are made of: elements that hold entries and further elements.
// build.cpp knows nothing of parsers.
//
//   XML    <counter id="1" uri="a"/>          an element, its attributes and child elements
//   TOML   [[counterset.counter]]  id = 1     a table, its keys and the tables below it
#pragma once

#include <optional>

#include "generator/manifest/place.hpp"
#include "syntax/tree.hpp"

namespace meterbank::generator {

using syntax::Element;
using syntax::Entry;
using syntax::kDepthMax;
using syntax::SourceText;

// The element <counters>. Nothing if there is none.
[[nodiscard]] std::optional<Element> read_xml(const SourceText& source, Problems& problems);

}  // namespace meterbank::generator
