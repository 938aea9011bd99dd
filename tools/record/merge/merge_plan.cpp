// SPDX-License-Identifier: Apache-2.0
#include "record/merge/merge_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "meterbank/recording/tick_writer.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::record {
namespace {

using recording::Rate;

// A rate of the merged recording: those of files that follow one another, or are copies.
struct Source {
  std::size_t machine = 0;
  Rate rate;
  std::vector<std::size_t> parts;
};

PlannedPart part_of(const recording::RecordingFile& file) {
  PlannedPart part{file.path, file.head, {}, {}, 0, 0, 0, {}};
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  part.first = {kMost, kMost};
  for (const recording::Chunk& chunk : file.index.chunks()) {
    part.ticks += chunk.ticks;
    for (const Timestamp& time : {chunk.first, chunk.last}) {
      part.first.monotonic_ns = std::min(part.first.monotonic_ns, time.monotonic_ns);
      part.first.realtime_ns = std::min(part.first.realtime_ns, time.realtime_ns);
      part.last.monotonic_ns = std::max(part.last.monotonic_ns, time.monotonic_ns);
      part.last.realtime_ns = std::max(part.last.realtime_ns, time.realtime_ns);
    }
  }
  return part;
}

Result<void> list_parts(const std::vector<std::string>& paths, MergePlan& plan) {
  std::set<std::string> known;
  for (const std::string& path : paths) {
    auto opened = recording::Recording::open(path);
    if (!opened) return tl::make_unexpected(std::move(opened.error()));
    for (const recording::Damage& damage : opened->damages()) {
      plan.problems.push_back(damage.path + ": " + damage.what);
    }
    for (const recording::RecordingFile& file : opened->files()) {
      if (!known.insert(file.path).second) continue;
      PlannedPart part = part_of(file);
      if (part.ticks != 0) plan.parts.push_back(std::move(part));
    }
  }
  if (plan.parts.empty()) {
    return fail(ErrorCode::kNotFound, "no recording among these has a sample",
                "meterbank log info FILE");
  }
  return {};
}

bool is_known(const std::string& boot_id) {
  return boot_id.find_first_not_of('0') != std::string::npos;
}

Result<void> find_machines(MergePlan& plan) {
  std::map<std::string, std::size_t> clocks;
  std::map<std::pair<std::string, std::string>, std::size_t> machines;
  for (PlannedPart& part : plan.parts) {
    // What does not say its boot has a clock of its own, that of its recorder.
    const std::string boot =
        is_known(part.head.boot_id) ? part.head.boot_id : "run " + part.head.recorder.text();
    part.clock = clocks.try_emplace(boot, clocks.size()).first->second;
    const auto [machine, is_new] = machines.try_emplace({boot, part.head.host}, machines.size());
    part.machine = machine->second;
    if (is_new) plan.machines.push_back(part.head.host);
  }
  plan.clocks = clocks.size();
  if (plan.clocks == 1) return {};
  const auto unknown =
      std::find_if(plan.parts.begin(), plan.parts.end(),
                   [](const PlannedPart& part) { return !is_known(part.head.boot_id); });
  if (unknown == plan.parts.end()) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} does not say which boot of which machine it is of, so its times "
                          "cannot be compared with others",
                          escape_for_terminal(unknown->path)),
              "recordings that meterbank record made");
}

bool overlap(const MergePlan& plan, const PlannedPart& left, const PlannedPart& right) {
  return plan.order_of(left.first) <= plan.order_of(right.last) &&
         plan.order_of(right.first) <= plan.order_of(left.last);
}

bool may_share(const MergePlan& plan, const Source& source, const PlannedPart& part) {
  return std::all_of(source.parts.begin(), source.parts.end(), [&](std::size_t index) {
    const PlannedPart& other = plan.parts[index];
    const bool are_copies =
        other.head.recorder == part.head.recorder && other.head.rates == part.head.rates;
    return are_copies || !overlap(plan, other, part);
  });
}

Result<void> find_sources(MergePlan& plan) {
  std::vector<Source> sources;
  for (std::size_t index = 0; index < plan.parts.size(); ++index) {
    PlannedPart& part = plan.parts[index];
    for (const Rate& rate : part.head.rates) {
      auto source = std::find_if(sources.begin(), sources.end(), [&](const Source& one) {
        const bool is_taken = !one.parts.empty() && one.parts.back() == index;
        return one.machine == part.machine && one.rate == rate && !is_taken &&
               may_share(plan, one, part);
      });
      if (source == sources.end()) {
        sources.push_back({part.machine, rate, {}});
        source = std::prev(sources.end());
      }
      source->parts.push_back(index);
      part.sources.push_back(static_cast<std::uint32_t>(source - sources.begin()));
    }
  }
  if (sources.size() > recording::kRatesMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("these recordings have {} rates of different machines, and one has at "
                            "most {}",
                            sources.size(), recording::kRatesMax),
                "fewer recordings at once");
  }
  for (const Source& source : sources) {
    plan.head.rates.push_back(source.rate);
    const std::uint64_t interval = source.rate.interval_ns;
    if (interval != 0 && (plan.shortest_ns == 0 || interval < plan.shortest_ns)) {
      plan.shortest_ns = interval;
    }
  }
  return {};
}

void fill_head(MergePlan& plan, const std::string& program) {
  const auto rates = std::move(plan.head.rates);
  plan.head = plan.parts.front().head;
  plan.head.rates = rates;
  plan.head.sequence = 0;
  plan.head.program = program;
  if (plan.machines.size() > 1) {
    // Its providers say of which machine they are.
    plan.head.minor = std::max(plan.head.minor, recording::kMinorOfHosts);
    std::set<std::string> hosts(plan.machines.begin(), plan.machines.end());
    plan.head.host = fmt::format("{}", fmt::join(hosts, ", "));
  }
  static_cast<void>(::getrandom(&plan.head.recorder, sizeof plan.head.recorder, 0));
  // The clock of the merged recording is that of none of the machines.
  if (plan.clocks > 1) plan.head.boot_id = plan.head.recorder.text();
}

}  // namespace

Result<MergePlan> plan_merge(const std::vector<std::string>& paths, const std::string& program) {
  MergePlan plan;
  if (auto listed = list_parts(paths, plan); !listed) return tl::make_unexpected(listed.error());
  if (auto found = find_machines(plan); !found) return tl::make_unexpected(found.error());
  std::stable_sort(plan.parts.begin(), plan.parts.end(),
                   [&](const PlannedPart& left, const PlannedPart& right) {
                     return plan.order_of(left.first) < plan.order_of(right.first);
                   });
  if (auto found = find_sources(plan); !found) return tl::make_unexpected(found.error());
  fill_head(plan, program);
  return plan;
}

}  // namespace meterbank::record
