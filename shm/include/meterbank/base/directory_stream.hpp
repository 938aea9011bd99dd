// SPDX-License-Identifier: Apache-2.0
//
// Owns a stream over the entries of a directory, for readdir().
#pragma once

#include <dirent.h>

#include <memory>
#include <utility>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank {

struct CloseDirectory {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

// Takes the descriptor over. Null, with errno set, if it is not of a directory or memory is short.
[[nodiscard]] inline DirectoryStream directory_stream(UniqueFd directory) noexcept {
  DirectoryStream stream(::fdopendir(directory.get()));
  if (stream != nullptr) static_cast<void>(directory.release());
  return stream;
}

}  // namespace meterbank
