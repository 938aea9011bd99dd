// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/catalog.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "attachment.hpp"
#include "liveness_words.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"
#include "record_scan.hpp"

namespace meterbank {
namespace {

bool has_ended(ProviderState state) noexcept {
  return state == ProviderState::kDead || state == ProviderState::kClosed;
}

bool is_listed_before(const std::shared_ptr<const ProviderView>& left,
                      const std::shared_ptr<const ProviderView>& right) noexcept {
  const auto names = compare_folded(left->name, right->name);
  return names != 0 ? names < 0 : left->pid < right->pid;
}

}  // namespace

std::string_view name_of(ProviderState state) noexcept {
  switch (state) {
    case ProviderState::kLive:
      return "live";
    case ProviderState::kHung:
      return "hung";
    case ProviderState::kDead:
      return "dead";
    case ProviderState::kClosed:
      return "closed";
    case ProviderState::kUnreadable:
      return "unreadable";
  }
  return "unknown";
}

std::string_view name_of(RegistrationState state) noexcept {
  switch (state) {
    case RegistrationState::kFree:
      return "free";
    case RegistrationState::kInserted:
      return "inserted";
    case RegistrationState::kClosing:
      return "closing";
    case RegistrationState::kClosed:
      return "closed";
  }
  return "unknown";
}

bool is_readable(const ProviderView& provider, const RegisteredSet& set) noexcept {
  return provider.segment != nullptr &&
         (set.state == RegistrationState::kInserted || set.state == RegistrationState::kClosing);
}

bool comes_before(const ProviderView& left, const ProviderView& right) noexcept {
  const auto rank = [](const ProviderView& provider) {
    return std::tuple(!is_alive(provider.state), provider.created_realtime_ns, provider.pid);
  };
  return rank(left) < rank(right);
}

const CounterView* Counterset::find(std::uint32_t id) const noexcept {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [id](const CounterView& counter) { return counter.id == id; });
  return found == counters.end() ? nullptr : &*found;
}

const CounterView* Counterset::find(std::string_view name_or_symbol) const noexcept {
  for (const CounterView& counter : counters) {
    if (!counter.name.empty() && equal_folded(counter.name, name_or_symbol)) return &counter;
  }
  for (const CounterView& counter : counters) {
    if (!counter.symbol.empty() && equal_folded(counter.symbol, name_or_symbol)) return &counter;
  }
  return nullptr;
}

std::string ProviderView::label() const { return name + "@" + std::to_string(pid); }

std::uint64_t ProviderView::heartbeat_age_ns() const noexcept {
  return segment == nullptr ? 0 : meterbank::heartbeat_age_ns(segment->header());
}

std::uint64_t ProviderView::refused() const noexcept {
  if (segment == nullptr) return 0;
  std::uint64_t sum = 0;
  for (const SharedWord& reason : segment->header().refused) {
    sum += reason.load(std::memory_order_relaxed);  // relaxed: statistics, they order nothing
  }
  return sum;
}

std::uint64_t ProviderView::interested(const RegisteredSet& set) const noexcept {
  if (segment == nullptr) return 0;
  const auto* const declared = segment->at<RegistrationRecord>(set.registration);
  // relaxed: a number for people, it orders nothing.
  return declared == nullptr ? 0 : declared->interest.load(std::memory_order_relaxed);
}

Catalog::Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

Result<Catalog> Catalog::open(CatalogOptions options) {
  return report_no_memory([&]() -> Result<Catalog> {
    Catalog catalog;
    catalog.options_ = std::move(options);
    if (!catalog.options_.directory.empty()) {
      const auto scan = scan_records(catalog.options_.directory, catalog.options_.users,
                                     [](const std::string&, std::uint64_t) { return true; });
      if (!scan) return tl::make_unexpected(scan.error());
    }
    catalog.look_around();
    return catalog;
  });
}

// Adds attachments for new records. Returns the known ones whose record is still there.
std::unordered_set<const Attachment*> Catalog::look_for_records() {
  directories_ = options_.directory.empty()
                     ? segment_directories(options_.users != UserPolicy::kOwn)
                     : std::vector<std::string>{options_.directory};
  skipped_ = 0;
  std::unordered_map<std::string, const Attachment*> by_path;
  for (const auto& attachment : attachments_) by_path.emplace(attachment->path(), attachment.get());
  const auto knows = [&by_path](const std::string& path, std::uint64_t file_inode) {
    const auto known = by_path.find(path);
    return known != by_path.end() && known->second->file_inode() == file_inode;
  };
  std::unordered_set<const Attachment*> present;
  std::unordered_map<std::uint32_t, std::uint32_t> providers_of;
  std::vector<FoundRecord> added;
  for (const std::string& directory : directories_) {
    auto scan = scan_records(directory, options_.users, knows);
    if (!scan) continue;  // gone, or not safe: nothing in it may be believed
    skipped_ += scan->skipped;
    for (FoundRecord& found : scan->found) {
      if (!found.record) {
        const Attachment* known = by_path.at(found.path);
        present.insert(known);
        ++providers_of[known->owner()];
      } else {
        added.push_back(std::move(found));
      }
    }
  }
  for (FoundRecord& found : added) {
    if (++providers_of[found.owner] > options_.providers_per_user_max) {
      ++skipped_;
    } else {
      attachments_.push_back(std::make_unique<Attachment>(std::move(found)));
      present.insert(attachments_.back().get());
    }
  }
  return present;
}

// One provider may have left a record behind for each of its earlier, failed lives. What these held
// is let go, so that it does not come back when the successor ends as well; the record stays
// listed.
void Catalog::forget_predecessors() {
  std::unordered_map<std::uint32_t, std::unordered_set<std::string, KeyedFoldedHash, FoldedEqual>>
      live;
  for (const auto& attachment : attachments_) {
    const ProviderView& view = *attachment->view();
    if (!has_ended(view.state)) live[view.uid].insert(view.name);
  }
  std::erase_if(attachments_, [&live](const auto& attachment) {
    const ProviderView& view = *attachment->view();
    return has_ended(view.state) && live[view.uid].contains(view.name);
  });
}

void Catalog::list_providers() {
  std::vector<std::shared_ptr<const ProviderView>> listed;
  for (const auto& attachment : attachments_) listed.push_back(attachment->view());
  std::sort(listed.begin(), listed.end(), is_listed_before);
  if (listed == providers_) return;
  providers_ = std::move(listed);
  ++version_;
}

Result<void> Catalog::refresh() {
  return report_no_memory([this]() -> Result<void> {
    look_around();
    return {};
  });
}

void Catalog::look_around() {
  const auto present = look_for_records();
  MappingBudget budget(options_);
  for (const auto& attachment : attachments_) {
    budget.count(attachment->owner(), attachment->mapped_bytes());
  }
  for (const auto& attachment : attachments_) attachment->refresh(budget);
  // A provider that lives stays even if somebody deleted its record.
  std::erase_if(attachments_, [&present](const auto& attachment) {
    const ProviderState state = attachment->view()->state;
    return !is_alive(state) && !present.contains(attachment.get());
  });
  forget_predecessors();
  list_providers();
}

bool Catalog::stale() const noexcept {
  for (const auto& provider : providers_) {
    if (provider->segment == nullptr) continue;
    const SegmentHeader& header = provider->segment->header();
    // [Q5] pairs with [P5]. Without it a refresh() after "stale" could still see the old directory.
    const std::uint64_t version = header.directory_version.load(std::memory_order_acquire);
    if (version != provider->directory_version) return true;
    if (provider->state == ProviderState::kLive && owner_died(header)) return true;
  }
  return false;
}

}  // namespace meterbank
