// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the files of a recording.
#pragma once

#include <optional>
#include <span>
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

// What of a directory, in the order of its names, was taken away or came from elsewhere.
[[nodiscard]] std::vector<Damage> foreign_and_missing(std::span<const RecordingFile> files);
// What was taken out of a directory, or put into it from elsewhere. `files` are those that were
// opened, in the order of their names; `unreadable` are the others that there are.
[[nodiscard]] std::vector<Damage> foreign_and_missing(std::span<const RecordingFile> files,
                                                      std::span<const Damage> unreadable);

// Whether the file was removed after its directory was read.
[[nodiscard]] bool is_evicted(const std::string& path, const Error& error);

}  // namespace meterbank::recording
