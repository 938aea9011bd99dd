// SPDX-License-Identifier: Apache-2.0
//
// Generated files in a folder, and what other people's programs make of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "../loaded.hpp"

namespace meterbank::generator {

using test::manifest_of;
// Of a file in manifests/good.
[[nodiscard]] Manifest good_manifest(const std::string& file);

[[nodiscard]] inline OutputOptions with_prefix(std::string prefix) {
  OutputOptions options;
  options.prefix = std::move(prefix);
  return options;
}
[[nodiscard]] inline OutputOptions with_callback() {
  OutputOptions options;
  options.notification_callback = true;
  return options;
}

// The text, or a failure of the test and nothing.
[[nodiscard]] std::string text_of(const Result<std::string>& output);

struct Outcome {
  bool is_good = false;
  std::string said;
};

class WrittenFiles {
 public:
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string path(const std::string& name) const;

  // Of a source file here, by every compiler there is, or all for `language`, "c" or "c++". The
  // warnings of -Wall -Wextra -Wconversion are errors.
  [[nodiscard]] std::vector<Outcome> compile(const std::string& source,
                                             const std::string& options = {},
                                             std::string_view language = {}) const;
  // A resource compiler's opinion; good without one.
  [[nodiscard]] Outcome compile_resources(const std::string& name) const;

 private:
  meterbank::test::TemporaryDirectory directory_;
};

}  // namespace meterbank::generator
