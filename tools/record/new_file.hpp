// SPDX-License-Identifier: Apache-2.0
//
// A file that is made beside its place and gets its name when it is complete. Without keep(),
// nothing is left of it. A file that has the name already stays what it is.
#pragma once

#include <string>
#include <utility>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::record {

// The directory that a file or a directory is in. Null, if this user may not read it.
[[nodiscard]] UniqueFd directory_above(std::string path);

// Renames a file, if no other has the name. Errors: kExists, kSystem.
Result<void> give_new_name(const std::string& from, const std::string& to);

class NewFile {
 public:
  // Errors: kExists. The file at temporary() is for the caller to make.
  static Result<NewFile> at(const std::string& path);
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  // Gives it its name, once it is on the disk, and syncs the name too. Errors: kExists, kNoSpace,
  // kSystem.
  Result<void> keep();

 private:
  explicit NewFile(std::string path);

  std::string path_, temporary_;
};

}  // namespace meterbank::record
