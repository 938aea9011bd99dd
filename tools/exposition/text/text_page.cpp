// SPDX-License-Identifier: Apache-2.0
#include "exposition/text/text_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "exposition/page/number.hpp"
#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"

namespace meterbank::exposition {
namespace {

// At most 26 bytes.
char* put_number(char* at, const Number& number) {
  const auto put = [at](std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  };
  if (number.kind == Number::Kind::kReal) {
    if (std::isfinite(number.real)) return fmt::format_to(at, "{}", number.real);
    if (std::isnan(number.real)) return put("NaN");
    return put(number.real > 0 ? "+Inf" : "-Inf");
  }
  const fmt::format_int digits = number.kind == Number::Kind::kSigned
                                     ? fmt::format_int(static_cast<std::int64_t>(number.whole))
                                     : fmt::format_int(number.whole);
  return put({digits.data(), digits.size()});
}

void append_number(std::string& out, const Number& number) {
  std::array<char, 32> text;
  out.append(text.data(), put_number(text.data(), number));
}

void append_real(std::string& out, double value) {
  append_number(out, {Number::Kind::kReal, 0, value});
}

void append_whole(std::string& out, std::uint64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

// OpenMetrics requires ".0" behind whole numbers in `le`.
std::string bound_text(double bound) {
  std::string text;
  append_real(text, bound);
  if (text.find_first_of(".eIN") == std::string::npos) text += ".0";
  return text;
}

class TextPage final : public PageWriter {
 public:
  TextPage(bool is_open_metrics, std::shared_ptr<const Snapshot> snapshot, PageOptions options)
      : is_open_metrics_(is_open_metrics),
        snapshot_(std::move(snapshot)),
        options_(std::move(options)),
        selection_(*snapshot_->layout, options_) {
    for (const double bound : options_.buckets) bound_texts_.push_back(bound_text(bound));
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
  void write_about(std::string& out, const PlainFamily& family) const;
  void write_head(std::string& out, std::string_view name, FamilyType type, std::string_view unit,
                  std::string_view help) const;
  // name{labels,more} and a blank.
  static void begin_line(std::string& out, std::string_view name, std::string_view suffix,
                         std::string_view labels, std::string_view more = {});

  bool is_open_metrics_;
  std::shared_ptr<const Snapshot> snapshot_;
  PageOptions options_;
  RowSelection selection_;
  std::vector<std::string> bound_texts_;
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
  if (is_open_metrics_) out += "# EOF\n";
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
  constexpr std::size_t kNumberBytesMax = 32;
  const std::string name = walk_->family().full_name();
  while (out.size() < end && walk_->next()) {
    if (!values_.read(*walk_)) continue;
    const std::string& labels = walk_->labels();
    const std::size_t begin = out.size();
    const std::size_t most = name.size() + labels.size() + kNumberBytesMax;
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
    *at++ = '\n';
    out.resize(static_cast<std::size_t>(at - out.data()));
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
      return write_summary(out);
    case FamilyType::kInfo:
      return write_info(out);
    case FamilyType::kHistogram:
      return write_histogram(out);
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
  out += '\n';
}

void TextPage::write_summary(std::string& out) {
  const std::string& name = walk_->family().name;
  const std::string& labels = walk_->labels();
  begin_line(out, name, "_sum", labels);
  append_number(out, values_.value);
  out += '\n';
  begin_line(out, name, "_count", labels);
  append_number(out, values_.count);
  out += '\n';
}

void TextPage::write_info(std::string& out) {
  const PageFamily& family = walk_->family();
  std::string label;
  append_label(label, family.text_label, values_.text);
  begin_line(out, family.name, suffix_of(family.type), walk_->labels(), label);
  out += "1\n";
}

void TextPage::write_histogram(std::string& out) {
  const std::string& name = walk_->family().name;
  const std::string& labels = walk_->labels();
  const Distribution& distribution = values_.distribution;
  for (std::size_t index = 0; index < bound_texts_.size(); ++index) {
    begin_line(out, name, "_bucket", labels, fmt::format("le=\"{}\"", bound_texts_[index]));
    append_whole(out, count_up_to(distribution, options_.buckets[index]));
    out += '\n';
  }
  begin_line(out, name, "_bucket", labels, "le=\"+Inf\"");
  append_whole(out, distribution.count);
  out += '\n';
  // OpenMetrics has no sum where values may be negative.
  if (std::isfinite(distribution.sum) && distribution.sum >= 0) {
    begin_line(out, name, "_sum", labels);
    append_real(out, distribution.sum);
    out += '\n';
  }
  begin_line(out, name, "_count", labels);
  append_whole(out, distribution.count);
  out += '\n';
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
    out += '\n';
  }
}

void TextPage::write_head(std::string& out, std::string_view name, FamilyType type,
                          std::string_view unit, std::string_view help) const {
  // Text 0.0.4 gives a family the name of its samples, and has no type for texts.
  const std::string_view suffix = is_open_metrics_ ? std::string_view() : suffix_of(type);
  const bool is_gauge = type == FamilyType::kInfo && !is_open_metrics_;
  const std::string_view word = name_of(is_gauge ? FamilyType::kGauge : type);
  out.append("# HELP ").append(name).append(suffix).append(" ");
  append_escaped(out, help, is_open_metrics_ ? Quoted::kYes : Quoted::kNo);
  out.append("\n# TYPE ").append(name).append(suffix).append(" ").append(word).append("\n");
  if (is_open_metrics_ && !unit.empty()) {
    out.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
  }
}

}  // namespace

std::unique_ptr<PageWriter> make_text_page(bool is_open_metrics,
                                           std::shared_ptr<const Snapshot> snapshot,
                                           PageOptions options) {
  return std::make_unique<TextPage>(is_open_metrics, std::move(snapshot), std::move(options));
}

}  // namespace meterbank::exposition
