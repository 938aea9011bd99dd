// SPDX-License-Identifier: Apache-2.0
//
// This machine as an ordinary provider: processors, system, memory, disks, file systems, network,
// processes.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::host {

struct HostOptions {
  std::string name = "host";
  std::string directory;                           // empty: the default of this user
  std::chrono::milliseconds period{250};           // between samples of everything but what follows
  std::chrono::milliseconds process_period{1000};  // processes, file systems, paging files
  bool processes = true;
  std::string root = "/";  // where proc and sys lie
};

// Samples in a thread of its own until destroyed. A counter without an honest source on this
// machine is not in the schema.
class HostProvider {
 public:
  static Result<HostProvider> start(HostOptions options);

  HostProvider(HostProvider&&) noexcept;
  HostProvider& operator=(HostProvider&&) noexcept;
  ~HostProvider();

  // The sets and counters that have no source on this machine and are in no schema, a text for each
  // set: "paging_file" or "processor_information (c1_time, c2_time)".
  [[nodiscard]] std::span<const std::string> left_out() const noexcept;

 private:
  struct Running;
  explicit HostProvider(std::unique_ptr<Running> running) noexcept;

  std::unique_ptr<Running> running_;
};

}  // namespace meterbank::host
