// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"

#include <new>

#include "meterbank/pcw/provider_options.hpp"

namespace meterbank::pcw {
namespace {

thread_local std::string last_reason;

// The reason is for people; without memory for it the code alone has to do.
std::string text_of(const Error& error) noexcept {
  try {
    return error.message();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

}  // namespace

std::string last_refusal() { return last_reason; }

NTSTATUS refuse(NTSTATUS status, std::string why) noexcept {
  last_reason = std::move(why);
  return status;
}

DWORD refuse_as(DWORD error, std::string why) noexcept {
  last_reason = std::move(why);
  return error;
}

NTSTATUS refuse(const Error& error) noexcept {
  NTSTATUS status = STATUS_UNSUCCESSFUL;
  switch (error.code) {
    case ErrorCode::kNoSpace:
    case ErrorCode::kLimit:
      status = STATUS_NO_MEMORY;
      break;
    case ErrorCode::kDenied:
      status = STATUS_ACCESS_DENIED;
      break;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadName:
      status = STATUS_INVALID_PARAMETER_2;
      break;
    case ErrorCode::kExists:
      status = STATUS_OBJECT_NAME_COLLISION;
      break;
    default:
      break;
  }
  return refuse(status, text_of(error));
}

DWORD refuse_as_error(const Error& error) noexcept {
  DWORD code = ERROR_NO_SYSTEM_RESOURCES;
  switch (error.code) {
    case ErrorCode::kNoSpace:
    case ErrorCode::kLimit:
      code = ERROR_NOT_ENOUGH_MEMORY;
      break;
    case ErrorCode::kDenied:
      code = ERROR_ACCESS_DENIED;
      break;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadName:
      code = ERROR_INVALID_PARAMETER;
      break;
    case ErrorCode::kExists:
      code = ERROR_ALREADY_EXISTS;
      break;
    default:
      break;
  }
  return refuse_as(code, text_of(error));
}

}  // namespace meterbank::pcw
