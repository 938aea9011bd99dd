// SPDX-License-Identifier: Apache-2.0
//
// Handles of the two kinds of kernel objects that programs hold here: this process, and events,
// which no other process sees.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "meterbank/windows/handle_table.hpp"
#include "meterbank/windows/utf16_functions.h"
#include "meterbank/windows/wide_text.hpp"
#include "winbase.h"
#include "winerror.h"

namespace {

const HANDLE kThisProcess = INVALID_HANDLE_VALUE;  // as on Windows, where they are the same number

// A process is an object that is never set while it can be waited for.
struct Object {
  bool is_process = false;
  bool stays_set = false;  // until it is reset; else one wait takes it
  bool is_set = false;
};
using ObjectPtr = std::shared_ptr<Object>;

// All objects have one lock, so that one thread can wait for several. Errors: std::bad_alloc from
// add() and name(), which then have no effect.
class Objects {
 public:
  // Never destroyed: a program may close what it has while it ends.
  static Objects& shared() {
    static auto* const objects = new Objects;
    return *objects;
  }

  HANDLE add(ObjectPtr object) {
    const std::lock_guard lock(mutex_);
    return add_locked(std::move(object));
  }

  // The event that has the name, else the one that is given, which gets it.
  HANDLE add_named(const std::string& name, ObjectPtr object, bool& existed) {
    const std::lock_guard lock(mutex_);
    std::erase_if(names_, [](const auto& named) { return named.second.expired(); });
    std::weak_ptr<Object>& named = names_[name];
    ObjectPtr known = named.lock();  // a thread that waited may have let it go by now
    existed = known != nullptr;
    if (!existed) named = known = std::move(object);
    return add_locked(std::move(known));
  }

  // Null: not an open handle.
  ObjectPtr find(HANDLE handle) {
    const std::lock_guard lock(mutex_);
    return find_locked(handle);
  }

  // The handle that always means this process is not closed, and that is no failure.
  bool close(HANDLE handle) {
    if (handle == kThisProcess) return true;
    const std::lock_guard lock(mutex_);
    return open_.erase(reinterpret_cast<std::uintptr_t>(handle)) != 0;
  }

  // False: not an event.
  bool set(HANDLE handle, bool is_set) {
    const std::lock_guard lock(mutex_);
    const ObjectPtr event = find_locked(handle);
    if (event == nullptr || event->is_process) return false;
    event->is_set = is_set;
    if (is_set) changed_.notify_all();
    return true;
  }

  // WAIT_OBJECT_0 and the position of the object that was set, of several the first; where `all`
  // are waited for, 0. They are taken together, when the last of them is set.
  DWORD wait(std::span<const ObjectPtr> objects, bool all, DWORD milliseconds) {
    std::unique_lock lock(mutex_);
    const auto is_set = [](const ObjectPtr& object) { return object->is_set; };
    auto first = objects.end();
    const auto is_over = [&] {
      if (all) return std::all_of(objects.begin(), objects.end(), is_set);
      first = std::find_if(objects.begin(), objects.end(), is_set);
      return first != objects.end();
    };
    if (milliseconds == INFINITE) {
      changed_.wait(lock, is_over);
    } else if (!changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), is_over)) {
      return WAIT_TIMEOUT;
    }
    const auto take = [](const ObjectPtr& object) {
      if (!object->stays_set) object->is_set = false;
    };
    if (all) {
      std::for_each(objects.begin(), objects.end(), take);
      return WAIT_OBJECT_0;
    }
    take(*first);
    return WAIT_OBJECT_0 + static_cast<DWORD>(first - objects.begin());
  }

 private:
  HANDLE add_locked(ObjectPtr object) {
    const std::uintptr_t handle = meterbank::windows::next_handle();
    open_.emplace(handle, std::move(object));
    return reinterpret_cast<HANDLE>(handle);
  }
  ObjectPtr find_locked(HANDLE handle) {
    if (handle == kThisProcess) return process_;
    const auto found = open_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == open_.end() ? nullptr : found->second;
  }

  const ObjectPtr process_ = std::make_shared<Object>(Object{.is_process = true});
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uintptr_t, ObjectPtr> open_;
  std::map<std::string, std::weak_ptr<Object>> names_;
};

