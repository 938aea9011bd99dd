// SPDX-License-Identifier: Apache-2.0
//
// The provider half of PerfLib, in both character widths.
#include <bit>
#include <exception>

#include "../process_providers.hpp"
#include "../refusal.hpp"
#include "meterbank/windows/handle_table.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "perf_provider.hpp"

namespace meterbank::pcw {
namespace {

using Providers = windows::HandleTable<PerfProvider>;
using Column = PerfColumns::Column;

Guid guid_of(const GUID& guid) noexcept { return std::bit_cast<Guid>(guid); }

DWORD invalid(const char* why) noexcept { return refuse_as(ERROR_INVALID_PARAMETER, why); }

template <typename Function>
DWORD guarded(Function function) noexcept {
  try {
    return function();
  } catch (const std::exception& failure) {
    return refuse_as(ERROR_NOT_ENOUGH_MEMORY, failure.what());
  }
}

DWORD start(const GUID* guid, PERFLIBREQUEST callback, PerfMemory memory, HANDLE* handle,
            CharacterWidth width) {
  if (guid == nullptr || handle == nullptr) return invalid("no GUID, or nowhere for the handle");
  auto made = make_own_provider();
  if (!made) return refuse_as_error(made.error());
  auto provider =
      std::make_shared<PerfProvider>(std::move(*made), guid_of(*guid), callback, memory, width);
  const std::uintptr_t number = Providers::shared().insert_at_address(provider);
  provider->set_handle(number);
  *handle = reinterpret_cast<HANDLE>(number);
  return ERROR_SUCCESS;
}

DWORD start_with(const GUID* guid, const PERF_PROVIDER_CONTEXT* context, HANDLE* handle,
                 CharacterWidth width) {
  if (context == nullptr) return start(guid, nullptr, {}, handle, width);
  if (context->ContextSize < sizeof *context || context->Reserved != 0) {
    return invalid("size or reserved member of the context");
  }
  if (context->MemAllocRoutine == nullptr && context->MemFreeRoutine != nullptr) {
    return invalid("a routine that frees, and none that allocates");
  }
  const PerfMemory memory{context->MemAllocRoutine, context->MemFreeRoutine, context->pMemContext};
  return start(guid, context->ControlCallback, memory, handle, width);
}

template <typename Character>
std::optional<std::string> text_of(const Character* text) {
  if (text == nullptr) return std::nullopt;
  std::size_t count = 0;
  while (count < PERF_MAX_INSTANCE_NAME && text[count] != 0) ++count;
  return valid_utf8_of({reinterpret_cast<const std::byte*>(text), count * sizeof(Character)},
                       static_cast<CharacterWidth>(sizeof(Character)));
}

// The set that a call is about, and the row's name.
struct Wanted {
  std::shared_ptr<PerfSet> set;
  std::string name;
};
template <typename Character>
DWORD find_wanted(HANDLE handle, const GUID* guid, const Character* text, Wanted& wanted) {
  const auto provider = Providers::shared().find(handle);
  auto name = text_of(text);
  if (provider == nullptr || guid == nullptr || !name) return invalid("no provider, GUID or name");
  wanted.name = std::move(*name);
  wanted.set = provider->set(guid_of(*guid));
  return wanted.set == nullptr ? refuse_as(ERROR_NOT_FOUND, "no such set") : ERROR_SUCCESS;
}

template <typename Character>
PPERF_COUNTERSET_INSTANCE create(HANDLE handle, const GUID* guid, const Character* text,
                                 ULONG id) noexcept {
  PPERF_COUNTERSET_INSTANCE instance = nullptr;
  const DWORD error = guarded([&] {
    Wanted wanted;
    DWORD result = find_wanted(handle, guid, text, wanted);
    if (result == ERROR_SUCCESS) instance = wanted.set->create(wanted.name, id, result);
    return result;
  });
  if (instance == nullptr) SetLastError(error);
  return instance;
}

template <typename Character>
PPERF_COUNTERSET_INSTANCE query(HANDLE handle, const GUID* guid, const Character* text,
                                ULONG id) noexcept {
  PPERF_COUNTERSET_INSTANCE instance = nullptr;
  const DWORD error = guarded([&]() -> DWORD {
    Wanted wanted;
    if (const DWORD result = find_wanted(handle, guid, text, wanted); result != ERROR_SUCCESS) {
      return result;
    }
    instance = wanted.set->find(wanted.name, id);
    return instance == nullptr ? refuse_as(ERROR_NOT_FOUND, "no such row") : ERROR_SUCCESS;
  });
  if (instance == nullptr) SetLastError(error);
  return instance;
}

// ---- Values: no lock, no allocation ----

struct Place {
  PerfRow* row = nullptr;
  const Column* column = nullptr;
};

DWORD find_place(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                 Place& place) noexcept {
  place.row = PerfRow::of(instance);
  if (place.row == nullptr) return ERROR_INVALID_PARAMETER;
  if (place.row->provider != reinterpret_cast<std::uintptr_t>(handle)) {
    return ERROR_INVALID_PARAMETER;
  }
  place.column = place.row->columns->find(counter);
  return place.column == nullptr ? ERROR_NOT_FOUND : ERROR_SUCCESS;
}

template <typename Value, typename Change>
DWORD change(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
             Change&& how) noexcept {
  Place place;
  if (const DWORD error = find_place(handle, instance, counter, place); error != ERROR_SUCCESS) {
    return error;
  }
  if (place.column->bytes != sizeof(Value) || place.column->by_reference) {
    return ERROR_INVALID_PARAMETER;
  }
  // The program stores there, too, by whatever type it has.
  using InBlock [[gnu::may_alias]] = Value;
  how(reinterpret_cast<InBlock*>(place.row->slot(*place.column)));
  return ERROR_SUCCESS;
}

// relaxed, all three: a counter orders nothing.
template <typename Value>
DWORD set_value(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                Value value) noexcept {
  return change<Value>(handle, instance, counter,
                       [&](auto* at) { __atomic_store_n(at, value, __ATOMIC_RELAXED); });
}
template <typename Value>
DWORD add_value(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                Value value) noexcept {
  return change<Value>(handle, instance, counter,
                       [&](auto* at) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); });
}
template <typename Value>
DWORD subtract_value(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                     Value value) noexcept {
  return change<Value>(handle, instance, counter,
                       [&](auto* at) { __atomic_fetch_sub(at, value, __ATOMIC_RELAXED); });
}

