// SPDX-License-Identifier: Apache-2.0
#include "cli/session/left_out.hpp"

#include <fmt/format.h>

namespace meterbank::cli {

std::string left_out_text(const LeftOut& left_out) {
  if (left_out.reason == LeftOutReason::kLargeDirectory) {
    return fmt::format("{} (uid {})", name_of(left_out.reason), left_out.uid);
  }
  return fmt::format("{} {} (uid {})", left_out.count, name_of(left_out.reason), left_out.uid);
}

std::string_view remedy_for(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::kRecordsMax:
      return "meterbank doctor --clean";
    case LeftOutReason::kProvidersMax:
      return "fewer providers of one user, or a directory for each service with --dir";
    case LeftOutReason::kNotRead:
    case LeftOutReason::kLargeDirectory:
    case LeftOutReason::kNotARecord:
      return "remove what does not belong into the directory";
    case LeftOutReason::kCannotOpen:
      return "as their owner or as root, or raise ulimit -n";
    case LeftOutReason::kSquatted:
      return "remove them, as their owner or as root";
    case LeftOutReason::kSameMemory:
    case LeftOutReason::kPolicy:
      break;
  }
  return {};
}

void report_left_out(const Catalog& catalog, const Console& console) {
  std::string reasons;
  std::string_view remedy;
  std::uint64_t count = 0;
  for (const LeftOut& each : catalog.left_out()) {
    if (!hides_providers(each.reason)) continue;
    if (each.reason != LeftOutReason::kLargeDirectory) count += each.count;
    reasons += (reasons.empty() ? "" : ", ") + left_out_text(each);
    if (remedy.empty()) remedy = remedy_for(each.reason);
  }
  if (reasons.empty()) return;
  const auto known = catalog.providers().size();
  complain(console, fmt::format("left out {} of {} providers: {}; try: {}",
                                count == 0 ? std::string("some") : std::to_string(count),
                                known + count, reasons, remedy));
}

}  // namespace meterbank::cli
