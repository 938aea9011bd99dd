// SPDX-License-Identifier: Apache-2.0
//
// What may be read and written, as the kernel lists it for this process.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "winbase.h"

namespace {

enum class Access : std::uint8_t { kRead, kWrite };

// The list is in the order of addresses, so one pass finds whether mappings cover the range.
bool is_mapped(const void* address, std::uintptr_t bytes, Access access) noexcept {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  if (bytes > UINTPTR_MAX - at) return false;
  const std::uintptr_t end = at + bytes;
  const std::unique_ptr<FILE, int (*)(FILE*)> list(std::fopen("/proc/self/maps", "re"),
                                                   &std::fclose);
  if (list == nullptr) return false;
  char line[512];
  bool is_begin = true;  // of a line; paths can be longer than the buffer
  while (at < end && std::fgets(line, sizeof line, list.get()) != nullptr) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char modes[5] = {};
    const bool is_mapping = is_begin && std::sscanf(line, "%lx-%lx %4s", &first, &last, modes) == 3;
    is_begin = std::strchr(line, '\n') != nullptr;
    if (!is_mapping || at < first || at >= last) continue;
    if (modes[access == Access::kRead ? 0 : 1] == '-') return false;
    at = last;
  }
  return at >= end;
}

}  // namespace

extern "C" {

BOOL IsBadReadPtr(LPCVOID address, UINT_PTR bytes) {
  return bytes == 0 || is_mapped(address, bytes, Access::kRead) ? FALSE : TRUE;
}
BOOL IsBadWritePtr(LPVOID address, UINT_PTR bytes) {
  return bytes == 0 || is_mapped(address, bytes, Access::kWrite) ? FALSE : TRUE;
}

}  // extern "C"