DWORD set_reference(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                    const void* address) {
  Place place;
  if (const DWORD error = find_place(handle, instance, counter, place); error != ERROR_SUCCESS) {
    return error;
  }
  if (!place.column->by_reference) return invalid("the counter has a value of its own");
  const auto provider = Providers::shared().find(handle);
  const auto set = provider == nullptr ? nullptr : provider->set_of(instance);
  if (set == nullptr) return invalid("no such row");
  set->set_reference(*place.row, *place.column, address);
  return ERROR_SUCCESS;
}

}  // namespace
}  // namespace meterbank::pcw

using namespace meterbank::pcw;
using meterbank::CharacterWidth;

namespace {

constexpr auto kOwn = static_cast<CharacterWidth>(sizeof(wchar_t));

}  // namespace

extern "C" {

ULONG PerfStartProvider(LPGUID provider, PERFLIBREQUEST callback, HANDLE* handle) {
  return guarded([&] { return start(provider, callback, {}, handle, kOwn); });
}
ULONG meterbank_utf16_PerfStartProvider(LPGUID provider, PERFLIBREQUEST callback, HANDLE* handle) {
  return guarded([&] { return start(provider, callback, {}, handle, CharacterWidth::kTwo); });
}
ULONG PerfStartProviderEx(LPGUID provider, PPERF_PROVIDER_CONTEXT context, HANDLE* handle) {
  return guarded([&] { return start_with(provider, context, handle, kOwn); });
}
ULONG meterbank_utf16_PerfStartProviderEx(LPGUID provider, PPERF_PROVIDER_CONTEXT context,
                                          HANDLE* handle) {
  return guarded([&] { return start_with(provider, context, handle, CharacterWidth::kTwo); });
}

ULONG PerfStopProvider(HANDLE handle) {
  const auto provider = Providers::shared().take(handle);
  if (provider == nullptr) return invalid("no such provider");
  provider->stop();
  return ERROR_SUCCESS;
}

ULONG PerfSetCounterSetInfo(HANDLE handle, PPERF_COUNTERSET_INFO set, ULONG bytes) {
  return guarded([&] {
    const auto provider = Providers::shared().find(handle);
    return provider == nullptr ? invalid("no such provider") : provider->add_set(set, bytes);
  });
}

PPERF_COUNTERSET_INSTANCE PerfCreateInstance(HANDLE handle, LPCGUID set, LPCWSTR name, ULONG id) {
  return create(handle, set, name, id);
}
PPERF_COUNTERSET_INSTANCE meterbank_utf16_PerfCreateInstance(HANDLE handle, LPCGUID set,
                                                             const char16_t* name, ULONG id) {
  return create(handle, set, name, id);
}
PPERF_COUNTERSET_INSTANCE PerfQueryInstance(HANDLE handle, LPCGUID set, LPCWSTR name, ULONG id) {
  return query(handle, set, name, id);
}
PPERF_COUNTERSET_INSTANCE meterbank_utf16_PerfQueryInstance(HANDLE handle, LPCGUID set,
                                                            const char16_t* name, ULONG id) {
  return query(handle, set, name, id);
}

ULONG PerfDeleteInstance(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance) {
  return guarded([&] {
    const auto provider = Providers::shared().find(handle);
    const auto set = provider == nullptr ? nullptr : provider->set_of(instance);
    if (set == nullptr || !set->remove(instance)) return invalid("no such row");
    return DWORD{ERROR_SUCCESS};
  });
}

ULONG PerfSetULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                               ULONG value) {
  return set_value(handle, instance, counter, value);
}
ULONG PerfSetULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                                   ULONGLONG value) {
  return set_value(handle, instance, counter, value);
}
ULONG PerfIncrementULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                     ULONG counter, ULONG value) {
  return add_value(handle, instance, counter, value);
}
ULONG PerfIncrementULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                         ULONG counter, ULONGLONG value) {
  return add_value(handle, instance, counter, value);
}
ULONG PerfDecrementULongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                     ULONG counter, ULONG value) {
  return subtract_value(handle, instance, counter, value);
}
ULONG PerfDecrementULongLongCounterValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance,
                                         ULONG counter, ULONGLONG value) {
  return subtract_value(handle, instance, counter, value);
}

ULONG PerfSetCounterRefValue(HANDLE handle, PPERF_COUNTERSET_INSTANCE instance, ULONG counter,
                             PVOID address) {
  return guarded([&] { return set_reference(handle, instance, counter, address); });
}

}  // extern "C"
