// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/hung.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/output.hpp"
#include "cli/session/runtime_directory.hpp"
#include "cli/verbs.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"

namespace meterbank::cli {
namespace {

enum class Verdict : std::uint8_t { kOk, kNote, kProblem };

struct Finding {
  std::string subject;
  std::string what;
  Verdict verdict = Verdict::kOk;
  std::string remedy;
};
using Findings = std::vector<Finding>;

std::string first_line(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// ---- Directory ----

bool is_in_memory(const std::string& path) {
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) == 0 &&
         (facts.f_type == TMPFS_MAGIC || facts.f_type == static_cast<long>(RAMFS_MAGIC));
}

Finding examine_directory(const std::string& path) {
  if (const auto fault = directory_fault(path)) {
    return {"directory", named_cause(*fault), Verdict::kProblem, remedy_of(*fault)};
  }
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return {"directory", path + "  missing; the first provider creates it", Verdict::kNote, {}};
  }
  // As providers judge it.
  const bool trusted = facts.st_uid == ::geteuid() || facts.st_uid == 0;
  const bool writable =
      trusted && ::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  const bool disk = !is_in_memory(path);
  return {"directory",
          fmt::format("{}  {}, {}", path, disk ? "on disk" : "in memory",
                      writable ? "writable" : "for reading only"),
          disk ? Verdict::kNote : Verdict::kOk,
          disk ? "a tmpfs with METERBANK_DIR: records on disk outlive a reboot" : ""};
}

void examine_objects(const std::string& directory, Findings& findings) {
  for (auto& object : odd_objects(directory)) {
    findings.push_back({"object", named_cause(object.error),
                        object.poses_as_record ? Verdict::kProblem : Verdict::kNote,
                        std::move(object.error.remedy)});
  }
}

// ---- Providers ----

Finding examine_provider(const ProviderView& provider) {
  Finding finding{"provider", {}, Verdict::kOk, {}};
  switch (provider.state) {
    case ProviderState::kLive: {
      std::uint64_t instances = 0;
      for (const auto& set : provider.sets) instances += set.instances.live();
      finding.what =
          fmt::format("{}  live, {}, {}, {}", provider.label(),
                      counted(provider.sets.size(), "set"), counted(instances, "instance"),
                      print_quantity(static_cast<double>(provider.bytes), "By"));
      if (provider.refused() > 0) {
        finding.what += fmt::format(", refused {} creations", provider.refused());
        finding.verdict = Verdict::kNote;
        finding.remedy = "higher limits in its ProviderOptions";
      }
      return finding;
    }
    case ProviderState::kHung: {
      HungCause cause = cause_of_hang(provider);
      finding.what = fmt::format("{}  hung: {}", provider.label(), cause.what);
      finding.verdict = Verdict::kProblem;
      finding.remedy = std::move(cause.remedy);
      return finding;
    }
    case ProviderState::kDead:
      finding.what = fmt::format("{}  dead, its record was left behind", provider.label());
      finding.verdict = Verdict::kNote;
      finding.remedy =
          "meterbank doctor --clean; if its service runs, let it create the provider after "
          "daemon()";
      return finding;
    case ProviderState::kForeign:
      finding.what = fmt::format("{}  foreign: {}", provider.label(), provider.error.what);
      finding.verdict = Verdict::kNote;
      finding.remedy = provider.error.remedy;
      return finding;
    case ProviderState::kClosed:
      finding.what = fmt::format("{}  ended in order", provider.label());
      return finding;
    case ProviderState::kUnreadable:
      break;
  }
  finding.what = fmt::format("{}  unreadable: {}", provider.label(), named_cause(provider.error));
  finding.verdict = Verdict::kProblem;
  finding.remedy = remedy_of(provider.error);
  return finding;
}

Finding examine_layout() {
  return {"layout", fmt::format("reads up to {}.{}", kLayoutMajor, kLayoutMinor), Verdict::kOk, {}};
}

// ---- Machine ----

Finding examine_clock() {
  constexpr int kReads = 1000;
  const auto begin = Timestamp::now();
  for (int i = 1; i < kReads; ++i) static_cast<void>(Timestamp::now());
  const auto end = Timestamp::now();
  const double cost = static_cast<double>(end.monotonic_ns - begin.monotonic_ns) / 1e9 / kReads;
  auto source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty()) source = "unknown clock source";
  // A clock that has to ask the kernel costs some hundred nanoseconds, one from the vDSO some tens.
  const bool slow = cost > 1e-6;
  return {"clock", fmt::format("{}, {} a time stamp", source, print_duration(cost)),
          slow ? Verdict::kNote : Verdict::kOk,
          slow ? "a machine with a stable TSC; samples cost more here" : ""};
}

