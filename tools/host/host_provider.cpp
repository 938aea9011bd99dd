// SPDX-License-Identifier: Apache-2.0
#include "host/host_provider.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

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

constexpr std::string_view kTotal = "_Total";

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
  Result<void> register_devices();
  Result<void> register_processes();
  template <typename Values>
  Result<void> add(PublishedSet<Values>& set, const CountersetSpec& spec,
                   std::span<const Column<Values>> columns, std::uint64_t available);
  void sample_processors();
  void sample_devices();
  void sample_network();
  void sample_processes();
  void sample_file_systems();
  void run();

  HostOptions options;
  Provider provider;
  HostProbe probe;
  PublishedSet<CpuValues> processor_information;
  PublishedSet<CpuValues> processors;
  PublishedSet<SystemValues> system;
  PublishedSet<SystemValues> objects;
  PublishedSet<MemoryValues> memory;
  PublishedSet<PagingValues> paging_files;
  PublishedSet<DiskValues> disks;
  PublishedSet<DiskValues> logical_disks;
  PublishedSet<NetworkValues> network;
  PublishedSet<NetworkValues> links;
  PublishedSet<TcpValues> tcp;
  PublishedSet<UdpValues> udp4;
  PublishedSet<UdpValues> udp6;
  PublishedSet<ProcessReading> processes_v2;
  PublishedSet<ProcessReading> processes;
  PublishedSet<ProcessReading> process_io;
  std::vector<std::string> left_out;
  std::string name;  // reused from row to row

  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::thread thread;
};

template <typename Values>
Result<void> HostProvider::Running::add(PublishedSet<Values>& set, const CountersetSpec& spec,
                                        std::span<const Column<Values>> columns,
                                        std::uint64_t available) {
  auto good = set.start(provider, spec, columns, available);
  if (auto text = set.left_out(); good && !text.empty()) left_out.push_back(std::move(text));
  return good;
}

// In the order in which readers list them: what most people look for first, then the sets that
// exist for the sake of Windows' older names.
Result<void> HostProvider::Running::register_sets() {
  probe.sample();
  const std::uint64_t cpu_fields = common_fields(probe.cpu().cpus());
  const std::uint64_t system_fields = probe.availability().system;
  if (cpu_fields == 0 && system_fields == 0) {
    return fail(ErrorCode::kNotFound, "neither processors nor processes under " + options.root,
                "mount procfs");
  }
  auto good = add(processor_information, processor_information_set(),
                  processor_information_columns(), cpu_fields);
  if (good) good = add(system, system_set(), system_columns(), system_fields);
  if (good) good = register_devices();
  if (good && options.processes) good = register_processes();
  if (good) good = add(processors, processor_set(), processor_columns(), cpu_fields);
  if (good) good = add(objects, objects_set(), objects_columns(), system_fields);
  return good;
}

// A set without any source is not registered: there are machines without disks.
Result<void> HostProvider::Running::register_devices() {
  const Availability available = probe.availability();
  auto good = add(memory, memory_set(), memory_columns(), available.memory);
  if (good) good = add(disks, disk_set(), disk_columns(), available.disk);
  if (good) {
    good = add(logical_disks, logical_disk_set(), logical_disk_columns(),
               common_fields(probe.file_systems().file_systems()));
  }
  if (good) {
    good =
        add(network, network_set(), network_columns(), common_fields(probe.network().interfaces()));
  }
  if (good) good = add(links, link_set(), link_columns(), available.network);
  const TransportReader& transport = probe.transport();
  if (good) good = add(tcp, tcp_set(), tcp_columns(), transport.tcp().present());
  if (good) good = add(udp4, udp4_set(), udp4_columns(), transport.udp4().present());
  if (good) good = add(udp6, udp6_set(), udp6_columns(), transport.udp6().present());
  if (good) {
    good = add(paging_files, paging_file_set(), paging_file_columns(),
               probe.paging_files().present_fields());
  }
  return good;
}

Result<void> HostProvider::Running::register_processes() {
  const std::uint64_t common = common_fields(probe.processes().processes());
  auto good = add(processes_v2, process_v2_set(), process_v2_columns(), common);
  if (good) {
    good = add(process_io, process_io_set(), process_io_columns(), probe.availability().process);
  }
  if (good) good = add(processes, process_set(), process_columns(), common);
  return good;
}

