// SPDX-License-Identifier: Apache-2.0
//
// The Pcw functions, in both character widths: handles become objects, exceptions end.
#include <cstring>
#include <exception>

#include "meterbank/pcw/utf16_functions.h"
#include "meterbank/shm/names.hpp"
#include "meterbank/windows/handle_table.hpp"
#include "pcw_registration.hpp"
#include "refusal.hpp"

namespace meterbank::pcw {
namespace {

using Registrations = windows::HandleTable<PcwRegistration>;
using Instances = windows::HandleTable<PcwInstance>;
using Buffers = windows::HandleTable<PcwBuffer>;

// No exception leaves a function of C.
template <typename Function>
NTSTATUS guarded(Function function) noexcept {
  try {
    return function();
  } catch (const std::exception& failure) {
    return refuse(STATUS_NO_MEMORY, failure.what());
  }
}

NTSTATUS check_information(const PCW_REGISTRATION_INFORMATION* info) {
  constexpr NTSTATUS kBad = STATUS_INVALID_PARAMETER_2;
  if (info == nullptr) return refuse(kBad, "no information");
  if (info->Version != PCW_VERSION_1 && info->Version != PCW_VERSION_2) {
    return refuse(kBad, "unknown version " + std::to_string(info->Version));
  }
  // Version 1 ends before the flags.
  if (info->Version == PCW_VERSION_2) {
    std::uint32_t flags = 0;  // any number may stand there
    std::memcpy(&flags, &info->Flags, sizeof flags);
    if ((flags & ~std::uint32_t{PcwRegistrationSiloNeutral}) != 0)
      return refuse(kBad, "unknown flag");
  }
  if (info->CounterCount > kCountersMax) {
    return refuse(STATUS_INTEGER_OVERFLOW,
                  "more than " + std::to_string(kCountersMax) + " counters");
  }
  if (info->CounterCount == 0 || info->Counters == nullptr) return refuse(kBad, "no counters");
  return STATUS_SUCCESS;
}

std::shared_ptr<const OwnedSpec> spec_of(const std::string& name,
                                         std::span<const PCW_COUNTER_DESCRIPTOR> descriptors) {
  std::vector<CounterSpec> counters;
  for (const PCW_COUNTER_DESCRIPTOR& descriptor : descriptors) {
    counters.push_back(
        {.id = descriptor.Id,
         .type = descriptor.Size == 4 ? CounterType::kRawCount : CounterType::kLargeRawCount});
  }
  CountersetSpec spec{};
  spec.name = name;
  return plain_spec(spec, std::move(counters));
}

NTSTATUS register_set(PPCW_REGISTRATION* handle, const PCW_REGISTRATION_INFORMATION* info,
                      CharacterWidth width) {
  if (handle == nullptr) return refuse(STATUS_INVALID_PARAMETER_1, "nowhere to put the handle");
  *handle = nullptr;
  if (const NTSTATUS status = check_information(info); !NT_SUCCESS(status)) return status;
  const auto name = text_of(info->Name, width);
  if (!name || !check_name(*name, NameKind::kCounterset).ok()) {
    return refuse(STATUS_INVALID_PARAMETER_2, "invalid name: null, empty, too long or not UTF-16");
  }
  const std::span<const PCW_COUNTER_DESCRIPTOR> descriptors(info->Counters, info->CounterCount);
  PcwRegistration::Parts parts;
  parts.spec = described(*name);
  parts.is_described = parts.spec != nullptr;
  if (!parts.is_described) parts.spec = spec_of(*name, descriptors);
  std::string why;
  auto layout = CounterLayout::of(descriptors, parts.spec->spec(), why);
  if (!layout) return refuse(STATUS_INVALID_PARAMETER_2, std::move(why));
  parts.layout = std::move(*layout);
  parts.callback = info->Callback;
  parts.context = info->CallbackContext;
  parts.width = width;
  auto registration = std::make_shared<PcwRegistration>(std::move(parts));
  if (auto good = registration->publish(); !good) return refuse(good.error());
  *handle = reinterpret_cast<PPCW_REGISTRATION>(Registrations::shared().insert(registration));
  return STATUS_SUCCESS;
}

std::span<const PCW_DATA> blocks_of(ULONG count, const PCW_DATA* data) noexcept {
  return data == nullptr ? std::span<const PCW_DATA>() : std::span(data, count);
}

NTSTATUS create(PPCW_INSTANCE* handle, PPCW_REGISTRATION registration, PCUNICODE_STRING name,
                ULONG count, const PCW_DATA* data) {
  if (handle == nullptr) return refuse(STATUS_INVALID_PARAMETER_1, "nowhere to put the handle");
  *handle = nullptr;
  const auto owner = Registrations::shared().find(registration);
  if (owner == nullptr) return refuse(STATUS_INVALID_PARAMETER_2, "no such registration");
  if (count != 0 && data == nullptr) return refuse(STATUS_INVALID_PARAMETER_5, "no blocks");
  std::uintptr_t number = 0;
  const NTSTATUS status = owner->create(name, blocks_of(count, data), number);
  *handle = reinterpret_cast<PPCW_INSTANCE>(number);
  return status;
}

NTSTATUS create_in_place(PPCW_INSTANCE* handle, PPCW_REGISTRATION registration,
                         PCUNICODE_STRING name, PVOID* block) {
  if (handle == nullptr) return refuse(STATUS_INVALID_PARAMETER_1, "nowhere to put the handle");
  if (block == nullptr) return refuse(STATUS_INVALID_PARAMETER_4, "nowhere to put the block");
  *handle = nullptr;
  *block = nullptr;
  const auto owner = Registrations::shared().find(registration);
  if (owner == nullptr) return refuse(STATUS_INVALID_PARAMETER_2, "no such registration");
  std::uintptr_t number = 0;
  const NTSTATUS status = owner->create_in_place(name, number, *block);
  *handle = reinterpret_cast<PPCW_INSTANCE>(number);
  return status;
}

NTSTATUS add(PPCW_BUFFER handle, PCUNICODE_STRING name, ULONG id, ULONG count,
             const PCW_DATA* data) {
  const auto buffer = Buffers::shared().find(handle);
  if (buffer == nullptr) return refuse(STATUS_INVALID_PARAMETER_1, "no callback has this buffer");
  const std::lock_guard lock(buffer->mutex);
  if (buffer->request == nullptr) {
    return refuse(STATUS_INVALID_PARAMETER_1, "the callback has returned");
  }
  const bool collects = buffer->request->reason() == CallbackReason::kCollect;
  if (collects && data == nullptr) return refuse(STATUS_INVALID_PARAMETER_5, "no blocks");
  return buffer->registration->add_row(*buffer->request, name, id, blocks_of(count, data));
}

}  // namespace
}  // namespace meterbank::pcw

