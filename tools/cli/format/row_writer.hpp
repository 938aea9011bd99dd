// SPDX-License-Identifier: Apache-2.0
//
// Cooked rows as text, sample by sample, in each format of `meterbank help formats`. Writers only
// make text; the caller prints it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/selection.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

enum class Format : std::uint8_t {
  kAuto,
  kTable,
  kPlain,
  kTsv,
  kCsv,
  kJson,
  kJsonLines,
  kPdhCsv,  // text logs of Windows' counter tools
  kPdhTsv,
  kPrometheus,  // one page of stored values, as meterbank-agent serves it
  kOpenMetrics,
  kInflux,  // lines for other collectors
  kStatsd,
  kCollectd,
};
// One sample, whole: its names and types stand once.
[[nodiscard]] constexpr bool is_page(Format format) noexcept {
  return format == Format::kPrometheus || format == Format::kOpenMetrics;
}
// Has values only, no facts about counters or providers.
[[nodiscard]] constexpr bool is_for_values(Format format) noexcept {
  return format >= Format::kPdhCsv;
}

[[nodiscard]] std::optional<Format> parse_format(std::string_view text);
// "table", "plain" ... in the order of the help.
[[nodiscard]] const std::vector<std::string>& format_names();

struct RowStyle {
  Format format = Format::kTable;
  UnitStyle units = UnitStyle::kAuto;
  bool raw = false;               // stored values instead of cooked ones
  bool integers_as_text = false;  // JSON
  LocalForm time;                 // in a table
  bool color = false;
  bool ascii = false;                   // no block characters
  Charset charset = Charset::kUtf8;     // of foreign text
  bool histograms = false;              // distributions with their buckets, in a table or JSON
  Percentiles percentiles;              // of distributions
  std::size_t columns = 0;              // cells in a line; 0: any number
  std::vector<double> buckets;          // pages: upper ends of the buckets of histograms
  std::chrono::nanoseconds interval{};  // collectd: between samples; 0: as they lie
  std::string
      host;  // for collectd and logs of counter tools, if a row names no host; empty: this one
};

// One sample as a writer sees it.
struct Moment {
  const Sample& sample;
  const RowWalk& rows;
  double interval_s = 0;  // since the sample before; 0 for the first
  const LeftOutSummary& left_out;
};

// Takes text; false: the receiver wants no more.
using TextSink = std::function<bool(std::string_view)>;
// Shorter pieces are collected first.
inline constexpr std::size_t kBytesAtOnce = std::size_t{64} * 1024;

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  // In pieces, so that no sample is ever held as text.
  virtual void write(const Moment& moment, const TextSink& out) = 0;
  virtual std::string end() { return {}; }
  // What of the rows has no place in the format, for people. Empty: nothing.
  [[nodiscard]] virtual std::string left_out() const { return {}; }
};

[[nodiscard]] std::unique_ptr<RowWriter> make_row_writer(const RowStyle& style);

// A line of fields in plain, tsv or csv, which differ in separator and quoting only.
[[nodiscard]] constexpr char field_separator(Format format) noexcept {
  return format == Format::kCsv ? ',' : '\t';
}
class FieldLine {
 public:
  // Appends to `text`.
  FieldLine(const RowStyle& style, std::string& text)
      : format_(style.format), charset_(style.charset), text_(text) {}

  void add(std::string_view text);
  // Call once, after the last field.
  void end();

 private:
  Format format_;
  Charset charset_;
  bool is_empty_ = true;
  std::string& text_;
};

// "18.4 k/s", a text, or "-" where there is neither.
[[nodiscard]] std::string value_text(const Value& row, const RowStyle& style);
// "demo_orders/accepted"
[[nodiscard]] std::string counter_text(const Value& row);
// A total, which is of all providers that it adds up.
[[nodiscard]] bool is_of_all(const Value& row);
// Empty if is_of_all().
[[nodiscard]] std::string provider_of(const Value& row);
// Rows of more than one provider: then each row but those of all names its own.
[[nodiscard]] bool spans_providers(const Moment& moment);
// The machine of the row, in a recording of several. Empty if is_of_all().
[[nodiscard]] std::string_view host_of(const Value& row);
// Rows of a recording of several machines: then each row but those of all names its own.
[[nodiscard]] bool names_hosts(const Moment& moment);
// "orders@48213", or "orders@48213 on web1" in a recording of several machines.
[[nodiscard]] std::string label_on_host(const ProviderView& provider);
// "TEXT on web1"; `text` itself without a host.
[[nodiscard]] std::string on_host(std::string text, std::string_view host);

}  // namespace meterbank::cli
