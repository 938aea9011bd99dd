// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/perf_backend.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "arbiter/backend/perf/kernel_files.hpp"
#include "meterbank/base/clock.hpp"

namespace meterbank::arbiter {
namespace {

void keep_over_exec(int descriptor, bool keep) noexcept {
  static_cast<void>(::fcntl(descriptor, F_SETFD, keep ? 0 : FD_CLOEXEC));
}

[[nodiscard]] int cpu_of(const Opening& opening) noexcept {
  return opening.task != 0 || opening.cpu == pmu::kNoCpu ? -1 : static_cast<int>(opening.cpu);
}

[[nodiscard]] pid_t task_of(const Opening& opening) noexcept {
  return opening.task != 0 ? static_cast<pid_t>(opening.task) : -1;
}

[[nodiscard]] OpenOutcome refusal(OpenFault fault, int system_error) {
  OpenOutcome outcome;
  outcome.fault = fault;
  outcome.system_error = system_error;
  return outcome;
}

}  // namespace

Result<std::unique_ptr<PerfBackend>> PerfBackend::open(const PerfOptions& options) {
  const Result<UniqueFd> sysfs = hold_directory(options.sysfs);
  if (!sysfs.has_value()) return tl::make_unexpected(sysfs.error());
  const Result<UniqueFd> proc = hold_directory(options.proc);
  if (!proc.has_value()) return tl::make_unexpected(proc.error());
  Result<UniqueFd> own_files = hold_directory("/proc/self/fdinfo");
  if (!own_files.has_value()) return tl::make_unexpected(own_files.error());
  Result<Discovered> discovered = discover(sysfs->get(), options.discovery, *options.calls);
  if (!discovered.has_value()) return tl::make_unexpected(discovered.error());
  return std::unique_ptr<PerfBackend>(
      new PerfBackend(options.calls, *std::move(discovered), *std::move(own_files),
                      file_at(sysfs->get(), "devices/system/cpu/online"), proc->get()));
}

PerfBackend::PerfBackend(std::shared_ptr<PerfCalls> calls, Discovered discovered,
                         UniqueFd own_files, UniqueFd online, int proc)
    : calls_(std::move(calls)),
      discovered_(std::move(discovered)),
      own_files_(std::move(own_files)),
      online_(std::move(online)),
      outsiders_(proc) {}

PerfBackend::~PerfBackend() = default;

const Machine& PerfBackend::machine() const { return discovered_.machine.machine; }

std::string PerfBackend::why_no_pmu() const { return discovered_.why_no_pmu; }

OpenFault PerfBackend::fault_of(int system_error, const Opening& opening) {
  switch (system_error) {
    case ENOSPC:
    case EBUSY:
      return OpenFault::kNoCounter;
    case EACCES:
    case EPERM:
      return OpenFault::kDenied;
    case ESRCH:
      return OpenFault::kNoTask;
    case EMFILE:
    case ENFILE:
      return OpenFault::kNoDescriptors;
    case EINVAL:
    case ENODEV:
    case ENXIO:
      // What the kernel says of a CPU that is away as well.
      if (opening.task == 0 && !online().contains(opening.cpu)) return OpenFault::kOffline;
      return OpenFault::kNotSupported;
    case ENOENT:
    case EOPNOTSUPP:
    case ENOSYS:
      return OpenFault::kNotSupported;
    default:
      return OpenFault::kOther;
  }
}

bool PerfBackend::is_counting(const Counter& counter) {
  if (!discovered_.machine.is_hardware(counter.opening.pmu)) return true;
  if (counter.opening.task == 0) return has_run(*calls_, counter.file.get());
  return read_event(*calls_, counter.file.get()).has_value();
}

// On success the only kernel id is that of the counter.
OpenOutcome PerfBackend::try_open(Counter& counter) {
  const Opening& opening = counter.opening;
  if (OpenOutcome known = count_on(counter); known.fault == OpenFault::kNone) return known;
  const auto attributes = discovered_.machine.attributes(opening.pmu, opening.event, opening.flags);
  // An event needs a task or a CPU.
  if (!attributes.has_value() || (opening.task == 0 && opening.cpu == pmu::kNoCpu)) {
    return refusal(OpenFault::kNotSupported, EINVAL);
  }
  const int descriptor = calls_->open(*attributes, task_of(opening), cpu_of(opening));
  if (descriptor < 0) {
    return refusal(fault_of(-descriptor, opening), -descriptor);
  }
  counter.file = EventFile(*calls_, descriptor);
  if (!is_counting(counter)) return refusal(OpenFault::kNoCounter, 0);
  std::uint64_t id = 0;
  const int status = calls_->control(descriptor, PERF_EVENT_IOC_ID, &id);
  if (status < 0) return refusal(OpenFault::kOther, -status);
  OpenOutcome outcome;
  outcome.kernel_ids = {id};
  return outcome;
}

// With the event that it has already, if that counts.
OpenOutcome PerfBackend::count_on(Counter& counter) {
  OpenOutcome outcome = refusal(OpenFault::kNoCounter, 0);
  if (!counter.file) return outcome;
  std::uint64_t id = 0;
  // It was stopped where its lease had to wait when the arbiter before ended.
  static_cast<void>(calls_->control(counter.file.get(), PERF_EVENT_IOC_ENABLE, nullptr));
  if (calls_->control(counter.file.get(), PERF_EVENT_IOC_ID, &id) < 0 || !is_counting(counter)) {
    counter.file.reset();
    return outcome;
  }
  outcome.fault = OpenFault::kNone;
  outcome.kernel_ids = {id};
  return outcome;
}

OpenOutcome PerfBackend::open(CarrierNumber carrier, std::span<const Opening> openings) {
  return take_back(carrier, openings, std::vector<UniqueFd>(openings.size()));
}

OpenOutcome PerfBackend::take_back(CarrierNumber carrier, std::span<const Opening> openings,
                                   std::vector<UniqueFd> kept) {
  kept.resize(openings.size());
  Held held;
  held.counters.reserve(openings.size());
  OpenOutcome outcome;
  for (const Opening& opening : openings) {
    UniqueFd& descriptor = kept.at(held.counters.size());
    held.counters.push_back({.opening = opening});
    if (descriptor) held.counters.back().file = EventFile(*calls_, descriptor.release());
    OpenOutcome one = try_open(held.counters.back());
    if (one.fault != OpenFault::kNone) {
      one.opening = static_cast<std::uint32_t>(held.counters.size() - 1);
      return one;
    }
    outcome.kernel_ids.push_back(one.kernel_ids.front());
    held.is_hardware = held.is_hardware || discovered_.machine.is_hardware(opening.pmu);
  }
  if (held.is_hardware) watch_events(held);
  held_.insert_or_assign(carrier, std::move(held));
  return outcome;
}

// Edges only: an event that is not mapped always says that it is hung up.
void PerfBackend::watch_events(Held& held) {
  if (!held.watch) held.watch = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!held.watch) return;
  for (const Counter& counter : held.counters) {
    epoll_event event = {};
    event.events = EPOLLERR | EPOLLET;
    // Those that are there already stay as they are.
    if (counter.file) {
      static_cast<void>(::epoll_ctl(held.watch.get(), EPOLL_CTL_ADD, counter.file.get(), &event));
    }
  }
  silence(held);
}

