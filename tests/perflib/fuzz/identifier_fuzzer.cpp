// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as identifiers of a query on live sets: added, listed, read, deleted. Whatever was
// added must be listed and give a result that the walker takes; what is listed must be deletable.
#include <cstdint>
#include <cstdlib>

#include "live_waves.hpp"
#include "query/perf_query.hpp"

namespace meterbank::test {
namespace {

void require(bool condition) {
  if (!condition) ::abort();
}

// Directly on the class: a handle would look for new providers each time, which is the kernel's
// work and not what is tried here.
Bytes listed(const PerfQuery& query) {
  std::uint32_t needed = 0;
  static_cast<void>(query.list({nullptr, 0, &needed}));
  Bytes bytes(needed);
  require(query.list({bytes.data(), bytes.size(), &needed}) == PerfError::kSuccess);
  return bytes;
}

void read(PerfQuery& query, CharacterWidth width) {
  std::uint32_t needed = 0;
  static_cast<void>(query.read({nullptr, 0, &needed}));
  Bytes bytes(needed);
  require(query.read({bytes.data(), bytes.size(), &needed}) == PerfError::kSuccess);
  require(check_result(bytes, width) == BlockFault::kNone);
}

void take(std::span<const std::byte> input, CharacterWidth width) {
  static LiveWaves waves;
  static PerfQuery two(*Catalog::open({}), CharacterWidth::kTwo);
  static PerfQuery four(*Catalog::open({}), CharacterWidth::kFour);
  PerfQuery& query = width == CharacterWidth::kTwo ? two : four;
  Bytes bytes(input.begin(), input.end());
  static_cast<void>(query.add(bytes));
  Bytes list = listed(query);
  if (!list.empty()) {
    read(query, width);
    IdentifierWalker walker(list, width);
    while (walker.next()) {
    }
    require(walker.fault() == BlockFault::kNone);
    require(query.remove(list) == PerfError::kSuccess);
  }
  require(listed(query).empty());
}

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank;
  if (size == 0) return 0;
  const auto width = data[0] % 2 == 0 ? CharacterWidth::kTwo : CharacterWidth::kFour;
  test::take(std::as_bytes(std::span(data + 1, size - 1)), width);
  return 0;
}
