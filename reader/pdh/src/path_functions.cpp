// SPDX-License-Identifier: Apache-2.0
//
// The functions that take paths apart and put them together, and the description of a counter,
// which has its path in parts. Only this one looks anything up.
#include <cstddef>
#include <string>

#include "calls.hpp"
#include "meterbank/pdh/utf16_functions.h"
#include "query/format_value.hpp"
#include "text/caller_buffer.hpp"

namespace meterbank::pdh {
namespace {

template <typename Character>
using Block = PointingBlock<Character>;

// The strings of a path behind a structure. What the path leaves out is null.
template <typename Character>
typename Forms<Character>::Elements store_elements(const PathElements& path,
                                                   Block<Character>& block) {
  const auto add = [&block](const std::optional<std::string>& text) {
    return text ? block.add(*text) : nullptr;
  };
  typename Forms<Character>::Elements elements{};
  if (!path.machine.empty()) elements.szMachineName = block.add("\\\\" + path.machine);
  elements.szObjectName = block.add(path.object);
  elements.szInstanceName = add(path.instance);
  elements.szParentInstance = add(path.parent);
  elements.dwInstanceIndex = path.index.value_or(kNoIndex);
  elements.szCounterName = block.add(path.counter);
  return elements;
}

template <typename Character>
PDH_STATUS parse_counter_path(const Character* path, typename Forms<Character>::Elements* elements,
                              LPDWORD bytes, DWORD flags) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{elements, bytes};
    if (path == nullptr || !buffer.is_sound() || flags != 0) return PDH_INVALID_ARGUMENT;
    const auto text = text_of(path, PDH_MAX_COUNTER_PATH);
    const auto parsed = text ? parse_elements(*text) : std::nullopt;
    if (!parsed) return PDH_INVALID_PATH;
    Block<Character> block(elements, sizeof *elements);
    block.put(0, store_elements(*parsed, block));
    return buffer.fill(block.bytes());
  });
}

// False: it is not a text. Null is an empty part.
template <typename Character>
bool read_part(const Character* text, std::size_t characters_max,
               std::optional<std::string>& part) {
  if (text == nullptr) return true;
  part = text_of(text, characters_max);
  return part.has_value();
}

// A member of a structure in the characters that the function is about.
template <typename Character, typename Text>
const Character* characters_of(Text text) noexcept {
  return reinterpret_cast<const Character*>(text);
}

template <typename Character>
std::optional<PathElements> read_elements(const typename Forms<Character>::Elements& from) {
  std::optional<std::string> machine, object, counter;
  PathElements path;
  const bool is_text =
      read_part(characters_of<Character>(from.szMachineName), kMachineCharactersMax, machine) &&
      read_part(characters_of<Character>(from.szObjectName), PDH_MAX_COUNTER_NAME, object) &&
      read_part(characters_of<Character>(from.szInstanceName), PDH_MAX_INSTANCE_NAME,
                path.instance) &&
      read_part(characters_of<Character>(from.szParentInstance), PDH_MAX_INSTANCE_NAME,
                path.parent) &&
      read_part(characters_of<Character>(from.szCounterName), PDH_MAX_COUNTER_NAME, counter);
  if (!is_text) return std::nullopt;
  path.machine = machine.value_or("");
  while (path.machine.starts_with('\\')) path.machine.erase(0, 1);
  path.object = object.value_or("");
  path.counter = counter.value_or("");
  if (path.instance && path.instance->empty()) path.instance.reset();
  if (!path.instance || (path.parent && path.parent->empty())) path.parent.reset();
  if (path.instance && from.dwInstanceIndex != kNoIndex) path.index = from.dwInstanceIndex;
  return path;
}

template <typename Character>
PDH_STATUS make_counter_path(const typename Forms<Character>::Elements* elements, Character* path,
                             LPDWORD characters, DWORD flags) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{path, characters, sizeof(Character)};
    if (elements == nullptr || !buffer.is_sound() || flags != 0) return PDH_INVALID_ARGUMENT;
    const auto read = read_elements<Character>(*elements);
    const auto printed = read ? print_elements(*read) : std::nullopt;
    if (!printed) return PDH_INVALID_ARGUMENT;
    std::vector<std::byte> text;
    append_text<Character>(*printed, text);
    return buffer.fill(text);
  });
}

template <typename Character>
PDH_STATUS parse_instance_name(const Character* text, const CallerBuffer& name,
                               const CallerBuffer& parent, LPDWORD index) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const bool is_complete = text != nullptr && index != nullptr;
    if (!is_complete || !name.is_sound() || !parent.is_sound()) return PDH_INVALID_ARGUMENT;
    const auto utf8 = text_of(text, PDH_MAX_COUNTER_PATH);
    const auto parsed = utf8 ? parse_instance(*utf8) : std::nullopt;
    if (!parsed) return PDH_INVALID_INSTANCE;
    std::vector<std::byte> name_text, parent_text;
    append_text<Character>(parsed->instance, name_text);
    append_text<Character>(parsed->parent.value_or(""), parent_text);
    *index = parsed->index.value_or(0);
    const PDH_STATUS named = name.fill(name_text);
    const PDH_STATUS placed = parent.fill(parent_text);
    return named != ERROR_SUCCESS ? named : placed;
  });
}

