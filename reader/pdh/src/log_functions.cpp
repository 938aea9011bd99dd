// SPDX-License-Identifier: Apache-2.0
//
// The functions about text logs, as data sources and to be written.
#include <fcntl.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "calls.hpp"
#include "log/log_source.hpp"
#include "log/open_log.hpp"
#include "meterbank/pdh/utf16_functions.h"
#include "text/caller_buffer.hpp"

namespace meterbank::pdh {
namespace {

// What PdhOpenLog creates, by its flags. Nothing: what is asked for does not exist for text logs.
std::optional<int> creation_of(DWORD access) noexcept {
  switch (access) {
    case PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW:
      return O_EXCL;
    case PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS:
      return O_TRUNC;
    default:
      return std::nullopt;
  }
}

std::optional<LogFormat> format_of(DWORD type) noexcept {
  if (type == PDH_LOG_TYPE_CSV) return LogFormat::kCsv;
  if (type == PDH_LOG_TYPE_TSV) return LogFormat::kTsv;
  return std::nullopt;
}

PDH_STATUS create_log(const std::string& file, DWORD access, DWORD type, PDH_HQUERY query,
                      OpenLog& log) {
  const auto creation = creation_of(access);
  if (!creation) return PDH_INVALID_ARGUMENT;
  const auto format = format_of(type);
  if (!format) return PDH_UNKNOWN_LOG_FORMAT;
  auto source = PdhHandles::all().query(number_of(query));
  if (source == nullptr) return PDH_INVALID_HANDLE;
  constexpr mode_t kMode = 0666;
  UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | *creation, kMode));
  if (!opened) return errno == EEXIST ? PDH_FILE_ALREADY_EXISTS : PDH_LOG_FILE_CREATE_ERROR;
  log.writer =
      std::make_unique<LogWriter>(std::move(opened), *format, std::move(source), number_of(query));
  return ERROR_SUCCESS;
}

// Opens it once, so that a file that is not a log is refused now.
PDH_STATUS open_to_read(std::vector<std::string> files, DWORD* type, OpenLog& log) {
  std::optional<LogMerge> logs;
  const PDH_STATUS status = open_logs(files, logs);
  if (status != ERROR_SUCCESS) return status;
  if (type != nullptr) {
    *type = logs->header().format == LogFormat::kCsv ? PDH_LOG_TYPE_CSV : PDH_LOG_TYPE_TSV;
  }
  log.files = std::move(files);
  return ERROR_SUCCESS;
}

template <typename Character>
PDH_STATUS open_log(const Character* file, DWORD access, LPDWORD type, PDH_HQUERY query,
                    DWORD bytes_max, PDH_HLOG* handle) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const bool is_complete = file != nullptr && type != nullptr && handle != nullptr;
    if (!is_complete || bytes_max != 0) return PDH_INVALID_ARGUMENT;
    *handle = nullptr;
    const auto name = text_of(file, kFileCharactersMax);
    if (!name || name->empty()) return PDH_INVALID_ARGUMENT;
    auto log = std::make_shared<OpenLog>();
    const bool is_read = access == (PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING);
    const PDH_STATUS status =
        is_read ? open_to_read({*name}, type, *log) : create_log(*name, access, *type, query, *log);
    if (status == ERROR_SUCCESS) *handle = handle_of(LogHandles::shared().insert(std::move(log)));
    return status;
  });
}

// `body` gets the log that the handle stands for, which is written.
template <typename F>
PDH_STATUS with_writer(PDH_HLOG handle, F&& body) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const auto log = LogHandles::shared().find(handle);
    if (log == nullptr || log->writer == nullptr) return PDH_INVALID_HANDLE;
    return body(*log->writer);
  });
}

