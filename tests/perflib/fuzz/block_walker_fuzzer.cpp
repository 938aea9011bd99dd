// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as each of the blocks that the walkers take. The first byte chooses the width.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a walker that believes the sizes
// of rows goes beside the real one, and the fuzzer must find where it reads outside.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "meterbank/perflib/block_walker.hpp"

namespace meterbank::test {
namespace {

using Bytes = std::span<const std::byte>;

// What a use of everything that was given would read.
std::uint64_t read_all(Bytes bytes) {
  std::uint64_t sum = 0;
  for (const std::byte byte : bytes) sum = sum * 31 + static_cast<std::uint64_t>(byte);
  return sum;
}

std::uint64_t read_values(const ResultBlock& block, ValueWalker values) {
  std::uint64_t sum = 0;
  while (const auto value = values.next()) {
    sum += read_all(value->bytes) + value->number().value_or(0) + block.counter(value->column);
  }
  return sum;
}

std::uint64_t read_result(Bytes bytes, CharacterWidth width) {
  std::uint64_t sum = 0;
  ResultWalker walker(bytes, width);
  while (const auto block = walker.next()) {
    sum += read_values(*block, block->values());
    RowWalker rows = block->rows();
    while (const auto row = rows.next()) {
      sum += row->name.utf8().size() + read_values(*block, row->values);
    }
  }
  // What a whole walk found sound, a walk in pieces must find so too.
  const bool sound = check_result(bytes, width) == BlockFault::kNone;
  if (sound && walker.fault() != BlockFault::kNone) ::abort();
  return sum;
}

std::uint64_t read_others(Bytes bytes, CharacterWidth width) {
  std::uint64_t sum = 0;
  InstanceWalker instances(bytes, width);
  while (const auto instance = instances.next()) sum += instance->name.utf8().size();
  StringWalker strings(bytes, width);
  while (const auto string = strings.next()) {
    if (string->text) sum += string->text->utf8().size();
  }
  IdentifierWalker identifiers(bytes, width);
  while (const auto found = identifiers.next()) sum += found->pattern.utf8().size();
  return sum;
}

#ifdef METERBANK_FUZZ_CONTROL
// The fault: the size of the first row is believed.
std::uint64_t read_believing(Bytes bytes) {
  constexpr std::size_t kFirstRow = sizeof(ResultHeader) + sizeof(BlockHeader) + sizeof(RowsHeader);
  RowHeader row{};
  if (bytes.size() < kFirstRow + sizeof row) return 0;
  __builtin_memcpy(&row, bytes.data() + kFirstRow, sizeof row);
  return static_cast<std::uint64_t>(*(bytes.data() + kFirstRow + row.bytes));
}
#endif

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank;
  if (size == 0) return 0;
  // A copy of the exact size, so that a byte too far is seen.
  const auto* begin = reinterpret_cast<const std::byte*>(data) + 1;
  const std::vector<std::byte> bytes(begin, begin + size - 1);
  const auto width = data[0] % 2 == 0 ? CharacterWidth::kTwo : CharacterWidth::kFour;
  std::uint64_t sum = test::read_result(bytes, width) + test::read_others(bytes, width);
#ifdef METERBANK_FUZZ_CONTROL
  sum += test::read_believing(bytes);
#endif
  if (sum == 0x9e3779b97f4a7c15) ::abort();  // so that the sum is needed
  return 0;
}
