// SPDX-License-Identifier: Apache-2.0
//
//   meterbank_lease_wire_seeds FOLDER
//
// Writes what the lease wire fuzzer starts from: one packet of every sort.
#include <cstdio>
#include <fstream>
#include <span>
#include <string>

#include "lease_messages.hpp"

namespace meterbank::pmu::test {
namespace {

template <typename Message>
bool write(const std::string& folder, const char* side, const std::vector<Message>& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::vector<std::byte> packet = encode(id_for(messages[i]), messages[i]);
    std::ofstream file(folder + "/" + side + std::to_string(i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(packet.data()),
               static_cast<std::streamsize>(packet.size()));
    if (!file.good()) return false;
  }
  return true;
}

}  // namespace
}  // namespace meterbank::pmu::test

int main(int argc, char** argv) {
  using namespace meterbank::pmu::test;
  if (argc == 2 && write(argv[1], "client", client_samples()) &&
      write(argv[1], "arbiter", arbiter_samples())) {
    return 0;
  }
  std::fputs("usage: meterbank_lease_wire_seeds FOLDER\n", stderr);
  return 1;
}
