// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/common_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "cli/arguments/option_values.hpp"

namespace meterbank::cli {

Result<void> CommonWords::understand(Invocation& invocation) const {
  auto chosen = choose(
      color, "--color",
      {{"auto", ColorWhen::kAuto}, {"always", ColorWhen::kAlways}, {"never", ColorWhen::kNever}},
      invocation.color);
  if (!chosen) return chosen;
  // As good as --dir: what is wrong with it is then an error and not just a place less to look in.
  const char* const usual = ::secure_getenv("METERBANK_DIR");
  auto& directory = invocation.selection.directory;
  if (!directories.empty()) directory = fmt::format("{}", fmt::join(directories, ":"));
  if (directory.empty() && usual != nullptr) directory = usual;
  return read_span(timeout, "--timeout", invocation.timeout);
}

void add_common_options(OptionTable options, CommonWords& words, Invocation& invocation,
                        const CommonTexts& texts) {
  options.texts("--dir", words.directories, "DIR", texts.directory);
  options.text("--color", words.color, "WHEN", "auto, always or never");
  options.text("--timeout", words.timeout, "SPAN", "Give up after SPAN with exit code 124");
  options.flag(texts.quiet, invocation.quiet, "Print results and errors only");
  options.flag("-v,--verbose", invocation.verbose, texts.verbose);
}

}  // namespace meterbank::cli
