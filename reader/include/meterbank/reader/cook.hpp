// SPDX-License-Identifier: Apache-2.0
//
// Cooking: from raw values of one or two samples to the number a person wants, by counter type.
// The formulas are rows of a table, src/cook/cook_formula.cpp. Every pair of inputs has a value or
// a named reason, never a NaN or an infinity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "meterbank/reader/query.hpp"

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

// The formula of one type. `older` may be null. The performance clock is CLOCK_MONOTONIC in
// nanoseconds, so timers of that clock count nanoseconds; those of the 100 ns clock count its
// hundreds. Deltas of 32-bit values are taken modulo 2^32.
[[nodiscard]] CookedValue cook(CounterType type, const RawValue* older, const RawValue& newer,
                               CookOptions options = {}) noexcept;
// True if the type needs two samples.
[[nodiscard]] bool needs_two_samples(CounterType type) noexcept;

// Two values as one by CounterView::aggregate. An average is a sum until it is divided.
template <typename T>
[[nodiscard]] T joined(std::uint32_t aggregate, T so_far, T next) noexcept {
  if (aggregate == kAggregateMinimum) return std::min(so_far, next);
  if (aggregate == kAggregateMaximum) return std::max(so_far, next);
  return so_far + next;
}

struct CookedRow {
  const QueryPlan::Selection* selection = nullptr;  // valid while the newer sample's plan lives
  const InstanceView* instance = nullptr;
  const CounterView* counter = nullptr;
  bool has_namesake = false;  // see QueryPlan::Row
  bool is_total = false;      // made by this reader; the selection is that of the first share
  std::size_t item = 0;       // its number, of a query of items
  CookedValue cooked;
  RowStatus row_status = RowStatus::kBusy;
  RawValue raw;
  // Of a distribution: what was recorded between the two samples, or since its beginning where
  // there is no older one. Its cooked value is about the count. Null: it has none.
  std::shared_ptr<const Distribution> distribution;
  std::shared_ptr<const std::string> text;  // of a text; its cooked value is zero
  std::uint64_t set_ns = 0;                 // of a timed counter: CLOCK_MONOTONIC_COARSE, 0: never

  // The row would pass for one that a trusted provider or this reader makes: it belongs to an
  // untrusted provider, a provider called it `_Total`, or it is the total of a set whose name
  // stands for another one.
  [[nodiscard]] bool needs_provider() const noexcept;
  // Names the provider where that is needed, and where another one calls an instance the same.
  [[nodiscard]] CounterPath counter_path(PathSpelling spelling) const;
  // "\Processor Information(_Total)\% Processor Time", the printed counter_path().
  [[nodiscard]] std::string path() const;
  // "processor_information/_Total/processor_time", with a provider only where that is needed.
  [[nodiscard]] std::string short_path() const;
};

// What cook_each() hands its rows to: any function of a CookedRow that returns whether it wants
// more. Refers to the function, so pass a lambda in place.
class RowSink {
 public:
  // Stands for the function, hence implicit; never a copy of a RowSink.
  template <typename F>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload,google-explicit-constructor)
  requires(!std::is_same_v<std::remove_cvref_t<F>, RowSink>) RowSink(F&& take)
  noexcept
      : take_(const_cast<void*>(static_cast<const void*>(&take))),
        call_([](void* function, const CookedRow& row) -> bool {
          return (*static_cast<std::remove_reference_t<F>*>(function))(row);
        }) {}

  // False: enough.
  bool operator()(const CookedRow& row) const { return call_(take_, row); }

 private:
  void* take_;
  bool (*call_)(void*, const CookedRow&);
};

// Hands over the rows of the newer sample, selection by selection, or answer by answer where the
// query is one of items, `others` behind the answers; then instance by instance, counter by
// counter. Rows are paired by provider segment, registration, slot and generation; `older` may be
// null or of another plan. A row is valid during the call; what it points to lives while `newer`
// holds its plan.
// Cost: memory for one row and for the totals, whatever the number of rows. May throw
// std::bad_alloc, and what `take` throws.
void cook_each(const Sample* older, const Sample& newer, CookOptions options, RowSink take);

// All of these rows at once. Cost: more than 200 bytes a row; cook_each() needs none. May throw
// std::bad_alloc.
[[nodiscard]] std::vector<CookedRow> cook(const Sample* older, const Sample& newer,
                                          CookOptions options = {});
[[nodiscard]] inline std::vector<CookedRow> cook(const Sample& older, const Sample& newer,
                                                 CookOptions options = {}) {
  return cook(&older, newer, options);
}

}  // namespace meterbank
