// SPDX-License-Identifier: Apache-2.0
#include "cli/format/collectors/page_rows.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/format/collectors/foreign_names.hpp"
#include "exposition/text/text_page.hpp"

namespace meterbank::cli {
namespace {

// Then they are what was asked for.
bool has_only_totals(const exposition::PageLayout& layout) {
  return std::all_of(layout.blocks.begin(), layout.blocks.end(), [](const auto& block) {
    return std::none_of(block.places.begin(), block.places.end(), [](exposition::RowPlace place) {
      return place == exposition::RowPlace::kShown;
    });
  });
}

class PageRows final : public RowWriter {
 public:
  explicit PageRows(const RowStyle& style) : style_(style) {}

  void write(const Moment& moment, const TextSink& out) override {
    auto snapshot = std::make_shared<exposition::Snapshot>();
    snapshot->sample = moment.sample;
    exposition::StartTimes starts;
    snapshot->layout = std::make_shared<const exposition::PageLayout>(
        exposition::make_page_layout(snapshot->sample.selected(), {}, starts, 0));
    exposition::PageOptions options;
    options.buckets = style_.buckets;
    options.totals = has_only_totals(*snapshot->layout);
    const auto page = exposition::make_text_page(style_.format == Format::kOpenMetrics
                                                     ? exposition::TextFormat::kOpenMetrics1
                                                     : exposition::TextFormat::kPrometheus,
                                                 std::move(snapshot), std::move(options));
    std::string piece;
    bool more = true;
    while (more) {
      piece.clear();
      more = page->write(piece, kBytesAtOnce);
      if (!is_plain_page(piece)) piece = page_without_hidden(piece, style_.charset);
      if (!out(piece)) return;
    }
  }

 private:
  RowStyle style_;
};

}  // namespace

std::string page_without_hidden(std::string_view page, Charset charset) {
  std::string clean;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size() - 1) + 1;
    const bool is_line = page[end - 1] == '\n';
    clean += replace_hidden(page.substr(0, is_line ? end - 1 : end), charset);
    if (is_line) clean += '\n';
    page.remove_prefix(end);
  }
  return clean;
}

std::unique_ptr<RowWriter> make_page_rows(const RowStyle& style) {
  return std::make_unique<PageRows>(style);
}

}  // namespace meterbank::cli
