// SPDX-License-Identifier: Apache-2.0
#include "record/merge/merged_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "meterbank/recording/row_coder.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::record {
namespace {

constexpr std::uint32_t kNoSource = recording::AssignedRates::kNone;

CatalogOptions view_options() {
  CatalogOptions options;
  options.outside_labels = true;
  // Several machines may have as much as each of them.
  options.user_bytes_max *= 64;
  return options;
}

// Words that hold nanoseconds of CLOCK_MONOTONIC: stamps, times of values, and beginnings of what
// is shown as the time since then.
std::vector<std::uint32_t> time_words_of(const Counterset& set) {
  std::vector<std::uint32_t> words;
  const auto columns = recording::columns_of(set);
  for (std::uint32_t word = 0; word < columns.size(); ++word) {
    if (columns[word] == recording::Column::kTime) words.push_back(word);
  }
  for (const CounterView& counter : set.counters) {
    const bool is_since = counter.type == CounterType::kElapsedTime && counter.time == kNoCounter &&
                          counter.frequency == kNoCounter;
    if (is_since) words.push_back(counter.word);
  }
  return words;
}

ReplayedProvider facts_of(const ProviderView& view, std::uint64_t segment,
                          const std::string& host) {
  ReplayedProvider facts;
  facts.name = view.name;
  facts.pid = view.pid;
  facts.pid_here = view.pid_here;
  facts.outside = view.outside;
  if (facts.outside.host.empty()) facts.outside.host = host;
  facts.uid = view.uid;
  facts.start_time = view.start_time;
  facts.segment_id = {segment, 0};
  facts.state = view.state;
  facts.record = view.record;
  facts.record_file = view.record_file;
  facts.socket = view.socket;
  facts.created_realtime_ns = view.created_realtime_ns;
  facts.bytes = view.bytes;
  facts.directory_version = view.directory_version;
  facts.error = view.error;
  facts.limited_by = view.limited_by;
  facts.errors = view.errors;
  facts.has_segment = view.segment != nullptr;
  return facts;
}

}  // namespace

MergedView::MergedView() : replay_(view_options()) {
  assigned_.rate_of = [this](const ProviderView& provider, const RegisteredSet& registered) {
    const Set* const set = set_of(provider, registered);
    return set == nullptr ? kNoSource : set->source;
  };
}

Result<void> MergedView::take(const MergedPart& part) {
  PartState& state = parts_[part.number];
  const Catalog& catalog = part.recording->catalog();
  if (!state.query || state.version != catalog.version()) {
    if (auto taken = take_directory(part, state); !taken) return taken;
  }
  if (state.epoch != epoch_) plan_copies(part, state);
  state.query->collect(state.sample, part.recording->time());
  copy_rows(part, state);
  return {};
}

Result<void> MergedView::take_directory(const MergedPart& part, PartState& state) {
  Catalog& catalog = part.recording->catalog();
  if (state.query) {
    state.query->update(catalog);
  } else {
    auto query = Query::compile(catalog, {});
    if (!query) return tl::make_unexpected(std::move(query.error()));
    state.query.emplace(std::move(*query));
  }
  state.version = catalog.version();
  state.epoch = 0;
  std::set<ProviderKey> seen;
  for (const auto& view : catalog.providers()) {
    if (auto taken = take_provider(part, view, seen); !taken) return taken;
  }
  if (auto taken = take_answered(part, state); !taken) return taken;
  forget(part.number, seen);
  return {};
}

// Rows that a callback gave: their sets are in no list of a provider.
Result<void> MergedView::take_answered(const MergedPart& part, const PartState& state) {
  std::set<const Set*> answered_now;
  for (const SelectedSet& one : state.query->selected()) {
    if (!one.is_on_demand()) continue;
    const ProviderKey key{part.machine, one.provider().segment_id[0], one.provider().record};
    const auto known = providers_.find(key);
    if (known == providers_.end()) continue;
    const auto rate = part.recording->rate_of(one.provider(), one.registered());
    const Seen answered{&one.provider(), &one.registered(),
                        rate && *rate < part.sources.size() ? part.sources[*rate] : kNoSource, 0};
    if (auto taken = take_set(part, known->second, answered); !taken) return taken;
    const auto set = known->second.sets.find(key_of(one.provider(), one.registered()));
    if (set != known->second.sets.end()) answered_now.insert(&set->second);
  }
  for (auto& [key, provider] : providers_) {
    for (auto& [set_key, set] : provider.sets) {
      if (set_key.serial != 0 && !answered_now.contains(&set)) set.holders.erase(part.number);
    }
    remove_unheld(provider);
  }
  return {};
}

