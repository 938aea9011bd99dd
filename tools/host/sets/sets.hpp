// SPDX-License-Identifier: Apache-2.0
//
// The countersets of this machine, from the manifests beside this folder, and their columns.
#pragma once

#include <span>

#include "host/probe/probe.hpp"
#include "host/published_set.hpp"

namespace meterbank::host {

inline std::uint64_t present_fields(const ProcessReading& reading) noexcept {
  return reading.values.present();
}
inline std::uint64_t value_of(const ProcessReading& reading, ProcessField field) noexcept {
  return reading.values.get(field);
}

[[nodiscard]] const CountersetSpec& processor_information_set() noexcept;
[[nodiscard]] std::span<const Column<CpuValues>> processor_information_columns() noexcept;
[[nodiscard]] const CountersetSpec& processor_set() noexcept;
[[nodiscard]] std::span<const Column<CpuValues>> processor_columns() noexcept;
[[nodiscard]] const CountersetSpec& system_set() noexcept;
[[nodiscard]] std::span<const Column<SystemValues>> system_columns() noexcept;
[[nodiscard]] const CountersetSpec& objects_set() noexcept;
[[nodiscard]] std::span<const Column<SystemValues>> objects_columns() noexcept;
[[nodiscard]] const CountersetSpec& memory_set() noexcept;
[[nodiscard]] std::span<const Column<MemoryValues>> memory_columns() noexcept;
[[nodiscard]] const CountersetSpec& paging_file_set() noexcept;
[[nodiscard]] std::span<const Column<PagingValues>> paging_file_columns() noexcept;
[[nodiscard]] const CountersetSpec& disk_set() noexcept;
[[nodiscard]] std::span<const Column<DiskValues>> disk_columns() noexcept;
[[nodiscard]] const CountersetSpec& logical_disk_set() noexcept;
[[nodiscard]] std::span<const Column<DiskValues>> logical_disk_columns() noexcept;
[[nodiscard]] const CountersetSpec& network_set() noexcept;
[[nodiscard]] std::span<const Column<NetworkValues>> network_columns() noexcept;
[[nodiscard]] const CountersetSpec& link_set() noexcept;
[[nodiscard]] std::span<const Column<NetworkValues>> link_columns() noexcept;
[[nodiscard]] const CountersetSpec& tcp_set() noexcept;
[[nodiscard]] std::span<const Column<TcpValues>> tcp_columns() noexcept;
[[nodiscard]] const CountersetSpec& udp4_set() noexcept;
[[nodiscard]] std::span<const Column<UdpValues>> udp4_columns() noexcept;
[[nodiscard]] const CountersetSpec& udp6_set() noexcept;
[[nodiscard]] std::span<const Column<UdpValues>> udp6_columns() noexcept;
[[nodiscard]] const CountersetSpec& process_v2_set() noexcept;
[[nodiscard]] std::span<const Column<ProcessReading>> process_v2_columns() noexcept;
[[nodiscard]] const CountersetSpec& process_set() noexcept;
[[nodiscard]] std::span<const Column<ProcessReading>> process_columns() noexcept;
[[nodiscard]] const CountersetSpec& process_io_set() noexcept;
[[nodiscard]] std::span<const Column<ProcessReading>> process_io_columns() noexcept;

}  // namespace meterbank::host
