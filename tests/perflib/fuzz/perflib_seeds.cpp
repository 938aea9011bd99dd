// SPDX-License-Identifier: Apache-2.0
//
//   perflib_seeds DIRECTORY
//
// Writes what the functions make, as inputs to begin with: results of each shape and identifiers,
// in both widths.
#include <fstream>
#include <string>

#include "live_waves.hpp"

namespace meterbank::test {
namespace {

void write(const std::string& path, CharacterWidth width, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.put(static_cast<char>(width == CharacterWidth::kTwo ? 0 : 1));
  for (const std::byte byte : bytes) out.put(static_cast<char>(byte));
}

}  // namespace
}  // namespace meterbank::test

int main(int argc, char** argv) {
  using namespace meterbank::test;
  using meterbank::CharacterWidth;
  if (argc != 2) return 2;
  const LiveWaves waves;
  for (const CharacterWidth width : {CharacterWidth::kTwo, CharacterWidth::kFour}) {
    const std::string base = std::string(argv[1]) + "/" + std::to_string(static_cast<int>(width));
    const Bytes identifiers = identifier({}, width) + identifier({.counter = 1}, width) +
                              identifier({.pattern = u"Small Wave", .counter = 2}, width) +
                              identifier({.pattern = u"?a*", .instance = 1}, width) +
                              identifier({kTrigonometric.guid, u""}, width);
    Bytes taken = identifiers;
    Handle handle(width);
    PerfAddCounters(handle.get(), as_identifiers(taken), static_cast<DWORD>(taken.size()));
    write(base + "-identifiers", width, identifiers);
    write(base + "-result", width, handle.read());
    write(base + "-instances", width, waves.instances(width));
    write(base + "-strings", width, waves.strings(width));
  }
  return 0;
}
