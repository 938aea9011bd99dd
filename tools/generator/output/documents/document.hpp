// SPDX-License-Identifier: Apache-2.0
//
// What the manual page and the Markdown document say about a manifest, before it is laid out.
#pragma once

#include <string>
#include <string_view>

#include <kainjow/mustache.hpp>

#include "generator/manifest/manifest.hpp"

namespace meterbank::generator {

// How a language writes text that must not be taken for its own marks: prose, and names that are
// typed as they stand.
struct Escapes {
  std::string (*prose)(std::string_view);
  std::string (*code)(std::string_view);
};

// The keys of the templates man and markdown, all escaped:
//   file, hash, provider, word, title, provider_guid, example
//   countersets: name, path, windows_path, guid, instances, help (may be missing)
//     counters: name, path, windows_path, id, article, kind, type; unit, help, base (may be
//     missing)
// Bases have no entry of their own; those that divide by them name their ids.
[[nodiscard]] kainjow::mustache::data document_data(const Manifest& manifest,
                                                    const Escapes& escapes);

}  // namespace meterbank::generator
