// SPDX-License-Identifier: Apache-2.0
//
//   row_seeds DIRECTORY
//
// Writes rows as inputs to begin with: counters that grow, doubles, and a tick as it is encoded.
#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "meterbank/recording/row_coder.hpp"

int main(int argc, char** argv) {
  using namespace meterbank::recording;
  if (argc != 2) return 2;
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary) << bytes;
  };
  const auto write_words = [&](const char* name, const std::vector<std::uint64_t>& words) {
    write(name, {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]});
  };
  constexpr std::uint64_t kWords = 99;
  std::vector<std::uint64_t> counters, reals;
  counters.reserve(kWords);
  reals.reserve(kWords);
  for (std::uint64_t word = 0; word < kWords; ++word) {
    counters.push_back(1'000'000 + word * 4096);
    reals.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(word) / 100));
  }
  write_words("counters", counters);
  write_words("reals", reals);
  RowEncoder encoder;
  encoder.begin_tick();
  const std::vector<Column> columns(11, Column::kInteger);
  for (std::size_t row = 0; row < 3; ++row) {
    RowHistory history(columns.size());
    encoder.row(columns, {&counters[row * columns.size()], columns.size()}, history);
  }
  std::string tick;
  encoder.finish_tick(tick);
  write("tick", tick);
  return 0;
}
