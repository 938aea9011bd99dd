// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <optional>
#include <string>

#include "meterbank/base/guid.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "objbase.h"

namespace {

constexpr std::size_t kTextLength = 38;  // with the braces

template <typename Character>
int print(const GUID& guid, Character* text, int capacity) noexcept {
  if (text == nullptr || capacity < static_cast<int>(kTextLength) + 1) return 0;
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto put = [&text](char c) { *text++ = static_cast<Character>(c); };
  const auto put_number = [&](std::uint32_t number, int digits) {
    for (int digit = digits - 1; digit >= 0; --digit) put(kDigits[number >> (4 * digit) & 0xf]);
  };
  put('{');
  put_number(guid.Data1, 8);
  put('-');
  put_number(guid.Data2, 4);
  put('-');
  put_number(guid.Data3, 4);
  for (int byte = 0; byte < 8; ++byte) {
    if (byte == 0 || byte == 2) put('-');
    put_number(guid.Data4[byte], 2);
  }
  put('}');
  *text = 0;
  return static_cast<int>(kTextLength) + 1;
}

template <typename Character>
HRESULT parse(const Character* text, GUID* guid) noexcept {
  if (guid == nullptr) return E_INVALIDARG;
  *guid = GUID_NULL;
  if (text == nullptr) return E_INVALIDARG;
  char narrow[kTextLength + 1] = {};
  for (std::size_t index = 0; index < kTextLength; ++index) {
    // A NUL ends the loop as well: it is no part of a GUID.
    if (text[index] <= 0 || text[index] > 0x7f) return CO_E_CLASSSTRING;
    narrow[index] = static_cast<char>(text[index]);
  }
  if (text[kTextLength] != 0 || narrow[0] != '{') return CO_E_CLASSSTRING;
  const auto parsed = meterbank::Guid::parse({narrow, kTextLength});
  if (!parsed) return CO_E_CLASSSTRING;
  std::memcpy(guid, &*parsed, sizeof *guid);
  return S_OK;
}

}  // namespace

extern "C" {

int StringFromGUID2(REFGUID guid, LPOLESTR text, int capacity) {
  return print(guid, text, capacity);
}
HRESULT CLSIDFromString(LPCOLESTR text, CLSID* guid) { return parse(text, guid); }
HRESULT IIDFromString(LPCOLESTR text, IID* guid) { return parse(text, guid); }

int meterbank_utf16_StringFromGUID2(REFGUID guid, char16_t* text, int capacity) {
  return print(guid, text, capacity);
}
HRESULT meterbank_utf16_CLSIDFromString(const char16_t* text, CLSID* guid) {
  return parse(text, guid);
}
HRESULT meterbank_utf16_IIDFromString(const char16_t* text, IID* guid) { return parse(text, guid); }

}  // extern "C"
