// SPDX-License-Identifier: Apache-2.0
#include "cli/format/kinds.hpp"

#include <fmt/format.h>

namespace meterbank::cli {
namespace {

bool is_rate(CounterType type) noexcept {
  return type == CounterType::kCounter || type == CounterType::kBulkCount ||
         type == CounterType::kSampleCounter;
}

}  // namespace

KindWords kind_of(CounterType type) noexcept {
  switch (type) {
    case CounterType::kRawCount:
    case CounterType::kLargeRawCount:
      return {"level", "value as stored"};
    case CounterType::kRawCountHex:
    case CounterType::kLargeRawCountHex:
      return {"level", "value as stored, hexadecimal"};
    case CounterType::kDelta:
    case CounterType::kLargeDelta:
      return {"change", "difference between two samples"};
    case CounterType::kCounter:
    case CounterType::kBulkCount:
    case CounterType::kSampleCounter:
      return {"rate", "count, per second"};
    case CounterType::kQueueLength:
    case CounterType::kLargeQueueLength:
    case CounterType::kQueueLength100Ns:
    case CounterType::kQueueLengthObject:
      return {"average", "queue length over the interval"};
    case CounterType::kTimer:
    case CounterType::kPrecisionSystemTimer:
      return {"ratio", "busy time, share of the interval"};
    case CounterType::kTimer100Ns:
    case CounterType::kPrecision100NsTimer:
      return {"ratio", "busy time in 100 ns, share of the interval"};
    case CounterType::kTimerObject:
    case CounterType::kPrecisionObjectTimer:
      return {"ratio", "busy time on its own clock, share of the interval"};
    case CounterType::kTimerInverse:
    case CounterType::kTimer100NsInverse:
      return {"ratio", "idle time, shown as the busy share of the interval"};
    case CounterType::kMultiTimer:
    case CounterType::kMultiTimer100Ns:
      return {"ratio", "busy time of several parts, share of the interval"};
    case CounterType::kMultiTimerInverse:
    case CounterType::kMultiTimer100NsInverse:
      return {"ratio", "idle time of several parts, shown as the busy share"};
    case CounterType::kSampleFraction:
      return {"ratio", "hits of those counted in the interval"};
    case CounterType::kRawFraction:
    case CounterType::kLargeRawFraction:
      return {"ratio", "part of its base, as stored"};
    case CounterType::kAverageTimer:
      return {"average", "time of one operation"};
    case CounterType::kAverageBulk:
      return {"average", "amount of one operation"};
    case CounterType::kElapsedTime:
      return {"time", "since a start"};
    case CounterType::kText:
      return {"text", "text as stored"};
    case CounterType::kComposite:
      return {"none", "number without a formula"};
    case CounterType::kNoData:
      return {"none", "no number"};
    case CounterType::kSampleBase:
    case CounterType::kAverageBase:
    case CounterType::kRawBase:
    case CounterType::kLargeRawBase:
    case CounterType::kMultiBase:
      return {"base", "denominator of another counter"};
  }
  return {"unknown", "a type without a formula"};
}

KindWords kind_of(const CounterView& counter) noexcept {
  if (counter.form != ValueForm::kDistribution) return kind_of(counter.type);
  if (counter.word == kNoCounter) return {"percentile", "no more than this, so many per cent"};
  return {"distribution",
          is_rate(counter.type) ? "values recorded, per second" : "values recorded"};
}

std::string type_text(CounterType type) {
  const auto name = name_of(type);
  return name.empty() ? fmt::format("{:#010x}", bits_of(type)) : std::string(name);
}

std::string cooked_unit(const CounterView& counter) {
  const bool counts = counter.form == ValueForm::kDistribution && counter.word != kNoCounter;
  if (counts) return is_rate(counter.type) ? "1/s" : "1";
  if (is_rate(counter.type)) {
    return (counter.unit.empty() || counter.unit == "1" ? "1" : counter.unit) + "/s";
  }
  const auto kind = kind_of(counter.type).kind;
  if (kind == "ratio") return "%";
  if (counter.type == CounterType::kAverageTimer || kind == "time") return "s";
  return counter.unit;
}

std::string stored_unit(const CounterView& counter) {
  if (counter.form == ValueForm::kDistribution) return "1";
  switch (counter.type) {
    case CounterType::kTimer100Ns:
    case CounterType::kTimer100NsInverse:
    case CounterType::kPrecision100NsTimer:
    case CounterType::kMultiTimer100Ns:
    case CounterType::kMultiTimer100NsInverse:
      return "100.ns";  // as UCUM writes ticks of 100 ns
    default:
      return counter.unit;
  }
}

void append_stored(const Value& row, std::string& out) {
  if (row.counter->form == ValueForm::kReal) return append_exact(row.cooked.value, out);
  const bool is_signed = row.counter->form == ValueForm::kSigned;
  const fmt::format_int digits = is_signed
                                     ? fmt::format_int(static_cast<std::int64_t>(row.raw.value))
                                     : fmt::format_int(row.raw.value);
  out.append(digits.data(), digits.size());
}

std::string stored_text(const Value& row) {
  std::string text;
  append_stored(row, text);
  return text;
}

std::optional<std::string> exact_text(const Value& row, UnitStyle units) {
  const CounterView& counter = *row.counter;
  if (!counter.unit.empty() && units != UnitStyle::kBase) return std::nullopt;
  const bool is_integer =
      counter.form == ValueForm::kUnsigned || counter.form == ValueForm::kSigned;
  if (!is_integer || counter.word == kNoCounter || kind_of(counter.type).kind != "level" ||
      stored_number(row) != row.cooked.value) {
    return std::nullopt;
  }
  if (counter.unit.empty()) return stored_text(row);
  const BaseUnit base = base_unit_of(counter.unit);
  if (!base.is_same()) return std::nullopt;
  return stored_text(row) + (base.unit == "1" ? "" : " " + base.unit);
}

double stored_number(const Value& row) noexcept {
  switch (row.counter->form) {
    case ValueForm::kReal:
      return row.cooked.value;  // a real value is cooked by reading it
    case ValueForm::kSigned:
      return static_cast<double>(static_cast<std::int64_t>(row.raw.value));
    default:
      return static_cast<double>(row.raw.value);
  }
}

std::string_view status_word(const Value& row, bool raw) noexcept {
  if (row.status() != RowStatus::kFresh) return name_of(row.status());
  if (raw && row_has_value(row, true)) return "ok";
  switch (row.cooked.status) {
    case CookStatus::kNew:
    case CookStatus::kUnchanged:
      return "ok";
    case CookStatus::kBelowRange:
      return "below-range";
    case CookStatus::kAboveRange:
      return "above-range";
    case CookStatus::kFirstSample:
      return "no-rate-yet";
    case CookStatus::kNoNewSample:
      return "no-new-sample";
    case CookStatus::kReset:
      return "reset";
    case CookStatus::kNegativeBase:
      return "negative-base";
    case CookStatus::kNegativeTime:
      return "negative-time";
    case CookStatus::kZeroBase:
      return "zero-base";
    case CookStatus::kTypeChanged:
      return "type-changed";
    case CookStatus::kNotCookable:
      return "not-cookable";
    case CookStatus::kNotFinite:
      return "not-finite";
    case CookStatus::kNoValue:
      return "no-value";
  }
  return "no-value";
}

bool row_has_value(const Value& row, bool raw) noexcept {
  if (!holds_values(row.status())) return false;
  // What an expression made is stored nowhere, and neither is a percentile.
  if (raw && row.counter->word == kNoCounter) return false;
  if (raw && row.counter->form != ValueForm::kReal) return true;
  if (!has_value(row.cooked.status)) return false;
  if (raw) return true;
  // A rate of a dead provider would read as a steady zero.
  return row.status() != RowStatus::kDead || !needs_two_samples(row.counter->type);
}

}  // namespace meterbank::cli
