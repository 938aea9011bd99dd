// SPDX-License-Identifier: Apache-2.0
//
// The nine functions. Those with wide characters exist twice: for programs whose wchar_t has 32
// bits under their own names, for programs with 16 bits (-fshort-wchar) under the names that
// windef.h's METERBANK_WIDE_SYMBOL gives.
#include "perflib.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "meterbank/base/machine_name.hpp"
#include "meterbank/windows/handle_table.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "meterbank/windows/wide_text.hpp"
#include "query/perf_query.hpp"
#include "registration_blocks.hpp"

namespace meterbank {
namespace {

using QueryHandles = windows::HandleTable<PerfQuery>;

static_assert(sizeof(wchar_t) == 4, "this file is compiled with the platform's wchar_t");

ULONG code_of(PerfError error) noexcept { return static_cast<ULONG>(error); }

// Nothing is thrown to the caller; all that can be is that memory has run out.
template <typename F>
ULONG guarded(F&& body) noexcept {
  try {
    return code_of(body());
  } catch (const std::bad_alloc&) {
    return code_of(PerfError::kOutOfMemory);
  }
}

// The PerfLib error for a catalog that could not be opened.
PerfError error_of(const Error& error) noexcept {
  return error.code == ErrorCode::kNoSpace ? PerfError::kOutOfMemory
                                           : PerfError::kNoSystemResources;
}

CharacterWidth width_of_text(const wchar_t*) noexcept { return CharacterWidth::kFour; }
CharacterWidth width_of_text(const char16_t*) noexcept { return CharacterWidth::kTwo; }

// The name of a machine is shorter. A caller's string is not read beyond this.
constexpr std::size_t kMachineMax = 256;

template <typename Character>
std::optional<std::string> text_of_machine(const Character* machine) {
  std::size_t length = 0;
  while (length < kMachineMax && machine[length] != 0) ++length;
  if (length == kMachineMax) return std::nullopt;
  return valid_utf8_of(std::as_bytes(std::span(machine, length)), width_of_text(machine));
}

template <typename Character>
bool is_this_machine(const Character* machine) {
  if (machine == nullptr) return true;
  const auto name = text_of_machine(machine);
  return name && names_this_machine(*name);
}

Guid guid_of(const GUID& guid) noexcept {
  Guid result;
  static_assert(sizeof guid == sizeof result);
  std::memcpy(static_cast<void*>(&result), &guid, sizeof result);
  return result;
}

struct SetsNow {
  std::vector<FoundSet> sets;
  bool any_denied = false;  // there may be more
};

// The catalog of the functions that need no handle. Opened anew when the directory is another one.
class SharedCatalog {
 public:
  // The sets as they are now. Without a runtime directory there are none; that is no error.
  SetsNow sets() {
    const std::lock_guard lock(mutex_);
    const char* const variable = ::getenv("METERBANK_DIR");
    const std::string directory = variable == nullptr ? "" : variable;
    if (!catalog_ || directory != directory_) {
      catalog_.reset();
      auto opened = Catalog::open({});
      if (!opened) return {};
      catalog_.emplace(std::move(*opened));
      directory_ = directory;
    } else {
      catalog_->refresh();
    }
    return {find_sets(*catalog_), any_denied(*catalog_)};
  }

  // Never destroyed, as QueryHandles::shared().
  static SharedCatalog& instance() {
    static SharedCatalog& shared = *new SharedCatalog;
    return shared;
  }

