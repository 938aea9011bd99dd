// SPDX-License-Identifier: Apache-2.0
//
// All that encoder and decoder have learnt, and the one description of how a row is coded: both
// sides run the same code, so they cannot differ. `Bits` is a RangeEncoder or a RangeDecoder.
//
// A row is a flag whether it changed. If so, each group of eight words is a flag, and each word of
// a group that changed is a residual (word_models.hpp) against the best of four predictions: the
// last value; the last difference once more; the mean difference; the difference of the word's
// peer (peers.hpp). The best is the one with the shortest residuals lately. Differences are
// counted in units, the greatest number that divides all of them: pages, clock ticks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>

#include "coding/bit_model.hpp"
#include "coding/peers.hpp"
#include "coding/real_form.hpp"
#include "coding/text_models.hpp"
#include "coding/word_models.hpp"
#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

class RowModels {
 public:
  // In place: as a temporary it would take 323 KiB of stack.
  void begin_chunk() noexcept { std::construct_at(this); }
  void begin_tick() noexcept { peers_.begin_tick(); }

  // An encoder is given the words; a decoder passes null.
  template <typename Bits>
  void row(Bits& bits, std::span<const Column> columns, const std::uint64_t* words,
           RowHistory& history) {
    const std::size_t count = history.last_.size();
    bool changed = false;
    if constexpr (Bits::kEncodes) changed = !std::equal(words, words + count, history.last_.data());
    above_.begin_row(columns);
    changed = bits.bit(row_changed_[history.changes_ & 7U], changed);
    history.changes_ = static_cast<std::uint8_t>(history.changes_ << 1 | (changed ? 1 : 0));
    if (changed) groups(bits, columns, words, history);
  }

  template <typename Bits>
  bool flag(Bits& bits, bool value, unsigned context) {
    return bits.bit(flags_[context % kCallerContexts], value);
  }
  template <typename Bits>
  std::uint64_t number(Bits& bits, std::uint64_t value, unsigned context) {
    Number& number = numbers_[context % kCallerContexts];
    RowAbove::Place place;
    number.last += integer(bits, {.kind = Kind::kNumber}, value - number.last, number.last,
                           number.word, place);
    return number.last;
  }

 private:
  using Word = RowHistory::Word;
  using Past = std::uint8_t;

  static constexpr std::size_t kGroup = RowHistory::kGroup;
  enum Way : unsigned { kSame, kStep, kMeanStep, kPeer, kWays };

  struct Trait {
    Kind kind = Kind::kInteger;
    bool has_unit = false;
    bool has_peer = false;
    bool neighbour_moved = false;
  };
  struct Number {
    std::uint64_t last = 0;
    Word word;
  };

  template <typename Bits>
  void groups(Bits& bits, std::span<const Column> columns, const std::uint64_t* words,
              RowHistory& history) {
    const std::size_t count = history.last_.size();
    bool any = false, before = false;
    for (std::size_t begin = 0, group = 0; begin < count; begin += kGroup, ++group) {
      const std::size_t end = std::min(begin + kGroup, count);
      std::uint8_t& past = history.groups_[group];
      bool changed = true;  // the last one of a row has to be, if no other is
      if (any || end < count) {
        if constexpr (Bits::kEncodes) {
          changed = !std::equal(words + begin, words + end, &history.last_[begin]);
        }
        auto& models = group_changed_[columns[begin] == Column::kBucket ? 1 : 0];
        changed = bits.bit(models[(past & 7U) * 2 + (before ? 1 : 0)], changed);
      }
      past = static_cast<std::uint8_t>(past << 1 | (changed ? 1 : 0));
      before = changed;
      any = any || changed;
      if (changed) group_words(bits, columns, words, history, begin, end);
    }
  }

  template <typename Bits>
  void group_words(Bits& bits, std::span<const Column> columns, const std::uint64_t* words,
                   RowHistory& history, std::size_t begin, std::size_t end) {
    if constexpr (Bits::kEncodes) {
      for (std::size_t place = begin; place < end; ++place) {
        peers_.prefetch(words[place] - history.last_[place]);
      }
    }
    bool moved = false;
    for (std::size_t place = begin; place < end; ++place) {
      std::uint64_t& last = history.last_[place];
      std::uint64_t value = 0;
      if constexpr (Bits::kEncodes) value = words[place];
      value = word(bits, columns[place], value, last, history.words_[place], moved, above_[place]);
      moved = value != last;
      last = value;
    }
  }

