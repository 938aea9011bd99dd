// SPDX-License-Identifier: Apache-2.0
//
// The names of the typed header.
//
// A counterset "Demo Orders" becomes DemoOrders, and what belongs to it begins with that: its
// counters kAccepted are those of DemoOrdersCounter, functions say what they do and to which
// counter: add_accepted().
//
// A base counter without a symbol is named after the first counter that it serves: the base of
// `latency` is latency_base, its clock latency_time, that clock's frequency latency_frequency, and
// the number of its components latency_count; else counter_ID.
//
// Names that would be the same twice get _2, _3 and so on, in the order of the manifest; but a
// counter that has its name of itself keeps it from a base that would be given it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/output/output.hpp"

namespace meterbank::generator {

struct CounterNames {
  std::string word;        // accepted: what functions end with
  std::string enumerator;  // kAccepted
};

struct CountersetNames {
  std::string registration;  // DemoOrders: what the others begin with
  std::vector<CounterNames> counters;

  [[nodiscard]] std::string with(const std::string& end) const { return registration + end; }
};

// In the order of the manifest.
[[nodiscard]] std::vector<CountersetNames> names_of(const Manifest& manifest);

// An identifier that is no keyword, and that neither the standard library nor a compiler has for a
// macro or namespace.
[[nodiscard]] bool is_free_name(std::string_view name) noexcept;

// The option's, or the provider's symbol, or its name; with _counters behind it if that
// name is taken.
[[nodiscard]] std::string name_space_of(const Manifest& manifest, const OutputOptions& options);

}  // namespace meterbank::generator
