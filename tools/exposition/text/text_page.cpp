// SPDX-License-Identifier: Apache-2.0
#include "exposition/text/text_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"
#include "exposition/text/composite_value.hpp"
#include "exposition/text/text_number.hpp"

namespace meterbank::exposition {
namespace {

class TextPage final : public PageWriter {
 public:
  TextPage(TextFormat format, std::shared_ptr<const Snapshot> snapshot, PageOptions options)
      : format_(format),
        snapshot_(std::move(snapshot)),
        options_(std::move(options)),
        selection_(*snapshot_->layout, options_),
        composites_(options_.buckets) {
    for (const double bound : options_.buckets) bound_texts_.push_back(bound_text(bound));
    line_end_ = "\n";
    if (options_.sequence != nullptr) line_end_ = " " + options_.sequence->timestamp + "\n";
  }

  bool write(std::string& out, std::size_t bytes) override;

 private:
  void write_rows(std::string& out, std::size_t end);
  void write_numbers(std::string& out, std::size_t end);
  void write_row(std::string& out);
  void write_number(std::string& out);
  void write_summary(std::string& out);
  void write_info(std::string& out);
  void write_histogram(std::string& out);
  void write_composite(std::string& out);
  void write_about(std::string& out, const PlainFamily& family) const;
  void write_head(std::string& out, std::string_view name, FamilyType type, std::string_view unit,
                  std::string_view help) const;
  // name{labels,more} and a blank.
  static void begin_line(std::string& out, std::string_view name, std::string_view suffix,
                         std::string_view labels, std::string_view more = {});

  [[nodiscard]] bool is_open_metrics() const noexcept { return format_ != TextFormat::kPrometheus; }
  [[nodiscard]] bool is_second() const noexcept { return format_ == TextFormat::kOpenMetrics2; }
  // Since when the count of the row has been growing.
  [[nodiscard]] std::uint64_t start_ns() const noexcept {
    return walk_->block().starts_ns[walk_->row()];
  }

