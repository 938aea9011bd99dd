// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/members.hpp"

#include <array>
#include <utility>

namespace meterbank::generator {
namespace {

// Units that have a word of their own. The others are said in the comment.
constexpr std::array kUnitWords{
    std::pair<std::string_view, std::string_view>{"s", "seconds"},
    std::pair<std::string_view, std::string_view>{"ms", "milliseconds"},
    std::pair<std::string_view, std::string_view>{"us", "microseconds"},
    std::pair<std::string_view, std::string_view>{"ns", "nanoseconds"},
    std::pair<std::string_view, std::string_view>{"By", "bytes"},
    std::pair<std::string_view, std::string_view>{"KiBy", "kibibytes"},
    std::pair<std::string_view, std::string_view>{"Cel", "degrees_celsius"},
    std::pair<std::string_view, std::string_view>{"%", "percent"},
};

// What is set as a whole: a clock, an elapsed time, the denominator of a fraction.
bool is_only_set(CounterType type) noexcept {
  return type == CounterType::kElapsedTime || is_base(type);
}

std::string exact(std::string_view type) { return "meterbank::Exact<" + std::string(type) + ">"; }
constexpr std::string_view kSigned = "std::int64_t";

}  // namespace

bool is_sharded(const CountersetSpec& set) noexcept { return set.sharded || set.shards != 0; }

std::string CounterMembers::position() const {
  return set_names_.with("Counter::") + names_.enumerator;
}

std::string CounterMembers::parameter(std::string_view otherwise) const {
  for (const auto& [unit, word] : kUnitWords) {
    if (counter_.unit == unit) return std::string(word);
  }
  return std::string(otherwise);
}

std::string_view CounterMembers::number() const noexcept {
  return width_of(counter_.type) == 4 ? "std::uint32_t" : "std::uint64_t";
}

Handle CounterMembers::kept_handle() const {
  const std::string sharded = is_sharded(set_) ? "Sharded" : "";
  if (counter_.form == ValueForm::kDistribution) {
    return {sharded + "Recorder", names_.word + "_recorder", "recorder"};
  }
  if (counter_.form == ValueForm::kText) return {"TextCounter", names_.word + "_text", "text"};
  if (counter_.timed) return {"Gauge", names_.word + "_gauge", "gauge"};
  // Of a sharded set any counter is for any thread, and there is no atomic addition to a real
  // number.
  const bool has_counter = !is_sharded(set_) && counter_.form != ValueForm::kReal;
  if (counter_.any_thread && has_counter) {
    return {"Counter", names_.word + "_counter", "counter"};
  }
  return {};
}

Handle CounterMembers::given_handle() const {
  if (auto kept = kept_handle(); !kept.name.empty() && kept.type != "Counter") return kept;
  if (width_of(counter_.type) != 8 || counter_.form != ValueForm::kUnsigned) return {};
  return {is_sharded(set_) ? "ShardedCounter" : "Counter", names_.word + "_counter", "counter"};
}

std::vector<Member> CounterMembers::members(MemberOf owner) const {
  if (counter_.form == ValueForm::kDistribution) {
    return {through_handle(owner, "record", "record", "double", parameter("value"))};
  }
  if (counter_.form == ValueForm::kText) {
    return {through_handle(owner, "set", "set", "std::string_view", "text")};
  }
  if (is_sharded(set_)) return sharded_members(owner);
  if (counter_.any_thread) return any_thread_members(owner);
  return counter_.timed ? timed_members(owner) : number_members(owner);
}

// Where the handle is: values_->record(handles_->latency_recorder, seconds), in an instance
// handles_.latency_recorder.record(seconds).
Member CounterMembers::through_handle(MemberOf owner, std::string_view verb,
                                      std::string_view function, const std::string& type,
                                      const std::string& argument) const {
  const std::string call(function);
  const std::string handle = kept_handle().name;
  return {std::string(verb) + "_" + names_.word, type, argument,
          owner == MemberOf::kUpdate
              ? "values_->" + call + "(handles_->" + handle + ", " + argument + ");"
              : "handles_." + handle + "." + call + "(" + argument + ");"};
}

std::vector<Member> CounterMembers::number_members(MemberOf owner) const {
  const std::string type = exact(number());
  const std::string target = owner == MemberOf::kUpdate ? "values_->" : "instance_.";
  const std::string add = "add_" + names_.word;
  const std::string set = "set_" + names_.word;
  const std::string n = parameter("n");
  const std::string value = parameter("value");
  const std::string at = position();
  const auto call = [&](std::string_view function, const std::string& argument) {
    return target + std::string(function) + "(" + at + ", " + argument + ");";
  };
  if (counter_.form == ValueForm::kReal) {
    return {{set, exact("double"), value,
             call("set", "std::bit_cast<std::uint64_t>(double{" + value + "})")},
            {add, exact("double"), n, set + "(now + " + n + ");",
             "const double now = std::bit_cast<double>(" + target + "value(" + at + "));"}};
  }
  if (counter_.form == ValueForm::kSigned) {
    return {{set, exact(kSigned), value, call("set", "static_cast<std::uint64_t>(" + value + ")")},
            {add, exact(kSigned), n, call("add", "static_cast<std::uint64_t>(" + n + ")")}};
  }
  if (is_count(counter_.type)) return {{add, type, n, call("add", n)}};
  std::vector<Member> members{{set, type, value, call("set", value)}};
  if (is_only_set(counter_.type)) return members;
  members.push_back({add, type, n, call("add", n)});
  members.push_back(
      {"subtract_" + names_.word, type, n, call("add", "0 - std::uint64_t{" + n + "}")});
  return members;
}

// Not in an update: between a load and a store of its thread, another may add.
std::vector<Member> CounterMembers::any_thread_members(MemberOf owner) const {
  if (owner == MemberOf::kUpdate) return {};
  std::vector<Member> members;
  if (!is_count(counter_.type)) members.push_back(number_members(owner).front());
  if (counter_.form == ValueForm::kReal) return members;
  if (!is_count(counter_.type) && is_only_set(counter_.type)) return members;
  const bool is_signed = counter_.form == ValueForm::kSigned;
  const std::string n = parameter("n");
  members.push_back({"add_" + names_.word + "_from_any_thread",
                     exact(is_signed ? kSigned : number()), n,
                     "handles_." + kept_handle().name + ".add_from_any_thread(" +
                         (is_signed ? "static_cast<std::uint64_t>(" + n + ")" : n) + ");"});
  return members;
}

std::vector<Member> CounterMembers::timed_members(MemberOf owner) const {
  const std::string value = parameter("value");
  const std::string n = parameter("n");
  const std::string set = "set_" + names_.word;
  const std::string add = "add_" + names_.word;
  const std::string old =
      (owner == MemberOf::kUpdate ? "values_->value(" : "instance_.value(") + position() + ")";
  const std::string now = "const std::uint64_t now = " + old + ";";
  if (counter_.form == ValueForm::kReal) {
    return {through_handle(owner, "set", "set", exact("double"), value),
            {add, exact("double"), n, set + "(now + " + n + ");",
             "const double now = std::bit_cast<double>(" + old + ");"}};
  }
  if (counter_.form == ValueForm::kSigned) {
    return {
        through_handle(owner, "set", "set_signed", exact(kSigned), value),
        {add, exact(kSigned), n,
         set + "(static_cast<std::int64_t>(now + static_cast<std::uint64_t>(" + n + ")));", now}};
  }
  return {through_handle(owner, "set", "set_unsigned", exact("std::uint64_t"), value),
          {add, exact("std::uint64_t"), n, set + "(now + " + n + ");", now},
          {"subtract_" + names_.word, exact("std::uint64_t"), n, set + "(now - " + n + ");", now}};
}

// Threads cannot set one value: they add to it, or raise or lower it.
std::vector<Member> CounterMembers::sharded_members(MemberOf owner) const {
  const std::string target = owner == MemberOf::kUpdate ? "values_->" : "instance_.";
  const auto member = [&](const std::string& verb, std::string_view function,
                          const std::string& name, const std::string& argument) {
    return Member{verb + "_" + names_.word, exact(number()), name,
                  target + std::string(function) + "(" + position() + ", " + argument + ");"};
  };
  const std::string n = parameter("n");
  const std::string value = parameter("value");
  if (is_count(counter_.type)) return {member("add", "add", n, n)};
  if (counter_.aggregate == kAggregateMaximum) return {member("raise", "raise", value, value)};
  if (counter_.aggregate == kAggregateMinimum) return {member("lower", "lower", value, value)};
  return {member("add", "add", n, n), member("subtract", "add", n, "0 - std::uint64_t{" + n + "}")};
}

}  // namespace meterbank::generator
