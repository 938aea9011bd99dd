// SPDX-License-Identifier: Apache-2.0
//
// Manifests to make documents of, and the documents as they were agreed on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../loaded.hpp"

namespace meterbank::generator::test {

[[nodiscard]] Manifest good_manifest(const std::string& name);
[[nodiscard]] std::vector<std::string> good_manifests();

// Of one set with one counter, which both have this text for name and help. It needs no escapes of
// TOML.
[[nodiscard]] Manifest manifest_about(std::string_view text);

// Things that mean something in one of the languages of the documents.
[[nodiscard]] const std::vector<std::string>& odd_texts();

// Fails the test if `text` is not golden/NAME. With METERBANK_WRITE_GOLDEN in the environment it
// becomes so, to be looked at before it is committed.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace meterbank::generator::test
