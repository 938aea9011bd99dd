// SPDX-License-Identifier: Apache-2.0
//
// A provider as one writes it for Windows, in the spirit of its kernel counter sample: three waves
// that are computed when somebody asks, and one that is counted in place. Reads itself, then ends.
#include <wdm.h>

#include <cstdio>

#include "meterbank/pcw/describe.hpp"
#include "meterbank/reader.hpp"

namespace mb = meterbank;

struct Wave {  // what a row of either set is made of
  ULONG Triangle, Square;
};
static PCW_COUNTER_DESCRIPTOR Counters[] = {{1, 0, FIELD_OFFSET(Wave, Triangle), 4},
                                            {2, 0, FIELD_OFFSET(Wave, Square), 4}};
static constexpr mb::CounterSpec kNames[] = {  // what the manifest adds
    {.id = 1, .name = "Triangle", .symbol = "triangle", .type = mb::CounterType::kRawCount},
    {.id = 2, .name = "Square Wave", .symbol = "square", .type = mb::CounterType::kRawCount}};

// One row: rises and falls around `low`, by one step a second, ten seconds to and fro.
static NTSTATUS AddWave(PPCW_BUFFER buffer, PCWSTR name, ULONG id, ULONG low, ULONG height) {
  LARGE_INTEGER now;
  KeQuerySystemTime(&now);
  const ULONG index = static_cast<ULONG>(now.QuadPart / 10'000'000 % 10);
  const ULONG up = index < 5 ? 5 - index : index - 5;
  const Wave wave{low + height * up / 5, index < 5 ? low + height : low};
  PCW_DATA data{&wave, sizeof wave};  // copied by the call
  UNICODE_STRING text;
  RtlInitUnicodeString(&text, name);
  return PcwAddInstance(buffer, &text, id, 1, &data);
}

static NTSTATUS NTAPI OnGeometric(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info, PVOID) {
  if (type != PcwCallbackCollectData && type != PcwCallbackEnumerateInstances) return 0;
  const PPCW_BUFFER buffer = info->CollectData.Buffer;  // in the same place for both
  AddWave(buffer, L"Small Wave", 0, 40, 20);
  AddWave(buffer, L"Medium Wave", 1, 30, 40);
  return AddWave(buffer, L"Large Wave", 2, 20, 60);
}

static PPCW_REGISTRATION Register(PCWSTR name, PPCW_CALLBACK callback) {
  UNICODE_STRING text;
  RtlInitUnicodeString(&text, name);
  PCW_REGISTRATION_INFORMATION info{PCW_CURRENT_VERSION, &text, 2, Counters, callback, nullptr, {}};
  PPCW_REGISTRATION registration = nullptr;
  return NT_SUCCESS(PcwRegister(&registration, &info)) ? registration : nullptr;
}

int main() {
  (void)mb::pcw::describe({.name = "Geometric Waves", .symbol = "waves", .counters = kNames});
  const PPCW_REGISTRATION geometric = Register(L"Geometric Waves", OnGeometric);
  const PPCW_REGISTRATION counted =
      Register(L"Counted Waves", nullptr);  // "Counter 1", "Counter 2"
  static Wave mine{1, 2};                   // referenced, not copied: read whenever somebody looks
  PCW_DATA data{&mine, sizeof mine};
  UNICODE_STRING name = RTL_CONSTANT_STRING(L"mine");
  PPCW_INSTANCE instance = nullptr;
  PcwCreateInstance(&instance, counted, &name, 1, &data);
  __atomic_fetch_add(&mine.Triangle, 41, __ATOMIC_RELAXED);  // and that is all it takes

  auto query = mb::Query::compile(*mb::Catalog::open({}), {"waves", "counted_waves"});
  mb::Sample sample;
  query->collect(sample, std::chrono::seconds(5));  // with patience: these rows must be asked for
  for (const auto& row : mb::cook(nullptr, sample)) {
    std::printf("%-40s %3.0f\n", row.path().c_str(), row.cooked.value);
  }
  PcwUnregister(counted);  // closes its instances, too
  PcwUnregister(geometric);
}
