// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "meterbank/shm/utf8.hpp"
#include "pcp/run.hpp"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return meterbank::pcp::run(arguments, std::cout, std::cerr);
  } catch (const std::exception& error) {
    // The libraries do not throw; memory can still run out.
    std::cerr << meterbank::escape_composed(std::string("pmdameterbank: ") + error.what(),
                                            meterbank::Composed::kLine)
              << '\n';
    return 3;
  }
}
