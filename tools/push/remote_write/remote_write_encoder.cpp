// SPDX-License-Identifier: Apache-2.0
#include "push/remote_write/remote_write_encoder.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "exposition/page/row_walk.hpp"

namespace meterbank::push::remote_write {
namespace {

using exposition::FamilyPart;
using exposition::FamilyType;
using exposition::PageFamily;
using exposition::PageLayout;
using exposition::PageOptions;
using exposition::PlainFamily;
using exposition::PlainSeries;
using exposition::RowBlock;
using exposition::RowSelection;

// Prometheus' NaN that ends a series.
constexpr double kStale = std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0002});

constexpr std::int64_t to_ms(std::uint64_t ns) noexcept {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  return static_cast<std::int64_t>(ns / kNsPerMs);
}

template <typename Labels>
void sort_by_name(Labels& labels) {
  std::sort(labels.begin(), labels.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
}

bool has_label(const PlainSeries& series, std::string_view name) {
  return std::any_of(series.labels.begin(), series.labels.end(),
                     [name](const exposition::Label& label) { return label.name == name; });
}

}  // namespace

RemoteWriteEncoder::RemoteWriteEncoder(Version version, std::vector<exposition::Label> more,
                                       std::size_t batch_bytes)
    : more_(std::move(more)), batch_bytes_(batch_bytes), request_(make_write_request(version)) {}

std::vector<RemoteWriteEncoder::Column> RemoteWriteEncoder::columns_of(
    const RowBlock& block) const {
  std::vector<Column> columns;
  for (const exposition::Label& label : block.common) {
    columns.push_back({label.name, label.value, nullptr});
  }
  if (!block.instances.empty()) columns.push_back({block.instance_label, {}, &block.instances});
  if (!block.ids.empty()) columns.push_back({"id", {}, &block.ids});
  for (const exposition::Label& label : more_) {
    const bool is_taken =
        std::any_of(columns.begin(), columns.end(),
                    [&label](const Column& column) { return column.name == label.name; });
    if (!is_taken) columns.push_back({label.name, label.value, nullptr});
  }
  sort_by_name(columns);
  return columns;
}

std::shared_ptr<const RemoteWriteEncoder::Plan> RemoteWriteEncoder::make_plan(
    std::shared_ptr<const PageLayout> layout) const {
  auto plan = std::make_shared<Plan>();
  plan->parts.resize(layout->blocks.size());
  for (std::size_t index = 0; index < layout->families.size(); ++index) {
    const PageFamily& family = layout->families[index];
    plan->series.push_back(
        {&family, family.full_name(), family.name + "_sum", family.name + "_count"});
    for (const FamilyPart& part : family.parts) {
      const bool is_plain = exposition::is_number(family.type) && part.value.is_plain();
      plan->parts[part.block].push_back({index, &part, is_plain});
    }
  }
  for (const RowBlock& block : layout->blocks) plan->columns.push_back(columns_of(block));
  plan->layout = std::move(layout);
  return plan;
}

void RemoteWriteEncoder::encode(const exposition::Snapshot& snapshot, const Take& take) {
  take_ = &take;
  described_plan_ = nullptr;
  if (plan_ == nullptr || plan_->layout != snapshot.layout) {
    selection_ = std::make_unique<RowSelection>(*snapshot.layout, PageOptions());
    plan_ = make_plan(snapshot.layout);
  }
  const std::span<const RowStatus> statuses = snapshot.sample.statuses();
  ShownRows::Bits shown(snapshot.layout->blocks.size());
  for (std::size_t block = 0; block < shown.size(); ++block) {
    const std::size_t first = snapshot.layout->blocks[block].first_row;
    shown[block] = selection_->rows_of(block);
    for (std::size_t row = 0; row < shown[block].size(); ++row) {
      if (!shown[block][row]) continue;
      if (!exposition::is_shown(statuses[first + row])) {
        shown[block][row] = false;
      } else {
        add_row(snapshot, block, row);
      }
    }
  }
  const std::int64_t time_ms = to_ms(snapshot.sample.time.realtime_ns);
  const std::shared_ptr<const Plan> old = std::exchange(shown_plan_, plan_);
  shown_.replace(snapshot.layout, std::move(shown),
                 [&](std::size_t block, std::size_t row) { add_stale(*old, block, row, time_ms); });
  add_about(snapshot);
  end_batch();
}

void RemoteWriteEncoder::begin_row(const Plan& plan, std::size_t block, std::size_t row) {
  labels_.clear();
  for (const Column& column : plan.columns[block]) {
    const std::string& value = column.values == nullptr ? column.value : (*column.values)[row];
    if (!value.empty()) labels_.push_back({column.name, value});
  }
  request_->begin_row(labels_);
}

