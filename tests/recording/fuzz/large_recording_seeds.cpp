// SPDX-License-Identifier: Apache-2.0
//
//   recording_seeds DIRECTORY
//
// Writes recordings of providers as inputs to begin with: ended, not ended, and with summaries.
#include <string>

#include "../hostile/made_recording.hpp"
#include "meterbank/recording/summary.hpp"

int main(int argc, char** argv) {
  using namespace meterbank::recording;
  if (argc != 2) return 2;
  const std::string directory = std::string(argv[1]) + '/';
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const MadeRecording made({.seed = seed, .ticks = 5, .chunk_ticks = 3, .changes = 4});
    const std::string& bytes = made.files.all_of_last();
    write_file(directory + "ended" + std::to_string(seed), bytes);
    const std::string killed = bytes.substr(0, made.ticks.back().end);
    write_file(directory + "killed" + std::to_string(seed), killed);
    // Summaries of its chunks stand behind them.
    const std::string summarized = directory + "summarized" + std::to_string(seed);
    write_file(summarized, killed);
    std::string frames;
    auto recording = Recording::open(summarized);
    const RecordingFile file = recording->files()[0];
    const auto& chunks = file.index.chunks();
    for (const Chunk& chunk : chunks) {
      const ChunkRun run{file.head.sequence, chunk.offset, 1, chunk.first, chunk.last};
      static_cast<void>(append_summary(*recording, run, frames));
    }
    const ChunkRun all{file.head.sequence, chunks.front().offset, chunks.size(),
                       chunks.front().first, chunks.back().last};
    static_cast<void>(append_summary(*recording, all, frames));
    write_file(summarized, killed + frames);
  }
  return 0;
}
