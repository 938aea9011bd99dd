// SPDX-License-Identifier: Apache-2.0
#include "log_writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <unordered_map>
#include <utility>

#include "../query/format_value.hpp"
#include "log_source.hpp"
#include "meterbank/base/machine_name.hpp"

namespace meterbank::pdh {
namespace {

struct Column {
  std::string path;
  std::string value;  // digits; empty: none
};

std::string digits_of(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

// The path of one instance of a counter, as logs have it. Null: of the counter as it was added.
std::string column_path(const CounterFacts& facts, const Reading* reading) {
  PathElements path = facts.path;
  if (path.machine.empty()) path.machine = machine_name();
  if (reading != nullptr && facts.found.is_wildcard) {
    const auto instance = parse_instance(numbered_name(reading->name, reading->number));
    if (!instance) return {};
    path.instance = instance->instance;
    path.parent = instance->parent;
    path.index = instance->index;
  }
  return print_elements(path).value_or("");
}

}  // namespace

PDH_STATUS LogWriter::update() {
  const std::lock_guard lock(mutex_);
  std::vector<Column> columns;
  std::int64_t local_time = 0;
  // An instance whose name cannot stand in a path has no column.
  const auto add = [&columns](std::string path, std::string value) {
    if (!path.empty()) columns.push_back({std::move(path), std::move(value)});
  };
  const PDH_STATUS status =
      query_->collect_all(local_time, [&](const CounterFacts& facts, const LastValues& last) {
        const bool is_absent = last.readings.empty() && !facts.found.is_wildcard;
        if (is_absent) add(column_path(facts, nullptr), {});
        for (const Reading& reading : last.readings) {
          const double value = scaled(reading.value, 0, facts.scale);
          add(column_path(facts, &reading), is_good(reading.status) ? digits_of(value) : "");
        }
      });
  if (status != ERROR_SUCCESS && status != PDH_NO_DATA) return status;
  if (columns.empty()) return PDH_NO_DATA;
  std::string text;
  if (!has_header_) {
    paths_.clear();
    for (const Column& column : columns) paths_.push_back(column.path);
    const auto now = static_cast<std::uint64_t>(std::time(nullptr)) * 1'000'000'000;
    text = print_log_header({format_, log_zone_at(now), paths_});
  }
  std::unordered_map<std::string_view, std::string_view> values;
  for (const Column& column : columns) values.emplace(column.path, column.value);
  LogRecord record{log_time_at(local_time), {}};
  for (const std::string& path : paths_) {
    const auto found = values.find(path);
    record.values.emplace_back(found == values.end() ? std::string_view() : found->second);
  }
  text += print_log_record(format_, record);
  const PDH_STATUS written = append(text);
  has_header_ = has_header_ || written == ERROR_SUCCESS;
  return written;
}

PDH_STATUS LogWriter::append(std::string_view text) {
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = ::write(file_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      // Or the next record would stand behind a part of this one. Pipes and devices cannot be cut.
      const auto end = static_cast<off_t>(end_);
      if (::ftruncate(file_.get(), end) == 0) ::lseek(file_.get(), end, SEEK_SET);
      return ERROR_WRITE_FAULT;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  end_ += text.size();
  return ERROR_SUCCESS;
}

PDH_STATUS LogWriter::size(LONGLONG& bytes) const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return PDH_LOG_FILE_OPEN_ERROR;
  bytes = status.st_size;
  return ERROR_SUCCESS;
}

}  // namespace meterbank::pdh
