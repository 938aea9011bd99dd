// SPDX-License-Identifier: Apache-2.0
//
// Handles to counters that are more than a number: distributions, gauges, texts. Each is looked up
// once and kept, like Counter; each call is one commit, so that a reader sees all words of it and
// of the counters beside it as they were at one moment.
//
// Thread safety  One thread at a time per instance, as for all writers of a block. A signal
//                handler must not write to the block that its thread is writing to.
// Errors         None. A value beyond the range is counted as such, NaN as refused; a gauge keeps
//                to the range of its form; a text is cut.
// Progress       Wait-free: nothing blocks, throws, allocates or locks.
// Cost           One commit, a few nanoseconds. bench/README.md has the figures.
// Lifetime       May outlive its instance, and then counts into nothing.
// Units          Those of the counter: CounterSpec::unit. Times are CLOCK_MONOTONIC_COARSE.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "meterbank/base/clock.hpp"
#include "meterbank/publisher/instance.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {

namespace detail {

// One word of the block, without a reader's care: this is its one writer.
class ValueHandle {
 public:
  [[nodiscard]] const CounterPlace& place() const noexcept { return place_; }

 protected:
  ValueHandle() noexcept : writer_(scratch_writer()) {}
  ValueHandle(const BlockWriter<StdAtomics>& writer, const CounterPlace& place,
              const SlotReference& slot) noexcept
      : writer_(writer), place_(place), slot_(slot) {}

  BlockWriter<StdAtomics> writer_;
  CounterPlace place_;
  SlotReference slot_;
};

// A gauge's value in its form: rounded where it has no fractions, held at the ends of its range.
[[nodiscard]] inline std::uint64_t bits_of(ValueForm form, double value) noexcept {
  if (form == ValueForm::kReal) return std::bit_cast<std::uint64_t>(value);
  const double whole = value == value ? std::nearbyint(value) : 0;
  if (form == ValueForm::kSigned) {
    if (whole >= 0x1p63) return INT64_MAX;
    if (whole < -0x1p63) return std::uint64_t{1} << 63;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
  }
  if (whole <= 0) return 0;
  return whole >= 0x1p64 ? UINT64_MAX : static_cast<std::uint64_t>(whole);
}

// The same of whole numbers, which a double would round beyond 2^53.
[[nodiscard]] inline std::uint64_t bits_of_signed(ValueForm form, std::int64_t value) noexcept {
  if (form == ValueForm::kReal) return bits_of(form, static_cast<double>(value));
  return static_cast<std::uint64_t>(value);
}
[[nodiscard]] inline std::uint64_t bits_of_unsigned(ValueForm form, std::uint64_t value) noexcept {
  return form == ValueForm::kReal ? bits_of(form, static_cast<double>(value)) : value;
}

// The other way round.
[[nodiscard]] inline double real_of(ValueForm form, std::uint64_t bits) noexcept {
  if (form == ValueForm::kReal) return std::bit_cast<double>(bits);
  if (form == ValueForm::kSigned) return static_cast<double>(static_cast<std::int64_t>(bits));
  return static_cast<double>(bits);
}

// The longest part of at most `bytes_max` bytes that ends with a whole character. Where there are
// no characters, because this is not UTF-8, the first `bytes_max` bytes.
[[nodiscard]] inline std::string_view cut_text(std::string_view text,
                                               std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text;
  constexpr std::size_t kFollowingMax = 3;  // bytes of a character behind its first
  for (std::size_t back = 0; back <= kFollowingMax && back <= bytes_max; ++back) {
    const std::size_t end = bytes_max - back;
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80) return text.substr(0, end);
  }
  return text.substr(0, bytes_max);
}

}  // namespace detail

// Records values in a distribution.
class Recorder : public detail::ValueHandle {
 public:
  Recorder() noexcept = default;

  void record(double value) noexcept {
    writer_.commit_words(changes_of(distribution(), value,
                                    [this](std::uint32_t word) { return writer_.value(word); }));
  }
  [[nodiscard]] DistributionPlace distribution() const noexcept {
    return {place_.shape, place_.own, place_.more};
  }

 private:
  friend class InstanceWriter;
  using ValueHandle::ValueHandle;
};

// A value that is set: in the form of its counter, with the time if the counter is timed.
class Gauge : public detail::ValueHandle {
 public:
  Gauge() noexcept = default;

