// SPDX-License-Identifier: Apache-2.0
//
// Rows of 64-bit words as few bytes, tick by tick, without loss.
//
// A recording is a sequence of chunks, and a chunk is a sequence of ticks, samples of all rows. The
// coder is an adaptive binary range coder: encoder and decoder keep the same statistics, learn from
// each word, and forget everything at the start of a chunk. The bytes of a tick end at a byte
// boundary, so each tick can be written as soon as it is taken. To decode a tick, all ticks of its
// chunk before it have to be decoded first.
//
// The encoder and the decoder must see the same calls with the same arguments in the same order.
// The caller frames the bytes: it stores the length of each tick, and a checksum, because most
// damaged bytes decode to wrong words and not to a failure.
//
// Thread safety  One thread at a time per object; different objects are independent.
// Errors         The decoder reports invalid bytes by failed(). Constructors, RowHistory and the
//                encoder may throw std::bad_alloc; the decoder does not allocate after its
//                construction.
// Progress       Both sides take a bounded number of steps for each word, whatever the bytes are.
//                Once a tick has failed, the rest of it costs nothing.
// Cost           Linear in the words of the rows. About 340 KiB an encoder or decoder, 48 bytes a
//                word of a history. bench/README.md has the measured figures.
// Lifetime       A decoder refers to the bytes given to begin_tick() until the next begin_tick().
// Units          Sizes are bytes, where they are not words of 8 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/reader/catalog.hpp"

namespace meterbank::recording {

class RowModels;

// What the coder has to know of a word to predict it well. Any word can be coded as any column.
enum class Column : std::uint8_t {
  kInteger,  // a counter or a gauge, signed or not
  kReal,     // the bits of a double
  kText,     // eight bytes of a text
  kBucket,   // a count of a distribution: one of many that seldom change
  kTime,     // nanoseconds of a clock
};

// One for each word of the blocks of this set: `form.words`.
[[nodiscard]] std::vector<Column> columns_of(const Counterset& set);

// What the coder remembers of one row between the ticks of a chunk. Both sides have one for each
// row. A row that begins later in a chunk begins with a new history, or with one that was reset.
class RowHistory {
 public:
  explicit RowHistory(std::size_t words);

  // To the state of a new one. Required for each history at the start of a chunk.
  void reset() noexcept;
  // The words of the last row that was coded with this history; zeros before the first.
  [[nodiscard]] std::span<const std::uint64_t> last() const noexcept { return last_; }

 private:
  friend class RowModels;

  static constexpr std::size_t kGroup = 8;  // words that share a flag

  struct Word {
    std::uint64_t step = 0;                  // the last difference, in units
    std::uint64_t mean_step = 0;             // a running mean of these
    std::uint64_t unit = 0;                  // divides all differences; 0: there was none
    std::array<std::uint16_t, 4> lengths{};  // of residuals, by the way to predict
    std::uint16_t number = 0, peer = 0;      // this word among those of the chunk, and its peer
    std::uint8_t past = 0;                   // the last residuals
    std::uint8_t age = 0;                    // differences so far, up to a limit
    std::uint8_t whole = 0;                  // how many of the last ones were whole units
    std::uint8_t form = 0;                   // of a real
  };

  std::vector<std::uint64_t> last_;
  std::vector<Word> words_;
  std::vector<std::uint8_t> groups_;  // which of the last ticks changed each group of eight words
  std::uint8_t changes_ = 0;          // which of the last eight ticks changed the row
};

// Statistics of flags and numbers of the caller's own are kept apart by a context below this.
inline constexpr unsigned kCallerContexts = 16;

class RowEncoder {
 public:
  RowEncoder();
  RowEncoder(RowEncoder&&) noexcept;
  RowEncoder& operator=(RowEncoder&&) noexcept;
  ~RowEncoder();

  // Forgets all statistics.
  void begin_chunk() noexcept;
  void begin_tick() noexcept;

  // `columns`, `words` and `history` have the same number of words. The history then has `words`.
  void row(std::span<const Column> columns, std::span<const std::uint64_t> words,
           RowHistory& history);
  // Flags cost a small part of a bit where one value prevails in their context.
  void flag(bool value, unsigned context);
  // Small numbers cost less than large ones, and repeated ones less than others.
  void number(std::uint64_t value, unsigned context);

  // Appends the bytes of the tick: at least one.
  void finish_tick(std::string& out);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

class RowDecoder {
 public:
  RowDecoder();
  RowDecoder(RowDecoder&&) noexcept;
  RowDecoder& operator=(RowDecoder&&) noexcept;
  ~RowDecoder();

  void begin_chunk() noexcept;
  // The bytes of one tick, exactly.
  void begin_tick(std::span<const std::byte> bytes) noexcept;

  // Writes the row to history.last().
  void row(std::span<const Column> columns, RowHistory& history) noexcept;
  [[nodiscard]] bool flag(unsigned context) noexcept;
  [[nodiscard]] std::uint64_t number(unsigned context) noexcept;

  // More was decoded than the bytes contain. From then on flags are false, numbers zero,
  // and rows are left as they are. What was decoded of this tick before is meaningless too. A
  // caller that decodes how much follows checks this, and the number, before it allocates.
  [[nodiscard]] bool failed() const noexcept;
  // Returns false if bytes were missing or are left over. The rest of the chunk cannot be decoded
  // then.
  [[nodiscard]] bool finish_tick() noexcept;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace meterbank::recording
