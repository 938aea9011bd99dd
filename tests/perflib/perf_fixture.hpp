// SPDX-License-Identifier: Apache-2.0
//
// The nine functions in both character widths, called as a program would, on a directory of the
// test's own.
#pragma once

#include <gtest/gtest.h>
#include <perflib.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/temporary_directory.hpp"
#include "meterbank/perflib/block_walker.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "meterbank/publisher.hpp"

namespace meterbank::test {

using Bytes = std::vector<std::byte>;

// The sets of the public samples: one with three rows and two counters, one with one row and three.
inline constexpr std::array kGeometricCounters{CounterSpec{.id = 1,
                                                           .name = "Triangle Wave",
                                                           .symbol = "triangle",
                                                           .type = CounterType::kRawCount,
                                                           .help = "A triangle.",
                                                           .aggregate = 1},
                                               CounterSpec{.id = 2,
                                                           .name = "Square Wave",
                                                           .symbol = "square",
                                                           .type = CounterType::kLargeRawCount,
                                                           .help = "A square.",
                                                           .aggregate = 4}};
inline constexpr CountersetSpec kGeometric{
    .name = "Geometric Waves",
    .symbol = "geometric_waves",
    .help = "Waves with corners.",
    .label = "wave",
    .guid = "{51d1685c-35ed-45be-99fe-17261a4f27f3}"_guid,
    .provider_guid = "{ec9fa54c-ab41-4f1e-9a8a-cf9b7f8e3cf9}"_guid,
    .counters = kGeometricCounters};
inline constexpr std::array kTrigonometricCounters{
    CounterSpec{.id = 1, .name = "Sine Wave", .symbol = "sine", .type = CounterType::kRawCount},
    CounterSpec{.id = 2, .name = "Cosine Wave", .symbol = "cosine", .type = CounterType::kRawCount},
    CounterSpec{
        .id = 3, .name = "Constant", .symbol = "constant", .type = CounterType::kLargeRawCount}};
inline constexpr CountersetSpec kTrigonometric{
    .name = "Trigonometric Waves",
    .symbol = "trigonometric_waves",
    .label = "wave",
    .guid = "{f72fdf55-eefb-4f99-9f8b-b8c4ee4e4d5a}"_guid,
    .instances = InstanceKind::kSingle,
    .counters = kTrigonometricCounters};

inline GUID guid_of(const Guid& guid) {
  GUID result;
  std::memcpy(&result, &guid, sizeof result);
  return result;
}

// One identifier as a program lays it out.
struct Wanted {
  Guid set = kGeometric.guid;
  std::u16string pattern = u"*";
  std::uint32_t counter = PERF_WILDCARD_COUNTER;
  std::uint32_t instance = 0xffffffff;
};

inline void append(Bytes& bytes, const void* source, std::size_t count) {
  const auto* const begin = static_cast<const std::byte*>(source);
  bytes.insert(bytes.end(), begin, begin + count);
}

inline Bytes identifier(const Wanted& wanted, CharacterWidth width = CharacterWidth::kTwo) {
  Bytes name;
  for (const char16_t unit : wanted.pattern) {
    const char32_t wide = unit;
    append(name, &wide, static_cast<std::size_t>(width));
  }
  if (!wanted.pattern.empty()) name.resize(name.size() + static_cast<std::size_t>(width));
  PERF_COUNTER_IDENTIFIER header{};
  header.CounterSetGuid = guid_of(wanted.set);
  header.Size = static_cast<ULONG>(padded(sizeof header + name.size()));
  header.CounterId = wanted.counter;
  header.InstanceId = wanted.instance;
  Bytes bytes;
  append(bytes, &header, sizeof header);
  append(bytes, name.data(), name.size());
  bytes.resize(header.Size);
  return bytes;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline PPERF_COUNTER_IDENTIFIER as_identifiers(Bytes& bytes) {
  return reinterpret_cast<PPERF_COUNTER_IDENTIFIER>(bytes.data());
}
inline ULONG status_of(const Bytes& bytes, std::size_t offset = 0) {
  ULONG status = 0;
  std::memcpy(&status, bytes.data() + offset + offsetof(PERF_COUNTER_IDENTIFIER, Status),
              sizeof status);
  return status;
}

// A query handle of one character width.
class Handle {
 public:
  explicit Handle(CharacterWidth width = CharacterWidth::kTwo) : width_(width) {
    const ULONG error = width == CharacterWidth::kTwo
                            ? meterbank_utf16_PerfOpenQueryHandle(nullptr, &handle_)
                            : PerfOpenQueryHandle(nullptr, &handle_);
    EXPECT_EQ(error, static_cast<ULONG>(ERROR_SUCCESS));
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { PerfCloseQueryHandle(handle_); }

  [[nodiscard]] HANDLE get() const { return handle_; }
  [[nodiscard]] CharacterWidth width() const { return width_; }

  // The status of the one identifier.
  ULONG add(const Wanted& wanted) {
    Bytes bytes = identifier(wanted, width_);
    const ULONG error =
        PerfAddCounters(handle_, as_identifiers(bytes), static_cast<DWORD>(bytes.size()));
    return error == ERROR_SUCCESS ? status_of(bytes) : error;
  }
  ULONG remove(const Wanted& wanted) {
    Bytes bytes = identifier(wanted, width_);
    const ULONG error =
        PerfDeleteCounters(handle_, as_identifiers(bytes), static_cast<DWORD>(bytes.size()));
    return error == ERROR_SUCCESS ? status_of(bytes) : error;
  }

  // Grows its buffer as the documented sample does. What it gives has passed the walker.
  [[nodiscard]] Bytes read() const {
    Bytes bytes;
    DWORD needed = 0;
    ULONG error = PerfQueryCounterData(handle_, nullptr, 0, &needed);
    while (error == ERROR_NOT_ENOUGH_MEMORY) {
      bytes.resize(needed);
      error = PerfQueryCounterData(handle_, reinterpret_cast<PPERF_DATA_HEADER>(bytes.data()),
                                   static_cast<DWORD>(bytes.size()), &needed);
    }
    EXPECT_EQ(error, static_cast<ULONG>(ERROR_SUCCESS));
    bytes.resize(needed);
    EXPECT_EQ(check_result(bytes, width_), BlockFault::kNone);
    return bytes;
  }
  [[nodiscard]] Bytes list() const {
    DWORD needed = 0;
    static_cast<void>(PerfQueryCounterInfo(handle_, nullptr, 0, &needed));
    Bytes bytes(needed);
    EXPECT_EQ(PerfQueryCounterInfo(handle_, as_identifiers(bytes), needed, &needed),
              static_cast<ULONG>(ERROR_SUCCESS));
    return bytes;
  }

 private:
  CharacterWidth width_;
  HANDLE handle_ = nullptr;
};

// Row name to the values by counter id; the name of a block without rows is empty. A counter
// without a number is left out.
using Rows = std::multimap<std::string, std::map<std::uint32_t, std::uint64_t>>;
struct SeenBlock {
  ULONG status = 0;
  BlockShape shape = BlockShape::kError;
  Rows rows;
};

inline std::map<std::uint32_t, std::uint64_t> numbers_of(const ResultBlock& block,
                                                         ValueWalker values) {
  std::map<std::uint32_t, std::uint64_t> numbers;
  while (const auto value = values.next()) {
    const std::uint32_t id = block.has_columns() ? block.counter(value->column) : 0;
    if (const auto number = value->number()) numbers[id] = *number;
  }
  return numbers;
}

inline std::vector<SeenBlock> seen(const Bytes& bytes, CharacterWidth width) {
  std::vector<SeenBlock> blocks;
  ResultWalker walker(bytes, width);
  while (const auto block = walker.next()) {
    SeenBlock found{block->status(), block->shape(), {}};
    RowWalker rows = block->rows();
    while (const auto row = rows.next()) {
      found.rows.emplace(row->name.utf8(), numbers_of(*block, row->values));
    }
    if (!block->has_rows() && block->shape() != BlockShape::kError) {
      found.rows.emplace("", numbers_of(*block, block->values()));
    }
    blocks.push_back(std::move(found));
  }
  EXPECT_EQ(walker.fault(), BlockFault::kNone);
  return blocks;
}
inline std::vector<SeenBlock> seen(const Handle& handle) {
  return seen(handle.read(), handle.width());
}

// A directory that METERBANK_DIR names, and providers in it.
class PerfTest : public testing::Test {
 protected:
  PerfTest() { ::setenv("METERBANK_DIR", directory_.path().c_str(), 1); }
  ~PerfTest() override { ::unsetenv("METERBANK_DIR"); }

  [[nodiscard]] Provider provider(const std::string& name) const {
    return *Provider::create(
        {.name = name, .directory = directory_.path(), .heartbeat = std::chrono::milliseconds(0)});
  }

  TemporaryDirectory directory_;
};

// The rows of the public sample. Value 10 * (row + 1) + id.
class WavesTest : public PerfTest {
 protected:
  WavesTest() {
    for (const char* const name : {"Small Wave", "Medium Wave", "Large Wave"}) {
      const auto number = static_cast<std::uint64_t>(waves_.size() + 1) * 10;
      waves_.push_back(*geometric_.create_instance(name));
      waves_.back().update([number](Values& values) noexcept {
        values.set(0, number + 1);
        values.set(1, number + 2);
      });
    }
    constant_.update([](Values& values) noexcept {
      for (std::uint32_t word = 0; word < 3; ++word) values.set(word, 100 + word);
    });
  }

  Provider provider_ = provider("waves");
  Registration geometric_ = *provider_.add(kGeometric);
  Registration trigonometric_ = *provider_.add(kTrigonometric);
  std::vector<Instance> waves_;
  Instance constant_ = *trigonometric_.create_instance("");
};

inline constexpr ULONG kSuccess = ERROR_SUCCESS;
inline constexpr ULONG kTooSmall = ERROR_NOT_ENOUGH_MEMORY;
inline constexpr ULONG kInvalid = ERROR_INVALID_PARAMETER;

}  // namespace meterbank::test
