// SPDX-License-Identifier: Apache-2.0
//
//   recorded_changes DIRECTORY FILE
//
// Publishes sets of every sort in DIRECTORY, whose rows, sets and providers come and go, and
// records a tick after each change.
#include <array>
#include <fstream>
#include <span>
#include <string>

#include "../reader/replay/changing_providers.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/file_frames.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace {

using namespace meterbank;

constexpr unsigned kSeed = 21;
constexpr int kTicks = 700;  // more than a chunk has

std::string record(const std::string& directory) {
  test::ChangingProviders providers(directory, kSeed);
  CatalogOptions options;
  options.directory = directory;
  auto catalog = *Catalog::open(options);
  auto query = *Query::compile(catalog, {});
  recording::TickWriter writer;
  recording::SchemaNumbers schemas;
  Sample sample;
  std::string bytes;
  recording::Head head;
  head.created = Timestamp::now();
  head.rates.resize(1);
  append_head(head, bytes);
  for (int tick = 0; tick < kTicks; ++tick) {
    if (tick < 40 || providers.flips(4)) providers.change();
    providers.count();
    static_cast<void>(catalog.refresh());
    query.update(catalog);
    const auto time = Timestamp::now();
    query.collect(sample, time);
    const std::array<recording::RateInput, 1> rates{{{&query, &sample}}};
    writer.tick({catalog, rates, time, 0}, schemas, bytes);
  }
  recording::ChunkIndex index;
  recording::MemoryBytes source(std::as_bytes(std::span(bytes)));
  recording::FrameWalk walk(source);
  while (const auto frame = walk.next()) index.take(*frame);
  index.append_to(bytes, bytes.size());
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ofstream file(arguments[2], std::ios::binary);
  file << record(arguments[1]);
  return file.flush() ? 0 : 1;
}