Result<void> MergedView::take_provider(const MergedPart& part,
                                       const std::shared_ptr<const ProviderView>& view,
                                       std::set<ProviderKey>& seen) {
  const ProviderKey key{part.machine, view->segment_id[0], view->record};
  seen.insert(key);
  auto known = providers_.find(key);
  if (known == providers_.end()) {
    std::uint64_t segment = view->segment_id[0];
    // Numbers of two machines, or of two lives of one, may be equal.
    while (by_segment_.contains(segment)) segment += std::uint64_t{1} << 40U;
    auto added = replay_.add_provider(facts_of(*view, segment, part.host));
    if (!added) return tl::make_unexpected(std::move(added.error()));
    known = providers_.emplace(key, Provider{}).first;
    known->second.number = *added;
    known->second.segment = segment;
    by_segment_[segment] = &known->second;
  } else if (known->second.view != view) {
    auto changed = replay_.change_provider(known->second.number,
                                           facts_of(*view, known->second.segment, part.host));
    if (!changed) return changed;
  }
  Provider& provider = known->second;
  provider.view = view;
  provider.holders.insert(part.number);
  replay_.set_liveness(provider.number, view->heartbeat_age_ns(), view->refused());
  std::set<SetKey> sets;
  for (std::size_t position = 0; position < view->sets.size(); ++position) {
    const RegisteredSet& registered = view->sets[position];
    const auto rate = part.recording->rate_of(*view, registered);
    const Seen one{view.get(), &registered,
                   rate && *rate < part.sources.size() ? part.sources[*rate] : kNoSource, position};
    sets.insert(key_of(*view, registered));
    if (auto taken = take_set(part, provider, one); !taken) return taken;
  }
  for (auto& [set_key, set] : provider.sets) {
    // Of answered rows is told later.
    if (set_key.serial == 0 && !sets.contains(set_key)) set.holders.erase(part.number);
  }
  remove_unheld(provider);
  return {};
}

Result<MergedView::Set*> MergedView::find_set(Provider& provider, const Seen& seen) {
  const SetKey key = key_of(*seen.provider, *seen.registered);
  if (const auto known = provider.sets.find(key); known != provider.sets.end()) {
    return &known->second;
  }
  Set set;
  set.set = seen.registered->set;
  set.time_words = time_words_of(*set.set);
  set.state = seen.registered->state;
  set.flags = seen.registered->flags;
  if (key.serial != 0) {
    const auto declared = provider.sets.find({0, key.generation, key.guid});
    if (declared == provider.sets.end()) return nullptr;
    auto added = replay_.add_answered(declared->second.number, set.set, key.serial);
    if (!added) return tl::make_unexpected(std::move(added.error()));
    set.number = *added;
  } else {
    while (provider.registrations.contains(set.registration)) ++set.registration;
    ReplayedSet facts;
    facts.set = set.set;
    facts.generation = key.generation;
    facts.state = set.state;
    facts.flags = set.flags;
    facts.registration = set.registration;
    facts.bytes = seen.registered->bytes;
    auto added = replay_.add_set(provider.number, std::move(facts), seen.position);
    if (!added) return tl::make_unexpected(std::move(added.error()));
    set.number = *added;
    provider.registrations.insert(set.registration);
  }
  ++epoch_;
  return &provider.sets.emplace(key, std::move(set)).first->second;
}

