// SPDX-License-Identifier: Apache-2.0
//
// A made-up machine for the probe tests: one text file holds a whole /proc and /sys, and each
// test unpacks it into a folder of its own, where processors and processes can come and go.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace meterbank::host {

// Files by path. In the text each begins with a line "==> path <==".
inline std::map<std::string, std::string> load_host_files() {
  std::ifstream stream(METERBANK_TOOLS_FIXTURES "/four_node_host.tree", std::ios::binary);
  std::map<std::string, std::string> files;
  std::string* content = nullptr;
  std::string line;
  while (std::getline(stream, line)) {
    if (line.size() > 8 && line.rfind("==> ", 0) == 0) {
      content = &files[line.substr(4, line.size() - 8)];
    } else if (content != nullptr) {
      *content += line + '\n';
    }
  }
  return files;
}

class HostTree {
 public:
  HostTree() {
    std::string name = (std::filesystem::temp_directory_path() / "meterbank_host_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    for (const auto& [path, content] : load_host_files()) write(path, content);
  }
  HostTree(const HostTree&) = delete;
  HostTree& operator=(const HostTree&) = delete;
  ~HostTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string root() const { return root_.string(); }
  [[nodiscard]] std::filesystem::path path(std::string_view relative) const {
    return root_ / relative;
  }

  [[nodiscard]] std::string read(std::string_view relative) const {
    std::ifstream stream(path(relative), std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  void write(std::string_view relative, std::string_view content) const {
    std::filesystem::create_directories(path(relative).parent_path());
    std::ofstream(path(relative), std::ios::binary) << content;
  }

  void remove(std::string_view relative) const { std::filesystem::remove_all(path(relative)); }

  // The old text must be there, so that a test cannot quietly change nothing.
  [[nodiscard]] bool replace(std::string_view relative, std::string_view old_text,
                             std::string_view new_text) const {
    std::string content = read(relative);
    const std::size_t place = content.find(old_text);
    if (place == std::string::npos) return false;
    write(relative, content.replace(place, old_text.size(), new_text));
    return true;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace meterbank::host
