// SPDX-License-Identifier: Apache-2.0
//
// One counterset of a user-mode provider, and its rows.
//
// A row lies in the segment, and counting is an atomic instruction on it: readers need no answer
// from this process. Where a value must be fetched when it is wanted (by-reference counters), or
// the provider wants to be told (a ControlCallback), rows lie in this process and are copied when a
// reader collects.
#pragma once

#include <perflib.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../descriptions.hpp"
#include "meterbank/publisher/provider.hpp"
#include "meterbank/windows/wide_text.hpp"

namespace meterbank::pcw {

// Columns of a set, found by the id of their counter. Never changed once made.
class PerfColumns {
 public:
  struct Column {
    std::uint32_t id = 0;
    std::uint32_t word = 0;
    std::uint32_t bytes = 0;
    bool by_reference = false;
  };
  explicit PerfColumns(std::vector<Column> columns);

  [[nodiscard]] const Column* find(std::uint32_t id) const noexcept;
  [[nodiscard]] const std::vector<Column>& all() const noexcept { return columns_; }

 private:
  std::vector<Column> columns_;  // by id
};

// What a PERF_COUNTERSET_INSTANCE belongs to.
struct PerfRow {
  std::uintptr_t provider = 0;  // handle
  const PerfColumns* columns = nullptr;
  SharedWord* words = nullptr;  // those of `in_place`, or `own`
  std::string name;
  std::uint32_t id = 0;
  Instance in_place;
  std::unique_ptr<SharedWord[]> own;
  std::unique_ptr<const void*[]> references;  // of by-reference counters; under the set's mutex
  std::unique_ptr<std::byte[]> block;         // a RowMark, then what the provider sees

  [[nodiscard]] PPERF_COUNTERSET_INSTANCE instance() const noexcept;
  // Null: not one that is alive. What is no instance at all is the caller's misfortune, as ever.
  [[nodiscard]] static PerfRow* of(PPERF_COUNTERSET_INSTANCE instance) noexcept;
};

class PerfSet {
 public:
  struct Parts {
    std::uintptr_t provider = 0;  // handle
    CharacterWidth width{};
    std::shared_ptr<const OwnedSpec> spec;
    std::vector<PerfColumns::Column> columns;
    std::uint32_t data_bytes = 0;  // of the data area in an instance's block
    bool on_demand = false;
  };
  explicit PerfSet(Parts parts);

  [[nodiscard]] Result<void> publish(Provider& provider, const Callback& callback);
  void close() noexcept;

  // Null, and the reason in `error`.
  PPERF_COUNTERSET_INSTANCE create(std::string_view name, std::uint32_t id, DWORD& error);
  [[nodiscard]] PPERF_COUNTERSET_INSTANCE find(std::string_view name, std::uint32_t id);
  // False: not one of these.
  bool remove(PPERF_COUNTERSET_INSTANCE instance) noexcept;
  void set_reference(PerfRow& row, const PerfColumns::Column& column, const void* address) noexcept;
  [[nodiscard]] bool has(PPERF_COUNTERSET_INSTANCE instance) noexcept;

  // Adds the rows to an answer. False: a value that is wanted has no address.
  bool add_rows(CallbackRequest& request);

  [[nodiscard]] const CountersetSpec& spec() const noexcept { return parts_.spec->spec(); }

 private:
  [[nodiscard]] bool is_taken_locked(std::string_view name, std::uint32_t id) const noexcept;
  [[nodiscard]] std::unique_ptr<std::byte[]> make_block(const PerfRow& row) const;
  bool copy_row(const PerfRow& row, const CallbackRequest& request,
                std::vector<std::uint64_t>& values) const noexcept;

  const Parts parts_;
  const PerfColumns columns_;
  std::mutex mutex_;
  Registration registration_;
  std::map<PPERF_COUNTERSET_INSTANCE, std::unique_ptr<PerfRow>, std::less<>> rows_;
};

}  // namespace meterbank::pcw