 private:
  std::mutex mutex_;
  std::string directory_;
  std::optional<Catalog> catalog_;
};

CallerBuffer buffer_of(void* target, DWORD capacity, LPDWORD needed) noexcept {
  return {static_cast<std::byte*>(target), capacity, needed};
}

template <typename Character>
ULONG enumerate_sets(const Character* machine, GUID* sets, DWORD capacity, LPDWORD count) noexcept {
  return guarded([&] {
    if (count == nullptr || (sets == nullptr && capacity != 0)) {
      return PerfError::kInvalidParameter;
    }
    if (!is_this_machine(machine)) return PerfError::kServerUnavailable;
    const std::vector<FoundSet> found = SharedCatalog::instance().sets().sets;
    *count = static_cast<DWORD>(found.size());
    if (found.size() > capacity) return PerfError::kBufferTooSmall;
    for (std::size_t index = 0; index < found.size(); ++index) {
      std::memcpy(sets + index, &found[index].guid, sizeof(GUID));
    }
    return PerfError::kSuccess;
  });
}

// What both functions about one set have in common; `fill` makes the block.
template <typename Character, typename F>
ULONG about_set(const Character* machine, const GUID* set, const CallerBuffer& buffer,
                F&& fill) noexcept {
  return guarded([&] {
    if (set == nullptr || !buffer.is_sound()) return PerfError::kInvalidParameter;
    if (!is_this_machine(machine)) return PerfError::kServerUnavailable;
    const SetsNow now = SharedCatalog::instance().sets();
    const FoundSet* const found = find_set(now.sets, guid_of(*set));
    if (found == nullptr) {
      return now.any_denied ? PerfError::kAccessDenied : PerfError::kSetNotFound;
    }
    std::vector<std::byte> block;
    const PerfError error = fill(*found, block);
    return error == PerfError::kSuccess ? buffer.fill(block) : error;
  });
}

// Instances that exist only once a reader asks for them. Nothing: the set has none of that kind.
std::optional<ItemQuery> enumerate_on_demand(const FoundSet& found) {
  constexpr std::chrono::seconds kTimeout{1};  // as on Windows, for all but values
  const bool is_on_demand = std::any_of(
      found.registrations.begin(), found.registrations.end(), [](const auto& registration) {
        return (registration.set->flags & kRegistrationCallback) != 0;
      });
  if (!is_on_demand) return std::nullopt;
  // A catalog of its own: others must not wait for the shared one as long as this may take.
  auto catalog = Catalog::open({});
  if (!catalog) return std::nullopt;
  QueryItem all;
  all.set = found.guid;
  if (!has_instance_names(found.described().instances)) all.instances.clear();
  std::optional<ItemQuery> query = ItemQuery::compile(*catalog, {std::move(all)});
  query->enumerate(kTimeout);
  return query;
}

template <typename Character>
ULONG enumerate_instances(const Character* machine, const GUID* set,
                          const CallerBuffer& buffer) noexcept {
  return about_set(machine, set, buffer, [](const FoundSet& found, std::vector<std::byte>& block) {
    const auto answered = enumerate_on_demand(found);
    return list_instances(found, answered ? &*answered : nullptr,
                          width_of_text(static_cast<const Character*>(nullptr)), block);
  });
}

template <typename Character>
ULONG query_registration(const Character* machine, const GUID* set, PerfRegInfoType request,
                         DWORD detail, const CallerBuffer& buffer) noexcept {
  return about_set(machine, set, buffer, [&](const FoundSet& found, std::vector<std::byte>& block) {
    return describe(found, static_cast<DescriptionRequest>(request), detail,
                    width_of_text(static_cast<const Character*>(nullptr)), block);
  });
}

template <typename Character>
ULONG open_query(const Character* machine, HANDLE* query) noexcept {
  return guarded([&] {
    if (query == nullptr) return PerfError::kInvalidParameter;
    *query = nullptr;
    if (!is_this_machine(machine)) return PerfError::kServerUnavailable;
    auto catalog = Catalog::open({});
    if (!catalog) return error_of(catalog.error());
    const auto handle = QueryHandles::shared().insert(
        std::make_shared<PerfQuery>(std::move(*catalog), width_of_text(machine)));
    *query = reinterpret_cast<HANDLE>(handle);
    return PerfError::kSuccess;
  });
}

// `body` gets the query that the handle stands for.
template <typename F>
ULONG with_query(HANDLE query, F&& body) noexcept {
  return guarded([&] {
    const auto found = QueryHandles::shared().find(query);
    return found == nullptr ? PerfError::kInvalidHandle : body(*found);
  });
}

std::span<std::byte> bytes_of(PPERF_COUNTER_IDENTIFIER counters, DWORD bytes) noexcept {
  if (counters == nullptr) return {};
  return {reinterpret_cast<std::byte*>(counters), bytes};
}

}  // namespace
}  // namespace meterbank

