// SPDX-License-Identifier: Apache-2.0
//
// PDH as a program calls it, on a directory of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <stdlib.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {

enum class Disk : std::uint32_t {
  kReads,
  kQueue,
  kBytesOfRead,
  kReadsBase,
  kBusy,
  kTemperature,
  kRetries,
  kLabel
};

inline constexpr std::array kDiskCounters{
    CounterSpec{.id = 1,
                .name = "Reads/sec",
                .symbol = "reads",
                .type = CounterType::kBulkCount,
                .help = "Finished reads.",
                .scale = 1,
                .aggregate = kAggregateSum},
    CounterSpec{.id = 2,
                .name = "Queue Length",
                .symbol = "queue",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateSum},
    CounterSpec{.id = 3,
                .name = "Avg. Bytes/Read",
                .symbol = "bytes_of_read",
                .type = CounterType::kAverageBulk,
                .base = 4,
                .aggregate = kAggregateAverage},
    CounterSpec{.id = 4, .symbol = "reads_base", .type = CounterType::kAverageBase},
    CounterSpec{.id = 5,
                .name = "% Busy",
                .symbol = "busy",
                .type = CounterType::kTimer100Ns,
                .aggregate = kAggregateAverage},
    CounterSpec{.id = 6,
                .name = "Temperature",
                .symbol = "temperature",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
    CounterSpec{.id = 8,
                .name = "Retries",
                .symbol = "retries",
                .type = CounterType::kRawCount,
                .detail = 200},
    CounterSpec{.id = 7,
                .name = "Label",
                .symbol = "label",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .text_bytes = 8}};
inline constexpr CountersetSpec kDisks{.name = "Test Disks",
                                       .symbol = "test_disks",
                                       .label = "disk",
                                       .guid = "{9f0f6f0e-30d1-4c5e-8f8e-0c6f3a1c2b01}"_guid,
                                       .counters = kDiskCounters};
inline constexpr std::array kClockCounters{
    CounterSpec{.id = 1, .name = "Ticks", .symbol = "ticks", .type = CounterType::kLargeRawCount}};
inline constexpr CountersetSpec kClock{.name = "Test Clock",
                                       .symbol = "test_clock",
                                       .guid = "{9f0f6f0e-30d1-4c5e-8f8e-0c6f3a1c2b02}"_guid,
                                       .instances = InstanceKind::kSingle,
                                       .counters = kClockCounters};

inline constexpr PDH_STATUS kDone = ERROR_SUCCESS;

// A query and its counters.
class OpenQuery {
 public:
  OpenQuery() { EXPECT_EQ(PdhOpenQueryA(nullptr, 7, &query_), kDone); }
  OpenQuery(const OpenQuery&) = delete;
  OpenQuery& operator=(const OpenQuery&) = delete;
  ~OpenQuery() { PdhCloseQuery(query_); }

  [[nodiscard]] PDH_HQUERY get() const { return query_; }
  [[nodiscard]] PDH_HCOUNTER add(const char* path) {
    PDH_HCOUNTER counter = nullptr;
    EXPECT_EQ(PdhAddCounterA(query_, path, 0, &counter), kDone) << path;
    return counter;
  }
  [[nodiscard]] PDH_STATUS status_of_adding(const char* path) {
    PDH_HCOUNTER counter = nullptr;
    return PdhAddCounterA(query_, path, 0, &counter);
  }
  PDH_STATUS collect() { return PdhCollectQueryData(query_); }

 private:
  PDH_HQUERY query_ = nullptr;
};

struct Formatted {
  PDH_STATUS result = 0;
  DWORD status = 0;
  double value = 0;
};
inline Formatted formatted(PDH_HCOUNTER counter, DWORD format = PDH_FMT_DOUBLE) {
  PDH_FMT_COUNTERVALUE value{};
  const PDH_STATUS result = PdhGetFormattedCounterValue(counter, format, nullptr, &value);
  return {result, value.CStatus, value.doubleValue};
}
inline PDH_RAW_COUNTER raw(PDH_HCOUNTER counter) {
  PDH_RAW_COUNTER value{};
  EXPECT_EQ(PdhGetRawCounterValue(counter, nullptr, &value), kDone);
  return value;
}

// The items of an array by name.
inline std::map<std::string, Formatted> array_of(PDH_HCOUNTER counter) {
  DWORD bytes = 0, count = 0;
  EXPECT_EQ(PdhGetFormattedCounterArrayA(counter, PDH_FMT_DOUBLE, &bytes, &count, nullptr),
            PDH_MORE_DATA);
  std::vector<std::max_align_t> room(bytes / sizeof(std::max_align_t) + 1);
  auto* const items = reinterpret_cast<PDH_FMT_COUNTERVALUE_ITEM_A*>(room.data());
  EXPECT_EQ(PdhGetFormattedCounterArrayA(counter, PDH_FMT_DOUBLE, &bytes, &count, items), kDone);
  std::map<std::string, Formatted> found;
  for (DWORD item = 0; item < count; ++item) {
    const PDH_FMT_COUNTERVALUE& value = items[item].FmtValue;
    found[items[item].szName] = {kDone, value.CStatus, value.doubleValue};
  }
  return found;
}

// The strings of a list that ends with an empty one.
inline std::vector<std::string> strings_of(const char* list) {
  std::vector<std::string> strings;
  for (; *list != '\0'; list += std::strlen(list) + 1) strings.emplace_back(list);
  return strings;
}

// A directory that METERBANK_DIR names, and providers in it.
class PdhTest : public testing::Test {
 protected:
  PdhTest() { ::setenv("METERBANK_DIR", directory_.path().c_str(), 1); }
  ~PdhTest() override { ::unsetenv("METERBANK_DIR"); }

  [[nodiscard]] Provider provider(const std::string& name) const {
    return *Provider::create(
        {.name = name, .directory = directory_.path(), .heartbeat = std::chrono::milliseconds(0)});
  }

  TemporaryDirectory directory_;
};

// Two disks and a clock.
class DisksTest : public PdhTest {
 protected:
  static void count(Instance& disk, std::uint64_t reads, std::uint64_t queue = 0) {
    disk.update([reads, queue](Values& values) noexcept {
      values.set(Disk::kReads, reads);
      values.set(Disk::kQueue, queue);
      values.set(Disk::kBytesOfRead, reads * 512);
      values.set(Disk::kReadsBase, reads);
    });
  }

  Provider provider_ = provider("disks");
  Registration disks_ = *provider_.add(kDisks);
  Registration clocks_ = *provider_.add(kClock);
  Instance sda_ = *disks_.create_instance("sda");
  Instance sdb_ = *disks_.create_instance("sdb");
  Instance clock_ = *clocks_.create_instance("");
};

}  // namespace meterbank::test
