// SPDX-License-Identifier: Apache-2.0
//
// The process asks as one client of the arbiter, by one connection that is made when it is needed
// first. Handles are numbers that are never used again, so that a stale one is never valid.
#include "meterbank/hal/hardware_counters.h"

#include <pthread.h>
#include <unistd.h>

#include <bitset>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "meterbank/pmu/connection.hpp"

namespace meterbank::pmu {
namespace {

// ---- What is asked, checked as far as no machine is needed for it ----

using Groups = std::span<const GROUP_AFFINITY>;
using Descriptors = std::span<const PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR>;

constexpr std::uint32_t kCountersMax = 64;  // of a PMU: bits of a mask

std::optional<std::string> fault_of(Groups groups) {
  for (const GROUP_AFFINITY& group : groups) {
    if (group.Mask == 0) return "an empty mask of processors";
    if (group.Group >= kGroupsMax) return "a group of processors that there cannot be";
    for (const WORD reserved : group.Reserved) {
      if (reserved != 0) return "a reserved word of a group is not zero";
    }
  }
  return std::nullopt;
}

// Counters that a list names by number.
class Named {
 public:
  // False: one of them was named before.
  bool add(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t counter = begin; counter <= end && counter < kCountersMax; ++counter) {
      if (counters_.test(counter)) return false;
      counters_.set(counter);
    }
    has_any_ = true;
    return true;
  }
  [[nodiscard]] bool has_any() const noexcept { return has_any_; }

 private:
  std::bitset<kCountersMax> counters_;
  bool has_any_ = false;
};

// As a number: a caller in C may have put anything there, which C++ must not load as the enum.
std::uint32_t type_of(const PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR& descriptor) noexcept {
  std::uint32_t type = 0;
  static_assert(sizeof descriptor.Type == sizeof type);
  std::memcpy(&type, &descriptor.Type, sizeof type);
  return type;
}

std::optional<std::string> add_descriptor(const PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR& descriptor,
                                          Named& named, Request& request) {
  if (descriptor.Flags != 0) return "Flags of a descriptor are not zero";
  switch (type_of(descriptor)) {
    case ResourceTypeSingle:
      if (!named.add(descriptor.u.CounterIndex, descriptor.u.CounterIndex)) {
        return "a counter that is named twice";
      }
      request.index(descriptor.u.CounterIndex);
      return std::nullopt;
    case ResourceTypeRange:
      if (descriptor.u.Range.Begin > descriptor.u.Range.End) return "a range that ends first";
      if (!named.add(descriptor.u.Range.Begin, descriptor.u.Range.End)) {
        return "a counter that is named twice";
      }
      request.range(descriptor.u.Range.Begin, descriptor.u.Range.End);
      return std::nullopt;
    case ResourceTypeExtendedCounterConfiguration:
      request.item({.kind = ResourceTypeExtendedCounterConfiguration});
      return std::nullopt;
    case ResourceTypeOverflow:
      request.overflow();
      return std::nullopt;
    case ResourceTypeEventBuffer:
      if (descriptor.u.EventBufferConfiguration.CustomEventBufferEntrySize != 0) {
        return "a caller-defined size for entries of the event buffer";
      }
      request.event_buffer(descriptor.u.EventBufferConfiguration.EventThreshold);
      return std::nullopt;
    case ResourceTypeIdenitificationTag:
      request.tag(descriptor.u.IdentificationTag);
      return std::nullopt;
    default:
      return "an unknown type of resource";
  }
}

std::optional<std::string> add_list(Descriptors descriptors, Request& request) {
  if (descriptors.empty()) return "an empty list";
  Named named;
  std::uint32_t overflows = 0, tags = 0;
  for (const PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR& descriptor : descriptors) {
    if (auto fault = add_descriptor(descriptor, named, request)) return fault;
    overflows += type_of(descriptor) == ResourceTypeOverflow ? 1U : 0U;
    tags += type_of(descriptor) == ResourceTypeIdenitificationTag ? 1U : 0U;
  }
  if (overflows != 0 && !named.has_any()) return "an overflow without a counter";
  if (tags > 1) return "two identification tags";
  return std::nullopt;
}

bool has_extended_configuration(Descriptors descriptors) noexcept {
  for (const PHYSICAL_COUNTER_RESOURCE_DESCRIPTOR& descriptor : descriptors) {
    if (type_of(descriptor) == ResourceTypeExtendedCounterConfiguration) return true;
  }
  return false;
}

// ---- The caller ----

thread_local std::string reason;

NTSTATUS refuse(NTSTATUS status, std::string why) {
  reason = std::move(why);
  return status;
}

// Of one process: a child of a fork begins anew.
struct Lending {
  std::mutex mutex;
  pid_t pid = 0;
  std::optional<Connection> connection;
  std::map<std::uintptr_t, Lease> leases;
  std::uintptr_t last = 0;  // handle that was given out