void PerfBackend::silence(const Held& held) {
  std::array<epoll_event, 16> ignored;
  while (::epoll_wait(held.watch.get(), ignored.data(), ignored.size(), 0) > 0) {
  }
}

void PerfBackend::close(CarrierNumber carrier) {
  const auto found = held_.find(carrier);
  if (found == held_.end()) return;
  Held held = std::move(found->second);
  held_.erase(found);
  Limbo limbo;
  for (Counter& counter : held.counters) {
    if (counter.file) limbo.descriptors.push_back(counter.file.get());
    counter.file.reset();
  }
  if (!held.watch) return;
  limbo.watch = std::move(held.watch);
  limbo_.insert_or_assign(carrier, std::move(limbo));
}

bool PerfBackend::has_let_go(CarrierNumber carrier) {
  const auto found = limbo_.find(carrier);
  if (found == limbo_.end()) return !held_.contains(carrier);
  Limbo& limbo = found->second;
  const auto text = text_at(own_files_.get(), std::to_string(limbo.watch.get()));
  const bool is_open = text.has_value() && text->find("tfd:") != std::string::npos;
  if (is_open) {
    limbo.was_seen = true;
    return false;
  }
  // The kernel forgets the file a moment before it gives the counter back: look once more where
  // another process has just closed it.
  if (std::exchange(limbo.was_seen, false)) return false;
  limbo_.erase(found);
  return true;
}

void PerfBackend::pause(CarrierNumber carrier) {
  const auto found = held_.find(carrier);
  if (found == held_.end() || found->second.is_paused) return;
  found->second.is_paused = true;
  found->second.paused_ns = clock_ns(CLOCK_MONOTONIC);
  for (Counter& counter : found->second.counters) {
    if (!counter.file) continue;
    if (discovered_.machine.is_hardware(counter.opening.pmu)) {
      static_cast<void>(calls_->control(counter.file.get(), PERF_EVENT_IOC_DISABLE, nullptr));
      continue;
    }
    counter.before = read_counter(counter);
    counter.file.reset();
  }
}

