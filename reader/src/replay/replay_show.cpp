// SPDX-License-Identifier: Apache-2.0
//
// From what a Replay was told to the views of its catalog.
#include <algorithm>

#include "../catalog/memory/replayed_catalog.hpp"
#include "replay_parts.hpp"

namespace meterbank {
namespace {

// Keeps what a view of a recording points to.
struct KeptMemory {
  std::shared_ptr<const RecordedProvider> provider;
  std::vector<std::shared_ptr<const void>> rows;
};

}  // namespace

bool Replay::Parts::includes_user(const Provider& provider) const noexcept {
  return includes(catalog_.options().users, provider.facts.uid, own_uid_);
}

bool Replay::Parts::is_chosen(const Provider& provider) const {
  const ReplayedProvider& facts = provider.facts;
  return match_all(catalog_.options().where, facts.outside, facts.uid);
}

// All but what its segment has.
void Replay::Parts::fill_in(const Provider& provider, ProviderView& view) const {
  const ReplayedProvider& facts = provider.facts;
  view.name = facts.name;
  view.pid = facts.pid;
  view.pid_here = facts.pid_here;
  if (wants_labels_) view.outside = facts.outside;
  // Without it, rows of two machines would pass for rows of one.
  view.outside.host = facts.outside.host;
  view.uid = facts.uid;
  view.trusted = includes(catalog_.options().trust, facts.uid, own_uid_);
  view.start_time = facts.start_time;
  view.segment_id = facts.segment_id;
  view.state = facts.state;
  view.record = facts.record;
  view.record_file = facts.record_file;
  view.socket = facts.socket;
  view.created_realtime_ns = facts.created_realtime_ns;
  view.bytes = facts.bytes;
  view.directory_version = facts.directory_version;
  view.error = facts.error;
  view.limited_by = facts.limited_by;
}

// The provider with nothing but the rows that were answered for the set.
Replay::Parts::View Replay::Parts::answered_view(Provider& provider, const Set& set) const {
  if (!set.answered) return nullptr;
  Set& answered = sets_[*set.answered];
  answered.rows.show();
  auto view = std::make_shared<ProviderView>();
  fill_in(provider, *view);
  view->segment_id[1] = answered.serial;
  RegisteredSet rows = answered.rows.registered(nullptr);
  rows.generation = set.facts.generation;
  rows.state = set.facts.state;
  rows.flags = set.facts.flags;
  view->sets.push_back(std::move(rows));
  view->segment = provider.segment.mapped();
  const auto kept = std::make_shared<KeptMemory>();
  kept->provider = provider.segment.recorded();
  kept->rows.push_back(answered.rows.memory());
  view->recorded = {kept, kept->provider.get()};
  return view;
}

void Replay::Parts::build_view(Provider& provider) const {
  auto view = std::make_shared<ProviderView>();
  fill_in(provider, *view);
  view->errors = provider.facts.errors;
  provider.segment.set_version(provider.facts.directory_version);
  const auto kept = std::make_shared<KeptMemory>();
  kept->provider = provider.segment.recorded();
  kept->rows.reserve(provider.sets.size());
  view->sets.reserve(provider.sets.size());
  for (const ReplaySetId id : provider.sets) {
    Set& set = sets_[id];
    set.rows.show();
    RegisteredSet registered = set.rows.registered(answered_view(provider, set));
    registered.generation = set.facts.generation;
    registered.state = set.facts.state;
    registered.flags = set.facts.flags;
    registered.bytes = set.facts.bytes;
    view->sets.push_back(std::move(registered));
    kept->rows.push_back(set.rows.memory());
  }
  if (provider.facts.has_segment) view->segment = provider.segment.mapped();
  view->recorded = {kept, kept->provider.get()};
  provider.view = std::move(view);
}

void Replay::Parts::list_all() {
  std::vector<View> views;
  views.reserve(all_.size());
  std::unordered_map<const ProviderView*, Provider*> listed;
  std::uint64_t unchosen = 0, skipped = 0;
  for (const ReplayProviderId id : all_) {
    Provider& provider = providers_[id];
    provider.is_listed = false;
    if (!includes_user(provider)) {
      ++skipped;
    } else if (!is_chosen(provider)) {
      ++unchosen;
    } else {
      provider.is_listed = true;
      listed.emplace(provider.view.get(), &provider);
      views.push_back(provider.view);
    }
  }
  ReplayedCatalog::list(catalog_, std::move(views), unchosen, skipped);
  for (std::size_t index = 0; index < catalog_.providers().size(); ++index) {
    listed.at(catalog_.providers()[index].get())->listed_at = index;
  }
  is_relisted_ = false;
}

void Replay::Parts::show(Timestamp time) {
  time_ = time;
  bool is_seen = is_relisted_;
  for (const ReplayProviderId id : changed_) {
    Provider& provider = providers_[id];
    is_relisted_ = is_relisted_ || provider.view == nullptr;
    build_view(provider);
  }
  if (is_relisted_) {
    list_all();
    is_seen = true;
  } else {
    for (const ReplayProviderId id : changed_) {
      const Provider& provider = providers_[id];
      if (!provider.is_listed) continue;
      ReplayedCatalog::replace(catalog_, provider.listed_at, provider.view);
      is_seen = true;
    }
  }
  for (const ReplayProviderId id : changed_) providers_[id].changed_at = kUnchanged;
  changed_.clear();
  if (is_seen) ReplayedCatalog::changed(catalog_);
}

}  // namespace meterbank
