// SPDX-License-Identifier: Apache-2.0
//
// Handles of this process, the one kind of kernel object that programs here hold.
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <set>

#include "winbase.h"
#include "winerror.h"

namespace {

const HANDLE kThisProcess = INVALID_HANDLE_VALUE;  // as on Windows, where they are the same number

class ProcessHandles {
 public:
  // Never destroyed: a program may close what it has while it ends.
  static ProcessHandles& shared() {
    static auto* const handles = new ProcessHandles;
    return *handles;
  }

  HANDLE add() {
    const std::lock_guard lock(mutex_);
    last_ += 4;
    open_.insert(last_);
    return reinterpret_cast<HANDLE>(last_);
  }
  bool has(HANDLE handle) const {
    if (handle == kThisProcess) return true;
    const std::lock_guard lock(mutex_);
    return open_.contains(reinterpret_cast<std::uintptr_t>(handle));
  }
  // The handle that always means this process is not closed, and that is no failure.
  bool close(HANDLE handle) {
    if (handle == kThisProcess) return true;
    const std::lock_guard lock(mutex_);
    return open_.erase(reinterpret_cast<std::uintptr_t>(handle)) != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::uintptr_t last_ = 0;
  std::set<std::uintptr_t> open_;
};

BOOL invalid_handle() noexcept {
  SetLastError(ERROR_INVALID_HANDLE);
  return FALSE;
}

}  // namespace

extern "C" {

HANDLE GetCurrentProcess(VOID) { return kThisProcess; }
DWORD GetCurrentProcessId(VOID) { return static_cast<DWORD>(::getpid()); }
DWORD GetCurrentThreadId(VOID) { return static_cast<DWORD>(::gettid()); }

DWORD GetProcessId(HANDLE process) {
  if (ProcessHandles::shared().has(process)) return GetCurrentProcessId();
  SetLastError(ERROR_INVALID_HANDLE);
  return 0;
}

BOOL DuplicateHandle(HANDLE source_process, HANDLE source, HANDLE target_process, LPHANDLE target,
                     DWORD /*access*/, BOOL /*inherits*/, DWORD options) {
  ProcessHandles& handles = ProcessHandles::shared();
  if (!handles.has(source_process) || !handles.has(source) || !handles.has(target_process)) {
    return invalid_handle();
  }
  if (target != nullptr) *target = handles.add();
  if ((options & DUPLICATE_CLOSE_SOURCE) != 0) handles.close(source);
  return TRUE;
}

BOOL CloseHandle(HANDLE handle) {
  return ProcessHandles::shared().close(handle) ? TRUE : invalid_handle();
}

}  // extern "C"
