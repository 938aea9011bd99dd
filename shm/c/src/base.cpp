// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/base.h"

#include <array>
#include <cstddef>

static_assert(MB_VERSION_MAJOR == METERBANK_VERSION_MAJOR);
static_assert(MB_VERSION_MINOR == METERBANK_VERSION_MINOR);
static_assert(MB_VERSION_PATCH == METERBANK_VERSION_PATCH);
static_assert(sizeof(mb_status) == 4);
static_assert(sizeof(mb_error) == 512);

const char* mb_status_text(mb_status status) {
  // In the order of mb_status.
  static constexpr std::array kNames = {
      "OK",     "INVALID_ARGUMENT", "BAD_HANDLE",   "BAD_NAME",         "BAD_PATH",
      "EXISTS", "NOT_FOUND",        "LIMIT",        "NO_SPACE",         "NO_DIRECTORY",
      "DENIED", "NOT_SEALABLE",     "UNSEALED",     "WRONG_FILESYSTEM", "BAD_SIZE",
      "SPARSE", "NOT_A_SEGMENT",    "NEWER_LAYOUT", "WRONG_ABI",        "CORRUPT",
      "GONE",   "CLOSED",           "FORKED",       "FOREIGN",          "TIMEOUT",
      "SYSTEM"};
  static_assert(kNames.size() == MB_SYSTEM + 1);
  const auto position = static_cast<std::size_t>(status);
  return position < kNames.size() ? kNames[position] : "UNKNOWN";
}

uint32_t mb_version(void) {
  return MB_VERSION_MAJOR << 16 | MB_VERSION_MINOR << 8 | MB_VERSION_PATCH;
}
