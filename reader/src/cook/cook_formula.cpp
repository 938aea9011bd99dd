// SPDX-License-Identifier: Apache-2.0
#include "cook_formula.hpp"

#include <algorithm>
#include <array>

#include "meterbank/reader/cook.hpp"

namespace meterbank {
namespace {

constexpr auto kRows = std::to_array<TypeRow>({
    {CounterType::kRawCountHex, Formula::kValue, Clock::kNone, 0},
    {CounterType::kLargeRawCountHex, Formula::kValue, Clock::kNone, 0},
    {CounterType::kRawCount, Formula::kValue, Clock::kNone, 0},
    {CounterType::kLargeRawCount, Formula::kValue, Clock::kNone, 0},
    {CounterType::kDelta, Formula::kDelta, Clock::kNone, 0},
    {CounterType::kLargeDelta, Formula::kDelta, Clock::kNone, 0},
    {CounterType::kCounter, Formula::kRate, Clock::kPerformance, 0},
    {CounterType::kBulkCount, Formula::kRate, Clock::kPerformance, 0},
    {CounterType::kSampleCounter, Formula::kRate, Clock::kPerformance, 0},
    {CounterType::kQueueLength, Formula::kQueue, Clock::kPerformance, 0},
    {CounterType::kLargeQueueLength, Formula::kQueue, Clock::kPerformance, 0},
    {CounterType::kQueueLength100Ns, Formula::kQueue, Clock::k100Ns, 0},
    {CounterType::kQueueLengthObject, Formula::kQueue, Clock::kObject, 0},
    {CounterType::kTimer, Formula::kPercent, Clock::kPerformance, 0},
    {CounterType::kTimerInverse, Formula::kPercentInverse, Clock::kPerformance, 0},
    {CounterType::kTimer100Ns, Formula::kPercent, Clock::k100Ns, 0},
    {CounterType::kTimer100NsInverse, Formula::kPercentInverse, Clock::k100Ns, 0},
    {CounterType::kTimerObject, Formula::kPercent, Clock::kObject, 0},
    {CounterType::kPrecisionSystemTimer, Formula::kPercentOfBase, Clock::kNone, 8},
    {CounterType::kPrecision100NsTimer, Formula::kPercentOfBase, Clock::kNone, 8},
    {CounterType::kPrecisionObjectTimer, Formula::kPercentOfBase, Clock::kNone, 8},
    {CounterType::kMultiTimer, Formula::kMulti, Clock::kPerformance, 0},
    {CounterType::kMultiTimerInverse, Formula::kMultiInverse, Clock::kPerformance, 0},
    {CounterType::kMultiTimer100Ns, Formula::kMulti, Clock::k100Ns, 0},
    {CounterType::kMultiTimer100NsInverse, Formula::kMultiInverse, Clock::k100Ns, 0},
    {CounterType::kSampleFraction, Formula::kPercentOfBase, Clock::kNone, 4},
    {CounterType::kRawFraction, Formula::kRawPercent, Clock::kNone, 4},
    {CounterType::kLargeRawFraction, Formula::kRawPercent, Clock::kNone, 8},
    {CounterType::kAverageTimer, Formula::kAverageTime, Clock::kNone, 4},
    {CounterType::kAverageBulk, Formula::kAverage, Clock::kNone, 4},
    {CounterType::kElapsedTime, Formula::kElapsed, Clock::kObject, 0},
    {CounterType::kNoData, Formula::kNone, Clock::kNone, 0},
    {CounterType::kComposite, Formula::kNone, Clock::kNone, 0},
    {CounterType::kSampleBase, Formula::kNone, Clock::kNone, 0},
    {CounterType::kAverageBase, Formula::kNone, Clock::kNone, 0},
    {CounterType::kRawBase, Formula::kNone, Clock::kNone, 0},
    {CounterType::kLargeRawBase, Formula::kNone, Clock::kNone, 0},
    {CounterType::kMultiBase, Formula::kNone, Clock::kNone, 0},
});

bool is_of_one_sample(Formula formula) noexcept {
  return formula == Formula::kValue || formula == Formula::kRawPercent ||
         formula == Formula::kElapsed;
}

double capped(double percent, CookOptions options) noexcept {
  return options.cap_percent ? std::clamp(percent, 0.0, 100.0) : percent;
}

std::uint64_t low_bytes(std::uint64_t value, std::uint32_t bytes) noexcept {
  return bytes == 4 ? value & 0xffffffff : value;
}

// Newer minus older in a width; false: a 64-bit value went backwards. A 32-bit value may have
// wrapped once, and a wrap cannot be told from a reset.
bool difference(std::uint64_t older, std::uint64_t newer, std::uint32_t bytes,
                double& result) noexcept {
  if (bytes != 4 && newer < older) return false;
  result = static_cast<double>(low_bytes(newer - older, bytes));
  return true;
}

// One cooking: inputs that are the same for all formulas, then the formulas by what they need.
class Cooking {
 public:
  Cooking(const TypeRow& row, const RawValue* older, const RawValue& newer,
          CookOptions options) noexcept
      : row_(row), older_(older), newer_(newer), options_(options) {
    width_ = width_of(row.type);
    value_ = low_bytes(newer.value, width_);
    base_bytes_ = newer.base_bytes == 0 ? row.base_bytes : newer.base_bytes;
  }