Finding examine_limits() {
  struct Limit {
    int resource;
    const char* name;
    rlim_t enough;
  };
  // For a provider: its default cap. For a reader: some descriptors, and address space for what a
  // machine of many providers has.
  constexpr rlim_t kSegment = rlim_t{64} << 20;
  constexpr std::array kLimits{Limit{RLIMIT_FSIZE, "file size", kSegment},
                               Limit{RLIMIT_NOFILE, "open files", 256},
                               Limit{RLIMIT_AS, "address space", 8 * kSegment}};
  std::string low;
  for (const auto& limit : kLimits) {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource>(limit.resource), &now) != 0) continue;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur >= limit.enough) continue;
    low += fmt::format("{}{} {}", low.empty() ? "" : ", ", limit.name, now.rlim_cur);
  }
  rlimit locked{};
  ::getrlimit(RLIMIT_MEMLOCK, &locked);
  const auto memlock = locked.rlim_cur == RLIM_INFINITY
                           ? std::string("unlimited")
                           : print_quantity(static_cast<double>(locked.rlim_cur), "By");
  if (low.empty()) return {"limits", "high enough; memlock " + memlock, Verdict::kOk, {}};
  return {"limits", "low: " + low + "; memlock " + memlock, Verdict::kNote,
          "ulimit, or LimitFSIZE= and the like in the service's unit"};
}

Finding examine_pmu() {
  const auto paranoid = first_line("/proc/sys/kernel/perf_event_paranoid");
  if (paranoid.empty()) {
    return {"pmu", "this kernel has no performance events", Verdict::kNote, {}};
  }
  const bool hardware = ::access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
                        ::access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0;
  return {"pmu",
          fmt::format("{}; perf_event_paranoid {}",
                      hardware ? "hardware counters" : "no hardware counters here, software events",
                      paranoid),
          hardware ? Verdict::kOk : Verdict::kNote,
          {}};
}

// The watchdog of the kernel holds a counter of every CPU.
void examine_watchdog(Findings& findings) {
  if (first_line("/proc/sys/kernel/nmi_watchdog") != "1") return;
  findings.push_back({"pmu", "the kernel's watchdog holds a counter on each CPU", Verdict::kNote,
                      "sysctl kernel.nmi_watchdog=0, if every counter is needed"});
}

Finding examine_arbiter(const Invocation& invocation) {
  // One that is well greets within milliseconds.
  constexpr std::chrono::milliseconds kTimeout{1000};
  const auto connection =
      connect_to_arbiter(invocation, {.has_keeper = false, .timeout = kTimeout});
  if (!connection) {
    auto error = connection.error();
    const bool is_absent = error.code == ErrorCode::kGone && error.system_error == 0;
    return {"arbiter", is_absent ? "not running" : named_cause(error),
            is_absent ? Verdict::kNote : Verdict::kProblem, remedy_of(error)};
  }
  const auto& ledger = *connection->ledger();
  const auto facts = connection->facts();
  std::string what = fmt::format("pid {}, at {}", ledger.arbiter_pid(), arbiter_socket(invocation));
  if (facts.is_in_grace) what += ", started again: gives out only what was held before, for now";
  if (!facts.has_pmu) what += ", lends breakpoints only";
  return {"arbiter", std::move(what), Verdict::kOk, {}};
}

// ---- Cleaning ----

