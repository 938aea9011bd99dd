// SPDX-License-Identifier: Apache-2.0
//
// Where results go: the console, or a file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <deque>
#include <fstream>
#include <string>
#include <string_view>

#include "cli/session/console.hpp"

namespace meterbank::cli {

// Results replace any file but a recording: it is often what they are read from, and cannot be made
// again. Errors: kExists.
[[nodiscard]] Result<void> may_replace(const std::string& path);

class Output {
 public:
  // An empty `path` is the console. A file is written beside its place and renamed by finish(); a
  // device or a pipe is written to. Errors: kExists, kSystem.
  static Result<Output> open(Console& console, const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // without finish(), nothing is left of the file

  // Hands `text` on at once, through the last gate: foreign parts of it should be cleaned, and are
  // made harmless if they are not. False if nothing takes it any more; finish() knows why.
  bool write(std::string_view text);
  // What was written so far makes sense without what follows. Should a later write fail, a file
  // stays, up to the last such place, beside the one that it was to become.
  void end_sample();
  [[nodiscard]] bool is_file() const noexcept { return !path_.empty(); }

  // Writes what closes the document. Returns `exit_code`, or kExitEnvironment if something could
  // not be written. It is not an error if the process behind a pipe closes it early, as `head`
  // does.
  int finish(int exit_code, std::string_view closing = {});
  // The same for a result that has nothing in it: no file is made or replaced.
  int finish_empty(int exit_code, std::string_view closing);

 private:
  Output(Console& console, std::string path) : console_(&console), path_(std::move(path)) {}
  void keep_samples(std::string_view closing);

  Console* console_;
  std::string path_;
  std::string temporary_;
  std::ofstream file_;
  int failure_ = 0;  // errno of the write that failed
  std::uint64_t bytes_ = 0;
  std::uint64_t samples_ = 0;
  std::deque<std::uint64_t> ends_;  // of the last samples, in bytes
};

}  // namespace meterbank::cli