void HostProvider::Running::sample_processors() {
  const bool has_cpus = probe.sample_cpu_and_system();
  // A table that cannot be read for once leaves the rows as they are. One that never could be read,
  // where procfs shows processes only, has no counter in the schema.
  if (!has_cpus && !probe.cpu().cpus().empty()) return;
  const Moment moment = Moment::now();
  const CpuReader& cpu = probe.cpu();
  for (const CpuReading& processor : cpu.cpus()) {
    name = std::to_string(processor.index);
    processors.row(name, 0, processor.values, moment);
    name.insert(0, std::to_string(processor.node) + ",");
    processor_information.row(name, 0, processor.values, moment);
  }
  for (const CpuGroup& node : cpu.nodes()) {
    if (node.cpus() == 0) continue;
    name = std::to_string(node.node()) + ",_Total";
    processor_information.row(name, 0, node.values(), moment);
  }
  processor_information.row(kTotal, 0, cpu.machine().values(), moment);
  processor_information.end_round();
  processors.row(kTotal, 0, cpu.machine().values(), moment);
  processors.end_round();
  system.row("", 0, probe.system(), moment);
  system.end_round();
  objects.row("", 0, probe.system(), moment);
  objects.end_round();
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
    if (!probe.disks().disks().empty()) {
      disks.row(kTotal, 0, probe.disks().total().values(), moment);
    }
    disks.end_round();
  }
  sample_network();
}

void HostProvider::Running::sample_network() {
  if (probe.sample_network()) {
    const Moment moment = Moment::now();
    for (const InterfaceReading& interface : probe.network().interfaces()) {
      network.row(interface.name.view(), interface.life, interface.values, moment);
      links.row(interface.name.view(), interface.life, interface.values, moment);
    }
    network.end_round();
    links.end_round();
  }
  if (probe.sample_transport()) {
    const Moment moment = Moment::now();
    tcp.row("", 0, probe.transport().tcp(), moment);
    udp4.row("", 0, probe.transport().udp4(), moment);
    udp6.row("", 0, probe.transport().udp6(), moment);
  }
}

void HostProvider::Running::sample_processes() {
  if (!probe.sample_processes() || !options.processes) return;
  const Moment moment = Moment::now();
  for (const ProcessReading& process : probe.processes().processes()) {
    const ProcessName program = displayable_name(process.name.view());
    const std::string_view plain = program.view().empty() ? "_" : program.view();
    processes.row(plain, process.start_ticks, process, moment, process.pid);
    name.assign(program.view());
    name += ':';
    name += std::to_string(process.pid);
    processes_v2.row(name, process.start_ticks, process, moment);
    process_io.row(name, process.start_ticks, process, moment);
  }
  processes_v2.end_round();
  process_io.end_round();
  processes.end_round();
}

// Block devices are as of the last look at the disks.
void HostProvider::Running::sample_file_systems() {
  if (probe.sample_file_systems()) {
    const Moment moment = Moment::now();
    for (const FileSystemReading& file_system : probe.file_systems().file_systems()) {
      logical_disks.row(file_system.name.view(), file_system.life, file_system.values, moment);
    }
    if (!probe.file_systems().file_systems().empty()) {
      logical_disks.row(kTotal, 0, probe.file_systems().total().values(), moment);
    }
    logical_disks.end_round();
  }
  if (probe.sample_paging_files()) {
    const Moment moment = Moment::now();
    for (const PagingReading& file : probe.paging_files().files()) {
      paging_files.row(file.name.view(), 0, file.values, moment);
    }
    if (!probe.paging_files().files().empty()) {
      paging_files.row(kTotal, 0, probe.paging_files().total(), moment);
    }
    paging_files.end_round();
  }
}

void HostProvider::Running::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point due = Clock::now();
  Clock::time_point slow_due = due;
  std::unique_lock lock(mutex);
  while (!stop) {
    lock.unlock();
    sample_processors();
    sample_devices();
    if (Clock::now() >= slow_due) {
      sample_processes();
      sample_file_systems();
      slow_due += options.process_period;
      slow_due = std::max(slow_due, Clock::now());
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
  constexpr std::uint32_t kInstancesMax = 131072;  // a process has up to three
  auto provider = Provider::create(
      {.name = options.name, .directory = options.directory, .instances_max = kInstancesMax});
  if (!provider) return tl::make_unexpected(provider.error());
  auto running = std::make_unique<Running>(std::move(options), std::move(*provider));
  if (auto good = running->register_sets(); !good) return tl::make_unexpected(good.error());
  // The first round is published before a reader can learn that the provider runs.
  running->sample_processors();
  running->sample_devices();
  running->sample_file_systems();
  if (running->options.processes) running->sample_processes();
  running->thread = std::thread([state = running.get()] { state->run(); });
  return HostProvider(std::move(running));
}

HostProvider::HostProvider(std::unique_ptr<Running> running) noexcept
    : running_(std::move(running)) {}
HostProvider::HostProvider(HostProvider&&) noexcept = default;
HostProvider& HostProvider::operator=(HostProvider&&) noexcept = default;
HostProvider::~HostProvider() = default;

std::span<const std::string> HostProvider::left_out() const noexcept { return running_->left_out; }

}  // namespace meterbank::host
