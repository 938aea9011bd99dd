// SPDX-License-Identifier: Apache-2.0
//
// This machine: every reader over one root, sampled together.
//
// Example:
//   HostProbe probe;
//   probe.sample();
//   const Availability available = probe.availability();   // once, before the schemas are made
//   if (is_available(available.cpu, CpuField::kC1Time100ns)) ...
#pragma once

#include <cstdint>
#include <string>

#include "host/probe/cpu.hpp"
#include "host/probe/disk.hpp"
#include "host/probe/file_reader.hpp"
#include "host/probe/file_system.hpp"
#include "host/probe/memory.hpp"
#include "host/probe/network.hpp"
#include "host/probe/paging_file.hpp"
#include "host/probe/process.hpp"
#include "host/probe/system.hpp"
#include "host/probe/transport.hpp"

namespace meterbank::host {

// Which fields this machine has a source for: one mask per set, a bit per field. A field counts
// as available once any instance had it.
struct Availability {
  std::uint64_t cpu = 0;
  std::uint64_t system = 0;
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;
  std::uint64_t network = 0;
  std::uint64_t process = 0;
};

template <typename Field>
[[nodiscard]] constexpr bool is_available(std::uint64_t mask, Field field) noexcept {
  return (mask & FieldValues<Field>::mask_of(field)) != 0;
}

struct ProbeOptions {
  std::string root = "/";
  CpuSources cpu;
  ProcessSources process;
  MachineUnits units = MachineUnits::of_this_machine();
};

// Not movable: the readers refer to the one FileReader inside. One thread at a time.
class HostProbe {
 public:
  explicit HostProbe(const ProbeOptions& options = {});
  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  // Each returns false if its main source was unreadable and keeps what it had.
  [[nodiscard]] bool sample_cpu_and_system();
  [[nodiscard]] bool sample_memory() { return memory_.sample(); }
  [[nodiscard]] bool sample_disks() { return disks_.sample(); }
  // Block devices are those of the disks sampled last.
  [[nodiscard]] bool sample_file_systems() { return file_systems_.sample(); }
  [[nodiscard]] bool sample_paging_files() { return paging_files_.sample(); }
  [[nodiscard]] bool sample_network() { return network_.sample(); }
  [[nodiscard]] bool sample_transport() { return transport_.sample(); }
  [[nodiscard]] bool sample_processes();

  // All of them; a set without a source stays empty.
  void sample();

  [[nodiscard]] const CpuReader& cpu() const noexcept { return cpu_; }
  [[nodiscard]] const SystemValues& system() const noexcept { return system_; }
  [[nodiscard]] const MemoryReader& memory() const noexcept { return memory_; }
  [[nodiscard]] const DiskReader& disks() const noexcept { return disks_; }
  [[nodiscard]] const FileSystemReader& file_systems() const noexcept { return file_systems_; }
  [[nodiscard]] const PagingFileReader& paging_files() const noexcept { return paging_files_; }
  [[nodiscard]] const NetworkReader& network() const noexcept { return network_; }
  [[nodiscard]] const TransportReader& transport() const noexcept { return transport_; }
  [[nodiscard]] const ProcessReader& processes() const noexcept { return processes_; }

  // As of the samples taken last.
  [[nodiscard]] Availability availability() const noexcept;

 private:
  FileReader files_;
  CpuReader cpu_;
  MemoryReader memory_;
  DiskReader disks_;
  FileSystemReader file_systems_;
  PagingFileReader paging_files_;
  NetworkReader network_;
  TransportReader transport_;
  ProcessReader processes_;
  SystemValues system_;
};

}  // namespace meterbank::host
