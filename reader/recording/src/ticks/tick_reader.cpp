// SPDX-License-Identifier: Apache-2.0
#include "tick_reader.hpp"

#include <algorithm>
#include <utility>

#include "directory_events.hpp"
#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/recording/frame.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "packed.hpp"
#include "provider_facts.hpp"
#include "schema_bytes.hpp"

namespace meterbank::recording {
namespace {

tl::unexpected<Error> corrupt(const char* what) {
  return fail(ErrorCode::kCorrupt, std::string("recording: ") + what);
}

RegistrationState read_state(ByteReader& in) {
  return static_cast<RegistrationState>(
      in.number_below(static_cast<std::uint64_t>(RegistrationState::kClosed) + 1));
}

}  // namespace

Result<void> ReadSchemas::take(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const std::uint64_t number = in.number_below(kSetsMax);
  const auto hash = in.raw<Guid>();
  const auto consistency = static_cast<Consistency>(in.number_below(2));
  const auto words = static_cast<std::uint32_t>(in.number_below(kBlockWordsMax + 1));
  const auto bytes = read_packed(in, kSchemaBytesMax);
  if (in.failed() || !bytes) return corrupt("a schema does not hold together");
  numbers_.erase(number);
  if (const auto known = by_hash_.find(hash); known != by_hash_.end()) {
    numbers_[number] = known->second;
    return {};
  }
  auto set = recorded_set(std::as_bytes(std::span(*bytes)), consistency, words);
  if (!set) return tl::make_unexpected(std::move(set.error()));
  if (hash_of(*bytes, consistency, words) != hash) {
    return corrupt("a schema is not what its hash says");
  }
  auto schema = std::make_shared<ReadSchema>();
  schema->columns = columns_of(*set);
  schema->set = std::make_shared<const Counterset>(std::move(*set));
  numbers_[number] = schema;
  by_hash_[hash] = schema;
  return {};
}

std::shared_ptr<const ReadSchema> ReadSchemas::find(std::uint64_t number) const {
  const auto known = numbers_.find(number);
  return known == numbers_.end() ? nullptr : known->second;
}

void ReadSchemas::begin_file() {
  numbers_.clear();
  std::erase_if(by_hash_, [](const auto& known) { return known.second.use_count() == 1; });
}

Result<void> TickReader::take_key(ByteReader payload, const ReadSchemas& schemas,
                                  const Guid& recorder) {
  const bool was_whole = std::exchange(is_whole_, false);
  times_.read_first(payload);
  due_ = payload.number();
  const std::uint64_t ticks = payload.number();
  const bool continues = was_whole && ticks != 0 && ticks == ticks_ && recorder == recorder_;
  const std::string_view changes = payload.text(payload.rest().size());
  if (payload.failed()) return corrupt("a key frame is too short");
  Result<void> taken;
  if (continues) {
    taken = read_section(ByteReader(std::as_bytes(std::span(changes))), schemas);
    skip_packed(payload);
    forget_rows();
  } else {
    drop_everything();
    const auto everything = read_packed(payload, kFrameBytesMax);
    if (!everything) return corrupt("a directory does not hold together");
    taken = read_section(ByteReader(std::as_bytes(std::span(*everything))), schemas);
  }
  if (!taken) return taken;
  if (payload.failed()) return corrupt("a key frame is too short");
  decoder_.begin_chunk();
  if (!decode_rows(payload.rest())) return corrupt("the rows of a key frame do not decode");
  recorder_ = recorder;
  ticks_ = ticks + 1;
  is_whole_ = true;
  return {};
}

Result<void> TickReader::take_tick(ByteReader payload, const ReadSchemas& schemas) {
  if (!is_whole_) return {};
  is_whole_ = false;
  times_.read_next(payload);
  due_ = payload.number();
  const std::string_view changes = payload.text(payload.rest().size());
  if (payload.failed()) return corrupt("a tick is too short");
  if (auto taken = read_section(ByteReader(std::as_bytes(std::span(changes))), schemas); !taken) {
    return taken;
  }
  if (!decode_rows(payload.rest())) return corrupt("the rows of a tick do not decode");
  ++ticks_;
  is_whole_ = true;
  return {};
}

Result<void> TickReader::read_section(ByteReader section, const ReadSchemas& schemas) {
  const std::uint64_t events = section.number();
  for (std::uint64_t event = 0; event < events && !section.failed(); ++event) {
    if (auto taken = read_event(section, schemas); !taken) return taken;
  }
  if (!section.is_at_end()) return corrupt("changes of the directory do not hold together");
  return {};
}

Result<void> TickReader::read_event(ByteReader& section, const ReadSchemas& schemas) {
  switch (static_cast<DirectoryEvent>(section.number())) {
    case DirectoryEvent::kProvider:
      return read_provider(section);
    case DirectoryEvent::kNoProvider:
      drop_provider(section.number());
      return {};
    case DirectoryEvent::kSet:
      return read_set(section, schemas);
    case DirectoryEvent::kAnsweredSet:
      return read_answered(section, schemas);
    case DirectoryEvent::kNoSet:
      drop_set(section.number());
      return {};
    case DirectoryEvent::kRows:
      return read_rows(section);
  }
  return corrupt("a change of the directory is of no known kind");
}

Result<void> TickReader::read_provider(ByteReader& section) {
  const std::uint64_t index = section.number_below(kProvidersMax);
  ByteReader facts_bytes(std::as_bytes(std::span(section.text(section.rest().size()))));
  RecordedFacts facts = read_facts(facts_bytes);
  if (section.failed() || facts_bytes.failed()) return corrupt("a provider does not hold together");
  const auto known = providers_.find(index);
  if (known == providers_.end()) {
    const std::uint64_t segment = facts.provider.segment_id[0];
    auto number = replay_->add_provider(std::move(facts.provider));
    if (!number) return tl::make_unexpected(std::move(number.error()));
    providers_[index] = {*number, segment, {}};
  } else if (auto changed =
                 replay_->change_provider(known->second.number, std::move(facts.provider));
             !changed) {
    return changed;
  }
  replay_->set_liveness(providers_[index].number, facts.heartbeat_age_ns, facts.refused);
  return {};
}

Result<void> TickReader::read_set(ByteReader& section, const ReadSchemas& schemas) {
  const std::uint64_t index = section.number_below(kSetsMax);
  const std::uint64_t provider = section.number();
  const std::uint64_t schema = section.number();
  ReplayedSet facts;
  facts.registration = section.number();
  facts.generation = section.number();
  const std::uint64_t position = section.number_below(kSetsMax);
  facts.flags = section.number();
  facts.state = read_state(section);
  const std::uint64_t rate = section.number_below(kRatesMax + 1) - 1;
  if (section.failed()) return corrupt("a set does not hold together");
  if (const auto known = sets_.find(index); known != sets_.end()) {
    replay_->change_set(known->second.number, facts.state, facts.flags);
    known->second.rate = rates_[known->second.key] = rate;
    return {};
  }
  const auto of = providers_.find(provider);
  if (of == providers_.end()) return corrupt("a set belongs to no provider");
  Set set;
  set.provider = provider;
  set.schema = schemas.find(schema);
  set.rate = rate;
  if (set.schema == nullptr) return corrupt("the schema of a set is missing or damaged");
  facts.set = set.schema->set;
  set.key = {of->second.segment, 0, facts.generation, set.schema->set->guid};
  auto number = replay_->add_set(of->second.number, std::move(facts), position);
  if (!number) return tl::make_unexpected(std::move(number.error()));
  set.number = *number;
  add_set(index, std::move(set));
  return {};
}

Result<void> TickReader::read_answered(ByteReader& section, const ReadSchemas& schemas) {
  const std::uint64_t index = section.number_below(kSetsMax);
  const auto of = sets_.find(section.number());
  Set set;
  set.schema = schemas.find(section.number());
  const std::uint64_t serial = section.number();
  set.rate = section.number_below(kRatesMax);
  const bool is_sound =
      !section.failed() && of != sets_.end() && set.schema != nullptr && !sets_.contains(index);
  if (!is_sound) return corrupt("rows that were answered belong to no set");
  set.provider = of->second.provider;
  set.answers_for = of->first;
  set.key = of->second.key;
  set.key.serial = serial;
  set.key.guid = set.schema->set->guid;
  auto number = replay_->add_answered(of->second.number, set.schema->set, serial);
  if (!number) return tl::make_unexpected(std::move(number.error()));
  set.number = *number;
  of->second.answered = index;
  add_set(index, std::move(set));
  return {};
}

void TickReader::add_set(std::uint64_t index, Set set) {
  rates_[set.key] = set.rate;
  providers_.at(set.provider).sets.insert(index);
  sets_.emplace(index, std::move(set));
}

Result<void> TickReader::read_rows(ByteReader& section) {
  const auto found = sets_.find(section.number());
  if (found == sets_.end()) return corrupt("rows belong to no set");
  Set& set = found->second;
  const std::uint64_t ended = section.number();
  std::uint64_t slot = 0;
  auto row = set.rows.begin();
  auto kept = set.rows.begin();
  for (std::uint64_t count = 0; count < ended && !section.failed(); ++count) {
    slot += section.number_below(kSlotMax);
    for (; row != set.rows.end() && row->slot < slot; ++row, ++kept) {
      if (kept != row) *kept = std::move(*row);
    }
    if (row == set.rows.end() || row->slot != slot)
      return corrupt("a row ended that was not there");
    replay_->end_instance(set.number, (row++)->number);
  }
  if (kept != row) set.rows.erase(std::move(row, set.rows.end(), kept), set.rows.end());
  return begin_rows(section, set);
}

Result<void> TickReader::begin_rows(ByteReader& section, Set& set) {
  const std::uint64_t begun = section.number();
  const std::size_t before = set.rows.size();
  std::uint64_t slot = 0;
  for (std::uint64_t count = 0; count < begun && !section.failed(); ++count) {
    slot += section.number_below(kSlotMax);
    if (auto row = begin_row(section, set, slot); !row) return row;
  }
  if (section.failed()) return corrupt("rows do not hold together");
  const auto by_slot = [](const Row& left, const Row& right) { return left.slot < right.slot; };
  const auto middle = set.rows.begin() + static_cast<std::ptrdiff_t>(before);
  if (!std::is_sorted(middle, set.rows.end(), by_slot)) return corrupt("slots do not rise");
  std::inplace_merge(set.rows.begin(), middle, set.rows.end(), by_slot);
  return {};
}

// The Replay refuses a slot that is taken and names that are too long.
Result<void> TickReader::begin_row(ByteReader& section, Set& set, std::uint64_t slot) {
  ReplayedInstance instance;
  instance.generation = section.number();
  instance.id = static_cast<std::uint32_t>(section.number_below(std::uint64_t{1} << 32U));
  instance.closed = section.number_below(2) != 0;
  instance.name = section.text(kFactBytesMax);
  if (section.failed() || slot >= kSlotMax) return corrupt("a row does not hold together");
  instance.slot = static_cast<std::uint32_t>(slot);
  auto number = replay_->begin_instance(set.number, instance);
  if (!number) return tl::make_unexpected(std::move(number.error()));
  // Until a tick has values of it.
  replay_->set_row(set.number, *number, RowStatus::kBusy, RowConsistency::kBlock);
  set.rows.push_back({.slot = instance.slot,
                      .number = *number,
                      .history = RowHistory(set.schema->columns.size()),
                      .words = replay_->words(set.number, *number)});
  return {};
}

std::uint64_t TickReader::rate_of(const ProviderView& provider,
                                  const RegisteredSet& registered) const noexcept {
  const auto found = rates_.find({provider.segment_id[0], provider.segment_id[1],
                                  registered.generation, registered.set->guid});
  return found == rates_.end() ? kNoRate : found->second;
}

void TickReader::forget_set(std::uint64_t index) {
  const auto found = sets_.find(index);
  if (found == sets_.end()) return;
  rates_.erase(found->second.key);
  sets_.erase(found);
}

void TickReader::drop_set(std::uint64_t index) {
  const auto found = sets_.find(index);
  if (found == sets_.end()) return;
  const Set& set = found->second;
  replay_->remove_set(set.number);
  std::set<std::uint64_t>& of_provider = providers_.at(set.provider).sets;
  if (const auto of = sets_.find(set.answers_for); of != sets_.end()) of->second.answered = kNoSet;
  // With a set go the rows that were answered for it.
  for (const std::uint64_t gone : {set.answered, index}) {
    of_provider.erase(gone);
    forget_set(gone);
  }
}

void TickReader::drop_provider(std::uint64_t index) {
  const auto found = providers_.find(index);
  if (found == providers_.end()) return;
  for (const std::uint64_t set : found->second.sets) forget_set(set);
  replay_->remove_provider(found->second.number);
  providers_.erase(found);
}

void TickReader::drop_everything() {
  sets_.clear();
  rates_.clear();
  for (const auto& [index, provider] : providers_) replay_->remove_provider(provider.number);
  providers_.clear();
}

void TickReader::forget_rows() noexcept {
  for (auto& [index, set] : sets_) {
    for (Row& row : set.rows) {
      row.history.reset();
      row.status = RowStatus::kFresh;
      row.consistency = RowConsistency::kBlock;
    }
  }
}

bool TickReader::decode_rows(std::span<const std::byte> bytes) {
  if (!has_values_) return true;
  decoder_.begin_tick(bytes);
  for (auto& [index, set] : sets_) {
    const bool is_due = set.rate != kNoRate && (due_ >> set.rate & 1U) != 0;
    if (!is_due) continue;
    for (Row& row : set.rows) {
      decode_row(set, row);
      if (decoder_.failed()) return false;
    }
  }
  return decoder_.finish_tick();
}

void TickReader::decode_row(Set& set, Row& row) {
  if (decoder_.flag(kContextOtherStatus)) {
    const std::uint64_t status = decoder_.number(kContextStatus);
    const std::uint64_t consistency = decoder_.number(kContextConsistency);
    // Of a newer version: without values, and each counter for itself.
    row.status = status <= static_cast<std::uint64_t>(RowStatus::kUnanswered)
                     ? static_cast<RowStatus>(status)
                     : RowStatus::kUnanswered;
    row.consistency = consistency <= static_cast<std::uint64_t>(RowConsistency::kSharedCounters)
                          ? static_cast<RowConsistency>(consistency)
                          : RowConsistency::kIndependent;
  }
  if (row.status != row.told_status || row.consistency != row.told_consistency) {
    replay_->set_row(set.number, row.number, row.status, row.consistency);
    row.told_status = row.status;
    row.told_consistency = row.consistency;
  }
  if (!holds_values(row.status)) return;
  decoder_.row(set.schema->columns, row.history);
  const auto values = row.history.last();
  std::copy(values.begin(), values.end(), row.words.begin());
}

}  // namespace meterbank::recording
