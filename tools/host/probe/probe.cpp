// SPDX-License-Identifier: Apache-2.0
#include "host/probe/probe.hpp"

namespace meterbank::host {

HostProbe::HostProbe(const ProbeOptions& options)
    : files_(options.root),
      cpu_(files_, options.cpu, options.units),
      memory_(files_),
      disks_(files_),
      file_systems_(files_, disks_),
      paging_files_(files_),
      network_(files_),
      transport_(files_),
      processes_(files_, options.process, options.units) {}

bool HostProbe::sample_cpu_and_system() {
  const bool has_cpus = cpu_.sample();
  SystemValues fresh;
  if (has_cpus) fresh = cpu_.system();
  read_load_and_uptime(files_, fresh);
  system_.merge(fresh);
  return has_cpus;
}

bool HostProbe::sample_processes() {
  if (!processes_.sample()) return false;
  system_.set(SystemField::kProcesses, processes_.processes().size());
  return true;
}

void HostProbe::sample() {
  static_cast<void>(sample_cpu_and_system());
  static_cast<void>(sample_memory());
  static_cast<void>(sample_disks());
  static_cast<void>(sample_file_systems());
  static_cast<void>(sample_paging_files());
  static_cast<void>(sample_network());
  static_cast<void>(sample_transport());
  static_cast<void>(sample_processes());
}

Availability HostProbe::availability() const noexcept {
  Availability available;
  for (const CpuReading& cpu : cpu_.cpus()) available.cpu |= cpu.values.present();
  available.system = system_.present();
  available.memory = memory_.values().present();
  available.disk = disks_.present_fields();
  for (const InterfaceReading& interface : network_.interfaces()) {
    available.network |= interface.values.present();
  }
  for (const ProcessReading& process : processes_.processes()) {
    available.process |= process.values.present();
  }
  return available;
}

}  // namespace meterbank::host