  void set(double value) noexcept { set_bits(detail::bits_of(place_.form, value)); }
  void set_signed(std::int64_t value) noexcept {
    set_bits(detail::bits_of_signed(place_.form, value));
  }
  void set_unsigned(std::uint64_t value) noexcept {
    set_bits(detail::bits_of_unsigned(place_.form, value));
  }
  void add(double delta) noexcept { set(value() + delta); }
  [[nodiscard]] double value() const noexcept {
    return detail::real_of(place_.form, writer_.value(place_.own));
  }

 private:
  friend class InstanceWriter;
  using ValueHandle::ValueHandle;

  void set_bits(std::uint64_t bits) noexcept {
    if (!place_.timed) return writer_.set(place_.own, bits);
    WordList<2> list;
    list.add(place_.own, bits);
    list.add(place_.more, clock_ns(CLOCK_MONOTONIC_COARSE));
    writer_.commit_words(list);
  }
};

// A short text, such as the name of a state.
class TextCounter : public detail::ValueHandle {
 public:
  TextCounter() noexcept = default;

  // Cut to the size that the schema gives it, between characters. What is not UTF-8 is shown with
  // replacement characters.
  void set(std::string_view text) noexcept {
    Update update(writer_);
    write(update, text);
    update.commit();
  }

 private:
  friend class InstanceWriter;
  friend class Values;
  using ValueHandle::ValueHandle;
  using Update = BlockWriter<StdAtomics>::Update;

  void write(Update& update, std::string_view text) const noexcept {
    const std::uint32_t words = place_.more_words - (place_.timed ? 1 : 0);
    const std::string_view kept = detail::cut_text(text, std::size_t{words} * 8);
    update.set(place_.own, kept.size());
    for (std::uint32_t word = 0; word * std::size_t{8} < kept.size(); ++word) {
      const std::string_view part = kept.substr(word * std::size_t{8}, 8);
      std::uint64_t bits = 0;
      std::memcpy(&bits, part.data(), part.size());
      update.set(place_.more + word, bits);
    }
    if (place_.timed) update.set(place_.more + words, clock_ns(CLOCK_MONOTONIC_COARSE));
  }
};

// A call: in line it takes as long and a hundred instructions more.
[[gnu::noinline]] inline void Values::record(const Recorder& recorder, double value) noexcept {
  if (!recorder.place().known) return;
  const auto changes = changes_of(recorder.distribution(), value,
                                  [this](std::uint32_t word) { return update_.value(word); });
  changes.apply([this, own = recorder.distribution().own](std::uint32_t word, std::uint64_t bits) {
    if (word == own) return update_.set(word, bits);
    update_.set_apart(word, bits);
  });
}

inline void Values::set_gauge(const CounterPlace& place, std::uint64_t bits) noexcept {
  if (!place.known) return;
  update_.set(place.own, bits);
  if (place.timed) update_.set(place.more, clock_ns(CLOCK_MONOTONIC_COARSE));
}
inline void Values::set(const Gauge& gauge, double value) noexcept {
  set_gauge(gauge.place(), detail::bits_of(gauge.place().form, value));
}
inline void Values::set_signed(const Gauge& gauge, std::int64_t value) noexcept {
  set_gauge(gauge.place(), detail::bits_of_signed(gauge.place().form, value));
}
inline void Values::set_unsigned(const Gauge& gauge, std::uint64_t value) noexcept {
  set_gauge(gauge.place(), detail::bits_of_unsigned(gauge.place().form, value));
}

inline void Values::set(const TextCounter& counter, std::string_view text) noexcept {
  if (counter.place().known) counter.write(update_, text);
}

template <CounterName C>
Recorder InstanceWriter::recorder(C name) const noexcept {
  const CounterPlace place = detail::place_of(slot_.life(), position_of(name));
  if (!place.known || place.form != ValueForm::kDistribution) return {};
  return {writer_, place, slot_};
}

template <CounterName C>
Gauge InstanceWriter::gauge(C name) const noexcept {
  const CounterPlace place = detail::place_of(slot_.life(), position_of(name));
  const bool is_number = place.form == ValueForm::kUnsigned || place.form == ValueForm::kSigned ||
                         place.form == ValueForm::kReal;
  if (!place.known || !is_number) return {};
  return {writer_, place, slot_};
}

template <CounterName C>
TextCounter InstanceWriter::text(C name) const noexcept {
  const CounterPlace place = detail::place_of(slot_.life(), position_of(name));
  if (!place.known || place.form != ValueForm::kText) return {};
  return {writer_, place, slot_};
}

}  // namespace meterbank
