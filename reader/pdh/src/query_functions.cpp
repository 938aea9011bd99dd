// SPDX-License-Identifier: Apache-2.0
//
// The functions about queries as wholes. Those with text exist three times: for char, for programs
// whose wchar_t has 32 bits under the names of Windows, for programs with 16 bits (-fshort-wchar)
// under the names that windef.h's METERBANK_WIDE_SYMBOL gives.
#include <utility>

#include "calls.hpp"
#include "log/log_source.hpp"
#include "log/open_log.hpp"
#include "meterbank/pdh/utf16_functions.h"
#include "meterbank/windows/handle_table.hpp"
#include "query/live_source.hpp"

namespace meterbank::pdh {
namespace {

PDH_STATUS open_live(std::unique_ptr<CounterSource>& source) {
  std::optional<Catalog> catalog;
  const PDH_STATUS status = open_catalog(catalog);
  if (status == ERROR_SUCCESS) source = std::make_unique<LiveSource>(std::move(*catalog));
  return status;
}

PDH_STATUS open_files(std::vector<std::string> files, std::unique_ptr<CounterSource>& source) {
  std::optional<LogMerge> logs;
  const PDH_STATUS status = open_logs(files, logs);
  if (status != ERROR_SUCCESS) return status;
  source = std::make_unique<LogSource>(std::move(files), std::move(*logs));
  return ERROR_SUCCESS;
}

// `open` makes the source.
template <typename F>
PDH_STATUS open_query(std::uintptr_t user, PDH_HQUERY* query, F&& open) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if (query == nullptr) return PDH_INVALID_ARGUMENT;
    *query = nullptr;
    std::unique_ptr<CounterSource> source;
    if (const PDH_STATUS status = open(source); status != ERROR_SUCCESS) return status;
    *query = handle_of(
        PdhHandles::all().insert_query(std::make_shared<PdhQuery>(std::move(source), user)));
    return ERROR_SUCCESS;
  });
}

// A null file is the machine as it is now.
template <typename Character>
PDH_STATUS open_named(const Character* file, std::uintptr_t user, PDH_HQUERY* query) noexcept {
  return open_query(user, query, [file](std::unique_ptr<CounterSource>& source) -> PDH_STATUS {
    if (file == nullptr) return open_live(source);
    const auto name = text_of(file, kFileCharactersMax);
    return name ? open_files({*name}, source) : PDH_FILE_NOT_FOUND;
  });
}

PDH_STATUS open_bound(PDH_HLOG log, std::uintptr_t user, PDH_HQUERY* query) noexcept {
  return open_query(user, query, [log](std::unique_ptr<CounterSource>& source) -> PDH_STATUS {
    if (log == nullptr) return open_live(source);
    const auto found = LogHandles::shared().find(log);
    if (found == nullptr || found->writer != nullptr) return PDH_INVALID_HANDLE;
    return open_files(found->files, source);
  });
}

// Closes what was added if the rest fails.
PDH_STATUS insert_counter(PdhQuery& query, std::uintptr_t number, PDH_HQUERY handle) {
  try {
    if (PdhHandles::all().insert_counter(number, number_of(handle))) return ERROR_SUCCESS;
  } catch (const std::bad_alloc&) {
    static_cast<void>(query.remove(number));
    throw;
  }
  return PDH_INVALID_HANDLE;
}

template <typename Character>
PDH_STATUS add_counter(PDH_HQUERY handle, const Character* path, std::uintptr_t user,
                       PDH_HCOUNTER* counter) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if (counter == nullptr || path == nullptr) return PDH_INVALID_ARGUMENT;
    *counter = nullptr;
    const auto query = PdhHandles::all().query(number_of(handle));
    if (query == nullptr) return PDH_INVALID_HANDLE;
    if (path[0] == 0) return PDH_CSTATUS_NO_COUNTERNAME;
    const auto text = text_of(path, PDH_MAX_COUNTER_PATH);
    const auto elements = text ? parse_elements(*text) : std::nullopt;
    const bool has_wildcards =
        elements && (has_wildcard(elements->object) || has_wildcard(elements->counter));
    if (!elements || has_wildcards) return PDH_CSTATUS_BAD_COUNTERNAME;
    const std::uintptr_t number = windows::next_handle();
    PDH_STATUS status = query->add(number, *elements, user);
    if (status == ERROR_SUCCESS) status = insert_counter(*query, number, handle);
    if (status == ERROR_SUCCESS) *counter = handle_of(number);
    return status;
  });
}

