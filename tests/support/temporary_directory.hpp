// SPDX-License-Identifier: Apache-2.0
//
// A directory of its own for each test or bench, gone when it is.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace meterbank::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : TemporaryDirectory(std::filesystem::temp_directory_path()) {}
  explicit TemporaryDirectory(const std::filesystem::path& parent) {
    std::string pattern = (parent / "meterbank-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "no directory " + pattern);
    }
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for (const auto& item : std::filesystem::directory_iterator(path_)) {
      static_cast<void>(item);
      ++count;
    }
    return count;
  }

 private:
  std::string path_;
};

}  // namespace meterbank::test
