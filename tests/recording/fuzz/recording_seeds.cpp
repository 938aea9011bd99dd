// SPDX-License-Identifier: Apache-2.0
//
//   recording_seeds DIRECTORY
//
// Writes recordings of providers as inputs to begin with, ended and not.
#include <string>

#include "../hostile/made_recording.hpp"

int main(int argc, char** argv) {
  using namespace meterbank::recording;
  if (argc != 2) return 2;
  const std::string directory = std::string(argv[1]) + '/';
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const MadeRecording made({.seed = seed, .ticks = 5, .chunk_ticks = 3, .changes = 4});
    const std::string& bytes = made.files.all_of_last();
    write_file(directory + "ended" + std::to_string(seed), bytes);
    write_file(directory + "killed" + std::to_string(seed),
               std::string_view(bytes).substr(0, made.ticks.back().end));
  }
  return 0;
}
