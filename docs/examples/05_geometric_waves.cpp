// SPDX-License-Identifier: Apache-2.0
//
// A provider as one writes it for Windows: rows computed when somebody asks, one counted in place.
#include <wdm.h>

#include <cstdio>

#include "meterbank/reader.hpp"

struct Wave {  // what a row of either set is made of
  ULONG Triangle, Square;
};
static PCW_COUNTER_DESCRIPTOR Counters[] = {{1, 0, FIELD_OFFSET(Wave, Triangle), 4},
                                            {2, 0, FIELD_OFFSET(Wave, Square), 4}};

// One row: rises and falls above `low`, by one step a second, ten seconds to and fro.
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
  AddWave(info->CollectData.Buffer, L"Small Wave", 0, 40, 20);
  AddWave(info->CollectData.Buffer, L"Medium Wave", 1, 30, 40);
  return AddWave(info->CollectData.Buffer, L"Large Wave", 2, 20, 60);
}

static PPCW_REGISTRATION Register(UNICODE_STRING name, PPCW_CALLBACK callback) {
  PCW_REGISTRATION_INFORMATION info{PCW_CURRENT_VERSION, &name, 2, Counters, callback, nullptr, {}};
  PPCW_REGISTRATION registration = nullptr;
  return NT_SUCCESS(PcwRegister(&registration, &info)) ? registration : nullptr;
}

int main() {
  const auto geometric = Register(RTL_CONSTANT_STRING(L"Geometric Waves"), OnGeometric);
  const auto counted = Register(RTL_CONSTANT_STRING(L"Counted Waves"), nullptr);
  static Wave mine{1, 2};  // referenced, not copied: read whenever somebody looks
  PCW_DATA data{&mine, sizeof mine};
  UNICODE_STRING name = RTL_CONSTANT_STRING(L"mine");
  PPCW_INSTANCE instance = nullptr;
  PcwCreateInstance(&instance, counted, &name, 1, &data);
  __atomic_fetch_add(&mine.Triangle, 41, __ATOMIC_RELAXED);  // and that is all it takes
  auto query = meterbank::Query::compile(*meterbank::Catalog::open({}), {});
  meterbank::Sample sample;
  query->collect(sample, std::chrono::seconds(5));  // with patience: these rows are asked for
  for (const auto& row : meterbank::cook(nullptr, sample)) {
    std::printf("%-40s %3.0f\n", row.path().c_str(), row.cooked.value);
  }
  PcwUnregister(counted);  // closes its instances, too
  PcwUnregister(geometric);
}
