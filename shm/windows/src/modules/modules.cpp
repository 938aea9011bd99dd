// SPDX-License-Identifier: Apache-2.0
//
// LoadLibrary and GetProcAddress over the functions that the program is linked with.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "function_table.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "winerror.h"

namespace {

using meterbank::windows::AnyFunction;
using meterbank::windows::Module;
using meterbank::windows::modules;
using meterbank::windows::NamedFunction;

const Module kProgram{};

constexpr std::size_t kNameMax = 1024;

HMODULE handle_of(const Module& module) noexcept { return const_cast<Module*>(&module); }

// Null: not a handle of a module.
const Module* module_of(HMODULE handle) noexcept {
  if (handle == nullptr || handle == handle_of(kProgram)) return &kProgram;
  const auto all = modules();
  const auto found = std::find_if(all.begin(), all.end(), [handle](const Module& module) {
    return handle_of(module) == handle;
  });
  return found == all.end() ? nullptr : &*found;
}

HMODULE fail(DWORD error) noexcept {
  SetLastError(error);
  return nullptr;
}

// Names of modules are ASCII; another character is in none of them.
template <typename Character>
std::string ascii(const Character* text) {
  std::string name;
  for (; *text != 0 && name.size() < kNameMax; ++text) {
    const auto unit = static_cast<char32_t>(*text);
    name += unit < 0x80 ? static_cast<char>(unit) : '?';
  }
  return name;
}

// "C:\Windows\System32\ADVAPI32.dll" and "advapi32" are the same module.
HMODULE find_module(std::string_view name) noexcept {
  name.remove_prefix(name.find_last_of("\\/") + 1);
  constexpr std::string_view kSuffix = ".dll";
  if (name.size() > kSuffix.size() &&
      meterbank::equal_folded(name.substr(name.size() - kSuffix.size()), kSuffix)) {
    name.remove_suffix(kSuffix.size());
  }
  for (const Module& module : modules()) {
    if (meterbank::equal_folded(module.name, name)) return handle_of(module);
  }
  return fail(ERROR_MOD_NOT_FOUND);
}

template <typename Character>
HMODULE module_by_name(const Character* name) {
  return name == nullptr ? handle_of(kProgram) : find_module(ascii(name));
}

template <typename Character>
HMODULE load(const Character* name, HANDLE file, DWORD flags) {
  constexpr DWORD kSearches = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR |
                              LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_USER_DIRS |
                              LOAD_LIBRARY_SEARCH_SYSTEM32 | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  if (name == nullptr || *name == 0 || file != nullptr) return fail(ERROR_INVALID_PARAMETER);
  if ((flags & LOAD_WITH_ALTERED_SEARCH_PATH) != 0 && (flags & kSearches) != 0) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  return find_module(ascii(name));
}

FARPROC find_function(HMODULE handle, const char* name, AnyFunction NamedFunction::*body) noexcept {
  constexpr std::uintptr_t kOrdinals = 0x10000;  // a name that is a number
  const Module* const module = module_of(handle);
  if (module == nullptr) {
    SetLastError(ERROR_MOD_NOT_FOUND);
    return nullptr;
  }
  if (reinterpret_cast<std::uintptr_t>(name) < kOrdinals) {
    SetLastError(ERROR_INVALID_ORDINAL);
    return nullptr;
  }
  for (const NamedFunction& function : module->functions) {
    // Unlike modules, functions are told apart by case.
    if (function.name == name && function.*body != nullptr) {
      return reinterpret_cast<FARPROC>(function.*body);
    }
  }
  SetLastError(ERROR_PROC_NOT_FOUND);
  return nullptr;
}

}  // namespace

extern "C" {

HMODULE GetModuleHandleA(LPCSTR name) { return module_by_name(name); }
HMODULE GetModuleHandleW(LPCWSTR name) { return module_by_name(name); }
HMODULE meterbank_utf16_GetModuleHandleW(const char16_t* name) { return module_by_name(name); }

HMODULE LoadLibraryA(LPCSTR name) { return load(name, nullptr, 0); }
HMODULE LoadLibraryW(LPCWSTR name) { return load(name, nullptr, 0); }
HMODULE meterbank_utf16_LoadLibraryW(const char16_t* name) { return load(name, nullptr, 0); }
HMODULE LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags) { return load(name, file, flags); }
HMODULE LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags) { return load(name, file, flags); }
HMODULE meterbank_utf16_LoadLibraryExW(const char16_t* name, HANDLE file, DWORD flags) {
  return load(name, file, flags);
}

// Nothing was loaded, so nothing is unloaded.
BOOL FreeLibrary(HMODULE module) {
  if (module != nullptr && module_of(module) != nullptr) return TRUE;
  SetLastError(ERROR_MOD_NOT_FOUND);
  return FALSE;
}

FARPROC GetProcAddress(HMODULE module, LPCSTR name) {
  return find_function(module, name, &NamedFunction::wide);
}
FARPROC meterbank_utf16_GetProcAddress(HMODULE module, LPCSTR name) {
  return find_function(module, name, &NamedFunction::utf16);
}

}  // extern "C"
