// SPDX-License-Identifier: Apache-2.0
//
// Words that move together. All rows of one update have the same time stamp, a total moves as its
// only part does, and two sets may publish the same counter. So a word remembers its peer: another
// word, coded before it in the tick, that moved by the same difference when both moved last.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

class Peers {
 public:
  // Words get their numbers when they first move. When all are given, two words share one, and each
  // may be taken for the other, on both sides alike.
  using Number = std::uint16_t;
  static constexpr Number kNone = 0;

  void begin_tick() noexcept { ++tick_; }

  // By how much the peer moved in this tick; null if it did not.
  [[nodiscard]] const std::uint64_t* difference_of(Number peer) const noexcept {
    const Move& move = moves_[peer % kNumbers];  // that of kNone never moved
    return move.tick == tick_ ? &move.difference : nullptr;
  }
  // A hint that add() will be called for the difference: what it reads lies anywhere.
  void prefetch(std::uint64_t difference) const noexcept {
    __builtin_prefetch(&moves_[by_difference_[place_of(difference)] % kNumbers]);
  }
  // Keeps the difference of a word. Returns another word that moved alike in this tick, or kNone.
  // A word without a number gets one.
  Number add(Number& word, std::uint64_t difference) noexcept {
    if (word == kNone) word = next();
    Number& latest = by_difference_[place_of(difference)];
    const Move& other = moves_[latest % kNumbers];
    const bool is_alike = ((other.tick ^ tick_) | (other.difference ^ difference)) == 0;
    const Number alike = is_alike ? latest : kNone;
    moves_[word % kNumbers] = {difference, tick_};
    latest = word;
    return alike;
  }

 private:
  static std::size_t place_of(std::uint64_t difference) noexcept {
    return difference * kHash >> (64 - kHashBits);
  }
  Number next() noexcept {
    const Number number = next_;
    next_ = static_cast<Number>(next_ + 1 < kNumbers ? next_ + 1 : 1);
    return number;
  }

  static constexpr Number kNumbers = 1U << 14;
  static constexpr unsigned kHashBits = 12;
  static constexpr std::uint64_t kHash = 0x9e3779b97f4a7c15;  // spreads differences

  struct Move {
    std::uint64_t difference = 0;
    std::uint32_t tick = 0;
  };
  std::array<Move, kNumbers> moves_{};
  std::array<Number, std::size_t{1} << kHashBits> by_difference_{};
  std::uint32_t tick_ = 0;
  Number next_ = 1;
};

// The row coded before this one, if it had the same columns: it is a peer to begin with, and its
// words tell what the first words of a new row may be.
class RowAbove {
 public:
  // What one word of the row has in common with the word above it.
  struct Place {
    Peers::Number number = Peers::kNone;
    std::uint64_t word = 0;
    std::uint16_t length = 8U << 8;             // of first words, as they are
    std::uint16_t difference_length = 8U << 8;  // of their differences to the word above
  };

  void begin_row(std::span<const Column> columns) noexcept {
    const auto known = columns.first(std::min(columns.size(), kPlaces - 1));
    if (known.size() == count_ && std::equal(known.begin(), known.end(), columns_.begin())) return;
    count_ = known.size();
    std::copy(known.begin(), known.end(), columns_.begin());
    places_.fill({});
  }
  // Words far behind share the last place.
  [[nodiscard]] Place& operator[](std::size_t word) noexcept {
    return places_[std::min(word, kPlaces - 1)];
  }

 private:
  static constexpr std::size_t kPlaces = 64;

  std::array<Place, kPlaces> places_{};
  std::array<Column, kPlaces> columns_{};
  std::size_t count_ = 0;
};

}  // namespace meterbank::recording