PDH_STATUS close_log(PDH_HLOG handle, DWORD flags) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if ((flags & ~PDH_FLAGS_CLOSE_QUERY) != 0) return PDH_INVALID_ARGUMENT;
    const auto log = LogHandles::shared().take(handle);
    if (log == nullptr) return PDH_INVALID_HANDLE;
    const bool closes_query = (flags & PDH_FLAGS_CLOSE_QUERY) != 0 && log->writer != nullptr;
    // Another thread may have closed it.
    if (closes_query) {
      static_cast<void>(PdhHandles::all().close_query(log->writer->query_handle()));
    }
    return ERROR_SUCCESS;
  });
}

// The strings of a list, which ends with an empty one. Nothing: one of them is not a text.
template <typename Character>
std::optional<std::vector<std::string>> files_of(const Character* list) {
  std::vector<std::string> files;
  while (list[0] != 0) {
    auto file = text_of(list, kFileCharactersMax);
    if (!file) return std::nullopt;
    files.push_back(*std::move(file));
    while (*list != 0) ++list;
    ++list;
  }
  return files;
}

template <typename Character>
PDH_STATUS bind_source(PDH_HLOG* handle, const Character* list) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if (handle == nullptr) return PDH_INVALID_ARGUMENT;
    *handle = nullptr;
    if (list == nullptr) return ERROR_SUCCESS;  // the machine as it is now
    auto files = files_of(list);
    if (!files || files->empty()) return PDH_INVALID_ARGUMENT;
    auto log = std::make_shared<OpenLog>();
    const PDH_STATUS status = open_to_read(*std::move(files), nullptr, *log);
    if (status == ERROR_SUCCESS) *handle = handle_of(LogHandles::shared().insert(std::move(log)));
    return status;
  });
}

PDH_STATUS range_of(const std::vector<std::string>& files, PDH_TIME_INFO& range) {
  std::optional<LogMerge> logs;
  if (const PDH_STATUS status = open_logs(files, logs); status != ERROR_SUCCESS) return status;
  LogRecord record;
  for (;;) {
    const auto more = logs->next(record);
    if (!more) return PDH_INVALID_DATA;
    if (!*more) return ERROR_SUCCESS;
    range.EndTime = local_time_of(record.time);
    if (range.SampleCount++ == 0) range.StartTime = range.EndTime;
  }
}

PDH_STATUS fill_range(const std::vector<std::string>& files, LPDWORD entries,
                      const CallerBuffer& buffer) {
  PDH_TIME_INFO range{};
  const PDH_STATUS status = range_of(files, range);
  if (status != ERROR_SUCCESS) return status;
  *entries = 1;
  return buffer.fill(std::as_bytes(std::span(&range, 1)));
}

template <typename Character>
PDH_STATUS get_range(const Character* file, LPDWORD entries, PPDH_TIME_INFO range,
                     LPDWORD bytes) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{range, bytes};
    if (entries == nullptr || !buffer.is_sound()) return PDH_INVALID_ARGUMENT;
    if (file == nullptr) return PDH_DATA_SOURCE_IS_REAL_TIME;
    const auto name = text_of(file, kFileCharactersMax);
    return name ? fill_range({*name}, entries, buffer) : PDH_FILE_NOT_FOUND;
  });
}

PDH_STATUS get_bound_range(PDH_HLOG handle, LPDWORD entries, PPDH_TIME_INFO range,
                           LPDWORD bytes) noexcept {
  return guarded([&]() -> PDH_STATUS {
    const CallerBuffer buffer{range, bytes};
    if (entries == nullptr || !buffer.is_sound()) return PDH_INVALID_ARGUMENT;
    if (handle == nullptr) return PDH_DATA_SOURCE_IS_REAL_TIME;
    const auto log = LogHandles::shared().find(handle);
    if (log == nullptr || log->writer != nullptr) return PDH_INVALID_HANDLE;
    return fill_range(log->files, entries, buffer);
  });
}

