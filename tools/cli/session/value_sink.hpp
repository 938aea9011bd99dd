// SPDX-License-Identifier: Apache-2.0
//
// Walking over the values of a sample, and keeping some of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

// What a walk hands its values to: any function of a Value that returns whether it wants more.
// Refers to the function, so pass a lambda in place.
class ValueSink {
 public:
  // Stands for the function, hence implicit; never a copy of a ValueSink.
  template <typename F>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload,google-explicit-constructor)
  requires(!std::is_same_v<std::remove_cvref_t<F>, ValueSink>) ValueSink(F&& take)
  noexcept
      : take_(const_cast<void*>(static_cast<const void*>(&take))),
        call_([](void* function, const Value& value) -> bool {
          return (*static_cast<std::remove_reference_t<F>*>(function))(value);
        }) {}

  // False: enough.
  bool operator()(const Value& value) const { return call_(take_, value); }

 private:
  void* take_;
  bool (*call_)(void*, const Value&);
};

// Walks over values, as often as it is called: a table of millions is never held at once.
using RowWalk = std::function<void(ValueSink)>;

// A copy of a value that outlives the iteration, but not the samples.
class KeptValue {
 public:
  KeptValue(const Row& row, const Value& value) : row_(row), value_(value) {
    value_.row = &row_;
    if (value.distribution != nullptr)
      value_.distribution = &distribution_.emplace(*value.distribution);
    if (value.text) value_.text = text_.emplace(*value.text);
  }
  explicit KeptValue(const Value& value) : KeptValue(*value.row, value) {}
  KeptValue(const KeptValue&) = delete;
  KeptValue& operator=(const KeptValue&) = delete;
  ~KeptValue() = default;

  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  Row row_;
  Value value_;
  std::optional<Distribution> distribution_;
  std::optional<std::string> text_;
};

}  // namespace meterbank::cli
