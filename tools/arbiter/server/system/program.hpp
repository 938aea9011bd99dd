// SPDX-License-Identifier: Apache-2.0
//
// This program as a file, so that it can go on in a newer one of the same name.
#pragma once

#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

class Program {
 public:
  // `arguments`: as main() got them, without the program's name. Errors: kSystem.
  static Result<Program> here(std::vector<std::string> arguments);

  // Runs what the file is now, with the same arguments and `--resume DESCRIPTOR`. Returns only if
  // that fails: the errno.
  [[nodiscard]] int run_again(int state) const;

 private:
  std::vector<std::string> arguments_;
  std::string name_;
  UniqueFd directory_;
  UniqueFd image_;  // of the file as it was
};

}  // namespace meterbank::arbiter
