// SPDX-License-Identifier: Apache-2.0
//
// The pages of all moments as one text, each value with its time. A family is described where it
// first appears, and moments follow one another: so promtool reads them, and so a recording of any
// length takes the memory of one page.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "cli/convert/conversions.hpp"
#include "cli/convert/moments.hpp"
#include "cli/format/collectors/page_rows.hpp"
#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "exposition/page/page_layout.hpp"
#include "exposition/snapshot/about_providers.hpp"
#include "exposition/text/text_page.hpp"

namespace meterbank::cli {
namespace {

// Seconds that Prometheus, which multiplies by 1000 and truncates, takes for just these
// milliseconds.
std::string timestamp_of(std::uint64_t milliseconds) {
  std::string text = fmt::format("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
  const bool is_less =
      static_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr) * 1000) < milliseconds;
  if (is_less) text += '1';
  return text;
}

class OpenMetricsText final : public MomentSink {
 public:
  OpenMetricsText(Output output, const Invocation& invocation)
      : output_(std::move(output)), buckets_(invocation.buckets) {}

  Result<bool> take(const LogMoment& moment) override {
    const std::uint64_t now_ns = moment.log.time().realtime_ns;
    const std::uint64_t now_ms = now_ns / 1'000'000;
    if (last_ms_ && now_ms <= *last_ms_) {
      ++not_later_;
      return true;
    }
    last_ms_ = now_ms;
    ++moments_;
    auto snapshot = std::make_shared<exposition::Snapshot>();
    snapshot->sample = moment.sample;
    if (layout_ == nullptr || moment.has_changed) {
      layout_ = std::make_shared<const exposition::PageLayout>(exposition::make_page_layout(
          snapshot->sample.selected(), names_, starts_, last_look_ns_));
      rows_left_out_ = std::max(rows_left_out_, layout_->rows_left_out);
    }
    last_look_ns_ = now_ns;
    snapshot->layout = layout_;
    if (moment.has_everything) {
      snapshot->about =
          about_.families(moment.log.catalog(), names_.prefix, moment.log.time().monotonic_ns);
    }
    sequence_.left_out_blocks = blocks_not_sampled(moment, *layout_);
    sequence_.timestamp = timestamp_of(now_ms);
    exposition::PageOptions options;
    options.buckets = buckets_;
    options.sequence = &sequence_;
    const auto page = exposition::make_text_page(exposition::TextFormat::kOpenMetrics1,
                                                 std::move(snapshot), std::move(options));
    for (piece_.clear(); page->write(piece_, kBytesAtOnce); piece_.clear()) {
      const bool is_clean = is_plain_page(piece_);
      if (!output_.write(is_clean ? piece_ : page_without_hidden(piece_, Charset::kUtf8))) {
        return false;
      }
    }
    return true;
  }

  int finish(int exit_code, const Console& console) {
    if (not_later_ != 0) {
      complain(
          console,
          fmt::format(
              "left out {} whose time is not later than that of the one before; try: --every 1ms",
              counted(not_later_, "sample")));
    }
    if (rows_left_out_ != 0) {
      complain(console, fmt::format("left out {} with the labels of another one",
                                    counted(rows_left_out_, "row")));
    }
    constexpr std::string_view kEnd = "# EOF\n";
    if (is_kept(exit_code, moments_)) return output_.finish(exit_code, kEnd);
    return exit_code == kExitNo ? output_.finish_empty(exit_code, kEnd) : exit_code;
  }

 private:
  Output output_;
  std::vector<double> buckets_;
  exposition::MetricNames names_;
  exposition::StartTimes starts_;
  exposition::AboutProviders about_;
  exposition::PageSequence sequence_;
  std::shared_ptr<const exposition::PageLayout> layout_;
  std::uint64_t last_look_ns_ = 0;
  std::optional<std::uint64_t> last_ms_;
  std::uint64_t moments_ = 0, not_later_ = 0;
  std::size_t rows_left_out_ = 0;
  std::string piece_;
};

}  // namespace

int convert_to_openmetrics(const Invocation& invocation, Console& console) {
  auto output = Output::open(console, invocation.output);
  if (!output) {
    complain(console, output.error());
    return exit_code_of(output.error().code);
  }
  OpenMetricsText text(*std::move(output), invocation);
  const int exit_code = convert_moments(invocation, text, console);
  return text.finish(exit_code, console);
}

}  // namespace meterbank::cli
