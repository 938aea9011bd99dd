// SPDX-License-Identifier: Apache-2.0
//
// Functions by name, in a program that is linked with the consumer half of PerfLib and names none
// of its functions.
#include <gtest/gtest.h>
#include <perflib.h>
#include <windows.h>

#include "meterbank/windows/utf16_functions.h"

namespace {

constexpr DWORD kNoModule = ERROR_MOD_NOT_FOUND;
constexpr DWORD kNoFunction = ERROR_PROC_NOT_FOUND;
constexpr DWORD kBadArgument = ERROR_INVALID_PARAMETER;

DWORD error_of(HMODULE module) {
  EXPECT_EQ(module, nullptr);
  return GetLastError();
}
DWORD error_of(FARPROC function) {
  EXPECT_EQ(function, nullptr);
  return GetLastError();
}

TEST(Modules, AreFoundWhateverTheirNameIsWrittenLike) {
  const HMODULE module = LoadLibraryW(L"advapi32.dll");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(LoadLibraryA("ADVAPI32"), module);
  EXPECT_EQ(LoadLibraryExW(L"C:\\Windows\\System32\\AdvApi32.DLL", nullptr, 0), module);
  EXPECT_EQ(LoadLibraryExA("advapi32.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32), module);
  EXPECT_EQ(GetModuleHandleW(L"advapi32"), module);
  EXPECT_EQ(GetModuleHandleA("advapi32.dll"), module);
  EXPECT_EQ(meterbank_utf16_LoadLibraryW(u"advapi32.dll"), module);
  EXPECT_EQ(meterbank_utf16_GetModuleHandleW(u"advapi32.dll"), module);
  EXPECT_NE(GetModuleHandleW(nullptr), nullptr);
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_EQ(GetModuleHandleW(L"advapi32"), module);
}

TEST(Modules, RefuseWhatTheyAreNot) {
  EXPECT_EQ(error_of(LoadLibraryW(L"nothing.dll")), kNoModule);
  EXPECT_EQ(error_of(GetModuleHandleA("")), kNoModule);
  EXPECT_EQ(error_of(GetModuleHandleW(L"advapi3\u0132")), kNoModule);
  EXPECT_EQ(error_of(LoadLibraryW(nullptr)), kBadArgument);
  EXPECT_EQ(error_of(LoadLibraryA("")), kBadArgument);
  EXPECT_EQ(error_of(LoadLibraryExW(L"ntdll.dll", GetCurrentProcess(), 0)), kBadArgument);
  EXPECT_EQ(error_of(LoadLibraryExA("ntdll.dll", nullptr,
                                    LOAD_WITH_ALTERED_SEARCH_PATH | LOAD_LIBRARY_SEARCH_SYSTEM32)),
            kBadArgument);
  int no_module = 0;
  SetLastError(0);
  EXPECT_FALSE(FreeLibrary(&no_module));
  EXPECT_EQ(GetLastError(), kNoModule);
  EXPECT_FALSE(FreeLibrary(nullptr));
  EXPECT_EQ(error_of(GetProcAddress(&no_module, "Sleep")), kNoModule);
}

TEST(FunctionsByName, AreThoseThatAreCalledByName) {
  const auto clock = reinterpret_cast<decltype(&GetTickCount64)>(
      GetProcAddress(LoadLibraryA("kernel32"), "GetTickCount64"));
  ASSERT_NE(clock, nullptr);
  EXPECT_EQ(clock, &GetTickCount64);
  for (const char* const name :
       {"PerfAddCounters", "PerfCloseQueryHandle", "PerfDeleteCounters", "PerfEnumerateCounterSet",
        "PerfEnumerateCounterSetInstances", "PerfOpenQueryHandle", "PerfQueryCounterData",
        "PerfQueryCounterInfo", "PerfQueryCounterSetRegistrationInfo"}) {
    EXPECT_NE(GetProcAddress(LoadLibraryA("advapi32"), name), nullptr) << name;
    EXPECT_NE(meterbank_utf16_GetProcAddress(LoadLibraryA("advapi32"), name), nullptr) << name;
  }
  for (const char* const name : {"NtQuerySystemTime", "RtlInitUnicodeString"}) {
    EXPECT_NE(GetProcAddress(LoadLibraryA("ntdll"), name), nullptr) << name;
  }
  EXPECT_NE(GetProcAddress(LoadLibraryA("ole32"), "CLSIDFromString"), nullptr);
}

TEST(FunctionsByName, HaveABodyForEachWidth) {
  const HMODULE module = LoadLibraryA("ole32");
  EXPECT_NE(GetProcAddress(module, "CLSIDFromString"),
            meterbank_utf16_GetProcAddress(module, "CLSIDFromString"));
}

TEST(FunctionsByName, RefuseWhatIsNotLinkedOrHasNoName) {
  const HMODULE module = LoadLibraryA("advapi32");
  EXPECT_EQ(error_of(GetProcAddress(module, "PerfStartProvider")), kNoFunction);
  EXPECT_EQ(error_of(GetProcAddress(module, "RegOpenKeyExW")), kNoFunction);
  EXPECT_EQ(error_of(GetProcAddress(LoadLibraryA("pdh"), "PdhOpenQueryW")), kNoFunction);
  EXPECT_EQ(error_of(GetProcAddress(module, "perfaddcounters")), kNoFunction);
  EXPECT_EQ(error_of(GetProcAddress(nullptr, "Sleep")), kNoFunction);
  const auto* const ordinal = reinterpret_cast<LPCSTR>(std::uintptr_t{7});
  EXPECT_EQ(error_of(GetProcAddress(module, ordinal)), static_cast<DWORD>(ERROR_INVALID_ORDINAL));
}

}  // namespace