// What was left out for lack of room comes in as room is made.
Finding clean(Catalog& catalog) {
  std::map<RecordRemoval, std::size_t> counts;
  for (bool has_removed = true; has_removed;) {
    has_removed = false;
    counts.erase(RecordRemoval::kDenied);
    auto providers = catalog.providers();
    providers.insert(providers.end(), catalog.predecessors().begin(), catalog.predecessors().end());
    for (const auto& provider : providers) {
      if (provider->state != ProviderState::kDead) continue;
      const RecordRemoval removal = remove_record(*provider);
      ++counts[removal];
      has_removed |= removal == RecordRemoval::kRemoved;
    }
    // Twice: the first time says that they are gone, the second that there is room.
    catalog.refresh();
    catalog.refresh();
  }
  const std::size_t removed = counts[RecordRemoval::kRemoved];
  const std::size_t denied = counts[RecordRemoval::kDenied];
  auto what = "removed " + counted(removed, "record");
  if (denied == 0) return {"clean", std::move(what), Verdict::kOk, {}};
  return {"clean", what + fmt::format("; {} belong to others", denied), Verdict::kNote,
          "as their owner"};
}

void examine_left_out(const Catalog& catalog, Findings& findings) {
  for (const LeftOut& each : catalog.left_out()) {
    findings.push_back({"left out", left_out_text(each),
                        hides_providers(each.reason) ? Verdict::kProblem : Verdict::kNote,
                        remedy_for(each, catalog)});
  }
  for (const LeftOutNote& note : left_out_of(catalog).notes) {
    if (note.providers + note.parts == 0 || note.reason == "providers-max") continue;
    if (note.reason == "not-read-yet" || note.reason == "cannot-open") continue;
    findings.push_back({"left out",
                        fmt::format("{} providers wholly and {} in part: {}", note.providers,
                                    note.parts, note.text),
                        Verdict::kProblem, note.remedy});
  }
}

// ---- Report ----

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kNote:
      return "note";
    case Verdict::kProblem:
      break;
  }
  return "PROBLEM";
}

Findings examine(const Invocation& invocation) {
  Findings findings;
  auto catalog = Catalog::open(catalog_options(invocation.selection));
  if (!catalog) {
    findings.push_back(
        {"directory", named_cause(catalog.error()), Verdict::kProblem, remedy_of(catalog.error())});
  } else {
    for (const auto& path : catalog->directories()) findings.push_back(examine_directory(path));
    if (invocation.clean) findings.push_back(clean(*catalog));
    for (const auto& provider : catalog->providers()) {
      findings.push_back(examine_provider(*provider));
      for (const auto& error : provider->errors) {
        findings.push_back({"provider", provider->label() + "  left out: " + named_cause(error),
                            Verdict::kProblem, remedy_of(error)});
      }
    }
    examine_left_out(*catalog, findings);
    if (catalog->providers().empty()) {
      findings.push_back({"provider", "none", Verdict::kNote, "meterbank host"});
    }
    for (const auto& path : catalog->directories()) examine_objects(path, findings);
  }
  findings.push_back(examine_layout());
  findings.push_back(examine_clock());
  findings.push_back(examine_limits());
  findings.push_back(examine_pmu());
  examine_watchdog(findings);
  findings.push_back(examine_arbiter(invocation));
  return findings;
}

}  // namespace

int doctor(const Invocation& invocation, Console& console) {
  const auto findings = examine(invocation);
  Table table({{""}, {""}, {""}}, out_charset(console));
  if (console.out_is_terminal) table.limit(console.columns, Table::Overflow::kWrap);
  for (const auto& finding : findings) {
    table.add_messages({finding.subject, std::string(verdict_text(finding.verdict)), finding.what});
    if (!finding.remedy.empty()) table.add_messages({"", "", "try: " + finding.remedy});
  }
  const bool blocked = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::kProblem;
  });
  auto output = Output::open(console, {});
  output->write(table.take_rows());
  const Paint paint(wants_color(invocation.color, console));
  output->write(blocked ? paint.bad("something stands in the way; see PROBLEM above") + "\n"
                        : paint.good("nothing stands in the way") + "\n");
  return output->finish(blocked ? kExitNo : kExitDone);
}

}  // namespace meterbank::cli