// Whether the rows of this set are those of the part.
Result<bool> MergedView::gives_rows(const MergedPart& part, const Provider& provider, Set& set,
                                    const Seen& seen) {
  if (seen.source == set.source && seen.source != kNoSource) return true;
  const auto is_other = [&](const auto& holder) {
    return holder.first != part.number && holder.second == set.source && !is_dropped(holder.first);
  };
  const bool is_taken =
      set.source != kNoSource && std::any_of(set.holders.begin(), set.holders.end(), is_other);
  if (!is_taken) {
    if (set.source != seen.source) ++epoch_;
    set.source = seen.source;
    set.recorder = part.recorder;
    return true;
  }
  if (seen.source == kNoSource) return false;
  if (set.recorder != part.recorder) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} of {} was sampled by two recorders at different times",
                            escape_for_terminal(part.path), escape_for_terminal(set.set->symbol),
                            escape_for_terminal(provider.view->label())),
                "meterbank log cut of one of them, to other counters or times");
  }
  // Parts of one recording: the one with more rows has all of them.
  if (seen.registered->instances.size() <= set.rows.size()) return false;
  set.source = seen.source;
  ++epoch_;
  return true;
}

Result<void> MergedView::take_set(const MergedPart& part, Provider& provider, const Seen& seen) {
  auto found = find_set(provider, seen);
  if (!found) return tl::make_unexpected(std::move(found.error()));
  if (*found == nullptr) return {};
  Set& set = **found;
  set.holders[part.number] = seen.source;
  auto gives = gives_rows(part, provider, set, seen);
  if (!gives) return tl::make_unexpected(std::move(gives.error()));
  if (!*gives) return {};
  const RegisteredSet& registered = *seen.registered;
  const bool is_changed = set.state != registered.state || set.flags != registered.flags;
  if (is_changed && seen.provider->segment_id[1] == 0) {
    set.state = registered.state;
    set.flags = registered.flags;
    replay_.change_set(set.number, set.state, set.flags);
  }
  const bool is_same =
      set.instances.is(registered.instances) && set.rows.size() == registered.instances.size();
  return is_same ? Result<void>() : take_rows(set, registered);
}

Result<void> MergedView::take_rows(Set& set, const RegisteredSet& registered) {
  std::map<std::uint32_t, const InstanceView*> wanted;
  for (const InstanceView& instance : registered.instances) wanted[instance.slot] = &instance;
  for (auto row = set.rows.begin(); row != set.rows.end();) {
    const auto found = wanted.find(row->first);
    const bool is_there =
        found != wanted.end() && found->second->generation == row->second.generation &&
        found->second->id == row->second.id && found->second->closed >= row->second.is_closed;
    if (is_there) {
      if (found->second->closed && !row->second.is_closed) {
        replay_.close_instance(set.number, row->second.number);
        row->second.is_closed = true;
      }
      ++row;
      continue;
    }
    replay_.end_instance(set.number, row->second.number);
    row = set.rows.erase(row);
  }
  for (const auto& [slot, instance] : wanted) {
    if (set.rows.contains(slot)) continue;
    auto begun = replay_.begin_instance(
        set.number, {slot, instance->name, instance->id, instance->generation, instance->closed});
    if (!begun) return tl::make_unexpected(std::move(begun.error()));
    replay_.set_row(set.number, *begun, RowStatus::kBusy, RowConsistency::kBlock);
    set.rows[slot] = {instance->generation, instance->id, instance->closed, *begun};
  }
  set.instances = registered.instances;
  ++epoch_;
  return {};
}

void MergedView::plan_copies(const MergedPart& part, PartState& state) {
  state.copies.clear();
  state.epoch = epoch_;
  const auto selected = state.query->selected();
  for (const auto& [shown, first_row] : recording::shown_once(selected)) {
    const SelectedSet& one = *shown;
    const auto rate = part.recording->rate_of(one.provider(), one.registered());
    if (!rate || *rate >= part.sources.size()) continue;
    const auto provider =
        providers_.find({part.machine, one.provider().segment_id[0], one.provider().record});
    if (provider == providers_.end()) continue;
    const auto set = provider->second.sets.find(key_of(one.provider(), one.registered()));
    if (set == provider->second.sets.end() || set->second.source != part.sources[*rate]) continue;
    Copy copy{&set->second, *rate, {}};
    for (std::size_t number = 0; number < one.instances(); ++number) {
      const auto row = set->second.rows.find(one.instance(number).slot);
      if (row == set->second.rows.end()) continue;
      copy.rows.emplace_back(first_row + number, row->second.number);
    }
    state.copies.push_back(std::move(copy));
  }
}

