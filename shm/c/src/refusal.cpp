// SPDX-License-Identifier: Apache-2.0
#include "meterbank/border/refusal.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::border {
namespace {

// As much of `text` as fits with a NUL behind it, as whole characters. Does not allocate.
void copy_text(char* target, std::size_t size, std::string_view text) noexcept {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::size_t used = 0;
  while (!text.empty()) {
    const DecodedCodePoint front = decode_utf8(text);
    const std::string_view shown = front.valid ? text.substr(0, front.length) : kReplacement;
    if (used + shown.size() >= size) break;
    std::memcpy(target + used, shown.data(), shown.size());
    used += shown.size();
    text.remove_prefix(front.length);
  }
  target[used] = '\0';
}

}  // namespace

mb_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return MB_INVALID_ARGUMENT;
    case ErrorCode::kBadName:
      return MB_BAD_NAME;
    case ErrorCode::kBadPath:
      return MB_BAD_PATH;
    case ErrorCode::kExists:
      return MB_EXISTS;
    case ErrorCode::kNotFound:
      return MB_NOT_FOUND;
    case ErrorCode::kLimit:
      return MB_LIMIT;
    case ErrorCode::kNoSpace:
      return MB_NO_SPACE;
    case ErrorCode::kNoDirectory:
      return MB_NO_DIRECTORY;
    case ErrorCode::kDenied:
      return MB_DENIED;
    case ErrorCode::kNotSealable:
      return MB_NOT_SEALABLE;
    case ErrorCode::kUnsealed:
      return MB_UNSEALED;
    case ErrorCode::kWrongFilesystem:
      return MB_WRONG_FILESYSTEM;
    case ErrorCode::kBadSize:
      return MB_BAD_SIZE;
    case ErrorCode::kSparse:
      return MB_SPARSE;
    case ErrorCode::kNotASegment:
      return MB_NOT_A_SEGMENT;
    case ErrorCode::kNewerLayout:
      return MB_NEWER_LAYOUT;
    case ErrorCode::kWrongAbi:
      return MB_WRONG_ABI;
    case ErrorCode::kCorrupt:
      return MB_CORRUPT;
    case ErrorCode::kGone:
      return MB_GONE;
    case ErrorCode::kClosed:
      return MB_CLOSED;
    case ErrorCode::kForked:
      return MB_FORKED;
    case ErrorCode::kForeign:
      return MB_FOREIGN;
    case ErrorCode::kTimeout:
      return MB_TIMEOUT;
    case ErrorCode::kSystem:
      return MB_SYSTEM;
  }
  return MB_SYSTEM;
}

mb_status fill(mb_error* error, const Refusal& refusal) noexcept {
  if (error != nullptr) {
    error->status = refusal.status;
    error->system_error = refusal.error.system_error;
    copy_text(error->what, sizeof error->what, refusal.error.what);
    copy_text(error->remedy, sizeof error->remedy, refusal.error.remedy);
  }
  return refusal.status;
}

mb_status fill_success(mb_error* error) noexcept {
  if (error != nullptr) {
    error->status = MB_OK;
    error->system_error = 0;
    error->what[0] = error->remedy[0] = '\0';
  }
  return MB_OK;
}

}  // namespace meterbank::border
