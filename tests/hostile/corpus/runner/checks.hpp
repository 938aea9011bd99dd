// SPDX-License-Identifier: Apache-2.0
//
// What is looked for in what readers print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::hostile {

// Where text goes decides which control bytes belong there.
enum class Output : std::uint8_t {
  kLines,     // line ends and tabs
  kTerminal,  // and sequences that move, colour and erase, as `watch` uses them
};
// The first byte or sequence that must not be there, with what is around it; empty: none.
[[nodiscard]] std::string forbidden_bytes(std::string_view text, Output output);

// How a reader prints rows.
enum class Form : std::uint8_t {
  kTable,
  kPlain,
  kTsv,
  kCsv,
  kJson,
  kPdhCsv,
  kPdhTsv,
  kReport,   // small_reader
  kPerflib,  // perflib_reader
};

struct Expected {
  std::uint32_t pid = 0;              // of the healthy provider
  std::vector<std::uint64_t> totals;  // any of them
  bool venues_only = false;           // the other sets were not asked for
};
// The healthy rows and totals that are not there or not right; empty: all are.
[[nodiscard]] std::string missing_rows(std::string_view text, Form form, const Expected& expected);

// Runs of blanks become one, so that tables can be searched.
[[nodiscard]] std::string squeezed(std::string_view text);

}  // namespace meterbank::hostile
