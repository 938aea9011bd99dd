// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/catalog.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "catalog_parts.hpp"
#include "liveness_words.hpp"
#include "memory/replayed_catalog.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

// The same order each time, and for a recording of these providers.
bool is_listed_before(const std::shared_ptr<const ProviderView>& left,
                      const std::shared_ptr<const ProviderView>& right) noexcept {
  const auto names = compare_folded(left->name, right->name);
  if (names != 0) return names < 0;
  const auto others = [](const ProviderView& view) {
    return std::tuple(view.named_pid(), view.created_realtime_ns, std::string_view(view.record));
  };
  return others(*left) < others(*right);
}

// What of a provider the others depend on: which of them are listed, and in which order.
struct Standing {
  explicit Standing(const Attachment& attachment)
      : view(attachment.view()),
        has_memory(attachment.mapped_bytes() > 0),
        is_known_to_live(attachment.is_known_to_live()),
        repeats_memory(attachment.repeats_memory()) {}

  [[nodiscard]] bool is_as_in(const Standing& before) const noexcept {
    return has_memory == before.has_memory && is_known_to_live == before.is_known_to_live &&
           repeats_memory == before.repeats_memory &&
           has_ended(view->state) == has_ended(before.view->state) &&
           view->outside.pid == before.view->outside.pid && !is_listed_before(view, before.view) &&
           !is_listed_before(before.view, view);
  }

  std::shared_ptr<const ProviderView> view;
  bool has_memory;
  bool is_known_to_live;
  bool repeats_memory;
};

}  // namespace

// Made when the first provider of a refresh needs it.
struct Catalog::Means {
  explicit Means(const Catalog& catalog) : budget(catalog.options_) {
    memories.reserve(catalog.attachments_.size());
    for (const auto& attachment : catalog.attachments_) {
      budget.count(attachment->owner(), attachment->mapped_bytes());
      attachment->claim_memory(memories);
      attachment->count_descriptors(catalog.parts_->processes);
    }
  }

  MappingBudget budget;
  Memories memories;
};

Catalog::Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

Result<Catalog> Catalog::open(CatalogOptions options) {
  return report_no_memory([&]() -> Result<Catalog> {
    for (const LabelPattern& pattern : options.where) {
      if (auto good = LabelPattern::parse(pattern.label + "=" + pattern.pattern); !good) {
        return tl::make_unexpected(std::move(good.error()));
      }
    }
    Catalog catalog;
    catalog.options_ = std::move(options);
    catalog.parts_ = std::make_unique<Parts>();
    catalog.look_around();
    const auto& errors = catalog.directory_errors_;
    if (!errors.empty() && errors.size() == catalog.directories_.size()) {
      return tl::make_unexpected(errors.front());
    }
    return catalog;
  });
}

// Where the memory of a record was found in a process, that is the process of the record.
void Catalog::find_process(Attachment& attachment) {
  const auto& walked = parts_->walk.memories();
  const auto memory = walked.find(attachment.inode());
  if (memory == walked.end() || !attachment.speaks_of(memory->first, memory->second.owner)) return;
  attachment.found_in(memory->second.process, parts_->processes);
}

void Catalog::refresh(Attachment& attachment, std::optional<Means>& means) {
  if (!means) means.emplace(*this);
  attachment.refresh({means->budget, means->memories, parts_->processes, parts_->timeouts,
                      options_.wants_labels()});
}

// Looks at the known providers. False: which are listed has to be found out anew.
bool Catalog::refresh_known(std::optional<Means>& means) {
  const std::uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  bool are_listed_alike = true;
  std::vector<std::pair<Standing, const Attachment*>> changed;
  for (const auto& attachment : attachments_) {
    if (!parts_->walk.memories().empty()) find_process(*attachment);
    if (attachment->is_as_it_was(parts_->processes, now_ns)) continue;
    Standing before(*attachment);
    refresh(*attachment, means);
    if (!Standing(*attachment).is_as_in(before)) are_listed_alike = false;
    if (attachment->view() != before.view)
      changed.emplace_back(std::move(before), attachment.get());
  }
  if (!are_listed_alike) return false;
  for (const auto& [before, attachment] : changed) {
    const auto listed =
        std::lower_bound(providers_.begin(), providers_.end(), before.view, is_listed_before);
    if (listed == providers_.end() || *listed != before.view) return false;
    *listed = attachment->view();
    ++version_;
  }
  return true;
}

// Those that live come first: a record that repeats another one's memory, or is one too many,
// is one of which that is not known.
void Catalog::add(Found& found, std::optional<Means>& means) {
  parts_->of_user.clear();
  parts_->left_out_of_walk.clear();
  for (const auto& attachment : attachments_) parts_->count(*attachment);
  std::vector<std::pair<std::unique_ptr<Attachment>, FoundRecord>> added;
  for (FoundRecord& record : found.added) {
    const bool trusted = includes(options_.trust, record.owner);
    auto attachment = std::make_unique<Attachment>(record, trusted, parts_->processes);
    if (!record.process) find_process(*attachment);
    added.emplace_back(std::move(attachment), std::move(record));
  }
  std::stable_sort(added.begin(), added.end(), [](const auto& left, const auto& right) {
    return left.first->life() < right.first->life();
  });
  for (auto& [attachment, record] : added) {
    const auto leave_out = [this, &record = record](LeftOutReason reason) {
      const auto directory =
          parts_->directories.find(std::string_view(record.path).substr(0, record.path.rfind('/')));
      if (directory != parts_->directories.end()) {
        directory->second.leave_out(record, reason);
      } else {
        add_left_out(parts_->left_out_of_walk, record.owner, reason, 1);
      }
    };
    const Parts::Counts& counts = parts_->of_user[record.owner];
    const bool is_gone = attachment->life() == Life::kGone;
    if (!is_gone && counts.with_memory >= options_.providers_per_user_max) {
      leave_out(LeftOutReason::kProvidersMax);
      continue;
    }
    refresh(*attachment, means);
    if (attachment->mapped_bytes() == 0 && counts.without >= options_.providers_per_user_max) {
      leave_out(LeftOutReason::kRecordsMax);
      continue;
    }
    parts_->count(*attachment);
    attachments_.push_back(std::move(attachment));
  }
}

