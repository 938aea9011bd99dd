// SPDX-License-Identifier: Apache-2.0
//
// The files of an archive, NAME.0, NAME.meta and NAME.index, which are made in a folder beside
// their place and get their names when they are complete. Without keep(), nothing is left of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

class NewArchive {
 public:
  // Errors: kExists, if a file of the archive is there; kSystem.
  static Result<NewArchive> at(const std::string& path);
  NewArchive(NewArchive&& other) noexcept
      : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, {})) {}
  NewArchive& operator=(NewArchive&&) = delete;
  ~NewArchive();

  // What the names of the files begin with as long as they are made.
  [[nodiscard]] std::string base() const { return folder_ + "/archive"; }
  // Gives all of them their names, or none. Errors: kExists, kNoSpace, kSystem.
  Result<void> keep();

 private:
  NewArchive(std::string path, std::string folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  [[nodiscard]] std::vector<std::string> endings() const;

  std::string path_, folder_;
};

}  // namespace meterbank::cli
