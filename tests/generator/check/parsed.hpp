// SPDX-License-Identifier: Apache-2.0
//
// Manifests of tests, from text.
#pragma once

#include <string>
#include <string_view>

#include "../loaded.hpp"

namespace meterbank::generator {

// One that is known to have the right form.
inline Manifest parsed(std::string_view text, const std::string& file = "test.toml") {
  Problems problems;
  auto manifest = parse_manifest(text, file, problems);
  EXPECT_TRUE(manifest && problems.empty()) << problems.text(file);
  return manifest.value_or(Manifest{});
}

using test::text_of_file;

// What check() says, as a person would read it.
inline std::string faults_of(const Manifest& manifest) {
  Problems problems;
  check(manifest, problems);
  return problems.text(manifest.file);
}

}  // namespace meterbank::generator
