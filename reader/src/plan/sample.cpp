// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/sample.hpp"

#include <utility>

#include "meterbank/base/clock.hpp"
#include "query_plan.hpp"

namespace meterbank {

Timestamp Timestamp::now() noexcept {
  return {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME)};
}

SampleContent& SampleAccess::of(Sample& sample) {
  if (sample.content_ == nullptr) sample.content_ = std::make_unique<SampleContent>();
  return *sample.content_;
}

Sample::Sample() noexcept = default;
Sample::Sample(Sample&& other) noexcept = default;
Sample& Sample::operator=(Sample&& other) noexcept = default;
Sample::~Sample() = default;

Sample::Sample(const Sample& other) : time(other.time), callbacks(other.callbacks) {
  if (other.content_ == nullptr) return;
  content_ = std::make_unique<SampleContent>(*other.content_);
  content_->cursor = nullptr;  // an iteration belongs to one sample
}

Sample& Sample::operator=(const Sample& other) {
  if (this != &other) *this = Sample(other);
  return *this;
}

bool Sample::empty() const noexcept { return content_ == nullptr || content_->plan == nullptr; }

void Sample::clear() noexcept {
  if (content_ != nullptr) content_->plan = nullptr;
}

std::vector<SelectedSet> Sample::selected() const {
  return empty() ? std::vector<SelectedSet>() : selected_in(*content_->plan);
}

std::span<const std::shared_ptr<const ProviderView>> Sample::left_out() const noexcept {
  if (empty()) return {};
  return content_->plan->left_out;
}

std::span<const RowStatus> Sample::statuses() const noexcept {
  if (empty()) return {};
  return content_->status;
}

std::span<const RowConsistency> Sample::consistencies() const noexcept {
  if (empty()) return {};
  return content_->consistency;
}

StoredRow Sample::stored(std::size_t row) const noexcept {
  const QueryPlan::Selection& selection = content_->plan->selection_of(row);
  const std::size_t words = selection.set->set->form.words;
  const std::size_t first = selection.first_value + (row - selection.first_row) * words;
  return {content_->values.data() + first, words};
}

std::vector<SelectedSet> selected_in(const QueryPlan& plan) {
  std::vector<SelectedSet> all;
  all.reserve(plan.selections.size());
  for (std::size_t index = 0; index < plan.selections.size(); ++index) {
    all.emplace_back(plan, index);
  }
  return all;
}

const ProviderView& SelectedSet::provider() const noexcept {
  return *plan_->selections[index_].provider;
}
const RegisteredSet& SelectedSet::registered() const noexcept {
  return *plan_->selections[index_].set;
}
const std::vector<std::uint32_t>& SelectedSet::counters() const noexcept {
  return plan_->selections[index_].counters;
}
std::size_t SelectedSet::instances() const noexcept { return plan_->selections[index_].rows; }
const InstanceView& SelectedSet::instance(std::size_t number) const noexcept {
  const QueryPlan::RowList& list = *plan_->selections[index_].list;
  const QueryPlan::RowList::Part& part = list.parts[list.part_with(number)];
  return part.rows->instance(number - part.first_row);
}
bool SelectedSet::is_total() const noexcept { return plan_->selections[index_].total; }
bool SelectedSet::is_on_demand() const noexcept {
  return plan_->selections[index_].answered != nullptr;
}

std::string_view name_of(RowStatus status) noexcept {
  switch (status) {
    case RowStatus::kFresh:
      return "fresh";
    case RowStatus::kCheckpoint:
      return "checkpoint";
    case RowStatus::kBusy:
      return "busy";
    case RowStatus::kGone:
      return "gone";
    case RowStatus::kClosed:
      return "closed";
    case RowStatus::kDead:
      return "dead";
    case RowStatus::kTimeout:
      return "timeout";
    case RowStatus::kOverloaded:
      return "overloaded";
    case RowStatus::kUnanswered:
      return "unanswered";
  }
  return "unknown";
}

std::string_view name_of(RowConsistency consistency) noexcept {
  switch (consistency) {
    case RowConsistency::kBlock:
      return "block";
    case RowConsistency::kIndependent:
      return "independent";
    case RowConsistency::kShards:
      return "shards";
    case RowConsistency::kSharedCounters:
      return "shared counters";
  }
  return "unknown";
}

std::string_view name_of(CutQuality quality) noexcept {
  switch (quality) {
    case CutQuality::kPerBlock:
      return "per block";
    case CutQuality::kCut:
      return "cut";
    case CutQuality::kExact:
      return "exact";
  }
  return "unknown";
}

}  // namespace meterbank