// All series of a row are in one batch.
void RemoteWriteEncoder::add_row(const exposition::Snapshot& snapshot, std::size_t block,
                                 std::size_t row) {
  const RowBlock& rows = snapshot.layout->blocks[block];
  const StoredRow stored = snapshot.sample.stored(rows.first_row + row);
  const std::uint64_t time_ns = snapshot.sample.time.realtime_ns;
  const SeriesTimes times{to_ms(time_ns), to_ms(std::min(rows.starts_ns[row], time_ns))};
  begin_row(*plan_, block, row);
  for (const Part& part : plan_->parts[block]) {
    const Series& series = plan_->series[part.family];
    if (part.is_plain) {
      add_plain(part, stored, times);
    } else if (values_.read(*series.family, *part.part, stored, snapshot.sample.time)) {
      add_value(*plan_, part.family, times);
    }
  }
  if (request_->bytes() >= batch_bytes_) end_batch();
}

const RemoteWriteEncoder::Described& RemoteWriteEncoder::describe(const Plan& plan,
                                                                  std::size_t family) {
  if (described_plan_ != &plan) {
    described_.assign(plan.series.size(), Described());
    described_plan_ = &plan;
  }
  Described& described = described_[family];
  if (described.request == requests_) return described;
  const Series& series = plan.series[family];
  const FamilyFacts facts = series.facts();
  const bool is_summary = facts.type == FamilyType::kSummary;
  described.value = request_->describe(facts, is_summary ? series.sum : series.name);
  if (is_summary) described.count = request_->describe(facts, series.count);
  described.request = requests_;
  return described;
}

// Most of every snapshot.
void RemoteWriteEncoder::add_plain(const Part& part, const StoredRow& row,
                                   const SeriesTimes& times) {
  const exposition::NumberSource& source = part.part->value;
  const bool is_counter = plan_->series[part.family].family->type == FamilyType::kCounter;
  ++points_;
  request_->add_sample(describe(*plan_, part.family).value, {},
                       static_cast<double>(row[source.word] & source.mask),
                       {times.time_ms, is_counter ? times.start_ms : 0});
}

void RemoteWriteEncoder::add_value(const Plan& plan, std::size_t family, const SeriesTimes& times) {
  const Described& series = describe(plan, family);
  const PageFamily& facts = *plan.series[family].family;
  const SeriesTimes no_start{times.time_ms, 0};
  ++points_;
  switch (facts.type) {
    case FamilyType::kCounter:
      return request_->add_sample(series.value, {}, values_.value.as_double(), times);
    case FamilyType::kGauge:
      return request_->add_sample(series.value, {}, values_.value.as_double(), no_start);
    case FamilyType::kInfo: {
      // A text that is empty is a label that is missing.
      std::optional<LabelView> text;
      if (!values_.text.empty()) text = LabelView{facts.text_label, values_.text};
      return request_->add_sample(series.value, text, 1, no_start);
    }
    case FamilyType::kSummary:
      ++points_;
      request_->add_sample(series.value, {}, values_.value.as_double(), times);
      return request_->add_sample(series.count, {}, values_.count.as_double(), times);
    case FamilyType::kHistogram:
      histogram_.assign(values_.distribution);
      return request_->add_histogram(series.value, values_.distribution, histogram_, times);
  }
}

void RemoteWriteEncoder::add_stale(const Plan& plan, std::size_t block, std::size_t row,
                                   std::int64_t time_ms) {
  const SeriesTimes times{time_ms, 0};
  begin_row(plan, block, row);
  for (const Part& part : plan.parts[block]) {
    const FamilyType type = plan.series[part.family].family->type;
    if (type == FamilyType::kInfo) continue;
    const Described& series = describe(plan, part.family);
    ++points_;
    request_->add_sample(series.value, {}, kStale, times);
    if (type != FamilyType::kSummary) continue;
    ++points_;
    request_->add_sample(series.count, {}, kStale, times);
  }
  if (request_->bytes() >= batch_bytes_) end_batch();
}

void RemoteWriteEncoder::add_about(const exposition::Snapshot& snapshot) {
  const SeriesTimes times{to_ms(snapshot.sample.time.realtime_ns), 0};
  for (const PlainFamily& family : snapshot.about) {
    const std::string name = family.full_name();
    const FamilyFacts facts{family.type, name, family.help, family.unit};
    if (family.series.empty()) continue;
    const SeriesNumber number = request_->describe(facts, name);
    for (const PlainSeries& series : family.series) {
      labels_.clear();
      for (const exposition::Label& label : series.labels) {
        if (!label.value.empty()) labels_.push_back({label.name, label.value});
      }
      for (const exposition::Label& label : more_) {
        if (!has_label(series, label.name)) labels_.push_back({label.name, label.value});
      }
      sort_by_name(labels_);
      request_->begin_row(labels_);
      request_->add_sample(number, {}, series.value, times);
      ++points_;
    }
  }
}

void RemoteWriteEncoder::end_batch() {
  if (points_ == 0) return;
  ++requests_;
  (*take_)({request_->take(), std::exchange(points_, 0)});
}

}  // namespace meterbank::push::remote_write
