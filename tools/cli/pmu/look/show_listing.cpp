// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/look/show_listing.hpp"

#include <algorithm>
#include <string>

#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {
namespace {

// A table of all that is known is wider than many a terminal, and columns in pieces say nothing.
std::string fitting(const Invocation& invocation, const Listing& listing, const RowStyle& style) {
  std::string text = listing.print(style);
  if (!invocation.verbose || style.format != Format::kTable || style.columns == 0) return text;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size() - 1);
    if (display_width(rest.substr(0, end)) > style.columns) return listing.print_blocks(style);
    rest.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

int show_listing(const Invocation& invocation, Console& console, const Listing& listing,
                 std::string_view nothing) {
  auto output = Output::open(console, invocation.output);
  if (!output) return report_error(console, output.error());
  const auto style = style_of(invocation, console);
  const bool has_words = !nothing.empty() && style.format != Format::kJson;
  if (!listing.empty() || !has_words) {
    output->write(fitting(invocation, listing, style));
  } else if (style.format == Format::kTable) {
    output->write(nothing);
  }
  return output->finish(kExitDone);
}

Cell since_cell(std::uint64_t since_ns, std::uint64_t now_ns) {
  if (since_ns == 0 || since_ns > now_ns) return Cell::absent();
  const double seconds = static_cast<double>(now_ns - since_ns) / 1e9;
  return Cell::number(seconds, print_duration(seconds));
}

}  // namespace meterbank::cli
