// SPDX-License-Identifier: Apache-2.0
//
//   answer_seeds DIRECTORY
//
// Writes sound answers, as inputs to begin with.
#include <fstream>
#include <string>

#include "../callback/hostile_answer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const std::uint32_t rows : {0U, 1U, 3U, 40U}) {
    const auto packet = meterbank::test::HostileAnswer::sound(rows);
    std::ofstream(std::string(argv[1]) + "/rows-" + std::to_string(rows), std::ios::binary)
        .write(reinterpret_cast<const char*>(packet.data()),
               static_cast<std::streamsize>(packet.size()));
  }
  return 0;
}
