// SPDX-License-Identifier: Apache-2.0
//
// Manifests of the tests, read and checked.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "generator/input/load.hpp"
#include "generator/manifest/check.hpp"
#include "generator/output/output.hpp"

namespace meterbank::generator::test {

inline Manifest manifest_of(std::string_view text, const std::string& file = "test.toml") {
  Problems problems;
  auto manifest = parse_manifest(text, file, problems);
  if (manifest) check(*manifest, problems);
  EXPECT_TRUE(manifest && problems.empty()) << problems.text(file);
  return manifest.value_or(Manifest{});
}

inline std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Manifest manifest_of_file(const std::string& path) {
  return manifest_of(text_of_file(path), path);
}

// A set of one counter, and what is said of it.
inline Manifest manifest_with(std::string_view counter) {
  return manifest_of(
      "[provider]\nname = \"p\"\n[[counterset]]\nname = \"Set\"\n"
      "[[counterset.counter]]\nid = 1\nname = \"One\"\n" +
      std::string(counter));
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace meterbank::generator::test
