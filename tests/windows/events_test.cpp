// SPDX-License-Identifier: Apache-2.0
//
// Events of <windows.h>, and each code that their functions document.
#include <gtest/gtest.h>
#include <windows.h>

#include <array>
#include <thread>

#include "meterbank/windows/utf16_functions.h"

namespace {

constexpr DWORD kForever = INFINITE;
constexpr DWORD kSet = WAIT_OBJECT_0;
constexpr DWORD kNotSet = WAIT_TIMEOUT;
constexpr DWORD kFailed = WAIT_FAILED;

// An event without a name, closed at the end.
class Event {
 public:
  explicit Event(bool stays_set, bool is_set = false)
      : handle_(CreateEventW(nullptr, stays_set, is_set, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { CloseHandle(handle_); }
  [[nodiscard]] HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

TEST(Events, EndOneWaitUnlessTheyStaySet) {
  const Event once(false, true), stays(true, true);
  EXPECT_EQ(WaitForSingleObject(once.get(), kForever), kSet);
  EXPECT_EQ(WaitForSingleObject(once.get(), 0), kNotSet);
  EXPECT_EQ(WaitForSingleObject(stays.get(), kForever), kSet);
  EXPECT_EQ(WaitForSingleObject(stays.get(), 0), kSet);
  EXPECT_TRUE(ResetEvent(stays.get()));
  EXPECT_EQ(WaitForSingleObject(stays.get(), 1), kNotSet);
  EXPECT_TRUE(SetEvent(once.get()));
  EXPECT_TRUE(SetEvent(once.get()));  // setting twice is setting once
  EXPECT_EQ(WaitForSingleObject(once.get(), 0), kSet);
  EXPECT_EQ(WaitForSingleObject(once.get(), 0), kNotSet);
}

TEST(Events, WakeAThreadThatWaits) {
  const Event begun(false), over(false);
  std::thread waiter([&] {
    SetEvent(begun.get());
    EXPECT_EQ(WaitForSingleObject(over.get(), kForever), kSet);
    SetEvent(begun.get());
  });
  EXPECT_EQ(WaitForSingleObject(begun.get(), kForever), kSet);
  EXPECT_TRUE(SetEvent(over.get()));
  EXPECT_EQ(WaitForSingleObject(begun.get(), kForever), kSet);
  waiter.join();
}

TEST(Events, AreWaitedForTogether) {
  const Event first(false), second(true), third(false);
  const std::array handles{first.get(), second.get(), third.get()};
  EXPECT_EQ(WaitForMultipleObjects(3, handles.data(), FALSE, 0), kNotSet);
  SetEvent(third.get());
  SetEvent(second.get());
  EXPECT_EQ(WaitForMultipleObjects(3, handles.data(), FALSE, kForever), kSet + 1);
  EXPECT_EQ(WaitForMultipleObjects(3, handles.data(), TRUE, 0), kNotSet);
  EXPECT_EQ(WaitForSingleObject(third.get(), 0), kSet);  // nothing was taken
  SetEvent(third.get());
  SetEvent(first.get());
  EXPECT_EQ(WaitForMultipleObjects(3, handles.data(), TRUE, kForever), kSet);
  EXPECT_EQ(WaitForSingleObject(first.get(), 0), kNotSet);
  EXPECT_EQ(WaitForSingleObject(second.get(), 0), kSet);
}

TEST(Events, OfOneNameAreOne) {
  const HANDLE narrow = CreateEventA(nullptr, FALSE, FALSE, "tick \xc3\xa4");
  ASSERT_NE(narrow, nullptr);
  EXPECT_EQ(GetLastError(), DWORD{ERROR_SUCCESS});
  const HANDLE wide = CreateEventW(nullptr, TRUE, TRUE, L"tick \u00e4");
  EXPECT_EQ(GetLastError(), DWORD{ERROR_ALREADY_EXISTS});
  const HANDLE short_wide = meterbank_utf16_CreateEventW(nullptr, TRUE, TRUE, u"tick \u00e4");
  EXPECT_EQ(GetLastError(), DWORD{ERROR_ALREADY_EXISTS});
  EXPECT_NE(narrow, wide);
  EXPECT_EQ(WaitForSingleObject(wide, 0), kNotSet);  // it is as it was made
  SetEvent(short_wide);
  EXPECT_EQ(WaitForSingleObject(narrow, 0), kSet);
  for (const HANDLE handle : {narrow, wide, short_wide}) EXPECT_TRUE(CloseHandle(handle));

  const HANDLE other = CreateEventA(nullptr, FALSE, FALSE, "TICK \xc3\xa4");  // case counts
  EXPECT_EQ(GetLastError(), DWORD{ERROR_SUCCESS});
  const HANDLE anew = CreateEventA(nullptr, FALSE, TRUE, "tick \xc3\xa4");
  EXPECT_EQ(GetLastError(), DWORD{ERROR_SUCCESS});
  EXPECT_EQ(WaitForSingleObject(anew, 0), kSet);
  CloseHandle(other);
  CloseHandle(anew);
}

TEST(Events, AreDuplicated) {
  const Event event(false);
  const HANDLE self = GetCurrentProcess();
  HANDLE copy = nullptr;
  ASSERT_TRUE(DuplicateHandle(self, event.get(), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
  SetEvent(copy);
  EXPECT_EQ(WaitForSingleObject(event.get(), 0), kSet);
  EXPECT_TRUE(CloseHandle(copy));
  EXPECT_TRUE(SetEvent(event.get()));
}

TEST(Events, MayBeClosedWhileAThreadWaits) {
  const HANDLE waited_for = CreateEventA(nullptr, FALSE, FALSE, "of a waiter");
  const HANDLE kept = CreateEventA(nullptr, FALSE, FALSE, "of a waiter");
  const Event begun(false);
  std::thread waiter([&] {
    SetEvent(begun.get());
    EXPECT_NE(WaitForSingleObject(waited_for, kForever), kNotSet);
  });
  EXPECT_EQ(WaitForSingleObject(begun.get(), kForever), kSet);
  EXPECT_TRUE(CloseHandle(waited_for));
  EXPECT_TRUE(SetEvent(kept));
  waiter.join();
  CloseHandle(kept);
}

TEST(Events, HaveACodeForEachMistake) {
  const Event event(false);
  const HANDLE self = GetCurrentProcess();
  int object = 0;
  for (const HANDLE wrong : {HANDLE{nullptr}, static_cast<HANDLE>(&object)}) {
    SetLastError(0);
    EXPECT_FALSE(SetEvent(wrong));
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_HANDLE});
    SetLastError(0);
    EXPECT_FALSE(ResetEvent(wrong));
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_HANDLE});
    SetLastError(0);
    EXPECT_EQ(WaitForSingleObject(wrong, 0), kFailed);
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_HANDLE});
  }
  EXPECT_FALSE(SetEvent(self));
  EXPECT_EQ(WaitForSingleObject(self, 0), kNotSet);
  EXPECT_EQ(GetProcessId(event.get()), 0U);
  HANDLE copy = nullptr;
  EXPECT_FALSE(DuplicateHandle(event.get(), event.get(), self, &copy, 0, FALSE, 0));

  std::array<HANDLE, MAXIMUM_WAIT_OBJECTS + 1> many;
  many.fill(event.get());
  for (const DWORD count : {0U, static_cast<unsigned>(many.size())}) {
    SetLastError(0);
    EXPECT_EQ(WaitForMultipleObjects(count, many.data(), FALSE, 0), kFailed);
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_PARAMETER});
  }
  EXPECT_EQ(WaitForMultipleObjects(1, nullptr, FALSE, 0), kFailed);
  many[1] = &object;
  EXPECT_EQ(WaitForMultipleObjects(2, many.data(), FALSE, 0), kFailed);
  EXPECT_EQ(WaitForMultipleObjects(1, many.data(), FALSE, 0), kNotSet);
}

}  // namespace
