// SPDX-License-Identifier: Apache-2.0
//
// What a catalog left out, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/console.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::cli {

// "20 providers beyond the limit of one user (uid 65534)"
[[nodiscard]] std::string left_out_text(const LeftOut& left_out);
// What helps, for this command.
[[nodiscard]] std::string remedy_for(const LeftOut& left_out, const Catalog& catalog);

// Providers that are well, as far as is known, and are not read, or not wholly, for one reason.
struct LeftOutNote {
  std::string_view reason;  // "segment-bytes-max": stable, for programs
  std::uint64_t providers = 0;
  std::uint64_t parts = 0;  // more providers, of which a part is read
  std::string text, remedy;
};
struct LeftOutSummary {
  std::vector<LeftOutNote> notes;
  std::uint64_t known = 0;  // providers, as far as they could be counted

  [[nodiscard]] bool empty() const noexcept { return notes.empty(); }
  // "left out 983 of 1000 providers: limit of open files (1024); try: ulimit -n 4096", or nothing
  [[nodiscard]] std::string line() const;
};
[[nodiscard]] LeftOutSummary left_out_of(const Catalog& catalog);

// Prints the line, if there is one. What it means for the exit code where nothing may be missing.
int report_left_out(const Catalog& catalog, const Console& console);

}  // namespace meterbank::cli
