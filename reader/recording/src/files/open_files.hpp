// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the files of a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {

// Of a file or a directory, in the order in which a recorder made them.
[[nodiscard]] Result<std::vector<std::string>> find_files(const std::string& path);

struct OpenedFile {
  RecordingFile facts;
  FileBytes bytes;
};
// Reads the head and the index. Nothing: a recorder was killed before it had written the head.
[[nodiscard]] Result<std::optional<OpenedFile>> open_file(const std::string& path);

// Whether the file was removed after its directory was read.
[[nodiscard]] bool is_evicted(const std::string& path, const Error& error);

}  // namespace meterbank::recording