void PerfBackend::count_pause(Held& held) {
  if (!held.is_paused) return;
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t elapsed = now - std::exchange(held.paused_ns, now);
  for (Counter& counter : held.counters) {
    if (counter.opening.task == 0) counter.before.enabled_ns += elapsed;
  }
}

void PerfBackend::revive_tasks() {
  for (auto& [number, held] : held_) {
    if (!held.is_hardware || held.is_paused) continue;
    for (const Counter& counter : held.counters) {
      if (counter.opening.task == 0 || !counter.file) continue;
      static_cast<void>(calls_->control(counter.file.get(), PERF_EVENT_IOC_ENABLE, nullptr));
    }
  }
}

OpenOutcome PerfBackend::resume_counter(Counter& counter) {
  if (!counter.file) return try_open(counter);
  OpenOutcome outcome;
  std::uint64_t id = 0;
  static_cast<void>(calls_->control(counter.file.get(), PERF_EVENT_IOC_ENABLE, nullptr));
  if (calls_->control(counter.file.get(), PERF_EVENT_IOC_ID, &id) == 0 && is_counting(counter)) {
    outcome.kernel_ids = {id};
    return outcome;
  }
  // An event of a CPU that was offline stays behind.
  const bool had_counter = std::exchange(counter.last.has_counter, true);
  counter.before = counter.last;
  counter.file.reset();
  outcome = try_open(counter);
  if (outcome.fault != OpenFault::kNone) {
    counter.file.reset();
    counter.last.has_counter = had_counter;
  }
  return outcome;
}

OpenOutcome PerfBackend::resume(CarrierNumber carrier) {
  const auto found = held_.find(carrier);
  if (found == held_.end()) return refusal(OpenFault::kOther, ENOENT);
  Held& held = found->second;
  count_pause(held);
  held.is_paused = false;
  OpenOutcome outcome;
  for (std::uint32_t i = 0; i < held.counters.size(); ++i) {
    Counter& counter = held.counters[i];
    OpenOutcome one = resume_counter(counter);
    if (one.fault != OpenFault::kNone) {
      // What was opened in vain has counted nothing.
      if (!discovered_.machine.is_hardware(counter.opening.pmu)) counter.file.reset();
      pause(carrier);
      one.opening = i;
      one.kernel_ids.clear();
      return one;
    }
    outcome.kernel_ids.push_back(one.kernel_ids.front());
  }
  if (held.watch) watch_events(held);
  return outcome;
}

Reading PerfBackend::read_counter(Counter& counter) {
  if (!counter.file) {
    counter.last = counter.before;
    return counter.last;
  }
  const std::optional<EventWords> words = read_event(*calls_, counter.file.get());
  counter.last.has_counter = words.has_value();
  if (!words.has_value()) return counter.last;
  counter.last.value = counter.before.value + words->value;
  counter.last.enabled_ns = counter.before.enabled_ns + words->enabled_ns;
  counter.last.running_ns = counter.before.running_ns + words->running_ns;
  return counter.last;
}

std::vector<Reading> PerfBackend::read(CarrierNumber carrier) {
  const auto found = held_.find(carrier);
  if (found == held_.end()) return {};
  if (found->second.watch) silence(found->second);
  count_pause(found->second);
  std::vector<Reading> readings;
  readings.reserve(found->second.counters.size());
  for (Counter& counter : found->second.counters) readings.push_back(read_counter(counter));
  return readings;
}

std::uint32_t PerfBackend::probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                 std::uint32_t at_most) {
  const auto attributes = discovered_.machine.attributes(pmu, event, 0);
  if (!attributes.has_value()) return 0;
  std::uint32_t least = at_most;
  int ignored = 0;
  for (const std::uint32_t cpu : cpus.numbers()) {
    if (least == 0) break;
    least = count_free(*calls_, *attributes, -1, static_cast<int>(cpu), least, ignored);
  }
  revive_tasks();
  return cpus.empty() ? 0 : least;
}

std::uint32_t PerfBackend::guard(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counters) {
  if (pmu >= discovered_.machine.pmus.size()) return 0;
  std::vector<EventFile>& guards = guards_[{pmu, cpu}];
  const perf_event_attr attributes = discovered_.machine.guard(pmu);
  while (guards.size() > counters) guards.pop_back();
  while (guards.size() < counters) {
    const int descriptor = calls_->open(attributes, -1, static_cast<int>(cpu));
    if (descriptor < 0) break;
    EventFile event(*calls_, descriptor);
    if (discovered_.machine.is_hardware(pmu) && !has_run(*calls_, descriptor)) break;
    guards.push_back(std::move(event));
  }
  revive_tasks();
  const auto held = static_cast<std::uint32_t>(guards.size());
  if (held == 0) guards_.erase({pmu, cpu});
  return held;
}