using namespace meterbank::pcw;

extern "C" {

NTSTATUS PcwRegister(PPCW_REGISTRATION* registration, PPCW_REGISTRATION_INFORMATION info) {
  return guarded([&] { return register_set(registration, info, kOwnWidth); });
}
NTSTATUS meterbank_utf16_PcwRegister(PPCW_REGISTRATION* registration,
                                     PPCW_REGISTRATION_INFORMATION info) {
  return guarded([&] { return register_set(registration, info, meterbank::CharacterWidth::kTwo); });
}

VOID PcwUnregister(PPCW_REGISTRATION registration) {
  if (const auto open = Registrations::shared().take(registration)) open->unregister();
}

NTSTATUS PcwCreateInstance(PPCW_INSTANCE* instance, PPCW_REGISTRATION registration,
                           PCUNICODE_STRING name, ULONG count, PPCW_DATA data) {
  return guarded([&] { return create(instance, registration, name, count, data); });
}
NTSTATUS MeterbankPcwAllocateInstance(PPCW_INSTANCE* instance, PPCW_REGISTRATION registration,
                                      PCUNICODE_STRING name, PVOID* block) {
  return guarded([&] { return create_in_place(instance, registration, name, block); });
}

VOID PcwCloseInstance(PPCW_INSTANCE instance) {
  const auto open = Instances::shared().take(instance);
  if (open == nullptr) return;
  if (const auto owner = open->owner.lock()) owner->close(open);
}

NTSTATUS PcwAddInstance(PPCW_BUFFER buffer, PCUNICODE_STRING name, ULONG id, ULONG count,
                        PPCW_DATA data) {
  return guarded([&] { return add(buffer, name, id, count, data); });
}

}  // extern "C"
