// SPDX-License-Identifier: Apache-2.0
//
// Scripts to begin with: greetings and requests of each sort.
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::uint8_t kSend = 5 * 4;
  for (std::uint32_t seed = 0; seed < 64; ++seed) {
    std::minstd_rand random(seed + 1);
    std::vector<std::uint8_t> script;
    for (std::uint8_t seat = 0; seat < 4; ++seat) {
      script.insert(script.end(), {static_cast<std::uint8_t>(kSend + seat), 1, 0, 0, 0, 0, 0});
    }
    for (int i = 0; i < 200; ++i) script.push_back(static_cast<std::uint8_t>(random() >> 8));
    std::ofstream(argv[1] + ("/" + std::to_string(seed)), std::ios::binary)
        .write(reinterpret_cast<const char*>(script.data()),
               static_cast<std::streamsize>(script.size()));
  }
  return 0;
}
