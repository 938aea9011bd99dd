// SPDX-License-Identifier: Apache-2.0
//
// A program run to its end, on pipes or on a terminal of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meterbank::test {

struct Ended {
  int code = -1;
  std::string out;  // of a terminal: everything
  std::string err;
};

// `words` are the arguments behind the program.
[[nodiscard]] Ended run_on_pipes(const std::string& program, const std::vector<std::string>& words);

struct TerminalSize {
  unsigned short columns = 200;
  unsigned short rows = 50;
};
// `keys` are pressed one at a time, each when the one before has been answered. `locale` is LC_ALL.
[[nodiscard]] Ended run_on_terminal(const std::string& program,
                                    const std::vector<std::string>& words,
                                    std::string_view keys = {}, TerminalSize size = {},
                                    const std::string& locale = "C.UTF-8");

// A program that runs until this is gone.
class Background {
 public:
  // Returns when it has written a line, or has ended.
  Background(const std::string& program, const std::vector<std::string>& words);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();
  [[nodiscard]] const std::string& said() const noexcept { return said_; }

 private:
  int pid_ = -1;
  std::string said_;
};

}  // namespace meterbank::test
