// SPDX-License-Identifier: Apache-2.0
//
// How a C++ Result becomes an mb_status and an mb_error, and how no exception becomes more.
//
// Thread safety  All functions may be called concurrently.
// Errors         Lack of memory is MB_NO_SPACE; an exception of any other kind is MB_SYSTEM.
// Progress       fill() does not allocate.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "meterbank/base/result.hpp"
#include "meterbank/base/without_cancellation.hpp"
#include "meterbank/c/base.h"

namespace meterbank::border {

[[nodiscard]] mb_status status_of(ErrorCode code) noexcept;

// An Error, or one that only C callers can make.
struct Refusal {
  Refusal(Error why) noexcept : status(status_of(why.code)), error(std::move(why)) {}
  Refusal(mb_status own_status, Error why) noexcept : status(own_status), error(std::move(why)) {}

  mb_status status;
  Error error;
};

template <typename T>
using Outcome = tl::expected<T, Refusal>;

[[nodiscard]] inline tl::unexpected<Refusal> refuse(mb_status status, std::string what,
                                                    std::string remedy = {}) {
  return tl::make_unexpected(
      Refusal(status, Error{ErrorCode::kInvalidArgument, 0, std::move(what), std::move(remedy)}));
}

// Return the status. `error` may be null.
mb_status fill(mb_error* error, const Refusal& refusal) noexcept;
mb_status fill_success(mb_error* error) noexcept;

// The body of a function of the C interface: `body()` returns Outcome<void>.
template <typename Body>
[[nodiscard]] mb_status cross(mb_error* error, Body&& body) noexcept {
  const WithoutCancellation whole;
  try {
    const Outcome<void> outcome = body();
    return outcome ? fill_success(error) : fill(error, outcome.error());
  } catch (const std::bad_alloc&) {
    return fill(error, out_of_memory());
  } catch (const std::exception& exception) {
    return fill(error, Error{ErrorCode::kSystem, 0, exception.what(), {}});
  } catch (...) {
    return fill(error, Error{ErrorCode::kSystem, 0, "exception", {}});
  }
}

}  // namespace meterbank::border
