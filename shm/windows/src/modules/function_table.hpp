// SPDX-License-Identifier: Apache-2.0
//
// Which functions the modules of Windows have here.
#pragma once

#include <span>
#include <string_view>

namespace meterbank::windows {

using AnyFunction = void (*)();

// Null where the program is linked without the library that has the function.
struct NamedFunction {
  std::string_view name;
  AnyFunction wide;   // for programs whose wchar_t has 32 bits
  AnyFunction utf16;  // for those whose wchar_t has 16 bits
};

struct Module {
  std::string_view name;  // in small letters, without ".dll"
  std::span<const NamedFunction> functions;
};

[[nodiscard]] std::span<const Module> modules() noexcept;

}  // namespace meterbank::windows
