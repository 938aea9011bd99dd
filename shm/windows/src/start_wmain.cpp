// SPDX-License-Identifier: Apache-2.0
//
// main for programs that begin with wmain, in C or C++. It lies in an object of its own: the linker
// takes it out of the library only where nothing before it has defined main. The arguments become
// wide by the locale of the environment, which output needs as well.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include <string>
#include <vector>

// The forms in which programs write it. Weak: the program defines one of them.
//
// The name of a function of C says nothing of its parameters, so that one gets all there are: one
// that takes fewer finds its own in the same registers.
extern "C" [[gnu::weak]] int meterbank_wmain_of_c(int count, wchar_t** arguments,
                                                  wchar_t** environment) __asm__("wmain");
[[gnu::weak]] int wmain();
[[gnu::weak]] int wmain(int count, wchar_t** arguments);
[[gnu::weak]] int wmain(int count, const wchar_t** arguments);
[[gnu::weak]] int wmain(int count, wchar_t** arguments, wchar_t** environment);
[[gnu::weak]] int wmain(int count, const wchar_t** arguments, const wchar_t** environment);

namespace {

// Bytes that are not valid in this locale are kept one by one.
std::wstring widened(const char* text) {
  const std::size_t length = ::mbstowcs(nullptr, text, 0);
  if (length == static_cast<std::size_t>(-1)) {
    std::wstring wide;
    for (; *text != 0; ++text) wide += static_cast<wchar_t>(static_cast<unsigned char>(*text));
    return wide;
  }
  std::wstring wide(length, L'\0');
  ::mbstowcs(wide.data(), text, length);
  return wide;
}

// Strings, and the null-ended list of them that a program expects.
struct WideList {
  explicit WideList(char** list) {
    for (; list != nullptr && *list != nullptr; ++list) texts.push_back(widened(*list));
    for (std::wstring& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }
  std::vector<std::wstring> texts;
  std::vector<wchar_t*> pointers;
};

}  // namespace

int main(int count, char** arguments, char** environment) {
  // Numbers stay as they are in every locale; only characters follow the environment.
  if (::setlocale(LC_CTYPE, "") == nullptr || ::mblen("\xc3\xa4", 2) != 2) {
    ::setlocale(LC_CTYPE, "C.UTF-8");
  }
  WideList wide(arguments);
  WideList variables(environment);
  wchar_t** const texts = wide.pointers.data();
  wchar_t** const settings = variables.pointers.data();
  int (*const plain)() = wmain;
  int (*const with_arguments)(int, wchar_t**) = wmain;
  int (*const with_constants)(int, const wchar_t**) = wmain;
  int (*const with_environment)(int, wchar_t**, wchar_t**) = wmain;
  int (*const with_all_constant)(int, const wchar_t**, const wchar_t**) = wmain;
  if (meterbank_wmain_of_c != nullptr) return meterbank_wmain_of_c(count, texts, settings);
  if (with_arguments != nullptr) return with_arguments(count, texts);
  if (with_environment != nullptr) return with_environment(count, texts, settings);
  if (with_constants != nullptr) return with_constants(count, const_cast<const wchar_t**>(texts));
  if (with_all_constant != nullptr) {
    return with_all_constant(count, const_cast<const wchar_t**>(texts),
                             const_cast<const wchar_t**>(settings));
  }
  if (plain != nullptr) return plain();
  ::fputs("this program defines neither main nor wmain\n", stderr);
  return 3;
}
