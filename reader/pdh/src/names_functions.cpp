// SPDX-License-Identifier: Apache-2.0
//
// The functions that say what there is. They need no handle: each looks at the machine anew.
#include <algorithm>
#include <string>
#include <vector>

#include "calls.hpp"
#include "log/log_source.hpp"
#include "log/open_log.hpp"
#include "meterbank/pdh/utf16_functions.h"
#include "meterbank/reader/glob.hpp"
#include "names/expand_path.hpp"
#include "text/caller_buffer.hpp"

namespace meterbank::pdh {
namespace {

// Longer is no name of an object; the caller's string is not read further.
constexpr std::size_t kObjectCharactersMax = PDH_MAX_COUNTER_NAME;

template <typename Character>
PDH_STATUS connect(const Character* machine) noexcept {
  return guarded([&]() -> PDH_STATUS {
    return is_this_machine(machine) ? ERROR_SUCCESS : PDH_CSTATUS_NO_MACHINE;
  });
}

template <typename Character>
PDH_STATUS list_machines(const Character* source, Character* list, LPDWORD characters) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{list, characters, sizeof(Character)};
    if (!buffer.is_sound()) return PDH_INVALID_ARGUMENT;
    if (source != nullptr) return PDH_INVALID_DATASOURCE;
    return buffer.fill(list_of<Character>({"\\\\" + machine_name()}));
  });
}

bool is_within(const CounterView& counter, DWORD detail) noexcept {
  return is_counter(counter) && !is_base(counter.type) && counter.detail <= detail;
}

std::vector<std::string> counters_within(const Counterset& set, DWORD detail) {
  std::vector<std::string> names;
  for (const CounterView& counter : set.counters) {
    if (is_within(counter, detail)) names.push_back(shown_name(counter));
  }
  return names;
}

// The catalog, where source and machine are those of now and here.
template <typename Character>
PDH_STATUS open_source(const Character* source, const Character* machine,
                       std::optional<Catalog>& catalog) {
  if (source != nullptr) return PDH_INVALID_DATASOURCE;
  if (!is_this_machine(machine)) return PDH_CSTATUS_NO_MACHINE;
  return open_catalog(catalog);
}

template <typename Character>
PDH_STATUS list_objects(const Character* source, const Character* machine, Character* list,
                        LPDWORD characters, DWORD detail) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{list, characters, sizeof(Character)};
    if (!buffer.is_sound()) return PDH_INVALID_ARGUMENT;
    std::optional<Catalog> catalog;
    const PDH_STATUS status = open_source(source, machine, catalog);
    if (status != ERROR_SUCCESS) return status;
    std::vector<std::string> names;
    for (const FoundSet& set : all_sets(*catalog)) {
      if (!counters_within(*set, detail).empty()) names.push_back(shown_name(*set));
    }
    return buffer.fill(list_of<Character>(names));
  });
}

template <typename Character>
PDH_STATUS list_items(const Character* source, const Character* machine, const Character* object,
                      const CallerBuffer& counters, const CallerBuffer& instances, DWORD detail,
                      DWORD flags) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const bool is_sound = counters.is_sound() && instances.is_sound();
    if (object == nullptr || !is_sound || flags != 0) return PDH_INVALID_ARGUMENT;
    std::optional<Catalog> catalog;
    const PDH_STATUS status = open_source(source, machine, catalog);
    if (status != ERROR_SUCCESS) return status;
    const auto name = text_of(object, kObjectCharactersMax);
    const FoundSet set = name ? find_set(*catalog, *name) : nullptr;
    if (set == nullptr) return PDH_CSTATUS_NO_OBJECT;
    std::vector<std::byte> instance_list;  // empty, without its end, for a set without instances
    if (has_instance_names(set->instances)) {
      instance_list = list_of<Character>(instance_names(*catalog, *set));
    }
    const PDH_STATUS of_counters = counters.fill(list_of<Character>(counters_within(*set, detail)));
    const PDH_STATUS of_instances = instances.fill(instance_list);
    return of_counters != ERROR_SUCCESS ? of_counters : of_instances;
  });
}

template <typename Character>
PDH_STATUS expand(const Character* source, const Character* path, Character* list,
                  LPDWORD characters, DWORD flags) noexcept {
  constexpr DWORD kFlags = PDH_NOEXPANDCOUNTERS | PDH_NOEXPANDINSTANCES | PDH_REFRESHCOUNTERS;
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{list, characters, sizeof(Character)};
    const bool is_complete = path != nullptr && buffer.is_sound();
    if (!is_complete || (flags & ~kFlags) != 0) return PDH_INVALID_ARGUMENT;
    const auto text = text_of(path, PDH_MAX_COUNTER_PATH);
    const auto elements = text ? parse_elements(*text) : std::nullopt;
    if (!elements) return PDH_INVALID_PATH;
    if (!names_this_machine(elements->machine)) return PDH_CSTATUS_NO_MACHINE;
    std::optional<Catalog> catalog;
    PDH_STATUS status = open_source<Character>(source, nullptr, catalog);
    if (status != ERROR_SUCCESS) return status;
    std::vector<std::string> paths;
    status = expand_path(*catalog, *elements, flags, paths);
    return status == ERROR_SUCCESS ? buffer.fill(list_of<Character>(paths)) : status;
  });
}

PDH_STATUS find_now(const PathElements& path) {
  std::optional<Catalog> catalog;
  PDH_STATUS status = open_catalog(catalog);
  FoundCounter found;
  if (status == ERROR_SUCCESS) status = find_counter(*catalog, path, found);
  if (status != ERROR_SUCCESS || has_instance(*catalog, found)) return status;
  return PDH_CSTATUS_NO_INSTANCE;
}

