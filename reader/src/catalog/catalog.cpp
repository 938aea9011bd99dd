// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/catalog.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "attachment.hpp"
#include "liveness_words.hpp"
#include "memory/recorded_rows.hpp"
#include "memory/replayed_catalog.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/process_facts.hpp"
#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"
#include "process_table.hpp"
#include "process_walk.hpp"
#include "record_scan.hpp"

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
    case ProviderState::kForeign:
      return "foreign";
  }
  return "unknown";
}

std::string_view name_of(LeftOutReason reason) noexcept {
  switch (reason) {
    case LeftOutReason::kProvidersMax:
      return "providers beyond the limit of one user";
    case LeftOutReason::kRecordsMax:
      return "records of dead or unreadable providers beyond the limit of one user";
    case LeftOutReason::kNotRead:
      return "more files called like records than are read at once";
    case LeftOutReason::kCannotOpen:
      return "records that cannot be opened";
    case LeftOutReason::kLargeDirectory:
      return "the rest of a directory with too many objects";
    case LeftOutReason::kProcess:
      return "processes whose descriptors may not be listed";
    case LeftOutReason::kSameMemory:
      return "records of memory that another record has brought in";
    case LeftOutReason::kNotARecord:
      return "files called like records that are not records";
    case LeftOutReason::kPolicy:
      return "records of other users";
    case LeftOutReason::kSquatted:
      return "directories called like that of a user, of another owner";
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
    const int order = provider.state == ProviderState::kForeign ? 1
                      : is_alive(provider.state)                ? 0
                                                                : 2;
    return std::tuple(!provider.trusted, order, provider.created_realtime_ns, provider.pid);
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

std::string ProviderView::label() const { return name + "@" + std::to_string(named_pid()); }

std::uint64_t ProviderView::heartbeat_age_ns() const noexcept {
  if (segment == nullptr) return 0;
  // relaxed: a number for people, it orders nothing.
  if (recorded != nullptr) return recorded->heartbeat_age_ns.load(std::memory_order_relaxed);
  return meterbank::heartbeat_age_ns(segment->header());
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

RecordRemoval remove_record(const ProviderView& provider) {
  return remove_ended_record(provider.record, provider.record_file);
}

struct Catalog::Found {
  std::unordered_set<const Attachment*> present;  // of those known, with their record still there
  std::vector<FoundRecord> added;
  std::uint64_t unopened = 0;  // directories that this process lacked a descriptor for
};

struct Catalog::Parts {
  // Providers whose memory is there, and records without.
  struct Counts {
    std::uint32_t with_memory = 0;
    std::uint32_t without = 0;
  };

  ProcessTable processes;
  DoorTimeouts timeouts;
  std::map<std::string, RecordDirectory, std::less<>> directories;
  ProcessWalk walk;
  std::vector<LeftOut> left_out_of_walk;
  SegmentDirectories listed;
  std::uint64_t listing_rests_until = 0;  // CLOCK_MONOTONIC
  std::unordered_map<std::uint32_t, Counts> of_user;

  void count(const Attachment& attachment) {
    Counts& counts = of_user[attachment.owner()];
    ++(attachment.mapped_bytes() > 0 ? counts.with_memory : counts.without);
  }
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

void Catalog::find_directories() {
  if (!options_.directory.empty()) {
    directories_ = split_directories(options_.directory);
    return;
  }
  // As long as for the directories themselves, see record_scan.hpp.
  constexpr std::uint64_t kObjectsWithoutRest = 16'384, kRestNsPerObject = 8000;
  if (clock_ns(CLOCK_MONOTONIC) < parts_->listing_rests_until) return;
  parts_->listed = segment_directories(options_.users != UserPolicy::kOwn);
  directories_ = parts_->listed.paths;
  if (parts_->listed.objects > kObjectsWithoutRest) {
    parts_->listing_rests_until =
        clock_ns(CLOCK_MONOTONIC) + parts_->listed.objects * kRestNsPerObject;
  }
}

Catalog::Found Catalog::look_for_records() {
  find_directories();
  std::unordered_map<std::string_view, const Attachment*> by_path;
  for (const auto& attachment : attachments_) by_path.emplace(attachment->path(), attachment.get());
  const auto knows = [&by_path](const std::string& path, std::uint64_t listed_inode) {
    const auto known = by_path.find(path);
    return known != by_path.end() && known->second->listed_inode() == listed_inode;
  };
  const auto has_room = [this](std::uint32_t owner, LeftOutReason reason) {
    const Parts::Counts& counts = parts_->of_user[owner];
    return (reason == LeftOutReason::kProvidersMax ? counts.with_memory : counts.without) <
           options_.providers_per_user_max;
  };
  std::erase_if(parts_->directories, [this](const auto& known) {
    return std::find(directories_.begin(), directories_.end(), known.first) == directories_.end();
  });
  directory_errors_.clear();
  Found found;
  for (const std::string& path : directories_) {
    RecordDirectory& directory = parts_->directories.try_emplace(path, path).first->second;
    auto scan = directory.scan(options_.users, knows, has_room);
    if (!scan && !options_.directory.empty()) directory_errors_.push_back(scan.error());
    if (!scan && is_shortage(scan.error().system_error)) ++found.unopened;
    // Gone, or not safe: nothing in it may be believed.
    if (!scan && !is_shortage(scan.error().system_error)) continue;
    const bool is_whole = scan && scan->walked == RecordScan::Walked::kAll;
    if (!is_whole) {
      const bool looked = scan && scan->walked == RecordScan::Walked::kPart;
      for (const auto& attachment : attachments_) {
        if (attachment->is_in(path) && (!looked || attachment->has_record_file())) {
          found.present.insert(attachment.get());
        }
      }
    }
    if (!scan) continue;
    for (FoundRecord& record : scan->found) {
      if (record.record) {
        found.added.push_back(std::move(record));
      } else {
        found.present.insert(by_path.at(record.path));
      }
    }
  }
  return found;
}

// Memory that no record speaks of.
void Catalog::add_walked(Found& found) {
  std::unordered_map<std::uint64_t, std::uint32_t> announced;  // inodes, with their owners
  for (const auto& attachment : attachments_)
    announced.emplace(attachment->inode(), attachment->owner());
  for (const FoundRecord& record : found.added)
    announced.emplace(record.record->inode, record.owner);
  for (const auto& [inode, memory] : parts_->walk.memories()) {
    if (!includes(options_.users, memory.owner)) continue;
    const auto known = announced.find(inode);
    if (known != announced.end() && known->second == memory.owner) continue;
    // It may have ended since the walk.
    if (process_start_time(memory.process.pid) != memory.process.start_time) continue;
    FoundRecord record;
    record.path = "/proc/" + std::to_string(memory.process.pid) + "/fd/" +
                  std::to_string(memory.record.descriptor);
    record.owner = memory.owner;
    record.file = memory.file;
    record.record = memory.record;
    record.process = memory.process;
    found.added.push_back(std::move(record));
  }
}

// Those that live come first: a record that repeats another one's memory, or is one too many,
// is one of which that is not known.
void Catalog::add(Found& found) {
  MappingBudget budget(options_);
  MemoryOwners memories;
  parts_->of_user.clear();
  parts_->left_out_of_walk.clear();
  for (const auto& attachment : attachments_) {
    budget.count(attachment->owner(), attachment->mapped_bytes());
    attachment->claim_memory(memories);
    attachment->count_descriptors(parts_->processes);
  }
  const bool wants_labels =
      options_.outside_labels || options_.all_namespaces || !options_.where.empty();
  const RefreshMeans means{budget, parts_->processes, parts_->timeouts, wants_labels};
  const auto& walked = parts_->walk.memories();
  // Where the memory of a record was found in a process, that is the process of the record.
  const auto find_process = [&](Attachment& attachment, std::uint64_t inode) {
    const auto memory = walked.find(inode);
    if (memory == walked.end() || !attachment.speaks_of(inode, memory->second.owner)) return;
    attachment.found_in(memory->second.process, parts_->processes);
  };
  for (const auto& attachment : attachments_) {
    find_process(*attachment, attachment->inode());
    attachment->refresh(means, memories);
    parts_->count(*attachment);
  }
  std::vector<std::pair<std::unique_ptr<Attachment>, FoundRecord>> added;
  for (FoundRecord& record : found.added) {
    const bool trusted = includes(options_.trust, record.owner);
    auto attachment = std::make_unique<Attachment>(record, trusted, parts_->processes);
    if (!record.process) find_process(*attachment, attachment->inode());
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
    attachment->refresh(means, memories);
    if (attachment->mapped_bytes() == 0 && counts.without >= options_.providers_per_user_max) {
      leave_out(LeftOutReason::kRecordsMax);
      continue;
    }
    parts_->count(*attachment);
    found.present.insert(attachment.get());
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
  parts_->processes.begin_refresh();
  parts_->timeouts.begin_refresh();
  Found found = look_for_records();
  if (options_.all_namespaces) {
    parts_->walk.walk();
    add_walked(found);
  }
  add(found);
  // A provider that is known to live stays even if its record was deleted.
  std::erase_if(attachments_, [&found](const auto& attachment) {
    return !attachment->is_known_to_live() && !found.present.contains(attachment.get());
  });
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
