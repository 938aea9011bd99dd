// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/result.hpp"

#include <cstring>

namespace meterbank {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case ErrorCode::kBadName:
      return "BAD_NAME";
    case ErrorCode::kBadPath:
      return "BAD_PATH";
    case ErrorCode::kExists:
      return "EXISTS";
    case ErrorCode::kNotFound:
      return "NOT_FOUND";
    case ErrorCode::kLimit:
      return "LIMIT";
    case ErrorCode::kNoSpace:
      return "NO_SPACE";
    case ErrorCode::kNoDirectory:
      return "NO_DIRECTORY";
    case ErrorCode::kDenied:
      return "DENIED";
    case ErrorCode::kNotSealable:
      return "NOT_SEALABLE";
    case ErrorCode::kUnsealed:
      return "UNSEALED";
    case ErrorCode::kWrongFilesystem:
      return "WRONG_FILESYSTEM";
    case ErrorCode::kBadSize:
      return "BAD_SIZE";
    case ErrorCode::kSparse:
      return "SPARSE";
    case ErrorCode::kNotASegment:
      return "NOT_A_SEGMENT";
    case ErrorCode::kNewerLayout:
      return "NEWER_LAYOUT";
    case ErrorCode::kWrongAbi:
      return "WRONG_ABI";
    case ErrorCode::kCorrupt:
      return "CORRUPT";
    case ErrorCode::kGone:
      return "GONE";
    case ErrorCode::kClosed:
      return "CLOSED";
    case ErrorCode::kForked:
      return "FORKED";
    case ErrorCode::kForeign:
      return "FOREIGN";
    case ErrorCode::kTimeout:
      return "TIMEOUT";
    case ErrorCode::kSystem:
      return "SYSTEM";
  }
  return "SYSTEM";
}

std::string Error::message() const {
  std::string text = what;
  if (system_error != 0) {
    char reason[128] = {};
    text += ": ";
    text += ::strerror_r(system_error, reason, sizeof reason);  // GNU form: returns the text
  }
  if (!remedy.empty()) text += "; try: " + remedy;
  return text;
}

}  // namespace meterbank
