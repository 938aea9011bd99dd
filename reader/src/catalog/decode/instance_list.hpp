// SPDX-License-Identifier: Apache-2.0
//
// Instances of one registration while they are being read, with memory for their names.
//
// A list that follows another one takes its instances over without a copy of their names: both
// lists keep the memory that the names lie in, and the new one adds to it. Names that no list has
// any more stay there until is_wasteful() says that a copy of the others is worth it.
//
// Thread safety  One thread at a time for lists that share names. Any thread may read the names
//                that a set had when the thread got it: they never move or change.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/reader/catalog.hpp"

namespace meterbank {

// Names lie one behind the other in blocks that never move.
class InstanceNames {
 public:
  [[nodiscard]] std::string_view kept(std::string_view name);
  // Keeps a name where it lies.
  void share(std::shared_ptr<const std::string> name) { shared_.push_back(std::move(name)); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::shared_ptr<const std::string>> shared_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_bytes_ = 0;  // size of the last block
  std::size_t used_ = 0;         // how much of the last block is in use
  std::size_t bytes_ = 0;        // size of all names together
};

class InstanceList {
 public:
  InstanceList();
  // Both are empty, with room for all instances of `before` and `more`, and with the names of
  // `before`. Precondition: all pieces of the views are of one list.
  InstanceList(const InstancePiece& before, std::size_t more);
  InstanceList(const InstanceViews& before, std::size_t more);

  void reserve(std::size_t instances) { instances_.reserve(instances); }
  // Copies the name that `instance` points to.
  void add(InstanceView instance);
  // Sets the name of the instance, and keeps it without a copy.
  void add(InstanceView instance, std::shared_ptr<const std::string> name);
  // take_over() adds an instance of the list before. leave_out() says that one of them has ended.
  void take_over(const InstanceView& instance) { instances_.push_back(instance); }
  void take_over(std::span<const InstanceView> instances);
  void leave_out(const InstanceView& instance) noexcept { name_bytes_ -= instance.name.size(); }
  // Whether a quarter of the memory for names and more is of names that this list does not have.
  [[nodiscard]] bool is_wasteful() const noexcept;
  // The same instances, with names of its own.
  [[nodiscard]] InstanceList copied() const;
  [[nodiscard]] const std::vector<InstanceView>& instances() const noexcept { return instances_; }

  // The instances as one piece, and as full pieces one behind the other.
  [[nodiscard]] std::shared_ptr<const InstancePiece> piece() &&;
  [[nodiscard]] InstanceViews views() &&;

 private:
  std::vector<InstanceView> instances_;
  std::shared_ptr<InstanceNames> names_;
  std::size_t name_bytes_ = 0;  // size of the names that this list has
};

}  // namespace meterbank
