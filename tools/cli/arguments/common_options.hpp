// SPDX-License-Identifier: Apache-2.0
//
// Options that stand with every verb.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments/verb_parser.hpp"
#include "cli/invocation.hpp"

namespace meterbank::cli {

// As typed.
struct CommonWords {
  std::vector<std::string> directories;
  std::string color, timeout;

  // Errors are usage errors.
  [[nodiscard]] Result<void> understand(Invocation& invocation) const;
};

// How they are called and described where that differs.
struct CommonTexts {
  const char* quiet = "-q,--quiet";
  const char* directory = "Where providers are found (repeatable; METERBANK_DIR)";
  const char* verbose = "More words: whole paths, errno, layout version";
};
void add_common_options(OptionTable options, CommonWords& words, Invocation& invocation,
                        const CommonTexts& texts);

}  // namespace meterbank::cli
