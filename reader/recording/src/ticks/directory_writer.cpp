// SPDX-License-Identifier: Apache-2.0
#include "directory_writer.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "directory_events.hpp"
#include "meterbank/recording/frame.hpp"
#include "packed.hpp"
#include "provider_facts.hpp"

namespace meterbank::recording {
namespace {

void append_event(DirectoryEvent event, ByteWriter& out) {
  out.number(static_cast<std::uint64_t>(event));
}

// The lowest index that is free, or a new one.
template <typename T>
std::uint32_t take_index(std::vector<T>& all, std::set<std::uint32_t>& free) {
  if (!free.empty()) return free.extract(free.begin()).value();
  all.emplace_back();
  return static_cast<std::uint32_t>(all.size() - 1);
}

void append_row(const WrittenRow& row, std::uint32_t& last_slot, ByteWriter& out) {
  out.number(row.slot - last_slot);
  last_slot = row.slot;
  out.number(row.generation);
  out.number(row.id);
  out.number(row.is_closed ? 1 : 0);
  out.text(row.name);
}

void append_rows(std::uint32_t index, const std::vector<WrittenRow>& rows, ByteWriter& out) {
  append_event(DirectoryEvent::kRows, out);
  out.number(index);
  out.number(0);
  out.number(rows.size());
  std::uint32_t last_slot = 0;
  for (const WrittenRow& row : rows) append_row(row, last_slot, out);
}

bool is_same(const WrittenRow& row, const InstanceView& instance) {
  return row.slot == instance.slot && row.generation == instance.generation &&
         row.id == instance.id && row.is_closed == instance.closed;
}

WrittenRow row_of(const InstanceView& instance, std::size_t words) {
  return {.slot = instance.slot,
          .id = instance.id,
          .generation = instance.generation,
          .is_closed = instance.closed,
          .name = instance.name,
          .history = RowHistory(words)};
}

}  // namespace

std::vector<ShownSet> shown_once(std::span<const SelectedSet> selected) {
  std::vector<ShownSet> shown;
  shown.reserve(selected.size());
  std::size_t row = 0;
  for (const SelectedSet& one : selected) {
    shown.push_back({&one, row});
    row += one.instances();
  }
  std::stable_partition(shown.begin(), shown.end(),
                        [](const ShownSet& one) { return !one.selected->is_total(); });
  std::set<std::tuple<const ProviderView*, const RegisteredSet*>> known;
  std::erase_if(shown, [&](const ShownSet& one) {
    return !known.emplace(&one.selected->provider(), &one.selected->registered()).second;
  });
  return shown;
}

SchemaNumbers::SchemaNumbers() : known_(std::make_unique<Known>()) {}
SchemaNumbers::SchemaNumbers(SchemaNumbers&&) noexcept = default;
SchemaNumbers& SchemaNumbers::operator=(SchemaNumbers&&) noexcept = default;
SchemaNumbers::~SchemaNumbers() = default;

void DirectoryWriter::update(const TickInput& input, SchemaNumbers& schemas,
                             std::string& schema_frames, std::string& section) {
  ++round_;
  events_ = 0;
  left_out_ = 0;
  std::string bytes;
  ByteWriter events(bytes);
  take_providers(input.catalog, events);
  Selections selections;
  selections.reserve(input.rates.size());
  for (const RateInput& rate : input.rates) selections.push_back(rate.query->selected());
  for (const Found& found : find_sets(input, selections)) {
    take_set(found, schemas, schema_frames, events);
  }
  // Written first, so that positions are those in the new lists.
  std::string drops;
  ByteWriter dropped(drops);
  drop_unseen(dropped);
  ByteWriter(section).number(events_);
  section += drops;
  section += bytes;
}

void DirectoryWriter::take_providers(const Catalog& catalog, ByteWriter& events) {
  for (const auto& view : catalog.providers()) {
    const ProviderKey key{view->record, view->segment_id[0]};
    auto known = provider_indexes_.find(key);
    if (known == provider_indexes_.end()) {
      known = provider_indexes_.emplace(key, take_index(providers_, free_providers_)).first;
    }
    Provider& provider = providers_[known->second];
    provider.seen = round_;
    if (provider.view == view) continue;
    provider.view = view;
    // The catalog makes a new view for each change of a set; only new facts are an event.
    std::string lasting;
    ByteWriter lasting_out(lasting);
    append_facts(*view, {}, lasting_out);
    if (lasting == provider.lasting_facts) continue;
    provider.lasting_facts = std::move(lasting);
    provider.facts.clear();
    ByteWriter facts(provider.facts);
    append_facts(*view, moving_facts_of(*view), facts);
    append_event(DirectoryEvent::kProvider, events);
    events.number(known->second);
    events.text(provider.facts);
    ++events_;
  }
}

DirectoryWriter::SetKey DirectoryWriter::key_of(const ProviderView& provider,
                                                const RegisteredSet& registered) const {
  const auto known = provider_indexes_.find({provider.record, provider.segment_id[0]});
  const std::uint32_t index = known == provider_indexes_.end() ? kNoProvider : known->second;
  return {index, registered.registration, registered.generation, provider.segment_id[1]};
}

std::vector<DirectoryWriter::Found> DirectoryWriter::find_sets(const TickInput& input,
                                                               const Selections& selections) const {
  std::map<SetKey, Found> with_rows;
  std::vector<Found> answered;
  for (std::uint32_t rate = 0; rate < selections.size(); ++rate) {
    for (const auto& [selected, first_row] : shown_once(selections[rate])) {
      const SelectedSet& one = *selected;
      const std::uint32_t assigned = input.assigned != nullptr
                                         ? input.assigned->rate_of(one.provider(), one.registered())
                                         : rate;
      if (assigned == AssignedRates::kNone) continue;
      const Found found{&one.provider(), &one.registered(), &one, assigned, first_row, 0};
      const auto [known, is_new] =
          with_rows.emplace(key_of(*found.provider, *found.registered), found);
      if (is_new && one.is_on_demand()) answered.push_back(found);
    }
  }
  std::vector<Found> all;
  for (const auto& view : input.catalog.providers()) {
    for (std::uint32_t position = 0; position < view->sets.size(); ++position) {
      const RegisteredSet& registered = view->sets[position];
      const SetKey key = key_of(*view, registered);
      const auto found = with_rows.find(key);
      const bool has_rows = found != with_rows.end();
      if (!has_rows && !input.lists_all_sets && !set_indexes_.contains(key) &&
          !is_declared_for(answered, *view, registered)) {
        continue;
      }
      all.push_back(has_rows ? found->second
                             : Found{view.get(), &registered, nullptr, kNoRate, 0, 0});
      all.back().position = position;
    }
  }
  // Behind the sets that they belong to.
  all.insert(all.end(), answered.begin(), answered.end());
  return all;
}

// Whether the callback of this registration gave some of the rows.
bool DirectoryWriter::is_declared_for(const std::vector<Found>& answered,
                                      const ProviderView& provider,
                                      const RegisteredSet& registered) {
  return std::any_of(answered.begin(), answered.end(), [&](const Found& rows) {
    return rows.provider->record == provider.record &&
           rows.provider->segment_id[0] == provider.segment_id[0] &&
           rows.registered->generation == registered.generation &&
           rows.registered->set->guid == registered.set->guid;
  });
}

void DirectoryWriter::take_set(const Found& found, SchemaNumbers& schemas, std::string& frames,
                               ByteWriter& events) {
  const RegisteredSet& registered = *found.registered;
  const SetKey key = key_of(*found.provider, registered);
  if (key.provider == kNoProvider) return;
  auto known = set_indexes_.find(key);
  const bool is_new = known == set_indexes_.end();
  if (is_new) {
    auto set = set_of(key, found);
    if (set == nullptr) {
      ++left_out_;
      return;
    }
    known = set_indexes_.emplace(key, take_index(sets_, free_sets_)).first;
    sets_[known->second] = std::move(set);
  }
  WrittenSet& set = *sets_[known->second];
  set.seen = round_;
  set.position = found.position;
  const bool is_changed =
      set.state != registered.state || set.flags != registered.flags || set.rate != found.rate;
  if (is_new || is_changed) {
    set.state = registered.state;
    set.flags = registered.flags;
    set.rate = found.rate;
    append_set(known->second, schemas, frames, events);
    ++events_;
  }
  take_rows(known->second, found, is_new || is_changed, events);
}

// Null: it cannot be read back.
std::unique_ptr<WrittenSet> DirectoryWriter::set_of(const SetKey& key, const Found& found) {
  auto set = std::make_unique<WrittenSet>();
  set->provider = key.provider;
  set->registration = key.registration;
  set->generation = key.generation;
  set->serial = key.serial;
  set->guid = found.registered->set->guid;
  set->schema = schema_of(*found.registered->set);
  if (set->columns().empty()) return nullptr;
  if (key.serial == 0) return set;
  set->answers_for = declared_set(key, set->guid);
  return set->answers_for == kNoSet ? nullptr : std::move(set);
}

// The registration of the provider whose callback answered with these rows.
std::uint32_t DirectoryWriter::declared_set(const SetKey& answered, const Guid& guid) const {
  for (std::uint32_t index = 0; index < sets_.size(); ++index) {
    const WrittenSet* const set = sets_[index].get();
    const bool is_it = set != nullptr && set->provider == answered.provider && set->serial == 0 &&
                       set->guid == guid && set->generation == answered.generation;
    if (is_it) return index;
  }
  return kNoSet;
}

std::shared_ptr<const WrittenSchema> DirectoryWriter::schema_of(const Counterset& set) {
  SchemaBytes content = schema_bytes_of(set);
  const Guid hash = hash_of(content.bytes, content.consistency, content.words);
  std::weak_ptr<const WrittenSchema>& known = schemas_[hash];
  if (auto schema = known.lock()) return schema;
  const auto recorded =
      recorded_set(std::as_bytes(std::span(content.bytes)), content.consistency, content.words);
  auto schema = std::make_shared<WrittenSchema>();
  schema->content = std::move(content);
  schema->hash = hash;
  if (recorded) schema->columns = columns_of(*recorded);
  known = schema;
  return schema;
}

void DirectoryWriter::append_set(std::uint32_t index, SchemaNumbers& schemas, std::string& frames,
                                 ByteWriter& events) const {
  const WrittenSet& set = *sets_[index];
  auto& numbers = schemas.known_->numbers;
  const auto [known, is_new] =
      numbers.emplace(set.schema->hash, static_cast<std::uint32_t>(numbers.size()));
  if (is_new) {
    const std::size_t begin = begin_frame(frames);
    ByteWriter frame(frames);
    frame.number(known->second);
    frame.raw(known->first);
    frame.number(static_cast<std::uint64_t>(set.schema->content.consistency));
    frame.number(set.schema->content.words);
    append_packed(set.schema->content.bytes, frames);
    end_frame(frames, begin, FrameKind::kSchema);
  }
  append_event(set.serial == 0 ? DirectoryEvent::kSet : DirectoryEvent::kAnsweredSet, events);
  events.number(index);
  events.number(set.serial == 0 ? set.provider : set.answers_for);
  events.number(known->second);
  if (set.serial != 0) {
    events.number(set.serial);
    events.number(set.rate);
    return;
  }
  events.number(set.registration);
  events.number(set.generation);
  events.number(set.position);
  events.number(set.flags);
  events.number(static_cast<std::uint64_t>(set.state));
  events.number(set.rate == kNoRate ? 0 : set.rate + 1);
}

void DirectoryWriter::take_rows(std::uint32_t index, const Found& found, bool is_changed,
                                ByteWriter& events) {
  WrittenSet& set = *sets_[index];
  const RegisteredSet& registered = *found.registered;
  set.first_row = found.first_row;
  // Instances without values would say nothing, and may come and go in each tick.
  const std::size_t wanted = found.selected == nullptr ? 0 : found.selected->instances();
  // The patterns stay, so they select the same of the same instances.
  const bool is_same =
      !is_changed && set.instances.is(registered.instances) && set.rows.size() == wanted;
  if (is_same) return;
  merge_rows(index, in_slot_order(found), events);
  set.instances = registered.instances;
}

std::vector<DirectoryWriter::FoundRow> DirectoryWriter::in_slot_order(const Found& found) {
  std::vector<FoundRow> rows;
  if (found.selected == nullptr) return rows;
  rows.reserve(found.selected->instances());
  for (std::size_t number = 0; number < found.selected->instances(); ++number) {
    rows.push_back({&found.selected->instance(number), number});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FoundRow& left, const FoundRow& right) {
    return left.instance->slot < right.instance->slot;
  });
  return rows;
}

