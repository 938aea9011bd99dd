// SPDX-License-Identifier: Apache-2.0
//
// What the exported functions have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "meterbank/base/machine_name.hpp"
#include "meterbank/reader/catalog.hpp"
#include "pdh.h"
#include "query/pdh_handles.hpp"
#include "query/raw_counter.hpp"
#include "text/caller_text.hpp"

namespace meterbank::pdh {

static_assert(sizeof(wchar_t) == 4, "this library is compiled with the platform's wchar_t");

// Nothing is thrown to the caller; all that can be is that memory has run out.
template <typename F>
PDH_STATUS guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return PDH_MEMORY_ALLOCATION_FAILURE;
  }
}

// The structures of the ...A and ...W functions.
template <typename Character>
struct Forms {
  using Elements = PDH_COUNTER_PATH_ELEMENTS_W;
  using Info = PDH_COUNTER_INFO_W;
};
template <>
struct Forms<char> {
  using Elements = PDH_COUNTER_PATH_ELEMENTS_A;
  using Info = PDH_COUNTER_INFO_A;
};

// The name of a machine is shorter. A caller's string is not read beyond this.
inline constexpr std::size_t kMachineCharactersMax = 256;

// Of the name of a file, with its folders.
inline constexpr std::size_t kFileCharactersMax = 4096;

template <typename Character>
bool is_this_machine(const Character* machine) {
  if (machine == nullptr) return true;
  const auto name = text_of(machine, kMachineCharactersMax);
  return name && names_this_machine(*name);
}

// What is there now, or why that cannot be known.
inline PDH_STATUS open_catalog(std::optional<Catalog>& catalog) {
  auto opened = Catalog::open({});
  if (!opened) {
    return opened.error().code == ErrorCode::kNoSpace ? PDH_MEMORY_ALLOCATION_FAILURE
                                                      : PDH_CSTATUS_NO_MACHINE;
  }
  catalog.emplace(std::move(*opened));
  return ERROR_SUCCESS;
}

inline std::uintptr_t number_of(HANDLE handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}
inline HANDLE handle_of(std::uintptr_t number) noexcept { return reinterpret_cast<HANDLE>(number); }

// `body` gets the query of the counter that the handle stands for.
template <typename F>
PDH_STATUS with_counter(PDH_HCOUNTER counter, F&& body) noexcept {
  return guarded([&] {
    const auto query = PdhHandles::all().query_of_counter(number_of(counter));
    return query == nullptr ? PDH_INVALID_HANDLE : body(*query);
  });
}

}  // namespace meterbank::pdh
