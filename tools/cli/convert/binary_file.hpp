// SPDX-License-Identifier: Apache-2.0
//
// A new file of bytes that are no text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"
#include "record/new_file.hpp"

namespace meterbank::cli {

class BinaryFile {
 public:
  // Errors: kExists, kDenied, kSystem.
  static Result<BinaryFile> at(const std::string& path);

  Result<void> write(std::string_view bytes);
  // Gives it its name. Without it, nothing is left.
  Result<void> keep();
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  BinaryFile(record::NewFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  record::NewFile file_;
  std::string path_;
  UniqueFd opened_;
  std::uint64_t bytes_ = 0;
};

}  // namespace meterbank::cli
