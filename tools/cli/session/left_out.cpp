// SPDX-License-Identifier: Apache-2.0
#include "cli/session/left_out.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "cli/arguments/option_values.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli {
namespace {

std::uint64_t open_files_max() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// For programs.
std::string_view word_of(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::kProvidersMax:
      return "providers-max";
    case LeftOutReason::kNotRead:
      return "not-read-yet";
    case LeftOutReason::kCannotOpen:
      return "cannot-open";
    case LeftOutReason::kProcess:
      return "processes";
    default:
      return "large-directory";
  }
}

// The note on a limit, without its counts.
LeftOutNote note_on(ReadLimit limit, const CatalogOptions& options) {
  LeftOutNote note;
  switch (limit) {
    case ReadLimit::kSegmentBytes:
      note.reason = "segment-bytes-max";
      note.text = fmt::format("limit of one provider ({})", bytes_text(options.segment_bytes_max));
      note.remedy = "--segment-bytes-max " + bytes_text(2 * options.segment_bytes_max);
      break;
    case ReadLimit::kUserBytes:
      note.reason = "user-bytes-max";
      note.text = fmt::format("limit of one user ({})", bytes_text(options.user_bytes_max));
      note.remedy = "--user-bytes-max " + bytes_text(2 * options.user_bytes_max);
      break;
    case ReadLimit::kNone:
    case ReadLimit::kOpenFiles:
      note.reason = "open-files";
      note.text = fmt::format("limit of open files ({})", open_files_max());
      note.remedy = fmt::format("ulimit -n {}", 4 * open_files_max());
      break;
  }
  return note;
}

}  // namespace

std::string left_out_text(const LeftOut& left_out) {
  if (left_out.reason == LeftOutReason::kLargeDirectory) {
    return fmt::format("{} (uid {})", name_of(left_out.reason), left_out.uid);
  }
  return fmt::format("{} {} (uid {})", left_out.count, name_of(left_out.reason), left_out.uid);
}

std::string remedy_for(const LeftOut& left_out, const Catalog& catalog) {
  switch (left_out.reason) {
    case LeftOutReason::kRecordsMax:
      return "meterbank doctor --clean";
    case LeftOutReason::kProvidersMax:
      return fmt::format("--providers-max {}",
                         catalog.options().providers_per_user_max + left_out.count);
    case LeftOutReason::kNotRead:
    case LeftOutReason::kLargeDirectory:
    case LeftOutReason::kNotARecord:
      return "remove what does not belong into the directory";
    case LeftOutReason::kCannotOpen:
      return "as their owner or as root, or raise ulimit -n";
    case LeftOutReason::kProcess:
      return ::geteuid() == 0 ? "with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; a security module "
                                "may protect a process all the same"
                              : "as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
    case LeftOutReason::kSquatted:
      return "remove them, as their owner or as root";
    case LeftOutReason::kSameMemory:
    case LeftOutReason::kPolicy:
      break;
  }
  return {};
}

LeftOutSummary left_out_of(const Catalog& catalog) {
  LeftOutSummary summary;
  summary.known = catalog.providers().size();
  for (const LeftOut& each : catalog.left_out()) {
    if (!hides_providers(each.reason)) continue;
    const bool is_counted = each.reason < LeftOutReason::kLargeDirectory;
    summary.notes.push_back({word_of(each.reason), is_counted ? each.count : 0, 0,
                             left_out_text(each), remedy_for(each, catalog)});
    if (is_counted) summary.known += each.count;
  }
  for (const auto& provider : catalog.providers()) {
    if (provider->limited_by == ReadLimit::kNone || has_ended(provider->state)) continue;
    LeftOutNote note = note_on(provider->limited_by, catalog.options());
    auto same = std::find_if(summary.notes.begin(), summary.notes.end(),
                             [&](const LeftOutNote& known) { return known.reason == note.reason; });
    if (same == summary.notes.end()) same = summary.notes.insert(same, std::move(note));
    ++(provider->segment == nullptr ? same->providers : same->parts);
  }
  return summary;
}

std::string LeftOutSummary::line() const {
  if (notes.empty()) return {};
  std::uint64_t providers = 0, parts = 0;
  std::string reasons, remedies;
  for (const LeftOutNote& note : notes) {
    providers += note.providers;
    parts += note.parts;
    reasons += (reasons.empty() ? "" : ", ") + note.text;
    if (remedies.find(note.remedy) != std::string::npos) continue;
    // Options go together; other remedies are instead of each other.
    if (remedies.empty()) {
      remedies = note.remedy;
    } else if (remedies.starts_with("--") && note.remedy.starts_with("--")) {
      remedies += " " + note.remedy;
    }
  }
  std::string what;
  if (providers > 0) what = std::to_string(providers);
  if (parts > 0) what += fmt::format("{}parts of {}", what.empty() ? "" : " and ", parts);
  const auto share = what.empty() ? fmt::format("there may be more than these {}", known)
                                  : fmt::format("left out {} of {}", what, known);
  return fmt::format("{} providers: {}; try: {}", share, reasons, remedies);
}

int report_left_out(const Catalog& catalog, const Console& console) {
  const auto line = left_out_of(catalog).line();
  if (line.empty()) return kExitDone;
  complain(console, line);
  return kExitEnvironment;
}

}  // namespace meterbank::cli
