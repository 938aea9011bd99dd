// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file, read in pieces. A mapping would fault if another process cut the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/recording/frame.hpp"

namespace meterbank::recording {

// Of what opening or looking at a file fails with.
[[nodiscard]] ErrorCode code_of(int error) noexcept;

class FileBytes : public ByteSource {
 public:
  // Errors: kNotFound, kDenied, kSystem; kInvalidArgument if it is no regular file.
  static Result<FileBytes> open(const std::string& path);

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes) override;
  // The file as it is now; it may have grown.
  void look_again() noexcept;
  // Gives its memory back.
  void release() noexcept;

 private:
  explicit FileBytes(UniqueFd file) noexcept : file_(std::move(file)) {}

  UniqueFd file_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;  // bytes from begin_ on
  std::uint64_t begin_ = 0;
};

}  // namespace meterbank::recording
