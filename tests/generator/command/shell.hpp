// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <string>

namespace meterbank::generator::test {

struct Shown {
  int code = -1;
  std::string text;  // standard output and error

  [[nodiscard]] bool has(const std::string& words) const {
    return text.find(words) != std::string::npos;
  }
};

inline Shown shell(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  Shown shown;
  std::array<char, 4096> buffer;
  while (const auto count = ::fread(buffer.data(), 1, buffer.size(), pipe)) {
    shown.text.append(buffer.data(), count);
  }
  const int status = ::pclose(pipe);
  shown.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return shown;
}

}  // namespace meterbank::generator::test