  [[nodiscard]] CookedValue cook() const noexcept {
    switch (row_.formula) {
      case Formula::kNone:
        return {0, CookStatus::kNotCookable};
      case Formula::kValue:
        return done(static_cast<double>(value_));
      case Formula::kRawPercent:
        return raw_percent();
      case Formula::kElapsed:
        return elapsed();
      default:
        break;
    }
    if (older_ == nullptr) return {0, CookStatus::kFirstSample};
    if (newer_.stamped && newer_.time_ns == older_->time_ns) return {0, CookStatus::kNoNewSample};
    double value = 0;
    if (!difference(low_bytes(older_->value, width_), value_, width_, value)) {
      return {0, CookStatus::kReset};
    }
    switch (row_.formula) {
      case Formula::kDelta:
        return done(value);
      case Formula::kPercentOfBase:
      case Formula::kAverage:
      case Formula::kAverageTime:
        return over_base(value);
      default:
        return over_time(value);
    }
  }

 private:
  [[nodiscard]] CookedValue done(double value) const noexcept {
    const bool is_unchanged = older_ != nullptr && low_bytes(older_->value, width_) == value_;
    return {value, is_unchanged ? CookStatus::kUnchanged : CookStatus::kNew};
  }

  [[nodiscard]] CookedValue raw_percent() const noexcept {
    const std::uint64_t base = low_bytes(newer_.base, base_bytes_);
    if (base == 0) return {0, CookStatus::kZeroBase};
    return done(capped(100.0 * static_cast<double>(value_) / static_cast<double>(base), options_));
  }

  // A start of zero has not happened, and one in the future is a clock read a moment too early.
  [[nodiscard]] CookedValue elapsed() const noexcept {
    if (newer_.object_frequency == 0) return {0, CookStatus::kZeroBase};
    if (value_ == 0 || value_ >= newer_.object_time) return done(0);
    return done(static_cast<double>(newer_.object_time - value_) /
                static_cast<double>(newer_.object_frequency));
  }

  [[nodiscard]] CookedValue over_base(double value) const noexcept {
    double base = 0;
    if (!difference(low_bytes(older_->base, base_bytes_), low_bytes(newer_.base, base_bytes_),
                    base_bytes_, base)) {
      return {0, CookStatus::kNegativeBase};
    }
    if (base == 0) return {0, CookStatus::kZeroBase};
    if (row_.formula == Formula::kAverage) return done(value / base);
    if (row_.formula == Formula::kAverageTime) return done(value / kTicksPerSecond / base);
    return done(capped(100.0 * value / base, options_));
  }

