// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/row_coder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace meterbank::recording {
namespace {

using Words = std::vector<std::uint64_t>;
using Random = std::mt19937_64;

constexpr std::array kColumns = {Column::kInteger, Column::kReal, Column::kText, Column::kBucket,
                                 Column::kTime};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A stream of ticks, each of rows that have a history on both sides.
class Streams {
 public:
  explicit Streams(std::vector<std::vector<Column>> columns) : columns_(std::move(columns)) {
    begin_chunk();
  }

  void begin_chunk() {
    encoder.begin_chunk();
    decoder.begin_chunk();
    sent.clear();
    received.clear();
    for (const auto& columns : columns_) {
      sent.emplace_back(columns.size());
      received.emplace_back(columns.size());
    }
  }

  std::string encode(const std::vector<Words>& rows) {
    encoder.begin_tick();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      encoder.row(columns_[row], rows[row], sent[row]);
    }
    std::string bytes;
    encoder.finish_tick(bytes);
    return bytes;
  }
  bool decode(const std::string& bytes) {
    decoder.begin_tick(bytes_of(bytes));
    for (std::size_t row = 0; row < columns_.size(); ++row) {
      decoder.row(columns_[row], received[row]);
    }
    return decoder.finish_tick();
  }
  void expect_same(const std::vector<Words>& rows) const {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      ASSERT_TRUE(std::ranges::equal(received[row].last(), rows[row])) << "row " << row;
    }
  }
  // Whatever was decoded, each row has a word for each of its columns.
  void expect_whole_rows() const {
    for (std::size_t row = 0; row < columns_.size(); ++row) {
      ASSERT_EQ(received[row].last().size(), columns_[row].size()) << "row " << row;
    }
  }
  // Encodes, decodes and compares. Returns how many bytes it took.
  std::size_t pass(const std::vector<Words>& rows) {
    const std::string bytes = encode(rows);
    EXPECT_TRUE(decode(bytes));
    expect_same(rows);
    return bytes.size();
  }

  RowEncoder encoder;
  RowDecoder decoder;
  std::vector<RowHistory> sent, received;

 private:
  std::vector<std::vector<Column>> columns_;
};

std::uint64_t bits(double real) { return std::bit_cast<std::uint64_t>(real); }

// Words at which a coder may fail: ends of ranges, changes of sign, doubles that are no numbers.
Words boundary_words() {
  Words words = {0, 1, 2, UINT64_MAX, UINT64_MAX - 1};
  for (unsigned shift = 1; shift < 64; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    words.insert(words.end(), {power - 1, power, power + 1, 0 - power});
  }
  for (const double real :
       {-0.0, 1.0, -1.0, 0.1, 0.25, 98.6, 1e-6, 1e-7, 1e22, 0x1p53, -0x1p53, 0x1p53 - 1,
        9007199254740.993, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()}) {
    words.push_back(bits(real));
  }
  words.insert(words.end(), {0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001});  // NaN
  return words;
}

TEST(RowCoder, GivesBackBoundaryWordsInEveryColumn) {
  const Words words = boundary_words();
  Streams streams({std::vector<Column>(kColumns.begin(), kColumns.end())});
  constexpr std::size_t kApart = 7;  // of all pairs; a seventh takes a tenth of a second
  for (std::size_t first = 0; first < words.size(); first += kApart) {
    for (const std::uint64_t word : words) {
      for (const std::uint64_t each : {words[first], word}) {
        streams.pass({Words(kColumns.size(), each)});
        ASSERT_FALSE(testing::Test::HasFailure()) << words[first] << " then " << word;
      }
    }
  }
}