PDH_STATUS remove_counter(PDH_HCOUNTER counter) noexcept {
  return with_counter(counter, [counter](PdhQuery& query) {
    if (!PdhHandles::all().close_counter(number_of(counter))) return PDH_INVALID_HANDLE;
    return query.remove(number_of(counter));
  });
}

PDH_STATUS collect(PDH_HQUERY handle, LONGLONG* time) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const auto query = PdhHandles::all().query(number_of(handle));
    if (query == nullptr) return PDH_INVALID_HANDLE;
    std::int64_t local_time = 0;
    const PDH_STATUS status = query->collect(local_time);
    if (time != nullptr) *time = local_time;
    return status;
  });
}

PDH_STATUS collect_repeatedly(PDH_HQUERY handle, DWORD seconds, HANDLE event) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const auto query = PdhHandles::all().query(number_of(handle));
    return query == nullptr ? PDH_INVALID_HANDLE : query->collect_repeatedly(seconds, event);
  });
}

}  // namespace
}  // namespace meterbank::pdh

using meterbank::pdh::number_of;
using meterbank::pdh::PdhHandles;

extern "C" {

PDH_STATUS PdhGetDllVersion(LPDWORD version) {
  if (version == nullptr) return PDH_INVALID_ARGUMENT;
  *version = PDH_VERSION;
  return ERROR_SUCCESS;
}

PDH_STATUS PdhOpenQueryA(LPCSTR source, DWORD_PTR user, PDH_HQUERY* query) {
  return meterbank::pdh::open_named(source, user, query);
}
PDH_STATUS PdhOpenQueryW(LPCWSTR source, DWORD_PTR user, PDH_HQUERY* query) {
  return meterbank::pdh::open_named(source, user, query);
}
PDH_STATUS meterbank_utf16_PdhOpenQueryW(const char16_t* source, DWORD_PTR user,
                                         PDH_HQUERY* query) {
  return meterbank::pdh::open_named(source, user, query);
}
PDH_STATUS PdhOpenQueryH(PDH_HLOG source, DWORD_PTR user, PDH_HQUERY* query) {
  return meterbank::pdh::open_bound(source, user, query);
}
PDH_STATUS PdhCloseQuery(PDH_HQUERY query) {
  return PdhHandles::all().close_query(number_of(query)) ? ERROR_SUCCESS : PDH_INVALID_HANDLE;
}
BOOL PdhIsRealTimeQuery(PDH_HQUERY query) {
  const auto found = PdhHandles::all().query(number_of(query));
  return found != nullptr && found->is_real_time() ? TRUE : FALSE;
}

PDH_STATUS PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user, PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS meterbank_utf16_PdhAddCounterW(PDH_HQUERY query, const char16_t* path, DWORD_PTR user,
                                          PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user,
                                 PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS meterbank_utf16_PdhAddEnglishCounterW(PDH_HQUERY query, const char16_t* path,
                                                 DWORD_PTR user, PDH_HCOUNTER* counter) {
  return meterbank::pdh::add_counter(query, path, user, counter);
}
PDH_STATUS PdhRemoveCounter(PDH_HCOUNTER counter) {
  return meterbank::pdh::remove_counter(counter);
}

PDH_STATUS PdhCollectQueryData(PDH_HQUERY query) { return meterbank::pdh::collect(query, nullptr); }
PDH_STATUS PdhCollectQueryDataEx(PDH_HQUERY query, DWORD seconds, HANDLE event) {
  return meterbank::pdh::collect_repeatedly(query, seconds, event);
}
PDH_STATUS PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG* time) {
  return time == nullptr ? PDH_INVALID_ARGUMENT : meterbank::pdh::collect(query, time);
}

PDH_STATUS PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor) {
  if (factor < PDH_MIN_SCALE || factor > PDH_MAX_SCALE) return PDH_INVALID_ARGUMENT;
  return meterbank::pdh::with_counter(counter, [&](meterbank::pdh::PdhQuery& query) {
    return query.set_scale(number_of(counter), factor);
  });
}

}  // extern "C"
