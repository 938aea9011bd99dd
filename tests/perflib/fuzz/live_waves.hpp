// SPDX-License-Identifier: Apache-2.0
//
// The sets of the fixture in a process without a test around it.
#pragma once

#include "../perf_fixture.hpp"

namespace meterbank::test {

class LiveWaves {
 public:
  LiveWaves() {
    ::setenv("METERBANK_DIR", directory_.path().c_str(), 1);
    for (const char* const name : {"Small Wave", "Medium Wave", "Large Wave"}) {
      rows_.push_back(*geometric_.create_instance(name));
      rows_.back().set(0, rows_.size());
    }
    rows_.push_back(*trigonometric_.create_instance(""));
  }

  [[nodiscard]] Bytes instances(CharacterWidth width) const {
    const GUID set = guid_of(kGeometric.guid);
    const bool two = width == CharacterWidth::kTwo;
    const auto ask = [&](PPERF_INSTANCE_HEADER block, DWORD room, DWORD& size) {
      return two ? meterbank_utf16_PerfEnumerateCounterSetInstances(nullptr, &set, block, room,
                                                                    &size)
                 : PerfEnumerateCounterSetInstances(nullptr, &set, block, room, &size);
    };
    DWORD size = 0;
    static_cast<void>(ask(nullptr, 0, size));
    Bytes bytes(size);
    static_cast<void>(ask(reinterpret_cast<PPERF_INSTANCE_HEADER>(bytes.data()), size, size));
    return bytes;
  }
  [[nodiscard]] Bytes strings(CharacterWidth width) const {
    const GUID set = guid_of(kGeometric.guid);
    const bool two = width == CharacterWidth::kTwo;
    const auto ask = [&](LPBYTE block, DWORD room, DWORD& size) {
      return two ? meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
                       nullptr, &set, PERF_REG_COUNTER_NAME_STRINGS, 0, block, room, &size)
                 : PerfQueryCounterSetRegistrationInfo(nullptr, &set, PERF_REG_COUNTER_NAME_STRINGS,
                                                       0, block, room, &size);
    };
    DWORD size = 0;
    static_cast<void>(ask(nullptr, 0, size));
    Bytes bytes(size);
    static_cast<void>(ask(reinterpret_cast<LPBYTE>(bytes.data()), size, size));
    return bytes;
  }

 private:
  TemporaryDirectory directory_;
  Provider provider_ = *Provider::create(
      {.name = "waves", .directory = directory_.path(), .heartbeat = std::chrono::milliseconds(0)});
  Registration geometric_ = *provider_.add(kGeometric);
  Registration trigonometric_ = *provider_.add(kTrigonometric);
  std::vector<Instance> rows_;
};

}  // namespace meterbank::test
