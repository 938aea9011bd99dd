// SPDX-License-Identifier: Apache-2.0
#include "host/host_provider.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/sets/sets.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::host {

Moment Moment::now() noexcept {
  return {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME) / 100};
}

namespace {

ProbeOptions probe_options(const HostOptions& options) {
  ProbeOptions probe;
  probe.root = options.root;
  // Without their rows, processes are only counted.
  if (!options.processes) probe.process = {.status = false, .io = false, .handles = false};
  return probe;
}

// The fields that every one of `readings` has: a field that one of them lacks cannot be a counter.
template <typename Readings>
std::uint64_t common_fields(const Readings& readings) noexcept {
  std::uint64_t common = readings.empty() ? 0 : ~std::uint64_t{0};
  for (const auto& reading : readings) common &= reading.values.present();
  return common;
}

}  // namespace

struct HostProvider::Running {
  Running(HostOptions host_options, Provider host_provider)
      : options(std::move(host_options)),
        provider(std::move(host_provider)),
        probe(probe_options(options)) {}
  ~Running() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }

  Result<void> register_sets();
  void sample_processors();
  void sample_devices();
  void sample_processes();
  void run();

  HostOptions options;
  Provider provider;
  HostProbe probe;
  PublishedSet<CpuValues> processors;
  PublishedSet<SystemRow> system;
  PublishedSet<MemoryValues> memory;
  PublishedSet<DiskValues> disks;
  PublishedSet<NetworkValues> network;
  PublishedSet<NetworkValues> links;
  PublishedSet<ProcessReading> processes;
  PublishedSet<ProcessReading> process_io;
  std::string name;  // reused from row to row

  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::thread thread;
};

Result<void> HostProvider::Running::register_sets() {
  probe.sample();
  const Availability available = probe.availability();
  const std::uint64_t cpu_fields = common_fields(probe.cpu().cpus());
  if (cpu_fields == 0) {
    return fail(ErrorCode::kNotFound, "no processor statistics under " + options.root,
                "mount procfs");
  }
  // A set without any source is not registered: there are machines without disks.
  auto good = processors.start(provider, processor_information(), processor_columns(), cpu_fields);
  if (good) good = system.start(provider, system_set(), system_columns(), available.system);
  if (good) good = memory.start(provider, memory_set(), memory_columns(), available.memory);
  if (good) good = disks.start(provider, disk_set(), disk_columns(), available.disk);
  if (good) {
    good = network.start(provider, network_set(), network_columns(),
                         common_fields(probe.network().interfaces()));
  }
  if (good) good = links.start(provider, link_set(), link_columns(), available.network);
  if (!good || !options.processes) return good;
  good = processes.start(provider, process_set(), process_columns(),
                         common_fields(probe.processes().processes()));
  if (!good) return good;
  return process_io.start(provider, process_io_set(), process_io_columns(), available.process);
}

void HostProvider::Running::sample_processors() {
  if (!probe.sample_cpu_and_system()) return;
  const Moment moment = Moment::now();
  const CpuReader& cpu = probe.cpu();
  for (const CpuReading& processor : cpu.cpus()) {
    name = std::to_string(processor.node) + "," + std::to_string(processor.index);
    processors.row(name, 0, processor.values, moment);
  }
  for (const CpuGroup& node : cpu.nodes()) {
    if (node.cpus() == 0) continue;
    name = std::to_string(node.node()) + ",_Total";
    processors.row(name, 0, node.values(), moment);
  }
  processors.row("_Total", 0, cpu.machine().values(), moment);
  processors.end_round();
  system.row("", 0, {&probe.system(), probe.processes().processes().size()}, moment);
  system.end_round();
}

void HostProvider::Running::sample_devices() {
  if (probe.sample_memory()) {
    memory.row("", 0, probe.memory().values(), Moment::now());
    memory.end_round();
  }
  if (probe.sample_disks()) {
    const Moment moment = Moment::now();
    for (const DiskReading& disk : probe.disks().disks()) {
      disks.row(disk.name.view(), disk.life, disk.values, moment);
    }
    disks.end_round();
  }
  if (probe.sample_network()) {
    const Moment moment = Moment::now();
    for (const InterfaceReading& interface : probe.network().interfaces()) {
      network.row(interface.name.view(), interface.life, interface.values, moment);
      links.row(interface.name.view(), interface.life, interface.values, moment);
    }
    network.end_round();
    links.end_round();
  }
}

void HostProvider::Running::sample_processes() {
  if (!probe.sample_processes()) return;
  const Moment moment = Moment::now();
  for (const ProcessReading& process : probe.processes().processes()) {
    name.assign(displayable_name(process.name.view()).view());
    name += ':';
    name += std::to_string(process.pid);
    processes.row(name, process.start_ticks, process, moment);
    process_io.row(name, process.start_ticks, process, moment);
  }
  processes.end_round();
  process_io.end_round();
}

void HostProvider::Running::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point due = Clock::now();
  Clock::time_point processes_due = due;
  std::unique_lock lock(mutex);
  while (!stop) {
    lock.unlock();
    sample_processors();
    sample_devices();
    if (Clock::now() >= processes_due) {
      sample_processes();
      processes_due += options.process_period;
      processes_due = std::max(processes_due, Clock::now());
    }
    lock.lock();
    // Absolute deadlines do not drift; a machine that cannot keep up skips beats.
    due += options.period;
    due = std::max(due, Clock::now());
    changed.wait_until(lock, due, [this] { return stop; });
  }
}

namespace {

// A probe without descriptors would find a machine without anything.
Result<void> check_descriptors() {
  constexpr std::size_t kNeeded = 16;
  std::array<UniqueFd, kNeeded> held;
  for (auto& descriptor : held) {
    descriptor.reset(::open("/", O_PATH | O_CLOEXEC));
    if (descriptor) continue;
    return fail(ErrorCode::kLimit, "no descriptors left to read this machine's files with",
                "ulimit -n 64, or more", errno);
  }
  return {};
}

}  // namespace

Result<HostProvider> HostProvider::start(HostOptions options) {
  if (auto enough = check_descriptors(); !enough) return tl::make_unexpected(enough.error());
  constexpr std::uint32_t kInstancesMax = 65536;
  auto provider = Provider::create(
      {.name = options.name, .directory = options.directory, .instances_max = kInstancesMax});
  if (!provider) return tl::make_unexpected(provider.error());
  auto running = std::make_unique<Running>(std::move(options), std::move(*provider));
  if (auto good = running->register_sets(); !good) return tl::make_unexpected(good.error());
  // The first round is published before a reader can learn that the provider runs.
  running->sample_processors();
  running->sample_devices();
  if (running->options.processes) running->sample_processes();
  running->thread = std::thread([state = running.get()] { state->run(); });
  return HostProvider(std::move(running));
}

HostProvider::HostProvider(std::unique_ptr<Running> running) noexcept
    : running_(std::move(running)) {}
HostProvider::HostProvider(HostProvider&&) noexcept = default;
HostProvider& HostProvider::operator=(HostProvider&&) noexcept = default;
HostProvider::~HostProvider() = default;

}  // namespace meterbank::host
