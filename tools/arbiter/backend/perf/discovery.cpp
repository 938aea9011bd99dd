// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/discovery.hpp"

#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/backend/perf/events/event_names.hpp"
#include "arbiter/backend/perf/events/libpfm_names.hpp"
#include "arbiter/backend/perf/kernel_files.hpp"

namespace meterbank::arbiter {
namespace {

constexpr const char* kDevices = "bus/event_source/devices";
constexpr std::string_view kBreakpoint = "breakpoint";
// What no architecture has more of.
constexpr std::uint32_t kSlotsMax = 16;

struct Device {
  std::string name;
  std::uint32_t type = 0;
  PmuSort sort = PmuSort::kCore;
  CpuSet cpus = {};
  EventFormat format = {};
};

// Counters that run freely, or that are no counters: nothing of them is scarce.
[[nodiscard]] bool is_never_scarce(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 6> kBeginnings = {"power", "cstate_", "i915",
                                                                  "xe_",   "arm_spe", "hv_"};
  return name.find("free_running") != std::string_view::npos ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

[[nodiscard]] bool is_arm(std::string_view name) noexcept { return name.starts_with("armv"); }

[[nodiscard]] EventFormat format_of(int device) {
  EventFormat format;
  const UniqueFd folder = directory_at(device, "format");
  if (!folder) return format;
  for (const std::string& name : names_at(folder.get(), ".")) {
    const std::optional<std::string> text = text_at(folder.get(), name);
    if (!text.has_value()) continue;
    if (auto field = FormatField::parse(*text); field.has_value()) {
      format.add(name, *std::move(field));
    }
  }
  return format;
}

// Nothing: it lends nothing, or its files make no sense.
[[nodiscard]] std::optional<Device> device_of(int folder, const std::string& name,
                                              const CpuSet& possible) {
  const UniqueFd directory = directory_at(folder, name.c_str());
  if (!directory || name.size() > kNameBytesMax) return std::nullopt;
  const auto type = parse_number(text_at(directory.get(), "type").value_or(""));
  if (!type.has_value() || *type > ~std::uint32_t{0}) return std::nullopt;
  const auto cpus = cpus_at(directory.get(), "cpus");
  const auto cpumask = cpus_at(directory.get(), "cpumask");
  Device device{.name = name, .type = static_cast<std::uint32_t>(*type)};
  if (name == kBreakpoint) {
    device.sort = PmuSort::kBreakpoint;
    device.cpus = possible;
  } else if (name == "cpu" || name.starts_with("cpu_") || is_arm(name)) {
    // Without a list it is on all CPUs.
    device.cpus = cpus.value_or(possible).common_with(possible);
  } else if (cpumask.has_value() && !is_never_scarce(name)) {
    device.sort = PmuSort::kUncore;
    device.cpus = cpumask->common_with(possible);
  } else {
    return std::nullopt;
  }
  if (device.cpus.empty()) return std::nullopt;
  device.format = format_of(directory.get());
  return device;
}

[[nodiscard]] std::string reason_for(int fault, int sysfs_fault) {
  if (fault == EACCES || fault == EPERM) {
    return "the kernel keeps counters from this program: give it CAP_PERFMON, or set "
           "kernel.perf_event_paranoid to 0 or less";
  }
  if (fault == ENOSYS) return "this kernel was built without perf events (CONFIG_PERF_EVENTS)";
  std::string text = "the kernel has no PMU of a core";
  if (sysfs_fault != 0) text = "the kernel lists PMUs of cores, but opens none";
  return text + " (cycles: " + std::strerror(fault == 0 ? ENOENT : fault) +
         "); in a virtual machine the host must give it one";
}

class Discovery {
 public:
  Discovery(int sysfs, const DiscoveryOptions& options, PerfCalls& calls)
      : sysfs_(sysfs), options_(options), calls_(calls) {}

  Result<Discovered> run() {
    read_cpus();
    const UniqueFd folder = directory_at(sysfs_, kDevices);
    if (folder) {
      for (const std::string& name : names_at(folder.get(), ".")) {
        if (auto device = device_of(folder.get(), name, machine().possible); device.has_value()) {
          devices_.push_back(*std::move(device));
        }
      }
    }
    // A request that names no PMU means the first one on its CPU: cores come first.
    std::stable_sort(devices_.begin(), devices_.end(),
                     [](const Device& a, const Device& b) { return a.sort < b.sort; });
    core_pmus_ = std::count_if(devices_.begin(), devices_.end(),
                               [](const Device& d) { return d.sort == PmuSort::kCore; });
    if (options_.topology.empty()) {
      for (const Device& device : devices_) add(device);
    } else if (auto fault = follow_topology(); fault.has_value()) {
      return tl::make_unexpected(*std::move(fault));
    }
    if (folder) add_units(folder.get());
    if (folder) name_all_events(folder.get());
    if (!has_core()) explain();
    return std::move(result_);
  }

 private:
  struct Place {
    pid_t task = -1;
    int cpu = -1;
    bool leaves_kernel_out = false;
  };

  [[nodiscard]] Machine& machine() noexcept { return result_.machine.machine; }
  [[nodiscard]] Topology& topology() noexcept { return machine().topology; }

  [[nodiscard]] bool has_core() const noexcept {
    return std::any_of(result_.machine.pmus.begin(), result_.machine.pmus.end(),
                       [](const PerfPmu& pmu) { return pmu.sort == PmuSort::kCore; });
  }

  void read_cpus() {
    const CpuSet one = CpuSet::range(0, 0);
    machine().online = cpus_at(sysfs_, "devices/system/cpu/online").value_or(one);
    machine().possible = cpus_at(sysfs_, "devices/system/cpu/possible").value_or(machine().online);
    std::set<std::string> seen;
    for (const std::uint32_t cpu : machine().online.numbers()) {
      auto siblings = cpus_at(sysfs_, "devices/system/cpu/cpu" + std::to_string(cpu) +
                                          "/topology/thread_siblings_list");
      if (!siblings.has_value() || siblings->count() < 2) continue;
      if (seen.insert(siblings->text()).second) topology().cores.push_back(*std::move(siblings));
    }
  }

  // Where events of the device can be opened to find out about it: on a CPU, or else, for a user
  // without rights, in this thread. Nothing, and `fault`: nowhere.
  [[nodiscard]] std::optional<Place> place_for(const Device& device, perf_event_attr attributes,
                                               int& fault) {
    const CpuSet cpus = device.cpus.common_with(machine().online);
    if (cpus.empty()) return std::nullopt;
    const Place there{.cpu = static_cast<int>(cpus.numbers().front())};
    int opened = calls_.open(attributes, there.task, there.cpu);
    // If another process has all of a PMU, nothing can be opened, and yet the PMU exists.
    const auto is_usable = [&] {
      if (opened >= 0) calls_.close(opened);
      return opened >= 0 || opened == -ENOSPC || opened == -EBUSY;
    };
    if (is_usable()) return there;
    fault = -opened;
    if (opened != -EACCES && opened != -EPERM) return std::nullopt;
    attributes.exclude_kernel = 1;
    opened = calls_.open(attributes, 0, -1);
    if (!is_usable()) return std::nullopt;
    return Place{.task = 0, .cpu = -1, .leaves_kernel_out = true};
  }

  // Of a PMU of a core: how many such events the kernel takes as a group. It refuses a group that
  // could never run, so that this says how many counters there are, free or not; and this
  // one does not run, because its leader is off.
  [[nodiscard]] std::uint32_t count_in_group(const EventCode& code, const Place& place) {
    perf_event_attr leader = attributes_of({.type = PERF_TYPE_SOFTWARE});
    leader.config = PERF_COUNT_SW_DUMMY;
    leader.pinned = 0;
    leader.disabled = 1;
    perf_event_attr member = attributes_of(code);
    member.pinned = 0;
    if (place.leaves_kernel_out) leader.exclude_kernel = member.exclude_kernel = 1;
    const EventFile group(calls_, calls_.open(leader, place.task, place.cpu));
    std::vector<EventFile> members;
    while (group && members.size() < kGeneralMax) {
      EventFile one(calls_, calls_.open_in_group(member, place.task, place.cpu, group.get()));
      if (!one) break;
      members.push_back(std::move(one));
    }
    return static_cast<std::uint32_t>(members.size());
  }

  [[nodiscard]] std::uint32_t count(const EventCode& code, const Place& place) {
    perf_event_attr attributes = attributes_of(code);
    if (place.leaves_kernel_out) attributes.exclude_kernel = 1;
    int fault = 0;
    return count_free(calls_, attributes, place.task, place.cpu, kGeneralMax, fault);
  }

  [[nodiscard]] EventCode generic(const Device& device, std::uint64_t number) const {
    return generic_event(core_pmus_ > 1 ? device.type : 0, number);
  }

  void add(const Device& device) {
    switch (device.sort) {
      case PmuSort::kCore:
        return add_core(device);
      case PmuSort::kUncore:
        return add_uncore(device);
      case PmuSort::kBreakpoint:
        return add_breakpoints(device);
    }
  }

  void add_core(const Device& device) {
    const EventCode cycles = generic(device, PERF_COUNT_HW_CPU_CYCLES);
    const auto place = place_for(device, attributes_of(cycles), fault_);
    if (!place.has_value()) return;
    // Best is an event that no fixed counter counts, so that general ones are found and guarded.
    EventCode filler = cycles;
    for (const std::uint64_t number :
         {PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS}) {
      const EventCode code = generic(device, number);
      int ignored = 0;
      if (!place_for(device, attributes_of(code), ignored).has_value()) continue;
      filler = code;
      break;
    }
    CoreCounters counters =
        options_.core_counters(device.cpus.common_with(machine().online).numbers().front());
    if (counters.general == 0) {
      counters.general = count_in_group(filler, *place);
      if (is_arm(device.name)) add_cycle_counter(cycles, filler, *place, counters);
      if (counters.general == 0) return;
    }
    push(device, filler,
         {.name = device.name,
          .cpus = device.cpus,
          .general = counters.general,
          .fixed = std::min(counters.fixed, kFixedMax),
          .width = counters.width == 0 ? 48 : counters.width,
          .has_overflow = true,
          .has_user_read =
              text_at(sysfs_, std::string(kDevices) + "/" + device.name + "/rdpmc").value_or("0") !=
              "0"});
    add_classes(counters);
  }

  // On Arm one more counter counts cycles only.
  void add_cycle_counter(const EventCode& cycles, const EventCode& filler, const Place& place,
                         CoreCounters& counters) {
    counters.width = 64;
    if (filler == cycles) {
      counters.fixed = counters.general > 0 ? 1 : 0;
      counters.general -= counters.fixed;
      return;
    }
    counters.fixed = count_in_group(cycles, place) > counters.general ? 1 : 0;
  }

  void push(const Device& device, const EventCode& filler, Pmu pmu) {
    topology().pmus.push_back(std::move(pmu));
    result_.machine.pmus.push_back({device.type, device.sort, device.format, filler});
  }

  void add_class(std::string name, CounterMask counters, std::uint32_t first, std::uint32_t last,
                 std::optional<std::uint32_t> unit_mask) {
    const auto pmu = static_cast<PmuIndex>(topology().pmus.size() - 1);
    topology().classes.push_back({std::move(name), pmu, counters});
    const auto number = static_cast<std::uint32_t>(topology().classes.size() - 1);
    topology().events.push_back({pmu, first, last, unit_mask, number});
  }

  // Which events the fixed counters count.
  void add_classes(const CoreCounters& counters) {
    const Pmu pmu = topology().pmus.back();
    const CounterMask general = (CounterMask{1} << pmu.general) - 1;
    const auto fixed = [](std::uint32_t number) {
      return CounterMask{1} << (kFixedFirst + number);
    };
    if (counters.vendor == "GenuineIntel") {
      if (pmu.fixed > 0) add_class("inst", general | fixed(0), 0xc0, 0xc0, 0x00);
      if (pmu.fixed > 1) add_class("cycles", general | fixed(1), 0x3c, 0x3c, 0x00);
      if (pmu.fixed > 2) add_class("ref", fixed(2), 0x00, 0x00, 0x03);
      if (pmu.fixed > 3) add_class("slots", fixed(3), 0x00, 0x00, 0x04);
    }
    if (is_arm(pmu.name) && pmu.fixed > 0) add_class("cycles", general | fixed(0), 0x11, 0x11, {});
    if (counters.vendor == "AuthenticAMD" || is_arm(pmu.name)) {
      topology().blocks.push_back(
          {"pair", static_cast<PmuIndex>(topology().pmus.size() - 1), 2, 2});
    }
  }

  void add_uncore(const Device& device) {
    if (topology().pmus.size() >= kTopologyPmusMax) return;
    EventCode filler{.type = device.type};
    const UniqueFd events =
        directory_at(sysfs_, (std::string(kDevices) + "/" + device.name + "/events").c_str());
    if (events) {
      for (const std::string& name : names_at(events.get(), ".")) {
        const auto terms = text_at(events.get(), name);
        const auto code = device.format.encode(device.type, terms.value_or(""));
        if (!code.has_value()) continue;
        filler = *code;
        break;
      }
    }
    int ignored = 0;
    const auto place = place_for(device, attributes_of(filler), ignored);
    if (!place.has_value()) return;
    const std::uint32_t general = count(filler, *place);
    if (general == 0) return;
    push(device, filler,
         {.name = device.name, .cpus = device.cpus, .general = general, .is_named_only = true});
  }

  void add_breakpoints(const Device& device) {
    perf_event_attr data = idle_breakpoint(device.type, HW_BREAKPOINT_W);
    int ignored = 0;
    const auto place = place_for(device, data, ignored);
    if (!place.has_value()) return;
    has_dead_breakpoints_ = !calls_.has_counting_breakpoints();
    if (has_dead_breakpoints_) return;
    Pmu pmu{.name = device.name, .cpus = device.cpus};
    pmu.has_overflow = true;
    pmu.is_named_only = true;
    pmu.is_closed = true;
#if defined(__x86_64__)
    // The debug registers of the architecture. Probing finds fewer where another process has some
    // of them.
    constexpr std::uint32_t kSlotsOfX86 = 4;
    pmu.general = kSlotsOfX86;
    push(device, {.type = device.type}, std::move(pmu));
    add_class("slot", (CounterMask{1} << kSlotsOfX86) - 1, HW_BREAKPOINT_W, HW_BREAKPOINT_X, {});
#else
    const std::uint32_t slots = count_slots(device, HW_BREAKPOINT_W, *place);
    const std::uint32_t code_slots = count_slots(device, HW_BREAKPOINT_X, *place);
    if (slots == 0) return;
    pmu.general = slots + code_slots;
    push(device, {.type = device.type}, std::move(pmu));
    const CounterMask all = (CounterMask{1} << (slots + code_slots)) - 1;
    const CounterMask for_data = (CounterMask{1} << slots) - 1;
    add_class("data", for_data, HW_BREAKPOINT_R, HW_BREAKPOINT_RW, {});
    if (code_slots > 0) add_class("code", all & ~for_data, HW_BREAKPOINT_X, HW_BREAKPOINT_X, {});
#endif
  }

  // The most that one of the CPUs has free.
  [[maybe_unused]] std::uint32_t count_slots(const Device& device, std::uint32_t access,
                                             const Place& place) {
    const perf_event_attr attributes = idle_breakpoint(device.type, access);
    int ignored = 0;
    if (place.cpu < 0) {
      return count_free(calls_, attributes, place.task, place.cpu, kSlotsMax, ignored);
    }
    std::uint32_t most = 0;
    for (const std::uint32_t cpu : device.cpus.common_with(machine().online).numbers()) {
      most = std::max(
          most, count_free(calls_, attributes, -1, static_cast<int>(cpu), kSlotsMax, ignored));
    }
    return most;
  }

  // Event sources beside the first PMU of a core that are themselves what is scarce.
  void add_units(int folder) {
    struct Source {
      std::string_view device;
      std::string_view unit;
    };
    static constexpr std::array<Source, 5> kSources = {{{"ibs_fetch", "ibs_fetch"},
                                                        {"ibs_op", "ibs_op"},
                                                        {"intel_pt", "pt"},
                                                        {"intel_bts", "bts"},
                                                        {"arm_spe_0", "spe"}}};
    if (!options_.topology.empty() || topology().pmus.empty()) return;
    if (result_.machine.pmus.front().sort != PmuSort::kCore) return;
    for (const Source& source : kSources) {
      if (!directory_at(folder, std::string(source.device).c_str())) continue;
      UnitRule unit;
      unit.name = source.unit;
      if (source.unit == "bts") unit.conflicts = {"pt"};
      topology().units.push_back(std::move(unit));
    }
    const std::string caps = topology().pmus.front().name + "/caps/";
    if (text_at(folder, caps + "max_precise").value_or("0") != "0" &&
        !directory_at(folder, "ibs_op")) {
      UnitRule buffer;
      buffer.name = kEventBufferUnit;
      buffer.is_shareable = true;
      topology().units.push_back(std::move(buffer));
    }
  }

  // The error, if there is one.
  [[nodiscard]] std::optional<Error> follow_topology() {
    std::ifstream file(options_.topology, std::ios::binary);
    if (!file) {
      return Error{ErrorCode::kNotFound, errno, "topology file " + options_.topology, {}};
    }
    // One byte too many is what parse_topology refuses.
    std::string text(kTopologyBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    Result<Topology> said = parse_topology(text, options_.topology);
    if (!said.has_value()) return said.error();
    topology() = *std::move(said);
    for (Pmu& pmu : topology().pmus) {
      const auto device = std::find_if(devices_.begin(), devices_.end(),
                                       [&](const Device& d) { return d.name == pmu.name; });
      if (device == devices_.end()) {
        return Error{ErrorCode::kNotFound, 0,
                     options_.topology + ": this kernel has no PMU " + pmu.name,
                     "leave the topology file out"};
      }
      EventCode filler{.type = device->type};
      if (device->sort == PmuSort::kCore) filler = generic(*device, PERF_COUNT_HW_CPU_CYCLES);
      result_.machine.pmus.push_back({device->type, device->sort, device->format, filler});
    }
    return std::nullopt;
  }

  void name_all_events(int folder) {
    machine().names.resize(topology().pmus.size());
    for (PmuIndex pmu = 0; pmu < result_.machine.pmus.size(); ++pmu) {
      if (!result_.machine.is_hardware(pmu)) continue;
      name_listed_events(result_.machine, pmu,
                         directory_at(folder, topology().pmus[pmu].name.c_str()));
      if (result_.machine.pmus[pmu].sort != PmuSort::kCore) continue;
      const CpuSet cpus = topology().pmus[pmu].cpus.common_with(machine().online);
      if (cpus.empty()) continue;
      name_generic_events(result_.machine, pmu, core_pmus_ > 1, cpus.numbers().front(), calls_);
    }
#if defined(METERBANK_HAS_LIBPFM)
    // It takes milliseconds to ask for them all.
    if (options_.has_libpfm_names && has_core()) name_events(result_.machine, libpfm_events());
#endif
  }

  void explain() {
    const bool is_listed = core_pmus_ > 0;
    if (fault_ == 0 && !is_listed) {
      const int opened = calls_.open(attributes_of(generic_event(0, PERF_COUNT_HW_CPU_CYCLES)), -1,
                                     static_cast<int>(machine().online.numbers().front()));
      if (opened >= 0) calls_.close(opened);
      fault_ = opened < 0 ? -opened : 0;
    }
    result_.why_no_pmu = reason_for(fault_, is_listed ? fault_ : 0);
    if (!has_dead_breakpoints_) return;
    if (!result_.why_no_pmu.empty()) result_.why_no_pmu += "; ";
    result_.why_no_pmu += "breakpoints can be set on this machine and never count";
  }

  int sysfs_;
  const DiscoveryOptions& options_;
  PerfCalls& calls_;
  Discovered result_;
  std::vector<Device> devices_;
  std::ptrdiff_t core_pmus_ = 0;
  int fault_ = 0;  // why the last PMU of a core could not be opened
  bool has_dead_breakpoints_ = false;
};

}  // namespace

Result<Discovered> discover(int sysfs, const DiscoveryOptions& options, PerfCalls& calls) {
  return Discovery(sysfs, options, calls).run();
}

}  // namespace meterbank::arbiter
