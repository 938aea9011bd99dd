// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/stay_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>

#ifdef __GLIBC__
// Weak, and dlopen() by its name: a static program has none of these, and a linker that finds
// dlopen() there warns of it.
#pragma weak dladdr1
#pragma weak dlsym
#endif

namespace meterbank {

Result<void> stay_loaded() {
#ifdef __GLIBC__  // elsewhere dlclose() unloads nothing
  static const char here = 0;
  if (dladdr1 == nullptr || dlsym == nullptr) return {};
  Dl_info ignored{};
  void* found = nullptr;
  if (::dladdr1(&here, &ignored, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return {};
  const char* const name = static_cast<const link_map*>(found)->l_name;
  if (name == nullptr || *name == '\0') return {};  // the program itself
  auto* const open = reinterpret_cast<decltype(&::dlopen)>(::dlsym(RTLD_DEFAULT, "dlopen"));
  // By the name under which it is loaded, so no file is looked for.
  if (open == nullptr || open(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
    return fail(ErrorCode::kSystem, std::string("cannot keep ") + name + " loaded",
                "free memory, or link it with -z nodelete and load it by a full path");
  }
#endif
  return {};
}

}  // namespace meterbank
