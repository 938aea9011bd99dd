// SPDX-License-Identifier: Apache-2.0
//
// This machine as an ordinary provider: processors, system, memory, disks, network, processes.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::host {

struct HostOptions {
  std::string name = "host";
  std::string directory;                  // empty: the default of this user
  std::chrono::milliseconds period{250};  // between samples of everything but processes
  std::chrono::milliseconds process_period{1000};
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

 private:
  struct Running;
  explicit HostProvider(std::unique_ptr<Running> running) noexcept;

  std::unique_ptr<Running> running_;
};

}  // namespace meterbank::host