BOOL invalid_handle() noexcept {
  SetLastError(ERROR_INVALID_HANDLE);
  return FALSE;
}

std::string utf8_name(const char* name) { return name; }
template <typename Character>
std::string utf8_name(const Character* name) {
  const std::basic_string_view<Character> text(name);
  constexpr auto kWidth = static_cast<meterbank::CharacterWidth>(sizeof(Character));
  return meterbank::utf8_of(std::as_bytes(std::span(text)), kWidth);
}

template <typename Character>
HANDLE create_event(BOOL stays_set, BOOL is_set, const Character* name) noexcept {
  try {
    auto event = std::make_shared<Object>(
        Object{.stays_set = stays_set != FALSE, .is_set = is_set != FALSE});
    bool existed = false;
    const HANDLE handle =
        name == nullptr || *name == 0
            ? Objects::shared().add(std::move(event))
            : Objects::shared().add_named(utf8_name(name), std::move(event), existed);
    SetLastError(existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
    return handle;
  } catch (const std::bad_alloc&) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return nullptr;
  }
}

}  // namespace

extern "C" {

HANDLE GetCurrentProcess(VOID) { return kThisProcess; }
DWORD GetCurrentProcessId(VOID) { return static_cast<DWORD>(::getpid()); }
DWORD GetCurrentThreadId(VOID) { return static_cast<DWORD>(::gettid()); }

DWORD GetProcessId(HANDLE process) {
  const ObjectPtr object = Objects::shared().find(process);
  if (object != nullptr && object->is_process) return GetCurrentProcessId();
  SetLastError(ERROR_INVALID_HANDLE);
  return 0;
}

BOOL DuplicateHandle(HANDLE source_process, HANDLE source, HANDLE target_process, LPHANDLE target,
                     DWORD /*access*/, BOOL /*inherits*/, DWORD options) {
  Objects& objects = Objects::shared();
  const ObjectPtr object = objects.find(source);
  if (GetProcessId(source_process) == 0 || object == nullptr || GetProcessId(target_process) == 0) {
    return invalid_handle();
  }
  if (target != nullptr) *target = objects.add(object);
  if ((options & DUPLICATE_CLOSE_SOURCE) != 0) objects.close(source);
  return TRUE;
}

BOOL CloseHandle(HANDLE handle) {
  return Objects::shared().close(handle) ? TRUE : invalid_handle();
}

HANDLE CreateEventA(LPSECURITY_ATTRIBUTES /*attributes*/, BOOL stays_set, BOOL is_set,
                    LPCSTR name) {
  return create_event(stays_set, is_set, name);
}
HANDLE CreateEventW(LPSECURITY_ATTRIBUTES /*attributes*/, BOOL stays_set, BOOL is_set,
                    LPCWSTR name) {
  return create_event(stays_set, is_set, name);
}
HANDLE meterbank_utf16_CreateEventW(LPSECURITY_ATTRIBUTES /*attributes*/, BOOL stays_set,
                                    BOOL is_set, const char16_t* name) {
  return create_event(stays_set, is_set, name);
}
BOOL SetEvent(HANDLE event) { return Objects::shared().set(event, true) ? TRUE : invalid_handle(); }
BOOL ResetEvent(HANDLE event) {
  return Objects::shared().set(event, false) ? TRUE : invalid_handle();
}

DWORD WaitForSingleObject(HANDLE handle, DWORD milliseconds) {
  return WaitForMultipleObjects(1, &handle, FALSE, milliseconds);
}

DWORD WaitForMultipleObjects(DWORD count, const HANDLE* handles, BOOL all, DWORD milliseconds) {
  if (count == 0 || count > MAXIMUM_WAIT_OBJECTS || handles == nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return WAIT_FAILED;
  }
  // What is waited for stays there when its handle is closed meanwhile.
  std::array<ObjectPtr, MAXIMUM_WAIT_OBJECTS> objects;
  for (DWORD index = 0; index < count; ++index) {
    objects[index] = Objects::shared().find(handles[index]);
    if (objects[index] != nullptr) continue;
    SetLastError(ERROR_INVALID_HANDLE);
    return WAIT_FAILED;
  }
  return Objects::shared().wait(std::span(objects).first(count), all != FALSE, milliseconds);
}

}  // extern "C"
