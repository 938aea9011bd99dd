// SPDX-License-Identifier: Apache-2.0
//
// `meterbank log save`, and what `meterbank record` does at SIGUSR1.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/invocation.hpp"
#include "cli/session/console.hpp"
#include "record/saver.hpp"

namespace meterbank::cli {

int log_save(const Invocation& invocation, Console& console);

// Requests to save the last minutes of a ring, and what is said of them.
class Saving {
 public:
  // `directory` is empty where the recording is a file.
  Saving(const std::string& directory, std::chrono::nanoseconds last, const Console& console);

  void request(Timestamp last_tick);
  // Precondition: the recording is a directory.
  void request_event(std::uint64_t from_ns, std::uint64_t until_ns) {
    saver_->request_event(from_ns, until_ns);
  }
  void say_outcomes();
  // Waits for what was requested.
  void finish();

 private:
  const Console& console_;
  std::uint64_t last_ns_;
  std::optional<record::Saver> saver_;
};

}  // namespace meterbank::cli
