// SPDX-License-Identifier: Apache-2.0
//
// On Windows the file that includes this first defines the GUIDs of DEFINE_GUID, and the others
// declare them. Here DEFINE_GUID defines wherever it stands, and the linker keeps one; what this
// adds is that C++ emits the GUID even if its own file does not use it.
#pragma once

#include "guiddef.h"

#define INITGUID
#if defined(__cplusplus)
#undef DEFINE_GUID
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  __attribute__((used)) inline constexpr GUID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#endif
