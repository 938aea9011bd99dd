// SPDX-License-Identifier: Apache-2.0
#include "perf_provider.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "../process_providers.hpp"
#include "../refusal.hpp"

namespace meterbank::pcw {
namespace {

Guid guid_of(const GUID& guid) noexcept { return std::bit_cast<Guid>(guid); }

std::optional<InstanceKind> kind_of(ULONG type) noexcept {
  switch (type) {
    case PERF_COUNTERSET_SINGLE_INSTANCE:
    case PERF_COUNTERSET_MULTI_INSTANCES:
    case PERF_COUNTERSET_SINGLE_AGGREGATE:
    case PERF_COUNTERSET_MULTI_AGGREGATE:
    case PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY:
      return static_cast<InstanceKind>(type);
    default:
      return std::nullopt;
  }
}

std::uint32_t width_of(const PERF_COUNTER_INFO& counter) noexcept {
  return meterbank::width_of(static_cast<CounterType>(counter.Type));
}

// Whether a counter of a template holds together. Size and Offset are not looked at, as on Windows:
// by its documentation the one is that of the struct, and tools leave the other 0.
bool is_sound(const PERF_COUNTER_INFO& counter) noexcept {
  return width_of(counter) != 0 && counter.CounterId <= 0xffff;
}

// The template's counters, as far as it goes; names come from nowhere.
std::shared_ptr<const OwnedSpec> plain_spec_of(const PERF_COUNTERSET_INFO& info,
                                               std::span<const PERF_COUNTER_INFO> counters) {
  std::vector<CounterSpec> specs;
  for (const PERF_COUNTER_INFO& counter : counters) {
    specs.push_back({.id = counter.CounterId,
                     .type = static_cast<CounterType>(counter.Type),
                     .scale = counter.Scale,
                     .detail = counter.DetailLevel,
                     .attributes = counter.Attrib});
  }
  const Guid guid = guid_of(info.CounterSetGuid);
  const std::string name = guid.text();
  CountersetSpec spec{};
  spec.name = name;
  spec.guid = guid;
  spec.provider_guid = guid_of(info.ProviderGuid);
  spec.instances = *kind_of(info.InstanceType);
  return plain_spec(spec, std::move(specs));
}

void append(std::vector<std::byte>& bytes, const void* source, std::size_t count) {
  const auto* const begin = static_cast<const std::byte*>(source);
  bytes.insert(bytes.end(), begin, begin + count);
}

}  // namespace

PerfProvider::PerfProvider(Provider provider, const Guid& guid, PERFLIBREQUEST callback,
                           PerfMemory memory, CharacterWidth width)
    : guid_(guid),
      callback_(callback),
      memory_(memory),
      width_(width),
      provider_(std::make_shared<Provider>(std::move(provider))) {}

void PerfProvider::stop() noexcept {
  std::map<Guid, std::shared_ptr<PerfSet>> sets;
  std::shared_ptr<Provider> provider;
  {
    const std::lock_guard lock(mutex_);
    sets.swap(sets_);
    provider.swap(provider_);
  }
  for (const auto& [guid, set] : sets) set->close();
  let_go(std::move(provider));
}

// Nothing: the template is inconsistent, or does not agree with its description.
std::optional<PerfSet::Parts> PerfProvider::parts_of(const PERF_COUNTERSET_INFO& info) const {
  const auto* const first = reinterpret_cast<const PERF_COUNTER_INFO*>(&info + 1);
  const std::span counters(first, info.NumCounters);
  if (!kind_of(info.InstanceType)) return std::nullopt;
  PerfSet::Parts parts;
  parts.provider = handle_;
  parts.width = width_;
  parts.spec = described(guid_of(info.CounterSetGuid));
  if (!std::all_of(counters.begin(), counters.end(), is_sound)) return std::nullopt;
  if (parts.spec == nullptr) parts.spec = plain_spec_of(info, counters);
  parts.memory = memory_;
  for (const PERF_COUNTER_INFO& counter : counters) {
    const auto specs = parts.spec->spec().counters;
    const auto found = std::find_if(specs.begin(), specs.end(), [&](const CounterSpec& spec) {
      return spec.id == counter.CounterId && meterbank::width_of(spec.type) == width_of(counter);
    });
    if (found == specs.end()) return std::nullopt;
    parts.columns.push_back({.id = counter.CounterId,
                             .value = static_cast<std::uint32_t>(found - specs.begin()),
                             .slot = static_cast<std::uint32_t>(parts.columns.size()),
                             .bytes = width_of(counter),
                             .by_reference = (counter.Attrib & PERF_ATTRIB_BY_REFERENCE) != 0});
  }
  if (parts.columns.size() != parts.spec->spec().counters.size()) return std::nullopt;
  return parts;
}

DWORD PerfProvider::add_set(const PERF_COUNTERSET_INFO* info, std::size_t bytes) {
  const auto bad = [](const char* why) { return refuse_as(ERROR_INVALID_PARAMETER, why); };
  if (info == nullptr || bytes < sizeof *info) return bad("a template of no size");
  const std::size_t counters = info->NumCounters;
  if (counters == 0 || counters > kCountersMax) return bad("no counters, or too many");
  if (bytes < sizeof *info + counters * sizeof(PERF_COUNTER_INFO)) return bad("size of template");
  const Guid guid = guid_of(info->CounterSetGuid);
  const std::lock_guard lock(mutex_);
  if (provider_ == nullptr) return bad("the provider was stopped");
  if (sets_.contains(guid)) return refuse_as(ERROR_ALREADY_EXISTS, "the set is registered");
  auto parts = parts_of(*info);
  if (!parts) return bad("a counter or the kind of set is inconsistent or not as described");
  auto set = std::make_shared<PerfSet>(std::move(*parts));
  const auto answer_it = [self = weak_from_this(), kept = std::weak_ptr(set)](auto& request) {
    const auto provider = self.lock();
    const auto wanted = kept.lock();
    return provider == nullptr || wanted == nullptr ? 0U : provider->answer(*wanted, request);
  };
  if (auto good = set->publish(*provider_, answer_it); !good) return refuse_as_error(good.error());
  sets_.emplace(guid, std::move(set));
  return ERROR_SUCCESS;
}

std::shared_ptr<PerfSet> PerfProvider::set(const Guid& guid) {
  const std::lock_guard lock(mutex_);
  const auto found = sets_.find(guid);
  return found == sets_.end() ? nullptr : found->second;
}

std::shared_ptr<PerfSet> PerfProvider::set_of(PPERF_COUNTERSET_INSTANCE instance) {
  const std::lock_guard lock(mutex_);
  for (const auto& [guid, set] : sets_) {
    if (set->has(instance)) return set;
  }
  return nullptr;
}

// ---- Requests ----

// A request that the provider refuses has no rows, and its code goes back. What it says about an
// end of something changes nothing.
std::uint32_t PerfProvider::answer(PerfSet& set, CallbackRequest& request) {
  const std::lock_guard lock(turn_);
  switch (request.reason()) {
    case CallbackReason::kAddInterest:
    case CallbackReason::kRemoveInterest:
      return tell_of_interest(set, request);
    case CallbackReason::kEnumerate: {
      const ULONG code = tell_of_machine(PERF_ENUM_INSTANCES);
      if (code != ERROR_SUCCESS) return code;
      set.add_rows(request);
      return ERROR_SUCCESS;
    }
    default:
      break;
  }
  const ULONG code = tell_of_machine(PERF_COLLECT_START);
  if (code != ERROR_SUCCESS) return code;
  const bool complete = set.add_rows(request);
  tell_of_machine(PERF_COLLECT_END);
  return complete ? ERROR_SUCCESS : ERROR_NO_DATA;
}

// The name of this machine is empty.
ULONG PerfProvider::tell_of_machine(ULONG code) const {
  if (callback_ == nullptr) return ERROR_SUCCESS;
  std::vector<std::byte> name;
  append_wide("", width_, name);
  return callback_(code, name.data(), static_cast<ULONG>(name.size()));
}

// Once for all counters, or for each that is wanted. The first refusal is the answer.
ULONG PerfProvider::tell_of_interest(const PerfSet& set, const CallbackRequest& request) const {
  if (callback_ == nullptr) return ERROR_SUCCESS;
  const bool adds = request.reason() == CallbackReason::kAddInterest;
  const ULONG code = adds ? PERF_ADD_COUNTER : PERF_REMOVE_COUNTER;
  const auto mask = request.counter_mask();
  ULONG answer = ERROR_SUCCESS;
  if (mask.empty() || (mask.size() == 1 && mask.front() == ~std::uint64_t{0})) {
    answer = tell_of_counter(set, request, code, PERF_WILDCARD_COUNTER);
  } else {
    for (const CounterSpec& counter : set.spec().counters) {
      if (!request.wants(counter.id)) continue;
      const ULONG said = tell_of_counter(set, request, code, counter.id);
      if (answer == ERROR_SUCCESS) answer = said;
    }
  }
  return adds ? answer : static_cast<ULONG>(ERROR_SUCCESS);
}

ULONG PerfProvider::tell_of_counter(const PerfSet& set, const CallbackRequest& request, ULONG code,
                                    std::uint32_t counter) const {
  std::vector<std::byte> machine;
  append_wide("", width_, machine);
  std::vector<std::byte> name;
  append_wide(request.instance_mask(), width_, name);
  PERF_COUNTER_IDENTITY identity{};
  std::memcpy(&identity.CounterSetGuid, &set.spec().guid, sizeof(GUID));
  identity.BufferSize = static_cast<ULONG>(sizeof identity + machine.size() + name.size());
  identity.CounterId = counter;
  identity.InstanceId = request.instance_id();
  identity.MachineOffset = sizeof identity;
  identity.NameOffset = static_cast<ULONG>(sizeof identity + machine.size());
  WNODE_HEADER node{};
  node.BufferSize = static_cast<ULONG>(sizeof node) + identity.BufferSize;
  std::memcpy(&node.Guid, &guid_, sizeof(GUID));
  std::vector<std::byte> buffer;
  append(buffer, &node, sizeof node);
  append(buffer, &identity, sizeof identity);
  append(buffer, machine.data(), machine.size());
  append(buffer, name.data(), name.size());
  return callback_(code, buffer.data(), static_cast<ULONG>(buffer.size()));
}

}  // namespace meterbank::pcw
