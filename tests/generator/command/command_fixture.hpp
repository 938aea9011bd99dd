// SPDX-License-Identifier: Apache-2.0
//
// The generator called in this process, in a directory of its own with a manifest in it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "../../support/temporary_directory.hpp"

namespace meterbank::generator::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

[[nodiscard]] Outcome generate_with(const std::vector<std::string>& arguments);

// In a child that `prepare` has changed; -1 if it could not be. `err` has all that was said.
[[nodiscard]] Outcome generate_in_child(const std::function<bool()>& prepare,
                                        const std::vector<std::string>& arguments);

class CommandTest : public ::testing::Test {
 protected:
  CommandTest() { write("orders.toml", kOrders); }

  // The path of a file of this name in the directory.
  [[nodiscard]] std::string file(const std::string& name) const {
    return directory_.path() + "/" + name;
  }
  void write(const std::string& name, const std::string& text) const;
  // "nothing" if there is no such file.
  [[nodiscard]] std::string read(const std::string& name) const;
  // Names in the directory, hidden ones too, in order, with spaces between.
  [[nodiscard]] std::string listing() const;

  const std::string kOrders = R"([provider]
name = "orders"
symbol = "orders"

[[counterset]]
name = "Demo Orders"
instances = "multiple"

  [[counterset.counter]]
  id = 1
  name = "Accepted/sec"
  symbol = "accepted"
)";

 private:
  ::meterbank::test::TemporaryDirectory directory_;
};

}  // namespace meterbank::generator::test
