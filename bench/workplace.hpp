// SPDX-License-Identifier: Apache-2.0
//
// A provider in a directory of its own, with countersets of any width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../tests/support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::bench {

struct SetShape {
  std::size_t counters = 8;
  Consistency consistency = Consistency::kBlock;
  bool many = true;  // tile form
  bool checkpoint = false;
  bool cuts = false;
  std::uint32_t shards = 0;  // any number: sharded
  bool by_processor = false;
};

// A set called by its number, with a callback if there is one. Ends the program if the machine
// refuses.
[[nodiscard]] Registration add_set(Provider& provider, const SetShape& shape, unsigned number,
                                   const Callback& callback = {});

class Workplace {
 public:
  Workplace();

  [[nodiscard]] const std::string& directory() const noexcept { return directory_.path(); }
  // Every shape gets a set of its own name.
  [[nodiscard]] Registration add(const SetShape& shape, const Callback& callback = {});
  // Instances named "i0", "i1", ... with every counter written once.
  [[nodiscard]] std::vector<Instance> fill(const Registration& set, const SetShape& shape,
                                           std::size_t count) const;
  // Memory of all segments of this process.
  [[nodiscard]] static std::uint64_t segment_bytes();

 private:
  test::TemporaryDirectory directory_;
  std::vector<Provider> provider_;
  unsigned sets_ = 0;
};

// Ends the program.
[[noreturn]] void give_up(const std::string& why, int status = 1);

// Path of a program of the same build. Empty: it is not built.
[[nodiscard]] std::string program_beside(std::string_view name);

template <typename T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message());
  return std::move(*result);
}

}  // namespace meterbank::bench