PDH_STATUS set_range(PDH_HQUERY handle, const PDH_TIME_INFO* range) noexcept {
  return guarded([&]() -> PDH_STATUS {
    if (range == nullptr || range->EndTime < range->StartTime) return PDH_INVALID_ARGUMENT;
    const auto query = PdhHandles::all().query(number_of(handle));
    if (query == nullptr) return PDH_INVALID_HANDLE;
    return query->set_range(range->StartTime, range->EndTime);
  });
}

}  // namespace
}  // namespace meterbank::pdh

extern "C" {

PDH_STATUS PdhOpenLogA(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD bytes_max,
                       LPCSTR /*caption*/, PDH_HLOG* log) {
  return meterbank::pdh::open_log(file, access, type, query, bytes_max, log);
}
PDH_STATUS PdhOpenLogW(LPCWSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD bytes_max,
                       LPCWSTR /*caption*/, PDH_HLOG* log) {
  return meterbank::pdh::open_log(file, access, type, query, bytes_max, log);
}
PDH_STATUS meterbank_utf16_PdhOpenLogW(const char16_t* file, DWORD access, LPDWORD type,
                                       PDH_HQUERY query, DWORD bytes_max,
                                       const char16_t* /*caption*/, PDH_HLOG* log) {
  return meterbank::pdh::open_log(file, access, type, query, bytes_max, log);
}

PDH_STATUS PdhUpdateLogA(PDH_HLOG log, LPCSTR /*text*/) {
  return meterbank::pdh::with_writer(
      log, [](meterbank::pdh::LogWriter& writer) { return writer.update(); });
}
PDH_STATUS PdhUpdateLogW(PDH_HLOG log, LPCWSTR /*text*/) { return PdhUpdateLogA(log, nullptr); }
PDH_STATUS meterbank_utf16_PdhUpdateLogW(PDH_HLOG log, const char16_t* /*text*/) {
  return PdhUpdateLogA(log, nullptr);
}
PDH_STATUS PdhGetLogFileSize(PDH_HLOG log, LONGLONG* bytes) {
  if (bytes == nullptr) return PDH_INVALID_ARGUMENT;
  return meterbank::pdh::with_writer(
      log, [bytes](meterbank::pdh::LogWriter& writer) { return writer.size(*bytes); });
}
PDH_STATUS PdhCloseLog(PDH_HLOG log, DWORD flags) { return meterbank::pdh::close_log(log, flags); }

PDH_STATUS PdhBindInputDataSourceA(PDH_HLOG* log, LPCSTR files) {
  return meterbank::pdh::bind_source(log, files);
}
PDH_STATUS PdhBindInputDataSourceW(PDH_HLOG* log, LPCWSTR files) {
  return meterbank::pdh::bind_source(log, files);
}
PDH_STATUS meterbank_utf16_PdhBindInputDataSourceW(PDH_HLOG* log, const char16_t* files) {
  return meterbank::pdh::bind_source(log, files);
}
PDH_STATUS PdhGetDataSourceTimeRangeA(LPCSTR file, LPDWORD entries, PPDH_TIME_INFO range,
                                      LPDWORD bytes) {
  return meterbank::pdh::get_range(file, entries, range, bytes);
}
PDH_STATUS PdhGetDataSourceTimeRangeW(LPCWSTR file, LPDWORD entries, PPDH_TIME_INFO range,
                                      LPDWORD bytes) {
  return meterbank::pdh::get_range(file, entries, range, bytes);
}
PDH_STATUS meterbank_utf16_PdhGetDataSourceTimeRangeW(const char16_t* file, LPDWORD entries,
                                                      PPDH_TIME_INFO range, LPDWORD bytes) {
  return meterbank::pdh::get_range(file, entries, range, bytes);
}
PDH_STATUS PdhGetDataSourceTimeRangeH(PDH_HLOG log, LPDWORD entries, PPDH_TIME_INFO range,
                                      LPDWORD bytes) {
  return meterbank::pdh::get_bound_range(log, entries, range, bytes);
}
PDH_STATUS PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO range) {
  return meterbank::pdh::set_range(query, range);
}

}  // extern "C"