  template <typename Bits>
  std::uint64_t word(Bits& bits, Column column, std::uint64_t value, std::uint64_t last, Word& word,
                     bool neighbour_moved, RowAbove::Place& above) {
    Trait trait{.has_peer = true, .neighbour_moved = neighbour_moved};
    switch (column) {
      case Column::kText:
        return text(bits, value);
      case Column::kReal:
        return real(bits, value, last, word, trait, above);
      case Column::kBucket:
        trait.kind = Kind::kBucket;
        trait.has_peer = false;
        break;
      case Column::kTime:
        trait.kind = Kind::kTime;
        break;
      case Column::kInteger:
        trait.has_unit = true;
        break;
    }
    return last + integer(bits, trait, value - last, last, word, above);
  }

  template <typename Bits>
  std::uint64_t text(Bits& bits, std::uint64_t value) {
    std::uint64_t result = 0;
    unsigned before = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
      before = texts_.character(bits, static_cast<unsigned>(value >> shift & 255U), before);
      result |= std::uint64_t{before} << shift;
    }
    return result;
  }

  template <typename Bits>
  std::uint64_t real(Bits& bits, std::uint64_t value, std::uint64_t last, Word& word, Trait trait,
                     RowAbove::Place& above) {
    unsigned form = word.form;
    if constexpr (Bits::kEncodes) form = form_of(value, form);
    if (bits.bit(form_changed_[word.form], form != word.form)) {
      form = bits.symbol(forms_, form) & kAnyReal;
      word = {};
      word.form = static_cast<std::uint8_t>(form);
    } else {
      form = word.form;
    }
    trait.kind = Kind::kReal;
    trait.has_unit = true;
    const std::uint64_t base = number_of(last, form);
    std::uint64_t difference = 0;
    if constexpr (Bits::kEncodes) difference = number_of(value, form) - base;
    return bits_of(base + integer(bits, trait, difference, base, word, above), form);
  }

  // Codes a difference to `last`.
  template <typename Bits>
  std::uint64_t integer(Bits& bits, const Trait& trait, std::uint64_t difference,
                        std::uint64_t last, Word& word, RowAbove::Place& above) {
    const bool is_first = word.age == 0;
    const std::uint64_t* peer = nullptr;
    if (trait.has_peer && !is_first) {
      if (word.peer == Peers::kNone) word.peer = above.number;
      peer = peers_.difference_of(word.peer);
    }
    const bool has_peer_moved = peer != nullptr;
    const std::uint64_t peer_difference = has_peer_moved ? *peer : 0;
    difference = is_first ? first(bits, trait, difference, last, word, above)
                          : next(bits, trait, difference, word, peer);
    if (trait.has_peer && difference != 0) {
      const Peers::Number alike = peers_.add(word.number, difference);
      const bool knew = has_peer_moved && peer_difference == difference;
      // Small differences are often equal by chance.
      constexpr std::uint64_t kTelling = 16;
      if (!knew && alike != Peers::kNone && alike != word.number &&
          magnitude_of(difference) > kTelling) {
        word.peer = alike;
      }
      above.number = word.number;
      above.word = last + difference;
    }
    return difference;
  }

  // The first word of a row says nothing about the differences that follow.
  template <typename Bits>
  std::uint64_t first(Bits& bits, const Trait& trait, std::uint64_t difference, std::uint64_t last,
                      Word& word, RowAbove::Place& above) {
    const std::uint64_t to_above = above.word - last;
    const bool is_like_above = above.difference_length < above.length;
    const std::uint64_t base = is_like_above ? to_above : 0;
    Past past = 0;
    difference =
        base + words_.residual(bits, difference - base,
                               {.kind = Kind::kFirst,
                                .length = is_like_above ? above.difference_length : above.length,
                                .is_difference = !is_like_above,
                                .neighbour_moved = trait.neighbour_moved},
                               past);
    constexpr unsigned kShift = 3;
    follow(above.length, difference, kShift);
    follow(above.difference_length, difference - to_above, kShift);
    constexpr Length kGuess = 4U << kLengthBits, kLongGuess = 5U << kLengthBits;
    word.lengths = {kGuess, kLongGuess, kLongGuess, kLongGuess};
    word.age = 1;
    return difference;
  }

  template <typename Bits>
  std::uint64_t next(Bits& bits, const Trait& trait, std::uint64_t difference, Word& word,
                     const std::uint64_t* peer) {
    const std::uint64_t unit_before = word.unit;
    const std::uint64_t unit = in_units(bits, difference, word);
    const Length peer_length = word.lengths[kPeer];
    constexpr Length kUnknown = UINT16_MAX;
    std::array<std::uint64_t, kWays> steps = {0, word.step, word.mean_step, 0};
    std::array<Length, kWays> lengths = word.lengths;
    if (peer != nullptr) {
      steps[kPeer] = quotient(*peer, unit);
    } else {
      lengths[kPeer] = kUnknown;
    }
    unsigned way = kSame;
    for (unsigned other = kStep; other < kWays; ++other) {
      way = lengths[other] < lengths[way] ? other : way;
    }
    const std::uint64_t step =
        steps[way] + words_.residual(bits, difference - steps[way],
                                     {.kind = way == kPeer ? Kind::kPeer : trait.kind,
                                      .length = lengths[way],
                                      .is_difference = way == kSame,
                                      .neighbour_moved = trait.neighbour_moved},
                                     word.past);
    constexpr std::uint8_t kGrown = 3;
    const unsigned shift = word.age;  // quickly at first
    for (unsigned each = 0; each < kWays; ++each) {
      follow(word.lengths[each], step - steps[each], shift);
    }
    if (peer == nullptr) word.lengths[kPeer] = peer_length;
    if (word.age < kGrown) ++word.age;
    word.step = step;
    constexpr unsigned kMeanShift = 2;
    word.mean_step +=
        static_cast<std::uint64_t>(static_cast<std::int64_t>(step - word.mean_step) >> kMeanShift);
    difference = step * unit;
    const bool was_broken = unit_before > 1 && unit == 1;
    const bool may_begin = unit_before == 0 && trait.has_unit && difference != 0;
    if (was_broken || may_begin) set_unit(word, std::gcd(unit_before, magnitude_of(difference)));
    return difference;
  }

  // Turns the difference into units, if it is a whole number of them, and returns the unit.
  // Otherwise it and what is known of the word become units of 1.
  template <typename Bits>
  std::uint64_t in_units(Bits& bits, std::uint64_t& difference, Word& word) {
    if (word.unit <= 1) return 1;
    constexpr std::uint8_t kWholeMax = 15;
    std::uint64_t units = 0;
    bool is_whole = false;
    if constexpr (Bits::kEncodes) {
      units = quotient(difference, word.unit);
      is_whole = units * word.unit == difference;
    }
    if (bits.bit(is_whole_[word.whole], is_whole)) {
      if (word.whole < kWholeMax) ++word.whole;
      difference = units;
      return word.unit;
    }
    word.whole = 0;
    word.step *= word.unit;
    word.mean_step *= word.unit;
    const unsigned more = unit_length(word.unit);
    for (Length& length : word.lengths) {
      length = static_cast<Length>(std::min(length + more, 64U << kLengthBits));
    }
    return 1;
  }

  static void set_unit(Word& word, std::uint64_t unit) noexcept {
    word.unit = unit;
    if (unit <= 1) return;
    word.step = quotient(word.step, unit);
    word.mean_step = quotient(word.mean_step, unit);
    const unsigned less = unit_length(unit);
    for (Length& length : word.lengths) {
      length = static_cast<Length>(length > less ? length - less : 0);
    }
  }
  static unsigned unit_length(std::uint64_t unit) noexcept {
    return static_cast<unsigned>(std::bit_width(unit) - 1) << kLengthBits;
  }
  // Of a signed number; towards zero.
  static std::uint64_t quotient(std::uint64_t number, std::uint64_t unit) noexcept {
    if (unit == 1) return number;
    const std::uint64_t magnitude = magnitude_of(number) / unit;
    return static_cast<std::int64_t>(number) < 0 ? 0 - magnitude : magnitude;
  }
  static void follow(Length& length, std::uint64_t residual, unsigned shift) noexcept {
    const int error = static_cast<int>(length_of(residual)) - static_cast<int>(length);
    length = static_cast<Length>(length + (error >> shift));
  }

  std::array<BitModel, 8> row_changed_;
  std::array<std::array<BitModel, 16>, 2> group_changed_;
  std::array<BitModel, 16> is_whole_;
  std::array<BitModel, kAnyReal + 1> form_changed_;
  std::array<BitModel, kCallerContexts> flags_;
  std::array<Number, kCallerContexts> numbers_;
  SymbolModel forms_;
  WordModels words_;
  TextModels texts_;
  RowAbove above_;
  Peers peers_;
};

}  // namespace meterbank::recording
