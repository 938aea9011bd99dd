// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/common_options.hpp"

#include "cli/arguments/option_values.hpp"

namespace meterbank::cli {

Result<void> CommonWords::understand(Invocation& invocation) const {
  auto chosen = choose(
      color, "--color",
      {{"auto", ColorWhen::kAuto}, {"always", ColorWhen::kAlways}, {"never", ColorWhen::kNever}},
      invocation.color);
  return chosen ? read_span(timeout, "--timeout", invocation.timeout) : chosen;
}

void add_common_options(OptionTable options, CommonWords& words, Invocation& invocation,
                        const CommonTexts& texts) {
  options.text("--dir", invocation.selection.directory, "DIR", texts.directory);
  options.text("--color", words.color, "WHEN", "auto, always or never");
  options.text("--timeout", words.timeout, "SPAN", "Give up after SPAN with exit code 124");
  options.flag(texts.quiet, invocation.quiet, "Print results and errors only");
  options.flag("-v,--verbose", invocation.verbose, texts.verbose);
}

}  // namespace meterbank::cli
