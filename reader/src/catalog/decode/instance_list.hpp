// SPDX-License-Identifier: Apache-2.0
//
// The instances of one registration while they are being read, with memory for their names.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "meterbank/reader/catalog.hpp"

namespace meterbank {

class InstanceList {
 public:
  void reserve(std::size_t instances) { instances_.reserve(instances); }
  // Copies the name that `instance` points to.
  void add(InstanceView instance);
  [[nodiscard]] const std::vector<InstanceView>& instances() const noexcept { return instances_; }

  // Makes these the instances of `set`, which keeps the memory from now on.
  void move_to(RegisteredSet& set) &&;

 private:
  [[nodiscard]] std::string_view kept(std::string_view name);

  std::vector<InstanceView> instances_;
  // Names lie one behind the other in blocks that never move.
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_bytes_ = 0;  // of the last one
  std::size_t used_ = 0;         // of the last one
};

}  // namespace meterbank