int PerfBackend::descriptor(CarrierNumber carrier, std::uint32_t opening) {
  const auto found = held_.find(carrier);
  if (found == held_.end() || opening >= found->second.counters.size()) return -1;
  // From now on another process may keep it open.
  watch_events(found->second);
  return found->second.counters[opening].file.get();
}

std::vector<Outsider> PerfBackend::survey() {
  std::vector<int> ours;
  std::vector<ClosedEvent> were_ours;
  for (const auto& [number, held] : held_) {
    if (!held.watch) continue;
    for (const Counter& counter : held.counters) {
      if (counter.file) ours.push_back(counter.file.get());
    }
  }
  for (const auto& [number, limbo] : limbo_) {
    for (const int descriptor : limbo.descriptors) {
      were_ours.push_back({limbo.watch.get(), descriptor});
    }
  }
  return outsiders_.run(discovered_.machine, online(), ours, were_ours);
}

CpuSet PerfBackend::online() {
  const std::optional<std::string> text =
      online_ ? text_of_file(online_.get()) : std::optional<std::string>();
  Result<CpuSet> cpus = CpuSet::parse(text.value_or(""));
  return cpus.has_value() && !cpus->empty() ? *std::move(cpus) : machine().online;
}

std::map<int, CarrierNumber> PerfBackend::watched() const {
  std::map<int, CarrierNumber> watches;
  for (const auto& [number, held] : held_) {
    if (held.watch && held.is_hardware) watches.emplace(held.watch.get(), number);
  }
  return watches;
}

std::vector<SavedCarrier> PerfBackend::save() {
  std::vector<SavedCarrier> saved;
  for (auto& [number, held] : held_) {
    SavedCarrier carrier;
    carrier.carrier = number;
    carrier.is_paused = held.is_paused;
    count_pause(held);
    for (const Counter& counter : held.counters) {
      carrier.openings.push_back(counter.opening);
      carrier.descriptors.push_back(counter.file.get());
      carrier.before.push_back(counter.before);
      if (counter.file) keep_over_exec(counter.file.get(), true);
    }
    saved.push_back(std::move(carrier));
  }
  for (const auto& [number, limbo] : limbo_) {
    keep_over_exec(limbo.watch.get(), true);
    SavedCarrier carrier;
    carrier.carrier = number;
    carrier.descriptors = {limbo.watch.get()};
    saved.push_back(std::move(carrier));
  }
  return saved;
}

void PerfBackend::adopt(std::vector<SavedCarrier> saved) {
  for (SavedCarrier& carrier : saved) {
    for (const int descriptor : carrier.descriptors) {
      if (descriptor >= 0) keep_over_exec(descriptor, false);
    }
    // Ours still, if there was no new image after all.
    if (held_.contains(carrier.carrier) || limbo_.contains(carrier.carrier)) continue;
    if (carrier.openings.empty()) {
      if (carrier.descriptors.size() != 1) continue;
      Limbo limbo;
      limbo.watch = UniqueFd(carrier.descriptors.front());
      limbo_.emplace(carrier.carrier, std::move(limbo));
      continue;
    }
    if (carrier.descriptors.size() != carrier.openings.size()) continue;
    carrier.before.resize(carrier.openings.size());
    Held held;
    held.is_paused = carrier.is_paused;
    held.paused_ns = clock_ns(CLOCK_MONOTONIC);
    for (std::size_t i = 0; i < carrier.openings.size(); ++i) {
      Counter counter{.opening = carrier.openings[i], .before = carrier.before[i]};
      counter.last = counter.before;
      std::uint64_t id = 0;
      // A descriptor that is no event of perf is not ours to close.
      if (carrier.descriptors[i] >= 0 &&
          calls_->control(carrier.descriptors[i], PERF_EVENT_IOC_ID, &id) == 0) {
        counter.file = EventFile(*calls_, carrier.descriptors[i]);
      }
      const PmuIndex pmu = counter.opening.pmu;
      if (pmu >= discovered_.machine.pmus.size()) continue;
      held.is_hardware = held.is_hardware || discovered_.machine.is_hardware(pmu);
      held.counters.push_back(std::move(counter));
    }
    watch_events(held);
    held_.emplace(carrier.carrier, std::move(held));
  }
}

}  // namespace meterbank::arbiter
