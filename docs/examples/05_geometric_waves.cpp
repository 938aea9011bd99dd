// SPDX-License-Identifier: Apache-2.0
//
// A provider in the style of Windows: rows computed when a reader asks, and one counted in place.
// Names, types and help are in geometric_waves.man; what begins with Wave is generated from it.
#include <wdm.h>

#include <cstdio>

#include "meterbank/reader.hpp"

struct WAVE {  // what a row of Geometric Waves is made of
  ULONG Triangle, Square;
};
struct WAVES_SEEN {
  ULONGLONG Waves;
};
#include "geometric_waves_counters.h"

// One row: rises and falls above `low`, by one step a second, ten seconds to and fro.
static NTSTATUS AddWave(PPCW_BUFFER buffer, PCWSTR name, ULONG id, ULONG low, ULONG height) {
  LARGE_INTEGER now;
  KeQuerySystemTime(&now);
  const ULONG index = static_cast<ULONG>(now.QuadPart / 10'000'000 % 10);
  const ULONG up = index < 5 ? 5 - index : index - 5;
  const WAVE wave{low + height * up / 5, index < 5 ? low + height : low};  // copied by the call
  UNICODE_STRING text;
  RtlInitUnicodeString(&text, name);
  return WaveAddGeometricWave(buffer, &text, id, &wave);
}

static NTSTATUS NTAPI OnGeometric(PCW_CALLBACK_TYPE type, PPCW_CALLBACK_INFORMATION info, PVOID) {
  if (type != PcwCallbackCollectData && type != PcwCallbackEnumerateInstances) return 0;
  AddWave(info->CollectData.Buffer, L"Small Wave", 0, 40, 20);
  AddWave(info->CollectData.Buffer, L"Medium Wave", 1, 30, 40);
  return AddWave(info->CollectData.Buffer, L"Large Wave", 2, 20, 60);
}

int main() {
  if (!NT_SUCCESS(WaveRegisterGeometricWave(OnGeometric, nullptr))) return 1;
  if (!NT_SUCCESS(WaveRegisterCountedWave(nullptr, nullptr))) return 1;
  static WAVES_SEEN seen{1};  // referenced, not copied: read when a reader collects
  const UNICODE_STRING name = RTL_CONSTANT_STRING(L"mine");
  PPCW_INSTANCE instance = nullptr;
  WaveCreateCountedWave(&instance, &name, &seen);
  __atomic_fetch_add(&seen.Waves, 41, __ATOMIC_RELAXED);  // and that is all it takes
  auto query = meterbank::Query::compile(*meterbank::Catalog::open({}), {});
  meterbank::Sample sample;
  query->collect(sample,
                 std::chrono::seconds(5));  // with a timeout: asks the provider for these rows
  for (const meterbank::Row& row : sample) {
    for (const meterbank::Value& value : row) {
      std::printf("%-40s %3.0f\n", value.path().c_str(), value.cooked.value);
    }
  }
  WaveUnregisterCountedWave();  // closes its instances, too
  WaveUnregisterGeometricWave();
}
