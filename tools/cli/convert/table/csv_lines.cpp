// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/table/csv_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "cli/log/moment_words.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

constexpr std::array<std::string_view, 9> kHeadings{
    "time", "provider", "set", "instance", "counter", "value", "unit", "status", "host"};
constexpr std::size_t kHost = kHeadings.size() - 1;  // only there in a table of several machines
constexpr std::size_t kLineBytesMax = std::size_t{1} << 20U;

enum class Fields : std::uint8_t { kWhole, kGoOn, kMisquoted };

// Takes the fields of one line of RFC 4180. A quoted field may go on in the next line: `before` is
// what the line before this one said.
Fields split(std::string_view text, Fields before, std::vector<std::string>& fields) {
  bool is_quoted = before == Fields::kGoOn;
  if (is_quoted) {
    fields.back() += '\n';
  } else {
    fields.assign(1, {});
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_last = at + 1 == text.size();
    if (c != '"') {
      if (c == ',' && !is_quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    } else if (!is_quoted) {
      if (at != 0 && text[at - 1] != ',') return Fields::kMisquoted;
      is_quoted = true;
    } else if (is_last || text[at + 1] == ',') {
      is_quoted = false;
    } else if (text[at + 1] == '"') {
      fields.back() += text[++at];
    } else {
      return Fields::kMisquoted;
    }
  }
  return is_quoted ? Fields::kGoOn : Fields::kWhole;
}

}  // namespace

Result<CsvLines> CsvLines::open(const std::string& path) {
  CsvLines lines(path);
  errno = 0;
  lines.file_.open(path, std::ios::binary);
  if (!lines.file_) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kSystem,
                fmt::format("cannot read {}", path), "a file of get -f csv", errno);
  }
  auto read = lines.read_fields();
  if (!read) return tl::make_unexpected(std::move(read.error()));
  lines.columns_ = lines.fields_.size();
  const bool is_it = *read && (lines.columns_ == kHost || lines.columns_ == kHeadings.size()) &&
                     std::equal(lines.fields_.begin(), lines.fields_.end(), kHeadings.begin());
  if (!is_it) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is neither a recording nor a table of get or typeperf", path),
                "log convert FILE -f FORMAT, or a file that begins with time,provider,set");
  }
  return lines;
}

tl::unexpected<Error> CsvLines::malformed(const std::string& what) const {
  return fail(ErrorCode::kCorrupt,
              fmt::format("{}: line {}: {}", path_, line_, escape_for_terminal(what)),
              "lines as get -f csv prints them");
}

Result<bool> CsvLines::read_fields() {
  std::string text;
  std::size_t size = 0;
  auto fields = Fields::kWhole;
  line_ = lines_ + 1;
  do {
    if (!std::getline(file_, text)) {
      if (file_.bad()) return malformed("it cannot be read");
      if (fields == Fields::kWhole) return false;
      return malformed("its quotes do not end");
    }
    ++lines_;
    bytes_ += text.size() + 1;
    size += text.size() + 1;
    if (size > kLineBytesMax + 1) return malformed("it is longer than 1 MiB");
    if (text.ends_with('\r')) text.pop_back();
    fields = split(text, fields, fields_);
  } while (fields == Fields::kGoOn);
  if (fields == Fields::kMisquoted) return malformed("a quote inside a field without quotes");
  return true;
}

Result<bool> CsvLines::next(TableValue& value) {
  auto read = read_fields();
  if (!read || !*read) return read;
  if (fields_.size() != columns_) {
    return malformed(fmt::format("{} columns, not {}", fields_.size(), columns_));
  }
  if (fields_[0] != time_text_) {
    const auto time = parse_moment(fields_[0], 0);
    if (!time || !fields_[0].ends_with('Z')) {
      return malformed(fmt::format("'{}' is not a time in UTC", fields_[0]));
    }
    time_text_ = fields_[0];
    time_ns_ = *time;
  }
  for (const std::size_t column : {std::size_t{2}, std::size_t{4}}) {
    if (fields_[column].empty()) return malformed(fmt::format("no {}", kHeadings[column]));
  }
  value.line = line_;
  value.time_ns = time_ns_;
  value.provider.swap(fields_[1]);
  value.set.swap(fields_[2]);
  value.instance.swap(fields_[3]);
  value.counter.swap(fields_[4]);
  value.value.swap(fields_[5]);
  value.unit.swap(fields_[6]);
  if (columns_ > kHost) value.host.swap(fields_[kHost]);
  return true;
}

}  // namespace meterbank::cli
