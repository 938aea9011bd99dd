// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, first as the words of rows, which must come back as they were; then as the ticks of
// a chunk, which must be decoded or refused, and must be the same rows after they were encoded and
// decoded once more.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: it believes a decoded number of
// rows, and the fuzzer must find where it writes outside.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kRows = 3;
constexpr std::size_t kTickBytes = 40;
using Row = std::vector<std::uint64_t>;
using Rows = std::array<Row, kRows>;

void demand(bool kept) {
  if (!kept) ::abort();
}

// One row of integers, and two in which the kinds of columns take turns.
std::vector<Column> columns_of_row(std::size_t row) {
  constexpr std::size_t kWords = 11;
  std::vector<Column> columns;
  columns.reserve(kWords);
  for (std::size_t word = 0; word < kWords; ++word) {
    columns.push_back(static_cast<Column>((row * word) % 5));
  }
  return columns;
}

template <typename Coder>
struct Side {
  Coder coder;
  std::vector<RowHistory> histories =
      std::vector<RowHistory>(kRows, RowHistory(columns_of_row(0).size()));
};

std::string encode(Side<RowEncoder>& side, const Rows& rows) {
  side.coder.begin_tick();
  for (std::size_t row = 0; row < kRows; ++row) {
    side.coder.row(columns_of_row(row), rows[row], side.histories[row]);
  }
  std::string bytes;
  side.coder.finish_tick(bytes);
  return bytes;
}

// Whether the tick was whole.
bool decode(Side<RowDecoder>& side, std::span<const std::byte> bytes, Rows& rows) {
  side.coder.begin_tick(bytes);
  for (std::size_t row = 0; row < kRows; ++row) {
    side.coder.row(columns_of_row(row), side.histories[row]);
    const auto last = side.histories[row].last();
    rows[row].assign(last.begin(), last.end());
  }
  return side.coder.finish_tick();
}

void demand_the_same(Side<RowEncoder>& encoder, Side<RowDecoder>& decoder, const Rows& rows) {
  const std::string bytes = encode(encoder, rows);
  Rows decoded;
  demand(decode(decoder, std::as_bytes(std::span(bytes)), decoded));
  demand(decoded == rows);
}

void pass_words(std::span<const std::byte> bytes) {
  Side<RowEncoder> encoder;
  Side<RowDecoder> decoder;
  Rows rows;
  for (Row& row : rows) row.resize(columns_of_row(0).size());
  while (!bytes.empty()) {
    for (Row& row : rows) {
      for (std::uint64_t& word : row) {
        const std::size_t size = std::min(bytes.size(), sizeof word);
        std::memcpy(&word, bytes.data(), size);
        bytes = bytes.subspan(size);
      }
    }
    demand_the_same(encoder, decoder, rows);
  }
}

void pass_ticks(std::span<const std::byte> bytes) {
  Side<RowDecoder> hostile, decoder;
  Side<RowEncoder> encoder;
  Rows rows;
  while (!bytes.empty()) {
    const auto tick = bytes.first(std::min(bytes.size(), kTickBytes));
    bytes = bytes.subspan(tick.size());
    static_cast<void>(decode(hostile, tick, rows));
    demand_the_same(encoder, decoder, rows);
  }
}

#ifdef METERBANK_FUZZ_CONTROL
// The fault: the number of rows is not compared with anything before it is used.
void read_believing(std::span<const std::byte> bytes) {
  constexpr std::size_t kBelieved = 4;
  RowDecoder decoder;
  decoder.begin_tick(bytes);
  const auto flags = std::make_unique<bool[]>(kBelieved);
  const std::uint64_t count = std::min<std::uint64_t>(decoder.number(0), 64);
  for (std::uint64_t row = 0; row < count; ++row) flags[row] = decoder.flag(0);
}
#endif

}  // namespace
}  // namespace meterbank::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank::recording;
  const auto bytes = std::as_bytes(std::span(data, size));
  pass_words(bytes);
  pass_ticks(bytes);
#ifdef METERBANK_FUZZ_CONTROL
  read_believing(bytes);
#endif
  return 0;
}