using meterbank::buffer_of;

extern "C" {

ULONG PerfEnumerateCounterSet(LPCWSTR machine, LPGUID sets, DWORD capacity, LPDWORD count) {
  return meterbank::enumerate_sets(machine, sets, capacity, count);
}
ULONG PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID set,
                                       PPERF_INSTANCE_HEADER instances, DWORD capacity,
                                       LPDWORD bytes) {
  return meterbank::enumerate_instances(machine, set, buffer_of(instances, capacity, bytes));
}
ULONG PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID set, PerfRegInfoType request,
                                          DWORD detail, LPBYTE block, DWORD capacity,
                                          LPDWORD bytes) {
  return meterbank::query_registration(machine, set, request, detail,
                                       buffer_of(block, capacity, bytes));
}
ULONG PerfOpenQueryHandle(LPCWSTR machine, HANDLE* query) {
  return meterbank::open_query(machine, query);
}

ULONG meterbank_utf16_PerfEnumerateCounterSet(const char16_t* machine, LPGUID sets, DWORD capacity,
                                              LPDWORD count) {
  return meterbank::enumerate_sets(machine, sets, capacity, count);
}
ULONG meterbank_utf16_PerfEnumerateCounterSetInstances(const char16_t* machine, LPCGUID set,
                                                       PPERF_INSTANCE_HEADER instances,
                                                       DWORD capacity, LPDWORD bytes) {
  return meterbank::enumerate_instances(machine, set, buffer_of(instances, capacity, bytes));
}
ULONG meterbank_utf16_PerfQueryCounterSetRegistrationInfo(const char16_t* machine, LPCGUID set,
                                                          PerfRegInfoType request, DWORD detail,
                                                          LPBYTE block, DWORD capacity,
                                                          LPDWORD bytes) {
  return meterbank::query_registration(machine, set, request, detail,
                                       buffer_of(block, capacity, bytes));
}
ULONG meterbank_utf16_PerfOpenQueryHandle(const char16_t* machine, HANDLE* query) {
  return meterbank::open_query(machine, query);
}

ULONG PerfCloseQueryHandle(HANDLE query) {
  const bool closed = meterbank::QueryHandles::shared().take(query) != nullptr;
  return closed ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}
ULONG PerfAddCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD bytes) {
  return meterbank::with_query(query, [&](meterbank::PerfQuery& found) {
    return found.add(meterbank::bytes_of(counters, bytes));
  });
}
ULONG PerfDeleteCounters(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD bytes) {
  return meterbank::with_query(query, [&](meterbank::PerfQuery& found) {
    return found.remove(meterbank::bytes_of(counters, bytes));
  });
}
ULONG PerfQueryCounterInfo(HANDLE query, PPERF_COUNTER_IDENTIFIER counters, DWORD capacity,
                           LPDWORD bytes) {
  return meterbank::with_query(query, [&](const meterbank::PerfQuery& found) {
    return found.list(buffer_of(counters, capacity, bytes));
  });
}
ULONG PerfQueryCounterData(HANDLE query, PPERF_DATA_HEADER block, DWORD capacity, LPDWORD bytes) {
  return meterbank::with_query(query, [&](meterbank::PerfQuery& found) {
    return found.read(buffer_of(block, capacity, bytes));
  });
}

}  // extern "C"