  // Under the mutex.
  void know_process() {
    const pid_t own = ::getpid();
    if (pid == own) return;
    pid = own;
    leases.clear();  // they do nothing here
    connection.reset();
  }
  // Null: there is no arbiter, and `reason` says so.
  Connection* connected() {
    know_process();
    if (connection && connection->is_connected()) return &*connection;
    if (connection && !leases.empty()) return &*connection;  // it is being looked for
    auto made = Connection::connect({});
    if (!made) {
      reason = made.error().message();
      return nullptr;
    }
    connection.emplace(std::move(*made));
    keep_across_forks();
    return &*connection;
  }

 private:
  // Held across a fork, so that the child finds it free. Installed after the handlers of the
  // connection, and so run before them: the mutex is taken before that of the connection.
  static void keep_across_forks();
};

// Never destroyed: drivers free their counters as late as in static destructors. The arbiter knows
// when the process ends.
Lending& lending() {
  static auto* const all = new Lending;
  return *all;
}

void Lending::keep_across_forks() {
  static const int installed =
      ::pthread_atfork([] { lending().mutex.lock(); }, [] { lending().mutex.unlock(); },
                       [] { lending().mutex.unlock(); });
  static_cast<void>(installed);  // ENOMEM: a child that asks while its parent did may wait for ever
}

bool is_gone(const Refusal& refusal) {
  return refusal.error && refusal.error->code == ErrorCode::kGone;
}

NTSTATUS status_of(const Refusal& refusal) {
  if (refusal.error) {
    // Without an arbiter no counter can be lent here. After too many requests one can, later.
    const bool is_limit = refusal.error->code == ErrorCode::kLimit;
    return is_limit ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NOT_SUPPORTED;
  }
  switch (refusal.answer) {
    case Answer::kInvalidParameter:
      return STATUS_INVALID_PARAMETER;
    case Answer::kNotSupported:
      return STATUS_NOT_SUPPORTED;
    default:
      return STATUS_INSUFFICIENT_RESOURCES;
  }
}

NTSTATUS allocate(Groups groups, const PHYSICAL_COUNTER_RESOURCE_LIST* list, HANDLE& handle) {
  Request request;
  for (const GROUP_AFFINITY& group : groups) {
    request.group({.mask = group.Mask, .group = group.Group});
  }
  const Descriptors descriptors =
      list == nullptr ? Descriptors() : Descriptors(&list->Descriptors[0], list->Count);
  auto fault = fault_of(groups);
  if (!fault && list != nullptr) fault = add_list(descriptors, request);
  if (!fault && !request.fault().empty()) fault = request.fault();
  if (fault) return refuse(STATUS_INVALID_PARAMETER, *fault);
  if (has_extended_configuration(descriptors)) {
    return refuse(STATUS_NOT_SUPPORTED, "extended configurations are not lent");
  }

  Lending& all = lending();
  const std::lock_guard lock(all.mutex);
  Connection* connection = all.connected();
  if (connection == nullptr) return STATUS_NOT_SUPPORTED;
  auto lease = connection->acquire(request);
  if (!lease && is_gone(lease.error()) && all.leases.empty()) {
    // An arbiter that was there when it was asked last; there may be another one.
    all.connection.reset();
    connection = all.connected();
    if (connection == nullptr) return STATUS_NOT_SUPPORTED;
    lease = connection->acquire(request);
  }
  if (!lease) return refuse(status_of(lease.error()), lease.error().message());
  all.leases.emplace(++all.last, std::move(*lease));
  handle = reinterpret_cast<HANDLE>(all.last);
  return STATUS_SUCCESS;
}

NTSTATUS release(HANDLE handle) {
  Lending& all = lending();
  const std::lock_guard lock(all.mutex);
  all.know_process();
  if (all.leases.erase(reinterpret_cast<std::uintptr_t>(handle)) != 0) return STATUS_SUCCESS;
  return refuse(STATUS_INVALID_PARAMETER, "a handle that is not in use");
}

}  // namespace
}  // namespace meterbank::pmu

extern "C" {

NTSTATUS NTAPI HalAllocateHardwareCounters(PGROUP_AFFINITY groups, ULONG count,
                                           PPHYSICAL_COUNTER_RESOURCE_LIST list, PHANDLE handle) {
  using meterbank::pmu::refuse;
  try {
    meterbank::pmu::reason.clear();
    if (handle == nullptr) return refuse(STATUS_INVALID_PARAMETER, "no handle");
    *handle = nullptr;
    if ((groups == nullptr) != (count == 0)) {
      return refuse(STATUS_INVALID_PARAMETER, "groups and their count disagree");
    }
    return meterbank::pmu::allocate({groups, count}, list, *handle);
  } catch (const std::bad_alloc&) {
    return STATUS_INSUFFICIENT_RESOURCES;
  }
}

NTSTATUS NTAPI HalFreeHardwareCounters(HANDLE handle) {
  try {
    meterbank::pmu::reason.clear();
    return meterbank::pmu::release(handle);
  } catch (const std::bad_alloc&) {
    return STATUS_INSUFFICIENT_RESOURCES;
  }
}

PCSTR NTAPI MeterbankHalReason(VOID) { return meterbank::pmu::reason.c_str(); }

}  // extern "C"
