// SPDX-License-Identifier: Apache-2.0
//
// The file in which a person finds the address of the page, with the token that lets one in. Its
// owner and the group of the agent may read it.
#pragma once

#include <string>
#include <utility>

#include "meterbank/base/result.hpp"

namespace meterbank::agent {

class AddressFile {
 public:
  // Replaces a file of that name in one step. Errors: kDenied, kNoSpace, kSystem.
  static Result<AddressFile> write(const std::string& path, const std::string& address);
  AddressFile(AddressFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  AddressFile& operator=(AddressFile&&) = delete;
  // Removes the file: the token is of no use any more.
  ~AddressFile();

 private:
  explicit AddressFile(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty: moved from
};

}  // namespace meterbank::agent
