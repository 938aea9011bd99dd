// SPDX-License-Identifier: Apache-2.0
//
// How outputs reach the disk: all of them or none, each complete.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::generator {

struct FileText {
  std::string path;  // "-" is `out`
  std::string text;
  // A file that says the same already is left alone, its time too, so that what is made of it is
  // not made again; but not this one.
  bool always = false;
};

// Files are written beside their places, and renamed when all are complete; devices and pipes,
// which cannot be taken back, are written to just before. If a rename fails, those before it are
// undone. Errors: kSystem, with the file.
[[nodiscard]] Result<void> write_files(std::span<const FileText> files, std::ostream& out);

}  // namespace meterbank::generator
