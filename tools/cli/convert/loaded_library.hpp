// SPDX-License-Identifier: Apache-2.0
//
// A library of this machine that is loaded when it is needed, and not before: a start of the
// program does not pay for it, and machines without it have all the rest. It stays loaded.
#pragma once

#include <dlfcn.h>

namespace meterbank::cli {

class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* file_name) noexcept
      : handle_(::dlopen(file_name, RTLD_NOW | RTLD_LOCAL)) {}

  template <typename Function>
  void find(const char* name, Function& function) noexcept {
    // POSIX says that the conversion works.
    if (handle_ != nullptr) function = reinterpret_cast<Function>(::dlsym(handle_, name));
    has_all_ = has_all_ && function != nullptr;
  }
  // Whether the library was found, with every function that was looked for.
  [[nodiscard]] bool has_all() const noexcept { return has_all_; }

 private:
  void* handle_;
  bool has_all_ = true;
};

}  // namespace meterbank::cli