  // Ticks between the samples on the clock of the type; 0: none passed, or it went backwards.
  [[nodiscard]] double ticks() const noexcept {
    const bool is_object = row_.clock == Clock::kObject;
    const std::uint64_t from = is_object ? older_->object_time : older_->time_ns;
    const std::uint64_t to = is_object ? newer_.object_time : newer_.time_ns;
    if (to <= from) return 0;
    const auto passed = static_cast<double>(to - from);
    return row_.clock == Clock::k100Ns ? passed / 100 : passed;
  }

  [[nodiscard]] CookedValue over_time(double value) const noexcept {
    const double time = ticks();
    if (time <= 0) return {0, CookStatus::kNegativeTime};
    const double share = value / time;
    if (row_.formula == Formula::kRate) return done(share * kTicksPerSecond);
    if (row_.formula == Formula::kQueue) return done(share);
    if (row_.formula == Formula::kPercent) return done(capped(100.0 * share, options_));
    if (row_.formula == Formula::kPercentInverse) {
      return done(capped(100.0 * (1.0 - share), options_));
    }
    if (newer_.multi == 0) return {0, CookStatus::kZeroBase};
    const double each = share / static_cast<double>(newer_.multi);
    const bool is_inverse = row_.formula == Formula::kMultiInverse;
    return done(capped(100.0 * (is_inverse ? 1.0 - each : each), options_));
  }

  const TypeRow& row_;
  const RawValue* older_;
  const RawValue& newer_;
  CookOptions options_;
  std::uint32_t width_ = 0;
  std::uint32_t base_bytes_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace

std::span<const TypeRow> type_rows() noexcept { return kRows; }

const TypeRow* type_row_of(CounterType type) noexcept {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [type](const TypeRow& each) { return each.type == type; });
  return row == kRows.end() ? nullptr : &*row;
}

bool needs_two_samples(CounterType type) noexcept {
  const TypeRow* row = type_row_of(type);
  return row != nullptr && row->formula != Formula::kNone && !is_of_one_sample(row->formula);
}

SecondInput second_input_of(CounterType type) noexcept {
  const TypeRow* row = type_row_of(type);
  if (row == nullptr) return SecondInput::kNone;
  if (row->base_bytes != 0) return SecondInput::kBase;
  switch (row->clock) {
    case Clock::kPerformance:
      return SecondInput::kPerformanceClock;
    case Clock::k100Ns:
      return SecondInput::k100NsClock;
    case Clock::kObject:
      return SecondInput::kObjectClock;
    case Clock::kNone:
      break;
  }
  return SecondInput::kNone;
}

CookedValue cook(CounterType type, const RawValue* older, const RawValue& newer,
                 CookOptions options) noexcept {
  const TypeRow* row = type_row_of(type);
  if (row == nullptr) return {0, CookStatus::kNotCookable};
  return Cooking(*row, older, newer, options).cook();
}

std::string_view name_of(CookStatus status) noexcept {
  switch (status) {
    case CookStatus::kNew:
      return "new";
    case CookStatus::kUnchanged:
      return "unchanged";
    case CookStatus::kBelowRange:
      return "below_range";
    case CookStatus::kAboveRange:
      return "above_range";
    case CookStatus::kFirstSample:
      return "first_sample";
    case CookStatus::kNoNewSample:
      return "no_new_sample";
    case CookStatus::kReset:
      return "reset";
    case CookStatus::kNegativeBase:
      return "negative_base";
    case CookStatus::kNegativeTime:
      return "negative_time";
    case CookStatus::kZeroBase:
      return "zero_base";
    case CookStatus::kTypeChanged:
      return "type_changed";
    case CookStatus::kNotCookable:
      return "not_cookable";
    case CookStatus::kNotFinite:
      return "not_finite";
    case CookStatus::kNoValue:
      return "no_value";
  }
  return "unknown";
}

}  // namespace meterbank