template <typename Character>
PDH_STATUS describe_counter(PDH_HCOUNTER counter, bool with_help, LPDWORD bytes,
                            typename Forms<Character>::Info* target) noexcept {
  using Info = typename Forms<Character>::Info;
  const CallerBuffer buffer{target, bytes};
  if (!buffer.is_sound()) return PDH_INVALID_ARGUMENT;
  return with_counter(counter, [&](PdhQuery& query) {
    return query.read(
        number_of(counter), {}, [&](const CounterFacts& facts, const LastValues& last) {
          const CounterView& known = *facts.found.counter;
          PathElements path = facts.path;
          path.machine = machine_name();
          Block<Character> block(target, sizeof(Info));
          Info info{};
          info.dwType = bits_of(known.type);
          info.CStatus = last.readings.empty() ? last.absent : last.readings.front().status;
          info.lScale = facts.scale;
          info.lDefaultScale = known.scale;
          info.dwUserData = facts.user;
          info.dwQueryUserData = facts.query_user;
          info.szFullPath = block.add(print_elements(path).value_or(""));
          info.CounterPath = store_elements(path, block);
          if (with_help) info.szExplainText = block.add(known.help);
          info.dwLength = static_cast<DWORD>(block.bytes().size());
          block.put(0, info);
          return buffer.fill(block.bytes());
        });
  });
}

}  // namespace
}  // namespace meterbank::pdh

using meterbank::pdh::CallerBuffer;

extern "C" {

PDH_STATUS PdhGetCounterInfoA(PDH_HCOUNTER counter, BOOLEAN with_help, LPDWORD bytes,
                              PPDH_COUNTER_INFO_A info) {
  return meterbank::pdh::describe_counter<char>(counter, with_help != FALSE, bytes, info);
}
PDH_STATUS PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_help, LPDWORD bytes,
                              PPDH_COUNTER_INFO_W info) {
  return meterbank::pdh::describe_counter<wchar_t>(counter, with_help != FALSE, bytes, info);
}
PDH_STATUS meterbank_utf16_PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN with_help,
                                              LPDWORD bytes, PPDH_COUNTER_INFO_W info) {
  return meterbank::pdh::describe_counter<char16_t>(counter, with_help != FALSE, bytes, info);
}

PDH_STATUS PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A elements, LPDWORD bytes,
                                DWORD flags) {
  return meterbank::pdh::parse_counter_path(path, elements, bytes, flags);
}
PDH_STATUS PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements, LPDWORD bytes,
                                DWORD flags) {
  return meterbank::pdh::parse_counter_path(path, elements, bytes, flags);
}
PDH_STATUS meterbank_utf16_PdhParseCounterPathW(const char16_t* path,
                                                PPDH_COUNTER_PATH_ELEMENTS_W elements,
                                                LPDWORD bytes, DWORD flags) {
  return meterbank::pdh::parse_counter_path(path, elements, bytes, flags);
}

PDH_STATUS PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A elements, LPSTR path,
                               LPDWORD characters, DWORD flags) {
  return meterbank::pdh::make_counter_path(elements, path, characters, flags);
}
PDH_STATUS PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path,
                               LPDWORD characters, DWORD flags) {
  return meterbank::pdh::make_counter_path(elements, path, characters, flags);
}
PDH_STATUS meterbank_utf16_PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements,
                                               char16_t* path, LPDWORD characters, DWORD flags) {
  return meterbank::pdh::make_counter_path(elements, path, characters, flags);
}

PDH_STATUS PdhParseInstanceNameA(LPCSTR text, LPSTR name, LPDWORD name_characters, LPSTR parent,
                                 LPDWORD parent_characters, LPDWORD index) {
  return meterbank::pdh::parse_instance_name(text, CallerBuffer{name, name_characters},
                                             CallerBuffer{parent, parent_characters}, index);
}
PDH_STATUS PdhParseInstanceNameW(LPCWSTR text, LPWSTR name, LPDWORD name_characters, LPWSTR parent,
                                 LPDWORD parent_characters, LPDWORD index) {
  return meterbank::pdh::parse_instance_name(
      text, CallerBuffer{name, name_characters, sizeof(wchar_t)},
      CallerBuffer{parent, parent_characters, sizeof(wchar_t)}, index);
}
PDH_STATUS meterbank_utf16_PdhParseInstanceNameW(const char16_t* text, char16_t* name,
                                                 LPDWORD name_characters, char16_t* parent,
                                                 LPDWORD parent_characters, LPDWORD index) {
  return meterbank::pdh::parse_instance_name(
      text, CallerBuffer{name, name_characters, sizeof(char16_t)},
      CallerBuffer{parent, parent_characters, sizeof(char16_t)}, index);
}

}  // extern "C"
