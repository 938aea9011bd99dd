// SPDX-License-Identifier: Apache-2.0
//
// A record as a process of another container sees it: with a pid that means nothing here, so that
// its provider is reached at its door alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::test {

inline constexpr std::uint32_t kNoPid = 0x7ffffff0;  // beyond what a kernel gives to processes

// Shows the provider of this record in `directory`, with the same sockets. False: something failed.
[[nodiscard]] inline bool show_outside(const std::string& record_path,
                                       const std::string& directory) {
  std::ifstream file(record_path);
  std::stringstream text;
  text << file.rdbuf();
  auto record = PointerRecord::parse(text.str());
  if (!record) return false;
  record->pid = kNoPid;
  record->pid_namespace += 1;
  const std::filesystem::path inside(record_path), outside(directory);
  std::error_code failed;
  std::filesystem::create_symlink(inside.parent_path() / record->door, outside / record->door,
                                  failed);
  std::ofstream shown(outside / inside.filename());
  shown << record->text();
  return !failed && shown.flush().good();
}

}  // namespace meterbank::test
