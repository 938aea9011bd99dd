// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores that say their order, of each type. C and C++.
#include <windows.h>

#define ACCESS(name, width, type)                         \
  static int Has##name##width##Access(void) {             \
    type volatile word = 0;                               \
    Write##name##NoFence##width(&word, 1);                \
    if (Read##name##Acquire##width(&word) != 1) return 0; \
    Write##name##Release##width(&word, 2);                \
    if (Read##name##NoFence##width(&word) != 2) return 0; \
    Write##name##Raw##width(&word, 3);                    \
    return Read##name##Raw##width(&word) == 3;            \
  }

ACCESS(, 8, CHAR)
ACCESS(, 16, SHORT)
ACCESS(, , LONG)
ACCESS(, 64, LONG64)
ACCESS(Char, , CHAR)
ACCESS(UChar, , UCHAR)
ACCESS(Short, , SHORT)
ACCESS(UShort, , USHORT)
ACCESS(Long, , LONG)
ACCESS(ULong, , ULONG)
ACCESS(Long64, , LONG64)
ACCESS(ULong64, , ULONG64)
ACCESS(Int32, , INT32)
ACCESS(UInt32, , UINT32)
ACCESS(Int64, , INT64)
ACCESS(UInt64, , UINT64)
ACCESS(Boolean, , BOOLEAN)
ACCESS(ULongPtr, , ULONG_PTR)

int main(void) {
  PVOID volatile pointer = NULL;
  int word = 0;
  WritePointerRelease(&pointer, &word);
  if (ReadPointerAcquire(&pointer) != &word || ReadPointerNoFence(&pointer) != &word) return 1;
  return Has8Access() && Has16Access() && HasAccess() && Has64Access() && HasCharAccess() &&
                 HasUCharAccess() && HasShortAccess() && HasUShortAccess() && HasLongAccess() &&
                 HasULongAccess() && HasLong64Access() && HasULong64Access() && HasInt32Access() &&
                 HasUInt32Access() && HasInt64Access() && HasUInt64Access() && HasBooleanAccess() &&
                 HasULongPtrAccess()
             ? 0
             : 1;
}
