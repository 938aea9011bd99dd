// SPDX-License-Identifier: Apache-2.0
//
// What the typed header lets one do with a counter: which functions there are, and what they call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/output/cpp/names.hpp"

namespace meterbank::generator {

// void name(type parameter) noexcept { before statement }
struct Member {
  std::string name, type, parameter, statement;
  std::string before = {};  // mostly nothing
};

// A counter that its row's position does not suffice for, or that a program may want by itself.
struct Handle {
  std::string type;      // "Recorder"
  std::string name;      // "latency_recorder"
  std::string found_by;  // "recorder": the function of an instance that finds it
};

enum class MemberOf : std::uint8_t { kUpdate, kInstance };

// The functions of one counter.
class CounterMembers {
 public:
  CounterMembers(const CountersetSpec& set, const CounterSpec& counter,
                 const CountersetNames& set_names, const CounterNames& names) noexcept
      : set_(set), counter_(counter), set_names_(set_names), names_(names) {}

  [[nodiscard]] std::vector<Member> members(MemberOf owner) const;
  // What the functions of the instance need. Nothing, with an empty name, for most.
  [[nodiscard]] Handle kept_handle() const;
  // What a getter returns: nothing for counters of 32 bits, whose width it would forget.
  [[nodiscard]] Handle given_handle() const;
  // "DemoOrdersCounter::kAccepted"
  [[nodiscard]] std::string position() const;

 private:
  [[nodiscard]] std::vector<Member> number_members(MemberOf owner) const;
  [[nodiscard]] std::vector<Member> any_thread_members(MemberOf owner) const;
  [[nodiscard]] std::vector<Member> sharded_members(MemberOf owner) const;
  [[nodiscard]] std::vector<Member> timed_members(MemberOf owner) const;
  [[nodiscard]] Member through_handle(MemberOf owner, std::string_view verb,
                                      std::string_view function, const std::string& type,
                                      const std::string& argument) const;
  [[nodiscard]] std::string_view number() const noexcept;
  [[nodiscard]] std::string parameter(std::string_view otherwise) const;

  const CountersetSpec& set_;
  const CounterSpec& counter_;
  const CountersetNames& set_names_;
  const CounterNames& names_;
};

[[nodiscard]] bool is_sharded(const CountersetSpec& set) noexcept;

}  // namespace meterbank::generator