void DirectoryWriter::merge_rows(std::uint32_t index, const std::vector<FoundRow>& wanted,
                                 ByteWriter& events) {
  WrittenSet& set = *sets_[index];
  std::string ended, begun;
  std::uint64_t ended_count = 0, begun_count = 0;
  std::uint32_t last_ended = 0, last_begun = 0;
  ByteWriter ended_out(ended), begun_out(begun);
  std::vector<WrittenRow> rows;
  rows.reserve(wanted.size());
  auto old = set.rows.begin();
  const auto end_row = [&](const WrittenRow& row) {
    ended_out.number(row.slot - last_ended);
    last_ended = row.slot;
    ++ended_count;
  };
  for (const FoundRow& one : wanted) {
    for (; old != set.rows.end() && old->slot < one.instance->slot; ++old) end_row(*old);
    if (old != set.rows.end() && is_same(*old, *one.instance)) {
      rows.push_back(std::move(*old++));
      rows.back().name = one.instance->name;
    } else {
      if (old != set.rows.end() && old->slot == one.instance->slot) end_row(*old++);
      rows.push_back(row_of(*one.instance, set.columns().size()));
      append_row(rows.back(), last_begun, begun_out);
      ++begun_count;
    }
    rows.back().number = one.number;
  }
  for (; old != set.rows.end(); ++old) end_row(*old);
  set.rows = std::move(rows);
  if (ended_count + begun_count == 0) return;
  append_event(DirectoryEvent::kRows, events);
  events.number(index);
  events.number(ended_count);
  events.append(ended);
  events.number(begun_count);
  events.append(begun);
  ++events_;
}

