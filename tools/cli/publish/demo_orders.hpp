// SPDX-License-Identifier: Apache-2.0
//
// A small order gateway that does not exist: three venues, a changing load, and one counterset that
// shows what a service would publish about them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

struct DemoOrdersOptions {
  std::string name = "orders";
  std::string directory;   // empty: the default of this user
  std::uint64_t seed = 1;  // equal seeds make equal loads, step by step
};

// Publishes from a thread of its own until destroyed.
class DemoOrders {
 public:
  static Result<DemoOrders> start(const DemoOrdersOptions& options);

  DemoOrders(DemoOrders&&) noexcept;
  DemoOrders& operator=(DemoOrders&&) noexcept;
  ~DemoOrders();

 private:
  struct Running;
  explicit DemoOrders(std::unique_ptr<Running> running) noexcept;

  std::unique_ptr<Running> running_;
};

}  // namespace meterbank::cli