void MergedView::copy_rows(const MergedPart& part, const PartState& state) {
  const std::uint64_t due = part.recording->due();
  const auto statuses = state.sample.statuses();
  const auto consistencies = state.sample.consistencies();
  for (const Copy& copy : state.copies) {
    if ((due >> copy.rate & 1U) == 0) continue;
    for (const auto& [row, number] : copy.rows) {
      replay_.set_row(copy.set->number, number, statuses[row], consistencies[row]);
      if (!holds_values(statuses[row])) continue;
      const auto from = state.sample.stored(row).words();
      const auto to = replay_.words(copy.set->number, number);
      std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
      if (part.clock_ahead == 0) continue;
      for (const std::uint32_t word : copy.set->time_words) {
        if (to[word] != 0) to[word] += part.clock_ahead;  // 0: never
      }
    }
  }
}

// Sets that no part has any more. With a set go the rows that were answered for it.
void MergedView::remove_unheld(Provider& provider) {
  std::erase_if(provider.sets, [&](const auto& one) {
    const auto& [key, set] = one;
    if (key.serial == 0) return false;
    const auto declared = provider.sets.find({0, key.generation, key.guid});
    const bool goes_along = declared == provider.sets.end() || declared->second.holders.empty();
    if (!goes_along && !set.holders.empty()) return false;
    if (!goes_along) replay_.remove_set(set.number);
    ++epoch_;
    return true;
  });
  std::erase_if(provider.sets, [&](const auto& one) {
    if (!one.second.holders.empty()) return false;
    replay_.remove_set(one.second.number);
    provider.registrations.erase(one.second.registration);
    ++epoch_;
    return true;
  });
}

// Providers that the part does not show any more.
void MergedView::forget(std::size_t part, const std::set<ProviderKey>& but) {
  for (auto one = providers_.begin(); one != providers_.end();) {
    Provider& provider = one->second;
    if (but.contains(one->first) || !provider.holders.contains(part)) {
      ++one;
      continue;
    }
    provider.holders.erase(part);
    for (auto& [set_key, set] : provider.sets) set.holders.erase(part);
    if (provider.holders.empty()) {
      replay_.remove_provider(provider.number);
      by_segment_.erase(provider.segment);
      one = providers_.erase(one);
      ++epoch_;
      continue;
    }
    remove_unheld(provider);
    ++one;
  }
}

void MergedView::drop(std::size_t part) { dropped_.insert(part); }

void MergedView::remove_dropped() {
  for (const std::size_t part : std::exchange(dropped_, {})) {
    forget(part, {});
    parts_.erase(part);
  }
}

void MergedView::show(Timestamp time, std::uint64_t due) {
  remove_dropped();
  replay_.show(time);
  assigned_.due = due;
  assigned_.version = epoch_;
  if (!query_) query_.emplace(*Query::compile(replay_.catalog(), {}));
  query_->update(replay_.catalog());
  query_->collect(sample_, time);
}

recording::TickInput MergedView::tick(std::uint64_t window_ns) noexcept {
  input_ = {&*query_, &sample_};
  return {replay_.catalog(), {&input_, 1}, replay_.time(), window_ns, &assigned_};
}

MergedView::Set* MergedView::set_of(const ProviderView& provider, const RegisteredSet& registered) {
  const auto known = by_segment_.find(provider.segment_id[0]);
  if (known == by_segment_.end()) return nullptr;
  const auto set = known->second->sets.find(key_of(provider, registered));
  return set == known->second->sets.end() ? nullptr : &set->second;
}

}  // namespace meterbank::record