// What a word of a real column, or of any other, does from tick to tick.
std::uint64_t next_word(Random& random, unsigned habit, std::uint64_t word) {
  switch (habit % 10) {
    case 0:
      return word;
    case 1:
      return word + random() % 1000;
    case 2:
      return word + 100;
    case 3:
      return word + random() % 4 * 4096;
    case 4:
      return random() % 8 == 0 ? random() : word;
    case 5:
      return random() >> (random() % 64);
    case 6:
      return word - (random() >> (random() % 64));
    case 7:
      return bits(static_cast<double>(random() % 100'000) / 100);
    case 8:
      return bits(std::exp(static_cast<double>(random() % 1'000) / 10 - 50));
    default:
      return random();
  }
}

TEST(RowCoder, GivesBackEveryRow) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    Random random(seed);
    std::vector<std::vector<Column>> columns;
    std::vector<Words> rows;
    std::vector<std::vector<unsigned>> habits;
    for (const std::size_t words : {1U, 7U, 8U, 9U, 64U, 200U, 0U, 9U, 9U}) {
      columns.emplace_back();
      habits.emplace_back();
      for (std::size_t word = 0; word < words; ++word) {
        columns.back().push_back(kColumns[random() % kColumns.size()]);
        habits.back().push_back(static_cast<unsigned>(random()));
      }
      rows.emplace_back(words);
    }
    Streams streams(columns);
    for (int tick = 0; tick < 300; ++tick) {
      if (tick % 120 == 0) streams.begin_chunk();
      for (std::size_t row = 0; row < rows.size(); ++row) {
        if (random() % 3 == 0) continue;
        for (std::size_t word = 0; word < rows[row].size(); ++word) {
          if (random() % 8 == 0) habits[row][word] = static_cast<unsigned>(random());
          rows[row][word] = next_word(random, habits[row][word], rows[row][word]);
        }
      }
      streams.pass(rows);
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", tick " << tick;
    }
  }
}

TEST(RowCoder, GivesBackRowsThatComeAndGo) {
  Random random(7);
  const std::vector<Column> columns(12, Column::kInteger);
  RowEncoder encoder;
  RowDecoder decoder;
  struct Row {
    RowHistory sent, received;
    Words words;
  };
  std::vector<Row> rows;
  for (int tick = 0; tick < 400; ++tick) {
    if (random() % 3 == 0) rows.push_back({RowHistory(12), RowHistory(12), Words(12, random())});
    if (random() % 5 == 0 && !rows.empty()) {
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(random() % rows.size()));
    }
    encoder.begin_tick();
    encoder.number(rows.size(), 0);
    for (Row& row : rows) {
      row.words[random() % 12] += random() % 100;
      encoder.row(columns, row.words, row.sent);
    }
    std::string bytes;
    encoder.finish_tick(bytes);
    decoder.begin_tick(bytes_of(bytes));
    ASSERT_EQ(decoder.number(0), rows.size());
    for (Row& row : rows) {
      decoder.row(columns, row.received);
      ASSERT_TRUE(std::ranges::equal(row.received.last(), row.words));
    }
    ASSERT_TRUE(decoder.finish_tick());
  }
}

TEST(RowCoder, GivesBackFlagsAndNumbers) {
  Random random(11);
  RowEncoder encoder;
  RowDecoder decoder;
  for (int tick = 0; tick < 100; ++tick) {
    const std::uint64_t number = random() >> (random() % 64);
    const bool flag = random() % 10 == 0;
    encoder.begin_tick();
    encoder.flag(flag, 3);
    encoder.number(number, 15);
    std::string bytes;
    encoder.finish_tick(bytes);
    decoder.begin_tick(bytes_of(bytes));
    ASSERT_EQ(decoder.flag(3), flag);
    ASSERT_EQ(decoder.number(15), number);
    ASSERT_TRUE(decoder.finish_tick());
  }
}

TEST(RowCoder, TakesOneByteForATickWithoutChanges) {
  const std::vector<Column> columns(40, Column::kInteger);
  Streams streams(std::vector<std::vector<Column>>(10, columns));
  const std::vector<Words> rows(10, Words(40, 12'345));
  for (int tick = 0; tick < 50; ++tick) streams.pass(rows);
  EXPECT_EQ(streams.pass(rows), 1U);
}

TEST(RowCoder, LearnsConstantRates) {
  const std::vector<Column> columns(40, Column::kInteger);
  Streams streams({columns});
  Words row(40);
  std::size_t bytes = 0;
  for (int tick = 0; tick < 100; ++tick) {
    for (std::size_t word = 0; word < row.size(); ++word) row[word] += 1000 + 77 * word;
    bytes = streams.pass({row});
  }
  EXPECT_LE(bytes, 4U);
}

TEST(RowCoder, LearnsThatRowsHaveTheSameTime) {
  const std::vector<Column> columns = {Column::kInteger, Column::kTime};
  Streams streams(std::vector<std::vector<Column>>(50, columns));
  Random random(3);
  std::uint64_t time = 1'000'000'000'000;
  std::size_t bytes = 0;
  for (int tick = 0; tick < 100; ++tick) {
    time += 1'000'000'000 + random() % 1'000'000;
    bytes = streams.pass(std::vector<Words>(50, {0, time}));
  }
  EXPECT_LE(bytes, 10U);  // 20 bits for one row
}

TEST(RowCoder, ForgetsAtTheStartOfAChunk) {
  const std::vector<Column> columns(16, Column::kInteger);
  Random random(5);
  std::vector<Words> ticks(20, Words(16));
  for (Words& words : ticks) {
    for (std::uint64_t& word : words) word = random() % 10'000;
  }
  Streams streams({columns});
  std::vector<std::string> chunks[2];
  for (auto& chunk : chunks) {
    streams.begin_chunk();
    for (const Words& words : ticks) chunk.push_back(streams.encode({words}));
  }
  EXPECT_EQ(chunks[0], chunks[1]);
}

// Two chunks of a stream with all kinds of columns, as bytes.
struct Recorded {
  std::vector<std::vector<Column>> columns;
  std::vector<std::string> ticks;
  std::vector<std::vector<Words>> rows;
};

Recorded record(unsigned seed, int ticks) {
  Recorded recorded;
  Random random(seed);
  std::vector<Words> rows;
  for (int row = 0; row < 6; ++row) {
    recorded.columns.emplace_back();
    for (int word = 0; word < 30; ++word) {
      recorded.columns.back().push_back(kColumns[random() % kColumns.size()]);
    }
    rows.emplace_back(30);
  }
  Streams streams(recorded.columns);
  for (int tick = 0; tick < ticks; ++tick) {
    for (Words& row : rows) {
      for (std::uint64_t& word : row) {
        word = next_word(random, static_cast<unsigned>(random() % 5), word);
      }
    }
    recorded.ticks.push_back(streams.encode(rows));
    recorded.rows.push_back(rows);
  }
  return recorded;
}

// The control of all tests above: the comparison notices a decoder that has not learnt what the
// encoder has.
TEST(RowCoder, ADecoderThatMissedATickFails) {
  const Recorded recorded = record(21, 10);
  Streams streams(recorded.columns);
  for (std::size_t tick = 0; tick < recorded.ticks.size(); ++tick) {
    if (tick == 5) continue;
    const bool decoded = streams.decode(recorded.ticks[tick]);
    bool is_same = decoded;
    for (std::size_t row = 0; row < recorded.columns.size(); ++row) {
      is_same =
          is_same && std::ranges::equal(streams.received[row].last(), recorded.rows[tick][row]);
    }
    EXPECT_EQ(is_same, tick < 5) << "tick " << tick;
  }
}

TEST(RowDecoder, RefusesTicksThatAreTooShortOrTooLong) {
  const Recorded recorded = record(22, 3);
  const std::string& whole = recorded.ticks.front();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Streams streams(recorded.columns);
    EXPECT_FALSE(streams.decode(whole.substr(0, size))) << size;
  }
  Streams streams(recorded.columns);
  EXPECT_FALSE(streams.decode(whole + '\0'));
  Streams other(recorded.columns);
  EXPECT_TRUE(other.decode(whole));
}

TEST(RowDecoder, SurvivesFlippedBits) {
  const Recorded recorded = record(23, 8);
  Random random(1);
  int refused = 0, decoded = 0;
  for (int attempt = 0; attempt < 300; ++attempt) {
    Streams streams(recorded.columns);
    for (std::string tick : recorded.ticks) {
      char& byte = tick[random() % tick.size()];
      byte = static_cast<char>(byte ^ (1 << random() % 8));
      ++(streams.decode(tick) ? decoded : refused);
      streams.expect_whole_rows();
    }
  }
  // A flipped bit of a value is another value; one of a length leaves too few bytes or too many.
  EXPECT_GT(refused, 0);
  EXPECT_GT(decoded, 0);
}

TEST(RowDecoder, SurvivesRandomBytes) {
  const Recorded recorded = record(24, 1);
  Random random(2);
  int refused = 0;
  for (int attempt = 0; attempt < 300; ++attempt) {
    Streams streams(recorded.columns);
    for (int tick = 0; tick < 4; ++tick) {
      std::string bytes(random() % 600, '\0');
      for (char& byte : bytes) byte = static_cast<char>(attempt % 3 == 0 ? 0xff : random());
      refused += streams.decode(bytes) ? 0 : 1;
      streams.expect_whole_rows();
    }
  }
  EXPECT_GT(refused, 1000) << "of 1200 ticks of random bytes";
}

TEST(RowDecoder, StopsAtTheEndOfItsBytes) {
  RowDecoder decoder;
  decoder.begin_tick({});
  EXPECT_TRUE(decoder.failed());
  EXPECT_FALSE(decoder.flag(0));
  EXPECT_EQ(decoder.number(0), 0U);
  RowHistory history(3);
  decoder.row(std::array{Column::kInteger, Column::kText, Column::kReal}, history);
  EXPECT_TRUE(std::ranges::equal(history.last(), Words(3)));
  EXPECT_FALSE(decoder.finish_tick());
}

}  // namespace
}  // namespace meterbank::recording