void DirectoryWriter::drop_unseen(ByteWriter& events) {
  for (auto known = set_indexes_.begin(); known != set_indexes_.end();) {
    const std::uint32_t index = known->second;
    if (sets_[index]->seen == round_) {
      ++known;
      continue;
    }
    append_event(DirectoryEvent::kNoSet, events);
    events.number(index);
    ++events_;
    sets_[index] = nullptr;
    free_sets_.insert(index);
    known = set_indexes_.erase(known);
  }
  for (auto known = provider_indexes_.begin(); known != provider_indexes_.end();) {
    const std::uint32_t index = known->second;
    if (providers_[index].seen == round_) {
      ++known;
      continue;
    }
    append_event(DirectoryEvent::kNoProvider, events);
    events.number(index);
    ++events_;
    providers_[index] = Provider{};
    free_providers_.insert(index);
    known = provider_indexes_.erase(known);
  }
  std::erase_if(schemas_, [](const auto& known) { return known.second.expired(); });
}

std::vector<std::uint32_t> DirectoryWriter::in_listed_order() const {
  std::vector<std::uint32_t> order;
  for (std::uint32_t index = 0; index < sets_.size(); ++index) {
    if (sets_[index] != nullptr) order.push_back(index);
  }
  const auto place = [this](std::uint32_t index) {
    const WrittenSet& set = *sets_[index];
    return std::tuple(set.serial != 0, set.provider, set.position);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t left, std::uint32_t right) { return place(left) < place(right); });
  return order;
}

void DirectoryWriter::append_everything(SchemaNumbers& schemas, std::string& schema_frames,
                                        std::string& section) {
  std::string bytes;
  ByteWriter events(bytes);
  std::uint64_t count = 0;
  for (std::uint32_t index = 0; index < providers_.size(); ++index) {
    if (providers_[index].view == nullptr) continue;
    append_event(DirectoryEvent::kProvider, events);
    events.number(index);
    events.text(providers_[index].facts);
    ++count;
  }
  for (const std::uint32_t index : in_listed_order()) {
    append_set(index, schemas, schema_frames, events);
    append_rows(index, sets_[index]->rows, events);
    count += 2;
  }
  ByteWriter(section).number(count);
  section += bytes;
}

}  // namespace meterbank::recording