PDH_STATUS find_in(PDH_HLOG handle, const PathElements& path) {
  const auto log = LogHandles::shared().find(handle);
  if (log == nullptr || log->writer != nullptr) return PDH_INVALID_HANDLE;
  std::optional<LogMerge> logs;
  const PDH_STATUS status = open_logs(log->files, logs);
  if (status != ERROR_SUCCESS) return status;
  FoundCounter found;
  return LogSource(log->files, std::move(*logs)).find(path, found);
}

// A null log is the machine as it is now.
template <typename Character>
PDH_STATUS validate(PDH_HLOG log, const Character* path) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if (path == nullptr) return PDH_INVALID_ARGUMENT;
    const auto text = text_of(path, PDH_MAX_COUNTER_PATH);
    const auto elements = text ? parse_elements(*text) : std::nullopt;
    if (!elements) return PDH_CSTATUS_BAD_COUNTERNAME;
    return log == nullptr ? find_now(*elements) : find_in(log, *elements);
  });
}

}  // namespace
}  // namespace meterbank::pdh

using meterbank::pdh::CallerBuffer;

extern "C" {

PDH_STATUS PdhConnectMachineA(LPCSTR machine) { return meterbank::pdh::connect(machine); }
PDH_STATUS PdhConnectMachineW(LPCWSTR machine) { return meterbank::pdh::connect(machine); }
PDH_STATUS meterbank_utf16_PdhConnectMachineW(const char16_t* machine) {
  return meterbank::pdh::connect(machine);
}

PDH_STATUS PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD characters) {
  return meterbank::pdh::list_machines(source, list, characters);
}
PDH_STATUS PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD characters) {
  return meterbank::pdh::list_machines(source, list, characters);
}
PDH_STATUS meterbank_utf16_PdhEnumMachinesW(const char16_t* source, char16_t* list,
                                            LPDWORD characters) {
  return meterbank::pdh::list_machines(source, list, characters);
}

PDH_STATUS PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD characters,
                           DWORD detail, BOOL /*refresh*/) {
  return meterbank::pdh::list_objects(source, machine, list, characters, detail);
}
PDH_STATUS PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD characters,
                           DWORD detail, BOOL /*refresh*/) {
  return meterbank::pdh::list_objects(source, machine, list, characters, detail);
}
PDH_STATUS meterbank_utf16_PdhEnumObjectsW(const char16_t* source, const char16_t* machine,
                                           char16_t* list, LPDWORD characters, DWORD detail,
                                           BOOL /*refresh*/) {
  return meterbank::pdh::list_objects(source, machine, list, characters, detail);
}

PDH_STATUS PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters,
                               LPDWORD counter_characters, LPSTR instances,
                               LPDWORD instance_characters, DWORD detail, DWORD flags) {
  return meterbank::pdh::list_items(source, machine, object,
                                    CallerBuffer{counters, counter_characters},
                                    CallerBuffer{instances, instance_characters}, detail, flags);
}
PDH_STATUS PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                               LPDWORD counter_characters, LPWSTR instances,
                               LPDWORD instance_characters, DWORD detail, DWORD flags) {
  return meterbank::pdh::list_items(
      source, machine, object, CallerBuffer{counters, counter_characters, sizeof(wchar_t)},
      CallerBuffer{instances, instance_characters, sizeof(wchar_t)}, detail, flags);
}
PDH_STATUS meterbank_utf16_PdhEnumObjectItemsW(const char16_t* source, const char16_t* machine,
                                               const char16_t* object, char16_t* counters,
                                               LPDWORD counter_characters, char16_t* instances,
                                               LPDWORD instance_characters, DWORD detail,
                                               DWORD flags) {
  return meterbank::pdh::list_items(
      source, machine, object, CallerBuffer{counters, counter_characters, sizeof(char16_t)},
      CallerBuffer{instances, instance_characters, sizeof(char16_t)}, detail, flags);
}

PDH_STATUS PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD characters,
                                  DWORD flags) {
  return meterbank::pdh::expand(source, path, list, characters, flags);
}
PDH_STATUS PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD characters,
                                  DWORD flags) {
  return meterbank::pdh::expand(source, path, list, characters, flags);
}
PDH_STATUS meterbank_utf16_PdhExpandWildCardPathW(const char16_t* source, const char16_t* path,
                                                  char16_t* list, LPDWORD characters, DWORD flags) {
  return meterbank::pdh::expand(source, path, list, characters, flags);
}
PDH_STATUS PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD characters) {
  return meterbank::pdh::expand<char>(nullptr, path, list, characters, 0);
}
PDH_STATUS PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD characters) {
  return meterbank::pdh::expand<wchar_t>(nullptr, path, list, characters, 0);
}
PDH_STATUS meterbank_utf16_PdhExpandCounterPathW(const char16_t* path, char16_t* list,
                                                 LPDWORD characters) {
  return meterbank::pdh::expand<char16_t>(nullptr, path, list, characters, 0);
}

PDH_STATUS PdhValidatePathA(LPCSTR path) { return meterbank::pdh::validate(nullptr, path); }
PDH_STATUS PdhValidatePathW(LPCWSTR path) { return meterbank::pdh::validate(nullptr, path); }
PDH_STATUS meterbank_utf16_PdhValidatePathW(const char16_t* path) {
  return meterbank::pdh::validate(nullptr, path);
}

PDH_STATUS PdhValidatePathExA(PDH_HLOG log, LPCSTR path) {
  return meterbank::pdh::validate(log, path);
}
PDH_STATUS PdhValidatePathExW(PDH_HLOG log, LPCWSTR path) {
  return meterbank::pdh::validate(log, path);
}
PDH_STATUS meterbank_utf16_PdhValidatePathExW(PDH_HLOG log, const char16_t* path) {
  return meterbank::pdh::validate(log, path);
}

}  // extern "C"
