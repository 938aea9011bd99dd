// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "meterbank/publisher/provider.hpp"
#include "push/delivery/pusher.hpp"

namespace meterbank::agent {

// What the agent counts of its receivers: a row for each of them.
class PushSet {
 public:
  explicit PushSet(Provider& own);
  ~PushSet();
  PushSet(const PushSet&) = delete;
  PushSet& operator=(const PushSet&) = delete;

  // The row ends with what is returned.
  [[nodiscard]] std::unique_ptr<push::PushEvents> add(const std::string& receiver);

 private:
  struct Set;
  std::unique_ptr<Set> set_;
};

}  // namespace meterbank::agent
