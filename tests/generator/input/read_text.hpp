// SPDX-License-Identifier: Apache-2.0
//
// Manifests as texts in tests, and what reading them says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/input/load.hpp"

namespace meterbank::test {

struct ReadText {
  std::optional<generator::Manifest> manifest;
  generator::Problems problems;

  // All of it, as a user sees it.
  [[nodiscard]] std::string said() const { return problems.text("m"); }
};

inline ReadText read_text(std::string_view text) {
  ReadText read;
  read.manifest = generator::parse_manifest(text, "m", read.problems);
  return read;
}

// The bytes of tests/generator/manifests/good/NAME.
[[nodiscard]] std::string good_manifest(const std::string& name);

// `text` with the first `from` replaced by `to`. Fails the test if there is none.
[[nodiscard]] std::string with(std::string text, std::string_view from, std::string_view to);

// A manifest of one counterset with one counter, whose attributes these are; the counter begins in
// line 7, column 3.
[[nodiscard]] std::string xml_counter(std::string_view attributes, std::string_view content = {},
                                      std::string_view schema_version = "1.1");
inline constexpr std::string_view kPlainCounter =
    R"(id="1" uri="u" name="n" type="perf_counter_rawcount" detailLevel="standard")";

// The same in TOML; the table of the counter begins in line 5.
[[nodiscard]] std::string toml_counter(std::string_view keys);

}  // namespace meterbank::test
