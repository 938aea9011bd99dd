// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meterbank/base/result.hpp"

namespace meterbank {

// Keeps the program or shared object that contains this code loaded until the process ends;
// dlclose() of it then does nothing. Threads, the ends of threads, fork() and the kernel
// (restartable.hpp) come back to code of the library long after the call that let them know it.
//
// Of an object that has the code inline and not this function: link that with -z nodelete, as the
// CMake targets do.
//
// Thread safety: any thread. Errors: kSystem. A static program needs nothing, and gets nothing
// linked.
[[nodiscard]] Result<void> stay_loaded();

}  // namespace meterbank
