// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/stay_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>

#ifdef __GLIBC__
// Weak: a static program has none of these, and the linker would warn of those that it took in.
#pragma weak dladdr1
#pragma weak dlopen
#pragma weak dlclose
#endif

namespace meterbank {

Result<void> stay_loaded() {
#ifdef __GLIBC__  // elsewhere dlclose() unloads nothing
  static const char kHere = 0;
  if (dladdr1 == nullptr || dlopen == nullptr) return {};
  Dl_info ignored{};
  void* found = nullptr;
  if (::dladdr1(&kHere, &ignored, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return {};
  const char* const name = static_cast<const link_map*>(found)->l_name;
  if (name == nullptr || *name == '\0') return {};  // the program itself
  // By the name under which it is loaded, so no file is looked for.
  void* const object = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (object == nullptr) {
    const char* const reason = ::dlerror();
    return fail(ErrorCode::kNoSpace, std::string("cannot keep ") + name + " loaded",
                reason == nullptr ? "" : reason);
  }
  ::dlclose(object);  // the count alone; it stays
#endif
  return {};
}

}  // namespace meterbank