// One provider may have left a record behind for each of its earlier, failed lives. They are the
// same provider only if a process of the same user, pid namespace and name is known to live: two
// containers may well run providers of one name. What the earlier lives held is let go, so that it
// does not come back when the successor ends as well; then their records are listed again.
void Catalog::forget_predecessors() {
  using Names = std::unordered_set<std::string_view, KeyedFoldedHash, FoldedEqual>;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Names> living;
  const auto of = [](const Attachment& attachment) {
    return std::pair(attachment.owner(), attachment.pid_namespace());
  };
  for (const auto& attachment : attachments_) {
    if (attachment->is_known_to_live()) living[of(*attachment)].insert(attachment->view()->name);
  }
  for (const auto& attachment : attachments_) {
    const auto names = living.find(of(*attachment));
    const bool has_successor = has_ended(attachment->view()->state) && names != living.end() &&
                               names->second.contains(attachment->view()->name);
    attachment->set_successor(has_successor);
  }
}

void Catalog::list_providers(std::uint64_t unopened_directories) {
  std::vector<std::shared_ptr<const ProviderView>> listed;
  left_out_.clear();
  predecessors_.clear();
  skipped_ = 0;
  unchosen_ = 0;
  for (const auto& attachment : attachments_) {
    if (attachment->repeats_memory()) {
      add_left_out(left_out_, attachment->owner(), LeftOutReason::kSameMemory, 1);
    } else if (!match_all(options_.where, attachment->view()->outside, attachment->owner())) {
      ++unchosen_;
    } else {
      (attachment->has_successor() ? predecessors_ : listed).push_back(attachment->view());
    }
  }
  for (auto& [path, directory] : parts_->directories) {
    directory.count_left_out(left_out_);
    skipped_ += directory.other_objects();
  }
  for (const LeftOut& each : parts_->left_out_of_walk) {
    add_left_out(left_out_, each.uid, each.reason, each.count);
  }
  for (const auto& [owner, count] : parts_->walk.refused()) {
    add_left_out(left_out_, owner, LeftOutReason::kProcess, count);
  }
  for (const auto& [owner, count] : parts_->listed.squatted) {
    add_left_out(left_out_, owner, LeftOutReason::kSquatted, count);
  }
  if (!parts_->listed.is_whole) add_left_out(left_out_, 0, LeftOutReason::kLargeDirectory, 1);
  add_left_out(left_out_, ::geteuid(), LeftOutReason::kCannotOpen, unopened_directories);
  std::sort(left_out_.begin(), left_out_.end(), [](const LeftOut& left, const LeftOut& right) {
    return std::tie(left.reason, left.uid) < std::tie(right.reason, right.uid);
  });
  for (const LeftOut& each : left_out_) skipped_ += each.count;
  std::sort(listed.begin(), listed.end(), is_listed_before);
  if (listed == providers_) return;
  providers_ = std::move(listed);
  ++version_;
}

Result<void> Catalog::refresh() {
  return report_no_memory([this]() -> Result<void> {
    if (parts_ != nullptr) look_around();
    return {};
  });
}

void Catalog::look_around() {
  // If this ends early, what it found is lost, and the next refresh takes nothing for known.
  const bool was_unfinished = std::exchange(parts_->is_unfinished, true);
  if (was_unfinished) {
    for (auto& [path, directory] : parts_->directories) directory.walk_again();
  }
  parts_->processes.begin_refresh();
  parts_->timeouts.begin_refresh();
  Found found = look_for_records();
  if (options_.all_namespaces) {
    parts_->walk.walk();
    add_walked(found);
  }
  std::optional<Means> means;
  const bool are_listed_alike = refresh_known(means);
  if (found.is_news || was_unfinished || !are_listed_alike) list_anew(found, means);
  parts_->is_unfinished = false;
}

void Catalog::list_anew(Found& found, std::optional<Means>& means) {
  add(found, means);
  // A provider that is known to live stays even if its record was deleted.
  std::erase_if(attachments_, [](const auto& attachment) {
    return !attachment->is_known_to_live() && !attachment->is_listed();
  });
  parts_->processes.forget_unwatched();
  parts_->of_user.clear();
  for (const auto& attachment : attachments_) parts_->count(*attachment);
  forget_predecessors();
  list_providers(found.unopened);
}

Catalog ReplayedCatalog::with(CatalogOptions options) {
  Catalog catalog;
  catalog.options_ = std::move(options);
  return catalog;
}

void ReplayedCatalog::list(Catalog& catalog, std::vector<View> providers, std::uint64_t unchosen,
                           std::uint64_t skipped) {
  std::sort(providers.begin(), providers.end(), is_listed_before);
  catalog.providers_ = std::move(providers);
  catalog.unchosen_ = unchosen;
  catalog.skipped_ = skipped;
}

void ReplayedCatalog::replace(Catalog& catalog, std::size_t index, View provider) {
  catalog.providers_[index] = std::move(provider);
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