  TextFormat format_;
  std::shared_ptr<const Snapshot> snapshot_;
  PageOptions options_;
  RowSelection selection_;
  std::vector<std::string> bound_texts_;
  std::string line_end_;  // of each sample
  CompositeValues composites_;
  std::size_t family_ = 0;
  std::optional<RowWalk> walk_;
  bool has_head_ = false;
  std::size_t about_ = 0;
  bool is_done_ = false;
  RowValues values_;
};

bool TextPage::write(std::string& out, std::size_t bytes) {
  if (is_done_) return false;
  const std::size_t end = out.size() + bytes;
  const PageLayout& layout = *snapshot_->layout;
  for (; family_ < layout.families.size(); ++family_) {
    const PageFamily& family = layout.families[family_];
    if (!walk_) {
      if (!options_.has_name(family.name, family.full_name())) continue;
      walk_.emplace(*snapshot_, selection_, family);
      has_head_ = false;
    }
    write_rows(out, end);
    if (out.size() >= end) return true;
    walk_.reset();
  }
  for (; about_ < snapshot_->about.size(); ++about_) {
    if (out.size() >= end) return true;
    write_about(out, snapshot_->about[about_]);
  }
  if (is_open_metrics() && options_.sequence == nullptr) out += "# EOF\n";
  is_done_ = true;
  return true;
}

void TextPage::write_rows(std::string& out, std::size_t end) {
  const PageFamily& family = walk_->family();
  const bool is_number = family.type == FamilyType::kCounter || family.type == FamilyType::kGauge;
  if (is_number && has_head_) return write_numbers(out, end);
  while (out.size() < end && walk_->next()) {
    write_row(out);
    if (is_number && has_head_) return write_numbers(out, end);
  }
}

// Most of every page. Room for a line is made once, and everything is copied to its place.
void TextPage::write_numbers(std::string& out, std::size_t end) {
  const std::string name = walk_->family().full_name();
  const bool has_start = is_second() && walk_->family().type == FamilyType::kCounter;
  while (out.size() < end && walk_->next()) {
    if (!values_.read(*walk_)) continue;
    const std::string& labels = walk_->labels();
    const std::size_t begin = out.size();
    constexpr std::string_view kBetween = "{} ";
    const std::size_t most =
        name.size() + labels.size() + kNumberBytesMax + kBetween.size() + line_end_.size();
    if (out.capacity() - begin < most) out.reserve(std::max(2 * out.capacity(), begin + most));
    out.resize(begin + most);
    char* at = out.data() + begin;
    const auto put = [&at](std::string_view text) {
      std::memcpy(at, text.data(), text.size());
      at += text.size();
    };
    put(name);
    *at++ = '{';
    put(labels);
    put("} ");
    at = put_number(at, values_.value);
    if (!has_start) put(line_end_);
    out.resize(static_cast<std::size_t>(at - out.data()));
    if (!has_start) continue;
    append_start(out, start_ns());
    out += line_end_;
  }
}

void TextPage::write_row(std::string& out) {
  const PageFamily& family = walk_->family();
  if (!values_.read(*walk_)) return;
  if (!has_head_) {
    write_head(out, family.name, family.type, family.unit, family.help);
    has_head_ = true;
  }
  switch (family.type) {
    case FamilyType::kCounter:
    case FamilyType::kGauge:
      return write_number(out);
    case FamilyType::kSummary:
      return is_second() ? write_composite(out) : write_summary(out);
    case FamilyType::kInfo:
      return write_info(out);
    case FamilyType::kHistogram:
      return is_second() ? write_composite(out) : write_histogram(out);
  }
}

void TextPage::begin_line(std::string& out, std::string_view name, std::string_view suffix,
                          std::string_view labels, std::string_view more) {
  out.append(name).append(suffix);
  if (!labels.empty() || !more.empty()) {
    out.append("{").append(labels);
    if (!more.empty() && !labels.empty()) out += ',';
    out.append(more).append("}");
  }
  out += ' ';
}

void TextPage::write_number(std::string& out) {
  const PageFamily& family = walk_->family();
  begin_line(out, family.name, suffix_of(family.type), walk_->labels());
  append_number(out, values_.value);
  if (is_second() && family.type == FamilyType::kCounter) append_start(out, start_ns());
  out += line_end_;
}

// A line for all of a summary or a histogram.
void TextPage::write_composite(std::string& out) {
  begin_line(out, walk_->family().name, {}, walk_->labels());
  if (walk_->family().type == FamilyType::kSummary) {
    append_summary(out, values_.count, values_.value);
  } else {
    composites_.append_histogram(out, values_.distribution);
  }
  append_start(out, start_ns());
  out += line_end_;
}

void TextPage::write_summary(std::string& out) {
  const std::string& name = walk_->family().name;
  const std::string& labels = walk_->labels();
  begin_line(out, name, "_sum", labels);
  append_number(out, values_.value);
  out += line_end_;
  begin_line(out, name, "_count", labels);
  append_number(out, values_.count);
  out += line_end_;
}

void TextPage::write_info(std::string& out) {
  const PageFamily& family = walk_->family();
  std::string label;
  append_label(label, family.text_label, values_.text);
  begin_line(out, family.name, suffix_of(family.type), walk_->labels(), label);
  out.append("1").append(line_end_);
}

void TextPage::write_histogram(std::string& out) {
  const std::string& name = walk_->family().name;
  const std::string& labels = walk_->labels();
  const Distribution& distribution = values_.distribution;
  for (std::size_t index = 0; index < bound_texts_.size(); ++index) {
    begin_line(out, name, "_bucket", labels, fmt::format("le=\"{}\"", bound_texts_[index]));
    append_whole(out, count_up_to(distribution, options_.buckets[index]));
    out += line_end_;
  }
  begin_line(out, name, "_bucket", labels, "le=\"+Inf\"");
  append_whole(out, distribution.count);
  out += line_end_;
  // OpenMetrics has no sum where values may be negative.
  if (std::isfinite(distribution.sum) && distribution.sum >= 0) {
    begin_line(out, name, "_sum", labels);
    append_real(out, distribution.sum);
    out += line_end_;
  }
  begin_line(out, name, "_count", labels);
  append_whole(out, distribution.count);
  out += line_end_;
}

void TextPage::write_about(std::string& out, const PlainFamily& family) const {
  if (!options_.has_name(family.name, family.full_name())) return;
  bool has_head = false;
  for (const PlainSeries& series : family.series) {
    if (!options_.has(series)) continue;
    if (!std::exchange(has_head, true)) {
      write_head(out, family.name, family.type, family.unit, family.help);
    }
    std::string labels;
    for (const Label& label : series.labels) append_label(labels, label.name, label.value);
    begin_line(out, family.name, suffix_of(family.type), labels);
    append_real(out, series.value);
    out += line_end_;
  }
}

void TextPage::write_head(std::string& out, std::string_view name, FamilyType type,
                          std::string_view unit, std::string_view help) const {
  const bool is_said =
      options_.sequence != nullptr && !options_.sequence->described.emplace(name).second;
  if (is_said) return;
  // Only OpenMetrics 1.0 has families whose name is not that of their samples, and 0.0.4 has no
  // type for texts.
  std::string full(name);
  if (format_ != TextFormat::kOpenMetrics1) full += suffix_of(type);
  const bool is_gauge = type == FamilyType::kInfo && !is_open_metrics();
  const auto write_type = [&] {
    const std::string_view word = name_of(is_gauge ? FamilyType::kGauge : type);
    out.append("# TYPE ").append(full).append(" ").append(word).append("\n");
  };
  const auto write_help = [&] {
    out.append("# HELP ").append(full).append(" ");
    append_escaped(out, help, is_open_metrics() ? Quoted::kYes : Quoted::kNo);
    out += '\n';
  };
  // The order is that of the examples of each format.
  if (!is_second()) write_help();
  write_type();
  if (is_open_metrics() && !unit.empty()) {
    out.append("# UNIT ").append(full).append(" ").append(unit).append("\n");
  }
  if (is_second()) write_help();
}

}  // namespace

std::unique_ptr<PageWriter> make_text_page(TextFormat format,
                                           std::shared_ptr<const Snapshot> snapshot,
                                           PageOptions options) {
  return std::make_unique<TextPage>(format, std::move(snapshot), std::move(options));
}

}  // namespace meterbank::exposition
