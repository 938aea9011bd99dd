// SPDX-License-Identifier: Apache-2.0
#include "generator/output/c/spellings.hpp"

#include <fmt/format.h>

#include <initializer_list>

#include "generator/output/cpp/spellings.hpp"

namespace meterbank::generator {
namespace {

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

struct Flag {
  bool is_set;
  std::string_view name;
};
std::string joined(std::initializer_list<Flag> flags) {
  std::string text;
  for (const Flag& flag : flags) {
    if (!flag.is_set) continue;
    text.append(text.empty() ? "" : " | ").append(flag.name);
  }
  return text;
}

}  // namespace

std::string upper_case_of(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char before = i == 0 ? '_' : name[i - 1];
    const bool begins_word =
        (is_upper(c) && is_lower(before)) || (is_digit(c) && is_lower(before) && is_upper(name[0]));
    if (begins_word) text += '_';
    text += is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

std::string c_constant_of(CounterType type) {
  return "MB_TYPE_" + upper_case_of(enumerator_of(type).substr(1));
}
std::string c_constant_of(ValueForm form) {
  return "MB_FORM_" + upper_case_of(enumerator_of(form).substr(1));
}
std::string c_constant_of(InstanceKind kind) {
  return "MB_INSTANCES_" + upper_case_of(enumerator_of(kind).substr(1));
}
std::string c_aggregate(std::uint32_t aggregate) {
  return "MB_" + upper_case_of(aggregate_constant(aggregate).substr(1));
}

std::string c_guid(const Guid& guid) {
  std::string rest;
  for (const std::uint8_t byte : guid.part4) {
    rest += fmt::format("{}{:#04x}", rest.empty() ? "" : ", ", byte);
  }
  return fmt::format("{{{:#010x}, {:#06x}, {:#06x}, {{{}}}}}", guid.part1, guid.part2, guid.part3,
                     rest);
}

std::string c_flags_of(const CounterSpec& counter) {
  return joined(
      {{counter.timed, "MB_COUNTER_TIMED"}, {counter.any_thread, "MB_COUNTER_ANY_THREAD"}});
}
std::string c_flags_of(const CountersetSpec& set) {
  return joined({{identity_of(set) == InstanceIdentity::kNameAndId, "MB_SET_NAME_AND_ID"},
                 {set.consistency == Consistency::kIndependent, "MB_SET_INDEPENDENT"},
                 {set.many, "MB_SET_MANY"},
                 {!set.checkpoint, "MB_SET_NO_CHECKPOINT"},
                 {set.stamped, "MB_SET_STAMPED"},
                 {set.cuts, "MB_SET_CUTS"},
                 {set.sharded, "MB_SET_SHARDED"},
                 {set.by_processor, "MB_SET_BY_PROCESSOR"}});
}

}  // namespace meterbank::generator
