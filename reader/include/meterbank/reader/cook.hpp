// SPDX-License-Identifier: Apache-2.0
//
// Cooking: from raw values of one or two samples to the number a person wants, by counter type.
// The formulas are rows of a table, src/cook/cook_formula.cpp. Every pair of inputs has a value or
// a named reason, never a NaN or an infinity.
//
// Thread safety  All functions may be called concurrently.
// Errors         A CookStatus says why there is no value; nothing throws.
// Progress       Bounded: one table lookup and one formula.
// Cost           No allocation, no lock, no system call.
// Lifetime       Results refer to nothing.
// Units          The performance clock is CLOCK_MONOTONIC in nanoseconds, so timers of that clock
//                count nanoseconds; those of the 100 ns clock count its hundreds. Shares are per
//                cent, rates are per second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "meterbank/shm/counter_type.hpp"
#include "meterbank/shm/schema_layout.hpp"

namespace meterbank {

enum class CookStatus : std::uint8_t {
  kNew,           // valid, the raw value changed since the older sample
  kUnchanged,     // valid, the raw value did not change
  kBelowRange,    // a percentile that is not greater than the value, the end of the buckets
  kAboveRange,    // a percentile that is greater than the value, the end of the buckets
  kFirstSample,   // the type needs two samples and there is one
  kNoNewSample,   // stamped set: the provider has not stored a newer value in between
  kReset,         // a 64-bit count went backwards, or the instance was created anew
  kNegativeBase,  // the base went backwards
  kNegativeTime,  // time went backwards or stood still
  kZeroBase,      // the base did not move or is zero
  kTypeChanged,   // the two samples disagree about the type
  kNotCookable,   // a base, a type without a formula, or words that contradict each other
  kNotFinite,     // a gauge of real numbers that holds none
  kNoValue,       // the row holds nothing: see its RowStatus
};
[[nodiscard]] std::string_view name_of(CookStatus status) noexcept;
[[nodiscard]] constexpr bool has_value(CookStatus status) noexcept {
  return status == CookStatus::kNew || status == CookStatus::kUnchanged ||
         status == CookStatus::kBelowRange || status == CookStatus::kAboveRange;
}

struct CookOptions {
  bool cap_percent = true;  // 0..100, as PDH does without PDH_FMT_NOCAP100
};

// One raw value with what its formula may need.
struct RawValue {
  std::uint64_t value = 0;
  std::uint64_t base = 0;
  std::uint64_t object_time = 0, object_frequency = 0;
  std::uint64_t multi = 1;
  std::uint64_t time_ns = 0;     // of the value: the row's own stamp, else the sample's
  std::uint32_t base_bytes = 0;  // 4: the base wraps at 2^32; 8: not; 0: as usual for the type
  bool stamped = false;          // time_ns is the row's own stamp
};

struct CookedValue {
  double value = 0;
  CookStatus status = CookStatus::kNoValue;
};

// The formula of one type. `older` may be null. Deltas of 32-bit values are taken modulo 2^32.
[[nodiscard]] CookedValue cook(CounterType type, const RawValue* older, const RawValue& newer,
                               CookOptions options = {}) noexcept;
// True if the type needs two samples.
[[nodiscard]] bool needs_two_samples(CounterType type) noexcept;

// What the formula of a type takes of a RawValue besides the value itself.
enum class SecondInput : std::uint8_t {
  kNone,
  kBase,
  kPerformanceClock,  // time_ns
  k100NsClock,        // time_ns, in steps of 100
  kObjectClock,       // object_time
};
[[nodiscard]] SecondInput second_input_of(CounterType type) noexcept;

// The bits of a double, rounded half away from zero: a signed number in two's complement, limited
// to 64 bits. NaN becomes zero.
[[nodiscard]] std::uint64_t rounded(std::uint64_t real_bits) noexcept;
// A stored value for callers that accept whole numbers only: a real one is rounded.
[[nodiscard]] inline std::uint64_t whole_of(std::uint64_t stored, ValueForm form) noexcept {
  return form == ValueForm::kReal ? rounded(stored) : stored;
}

// Two values as one by CounterView::aggregate. An average is a sum until it is divided.
template <typename T>
[[nodiscard]] T joined(std::uint32_t aggregate, T so_far, T next) noexcept {
  if (aggregate == kAggregateMinimum) return std::min(so_far, next);
  if (aggregate == kAggregateMaximum) return std::max(so_far, next);
  return so_far + next;
}

}  // namespace meterbank
