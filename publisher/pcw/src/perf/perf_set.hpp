// SPDX-License-Identifier: Apache-2.0
//
// One counterset of a user-mode provider, and its rows.
//
// A row lies in the block that PerfCreateInstance returns, because programs write there: on Windows
// the values follow the struct, 8 bytes for each counter in the order of the template, and a
// by-reference counter has an address in its place. Counting is an atomic instruction on the block,
// and a reader that collects gets a copy of it: no store of the program could tell that it was
// made, so nothing short of the block can be up to date. docs/decisions/0023 says what that costs.
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
    std::uint32_t value = 0;  // its place among the values of a row, as the schema has it
    std::uint32_t slot = 0;   // its place in the block, as the template has it
    std::uint32_t bytes = 0;
    bool by_reference = false;
  };
  explicit PerfColumns(std::vector<Column> columns);

  [[nodiscard]] const Column* find(std::uint32_t id) const noexcept;
  [[nodiscard]] const std::vector<Column>& all() const noexcept { return columns_; }

 private:
  std::vector<Column> columns_;  // by id
};

// Where blocks come from: the routines of PerfStartProviderEx, or the heap where they are null.
struct PerfMemory {
  PERF_MEM_ALLOC allocate = nullptr;
  PERF_MEM_FREE release = nullptr;
  LPVOID context = nullptr;

  void operator()(std::byte* block) const noexcept;  // frees it
};
using PerfBlock = std::unique_ptr<std::byte[], PerfMemory>;

// What a PERF_COUNTERSET_INSTANCE belongs to.
struct PerfRow {
  std::uintptr_t provider = 0;  // handle
  const PerfColumns* columns = nullptr;
  std::string name;
  std::uint32_t id = 0;
  PerfBlock block;  // a RowMark, then what the provider sees

  [[nodiscard]] PPERF_COUNTERSET_INSTANCE instance() const noexcept;
  // Where the value of the column lies, or the address of it. Aligned to 8.
  [[nodiscard]] std::byte* slot(const PerfColumns::Column& column) const noexcept;
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
    PerfMemory memory;
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
  [[nodiscard]] PerfBlock make_block(const PerfRow& row) const;
  bool copy_row(const PerfRow& row, const CallbackRequest& request,
                std::vector<std::uint64_t>& values) const noexcept;

  const Parts parts_;
  const PerfColumns columns_;
  std::mutex mutex_;
  Registration registration_;
  std::map<PPERF_COUNTERSET_INSTANCE, std::unique_ptr<PerfRow>, std::less<>> rows_;
};

}  // namespace meterbank::pcw
