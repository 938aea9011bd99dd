// SPDX-License-Identifier: Apache-2.0
//
// The policy file, which can be read again without opening a path anew: its directory is held.
#pragma once

#include <string>

#include "arbiter/core/policy.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

class PolicyFile {
 public:
  // Of no path: Policy::standard(). Errors: those of read().
  static Result<PolicyFile> open(const std::string& path);

  // What the file says now. Errors: kNotFound, kDenied, kSystem; kLimit; those of parse_policy().
  [[nodiscard]] Result<Policy> read() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_, name_;
  UniqueFd directory_;
};

}  // namespace meterbank::arbiter
