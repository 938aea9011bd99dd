// SPDX-License-Identifier: Apache-2.0
#include "owned_registration.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "callback/callback_server.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/shard_join.hpp"
#include "shards/processors.hpp"
#include "shards/thread_numbers.hpp"

namespace meterbank::detail {
namespace {

// Closed slots kept for samplers even when memory could be saved; beyond it the oldest is reused.
constexpr std::size_t kQuarantineSlotsMax = 1024;

// A sharded group grows by bytes rather than by slots.
constexpr std::uint64_t kShardedGroupBytes = 256 * 1024;

// Case does not count.
std::uint32_t name_hash(std::string_view name) noexcept {
  const std::uint64_t hash = folded_hash(name);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

const SchemaHeader& header_of(const std::vector<std::byte>& schema) noexcept {
  return *reinterpret_cast<const SchemaHeader*>(schema.data());
}

// Empty: zeros will do.
std::vector<std::uint64_t> first_values_of(const std::vector<std::byte>& schema,
                                           const BlockForm& form) {
  const SchemaHeader& header = header_of(schema);
  std::vector<ShardJoin> joins(form.words, ShardJoin::kSum);
  std::uint32_t more = header.counters;
  for (std::uint32_t index = 0; index < header.counters; ++index) {
    CounterRecord counter;
    std::memcpy(&counter, schema.data() + sizeof header + index * sizeof counter, sizeof counter);
    if (counter.form == ValueForm::kDistribution) {
      set_joins(joins, more);
    } else {
      joins[index] = join_of(static_cast<CounterType>(counter.type), counter.aggregate);
    }
    more += counter.more_words;
  }
  std::vector<std::uint64_t> values(form.words);
  std::transform(joins.begin(), joins.end(), values.begin(), first_value);
  const bool all_zero = std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; });
  return all_zero ? std::vector<std::uint64_t>() : values;
}

// Names lie in words, because a reader may be copying them while the slot gets its next life.
void store_text(SharedWord* words, std::size_t count, std::string_view text) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    const std::size_t left = text.size() > i * 8 ? text.size() - i * 8 : 0;
    if (left != 0) std::memcpy(&word, text.data() + i * 8, left < 8 ? left : 8);
    StdAtomics::store_relaxed(words[i], word);  // relaxed: between [S2] and [S3]
  }
}

}  // namespace

OwnedRegistration::OwnedRegistration(std::shared_ptr<OwnedSegment> owner,
                                     std::vector<std::byte> schema_bytes,
                                     const CountersetSpec& spec)
    : segment(std::move(owner)),
      schema(std::move(schema_bytes)),
      name(spec.name),
      guid(header_of(schema).guid),
      form(form_of(spec)),
      single(!has_instance_names(spec.instances)),
      identity(identity_of(spec)),
      rseq(form.sharded() ? area_for_processors(form, spec.by_processor) : 0) {
  if (!form.sharded()) return;
  first_values_ = first_values_of(schema, form);
  prepare_thread_numbers();
}

Result<void> OwnedRegistration::make_record_locked() {
  SegmentHeader& header = segment->header();
  // relaxed: only the owner stores it, under the mutex.
  const std::uint32_t count = header.registrations_count.load(std::memory_order_relaxed);
  if (count >= kRegistrationsMax || count >= segment->options.registrations_max) {
    segment->count_refusal(Refusal::kRegistrationLimit);
    return fail(ErrorCode::kLimit,
                "registration of '" + name + "': there are " + std::to_string(count) + " already",
                "raise ProviderOptions::registrations_max");
  }
  auto text = segment->allocate(schema.size());
  if (!text) return tl::make_unexpected(text.error());
  auto place = segment->allocate(sizeof(RegistrationRecord));
  if (!place) return tl::make_unexpected(place.error());
  std::memcpy(text->data, schema.data(), schema.size());
  place_ = place->ref;
  number_ = count;
  record = new (place->data) RegistrationRecord{};
  record->schema = text->ref;
  record->schema_bytes = static_cast<std::uint32_t>(schema.size());
  record->words = form.words;
  record->lanes = form.lanes;
  record->consistency = static_cast<std::uint32_t>(form.consistency);
  record->checkpoint = form.checkpoint;
  record->cut_pair = form.cut_pair;
  record->shards = form.shards;
  // relaxed: published by [P6].
  header.registrations[count].store(place->ref, std::memory_order_relaxed);
  // [P6] pairs with [Q6]. Without it a reader sees the count before the Ref and the record.
  header.registrations_count.store(count + 1, std::memory_order_release);
  return {};
}

void OwnedRegistration::make_callable(Call call) {
  if (interest == nullptr) {
    const auto* const counters =
        reinterpret_cast<const CounterRecord*>(schema.data() + sizeof(SchemaHeader));
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < header_of(schema).counters; ++i) ids.push_back(counters[i].id);
    interest = std::make_shared<InterestCounts>(record->interest, std::move(ids));
  }
  callable = std::make_shared<Callable>(std::move(call.function), call.options, interest, !single);
}

void OwnedRegistration::publish_locked(std::optional<Call> call) {
  callable.reset();
  if (call) make_callable(std::move(*call));
  // relaxed: only the owner stores it.
  auto word = RegistrationWord::of(record->word.load(std::memory_order_relaxed));
  word.generation += 1;
  word.flags = 0;
  if (callable != nullptr) {
    word.flags = kRegistrationInterest;
    if (callable->computes_rows()) word.flags |= kRegistrationCallback;
    segment->callbacks->add(place_, word.generation, callable);
  }
  word.state = RegistrationState::kInserted;
  // [P3] pairs with [Q3]. Without it a reader sees "inserted" and no schema.
  record->word.store(word.raw(), std::memory_order_release);
  inserted = true;
  segment->directory_changed();
}

std::uint32_t OwnedRegistration::slots_of_next_group() const noexcept {
  if (single) return kGroupSlotsFirst;
  std::uint32_t slots = next_group_slots_;
  while (form.sharded() && slots > kGroupSlotsFirst &&
         GroupLayout::of(form, slots).bytes > kShardedGroupBytes) {
    slots /= 2;
  }
  return slots;
}

void OwnedRegistration::make_shards(SlotLife& life, const BlockParts<SharedWord>& first) const {
  life.shards = std::make_unique<Shard[]>(form.shards);
  life.shards_count = form.shards;
  for (std::uint32_t shard = 0; shard < form.shards; ++shard) {
    const auto parts = shard_parts(first, form, shard);
    life.shards[shard] = {BlockWriter<StdAtomics>(parts), parts.slot};
  }
}

Result<void> OwnedRegistration::add_group() {
  if (groups_ == kGroupsMax) return fail(ErrorCode::kLimit, "'" + name + "' has too many slots");
  const std::uint32_t slots = slots_of_next_group();
  const GroupLayout layout = GroupLayout::of(form, slots);
  auto memory = segment->allocate(layout.bytes, form.sharded() ? kLinePair : kCacheLine);
  if (!memory) return tl::make_unexpected(memory.error());
  auto* header = new (memory->data) GroupHeader{};
  header->slots = slots;
  auto lives = std::make_unique<SlotLife[]>(slots);
  unused_.reserve(unused_.size() + slots);
  auto& all = segment->handle_memory->lives;
  all.reserve(all.size() + 1);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const auto parts = block_parts(memory->data, form, layout, slot);
    lives[slot].writer = BlockWriter<StdAtomics>(parts);
    lives[slot].slot = parts.slot;
    lives[slot].number = slots_ + slot;
    if (form.sharded()) make_shards(lives[slot], parts);
    lives[slot].descriptor =
        reinterpret_cast<SlotDescriptor*>(memory->data + layout.descriptors) + slot;
  }
  // From here on nothing allocates, so that a slot is in use only with its group.
  for (std::uint32_t slot = slots; slot-- > 0;) unused_.push_back(&lives[slot]);
  all.push_back(std::move(lives));
  SharedWord& link = last_group_ == nullptr ? record->first_group : last_group_->next;
  // [P4] pairs with [Q4]. Without it a reader follows the link into a group without a header.
  link.store(memory->ref, std::memory_order_release);
  last_group_ = header;
  groups_ += 1;
  slots_ += slots;
  if (next_group_slots_ < kGroupSlotsMax) next_group_slots_ *= 2;
  return {};
}

void OwnedRegistration::push_closed(SlotLife& life) noexcept {
  life.closed_next = nullptr;
  (oldest_closed_ == nullptr ? oldest_closed_ : newest_closed_->closed_next) = &life;
  newest_closed_ = &life;
  ++closed_;
}

// A closed slot is used again when no thread can write to it and samplers have had their time, or
// when too many wait: time protects only the last look at a closed instance.
SlotLife* OwnedRegistration::take_closed(bool at_any_age) noexcept {
  if (oldest_closed_ == nullptr) return nullptr;
  SlotLife& oldest = *oldest_closed_;
  const bool due = at_any_age || closed_ > kQuarantineSlotsMax ||
                   Clock::now() - oldest.closed_at >= segment->options.quarantine;
  if (!due) return nullptr;
  oldest_closed_ = oldest.closed_next;
  --closed_;
  // acquire: pairs with the release in SlotReference::release; its last store is done.
  if (oldest.holders.load(std::memory_order_acquire) == 0) return &oldest;
  push_closed(oldest);  // let it not block the others
  return nullptr;
}

Result<SlotLife*> OwnedRegistration::take_slot() {
  if (SlotLife* life = take_closed(false)) return life;
  if (unused_.empty()) {
    if (auto grown = add_group(); !grown) {
      if (SlotLife* life = take_closed(true)) return life;
      return tl::make_unexpected(grown.error());
    }
  }
  SlotLife* life = unused_.back();
  unused_.pop_back();
  return life;
}

Result<void> OwnedRegistration::write_name(SlotLife& life, std::string_view instance_name) {
  if (instance_name.size() <= kNameHereBytes) return {};
  if (life.long_name_bytes >= instance_name.size()) return {};
  auto memory = segment->allocate(instance_name.size());
  if (!memory) return tl::make_unexpected(memory.error());
  life.long_name = memory->data;
  life.long_name_ref = memory->ref;
  life.long_name_bytes = (instance_name.size() + kCacheLine - 1) / kCacheLine * kCacheLine;
  return {};
}

Result<void> OwnedRegistration::may_create(std::string_view instance_name,
                                           const InstanceOptions& options) const {
  if (auto good = segment->usable(); !good) return good;
  const auto refuse = [&](ErrorCode code, const std::string& why, std::string remedy = {}) {
    return fail(code, "instance '" + std::string(instance_name) + "' of '" + name + "': " + why,
                std::move(remedy));
  };
  if (!inserted) return refuse(ErrorCode::kClosed, "the registration is closed");
  const auto kind = single ? NameKind::kSingleInstance : NameKind::kInstance;
  if (!check_name(instance_name, kind).ok()) {
    return refuse(ErrorCode::kBadName,
                  "name of " + std::to_string(instance_name.size()) +
                      " bytes is empty, too long or not plain UTF-8",
                  "1 to 1023 bytes of UTF-8 without control characters");
  }
  if (single && !instance_name.empty()) {
    return refuse(ErrorCode::kBadName, "the set has one instance, without a name");
  }
  if (identity == InstanceIdentity::kUnique && find_locked(instance_name) != nullptr) {
    return refuse(ErrorCode::kExists, "it exists (case does not count)", "choose another name");
  }
  if (options.id && *options.id > kInstanceIdMax) {
    return refuse(ErrorCode::kInvalidArgument, "id " + std::to_string(*options.id) + " is reserved",
                  "ids end at " + std::to_string(kInstanceIdMax));
  }
  if (options.id && is_taken(instance_name, *options.id)) {
    return refuse(ErrorCode::kExists, "id " + std::to_string(*options.id) + " is taken",
                  "choose another id");
  }
  if (segment->live_instances >= segment->options.instances_max) {
    segment->count_refusal(Refusal::kInstanceLimit);
    return refuse(ErrorCode::kLimit,
                  std::to_string(segment->live_instances) + " instances are live",
                  "raise ProviderOptions::instances_max or close some");
  }
  return {};
}

bool OwnedRegistration::is_taken(std::string_view instance_name, std::uint32_t id) const noexcept {
  if (identity == InstanceIdentity::kNameAndId) return find_locked(instance_name, id) != nullptr;
  return by_id_.find(id, [](const SlotLife&) { return true; }) != nullptr;
}

std::uint32_t OwnedRegistration::next_id(std::string_view instance_name) noexcept {
  // Fewer instances are live than there are ids, so this ends.
  while (is_taken(instance_name, next_id_)) {
    next_id_ = next_id_ == kInstanceIdMax ? 0 : next_id_ + 1;
  }
  const std::uint32_t id = next_id_;
  next_id_ = id == kInstanceIdMax ? 0 : id + 1;
  return id;
}

Result<SlotReference> OwnedRegistration::create_locked(std::string_view instance_name,
                                                       const InstanceOptions& options) {
  if (auto good = may_create(instance_name, options); !good) {
    return tl::make_unexpected(good.error());
  }
  auto taken = take_slot();
  if (!taken) return tl::make_unexpected(taken.error());
  SlotLife& life = **taken;
  const std::uint32_t id = options.id ? *options.id : next_id(instance_name);
  // Everything that can fail comes before the first word that readers see.
  try {
    if (auto good = write_name(life, instance_name); !good) {
      unused_.push_back(&life);
      return tl::make_unexpected(good.error());
    }
    life.name = instance_name;
    auto kept = std::make_unique<const std::shared_ptr<OwnedRegistration>>(shared_from_this());
    if (identity == InstanceIdentity::kUnique) by_id_.make_room();
    by_name_.make_room();
    life.kept = kept.release();
  } catch (const std::bad_alloc&) {
    unused_.push_back(&life);
    throw;
  }
  life.id = id;
  if (identity == InstanceIdentity::kUnique) by_id_.insert(id, life);
  by_name_.insert(hash_of(life.name, id), life);
  begin_life(life);
  return SlotReference(life);
}

// Shards that no life has used hold the zeros of fresh memory. The others get their first values
// here, where no other thread can write to them, so that opening one later is a single store.
void OwnedRegistration::write_first_values(SlotLife& life) noexcept {
  const auto first = [this](std::uint32_t word) {
    return first_values_.empty() ? std::uint64_t{0} : first_values_[word];
  };
  const auto write = [&](const BlockWriter<StdAtomics>& writer) {
    if (form.consistency == Consistency::kBlock) {
      if (rseq != 0) settle(writer);
      return writer.commit_first(first);
    }
    for (std::uint32_t word = 0; word < form.words; ++word) {
      StdAtomics::store_relaxed(writer.word(word), first(word));  // relaxed: published by [S3]
    }
  };
  write(life.writer);
  for (std::uint32_t shard = 1; shard < life.shards_count; ++shard) {
    // relaxed: the thread that stored it has let go of the slot.
    const bool is_fresh = StdAtomics::load_relaxed(*life.shards[shard].slot) == 0;
    if (!is_fresh || !first_values_.empty()) write(life.shards[shard].writer);
  }
}

void OwnedRegistration::begin_life(SlotLife& life) noexcept {
  const std::uint64_t generation = slot_begin<StdAtomics>(record->membership, *life.slot);
  const std::string_view text = life.name;
  const bool is_long = text.size() > kNameHereBytes;
  // relaxed, all of these: published by [S3] in slot_live().
  StdAtomics::store_relaxed(life.descriptor->identity, std::uint64_t{text.size()} << 32 | life.id);
  StdAtomics::store_relaxed(life.descriptor->name, is_long ? life.long_name_ref : 0);
  StdAtomics::store_relaxed(life.descriptor->created_ns, clock_ns(CLOCK_MONOTONIC_COARSE));
  if (is_long) {
    store_text(reinterpret_cast<SharedWord*>(life.long_name), (text.size() + 7) / 8, text);
  } else {
    store_text(life.descriptor->name_here.data(), life.descriptor->name_here.size(), text);
  }
  write_first_values(life);
  slot_live<StdAtomics>(*life.slot, generation);
  life.live = true;
  segment->live_instances += 1;
  record->live_instances.store(by_name_.size(), std::memory_order_relaxed);  // relaxed: advisory
  life_changed(life);
}

void OwnedRegistration::end_life_locked(SlotLife& life) noexcept {
  if (identity == InstanceIdentity::kUnique) by_id_.erase(life.id, life);
  life.live = false;
  slot_close<StdAtomics>(record->membership, *life.slot);
  life.closed_at = Clock::now();
  push_closed(life);
  segment->live_instances -= 1;
}

void OwnedRegistration::close_instance_locked(SlotLife& life) noexcept {
  if (!life.live) return;
  by_name_.erase(hash_of(life.name, life.id), life);
  end_life_locked(life);
  record->live_instances.store(by_name_.size(), std::memory_order_relaxed);  // relaxed: advisory
  life_changed(life);
}

void OwnedRegistration::life_changed(const SlotLife& life) noexcept {
  segment->directory_changed(DirectoryChange::of_slot(number_, life.number));
}

void OwnedRegistration::begin_close_locked() noexcept {
  if (!inserted) return;
  inserted = false;
  // Before the word says so: a reader that has seen kClosing is not admitted any more.
  if (callable != nullptr) callable->refuse();
  // relaxed: only the owner stores it.
  auto word = RegistrationWord::of(record->word.load(std::memory_order_relaxed));
  word.state = RegistrationState::kClosing;
  // [P3] pairs with [Q3]: the schema is seen with each word of the registration.
  record->word.store(word.raw(), std::memory_order_release);
  segment->directory_changed();
}

void OwnedRegistration::finish_close_locked() noexcept {
  // relaxed: only the owner stores it.
  auto word = RegistrationWord::of(record->word.load(std::memory_order_relaxed));
  if (word.state != RegistrationState::kClosing) return;
  if (callable != nullptr) segment->callbacks->remove(place_);
  by_name_.for_each([this](SlotLife& life) { end_life_locked(life); });
  by_name_.clear();
  record->live_instances.store(0, std::memory_order_relaxed);  // relaxed: advisory
  word.state = RegistrationState::kClosed;
  // [P3] pairs with [Q3]: the schema is seen with each word of the registration.
  record->word.store(word.raw(), std::memory_order_release);
  segment->directory_changed();
}

void OwnedRegistration::close() noexcept {
  std::shared_ptr<Callable> called;
  {
    const std::lock_guard lock(segment->mutex);
    begin_close_locked();
    called = callable;
    if (called == nullptr) return finish_close_locked();
  }
  called->close([self = shared_from_this()] {
    const std::lock_guard lock(self->segment->mutex);
    self->finish_close_locked();
  });
}

// Where many instances have one name or one id, neither alone would spread them over the table.
std::uint32_t OwnedRegistration::hash_of(std::string_view instance_name,
                                         std::uint32_t id) const noexcept {
  constexpr std::uint32_t kOdd = 0x9e3779b1;
  const std::uint32_t of_name = name_hash(instance_name);
  return identity == InstanceIdentity::kNameAndId ? of_name ^ id * kOdd : of_name;
}

SlotLife* OwnedRegistration::find_locked(std::string_view instance_name,
                                         std::uint32_t id) const noexcept {
  return by_name_.find(hash_of(instance_name, id), [&](const SlotLife& life) {
    return life.id == id && equal_folded(instance_name, life.name);
  });
}

SlotLife* OwnedRegistration::find_locked(std::string_view instance_name) const noexcept {
  if (identity == InstanceIdentity::kUnique) {
    return by_name_.find(name_hash(instance_name), [instance_name](const SlotLife& life) {
      return equal_folded(instance_name, life.name);
    });
  }
  SlotLife* found = nullptr;
  by_name_.for_each([&](SlotLife& life) {
    const bool is_better = found == nullptr || life.id < found->id;
    if (is_better && equal_folded(instance_name, life.name)) found = &life;
  });
  return found;
}

bool OwnedRegistration::is_idle_locked() const noexcept {
  // relaxed: only the owner stores it.
  const auto word = RegistrationWord::of(record->word.load(std::memory_order_relaxed));
  const bool is_over =
      word.state == RegistrationState::kClosed || word.state == RegistrationState::kFree;
  if (!is_over) return false;
  for (const SlotLife* life = oldest_closed_; life != nullptr; life = life->closed_next) {
    // acquire: pairs with the release in SlotReference::release. Without it a store of the last
    // holder could come after the memory has another use.
    if (life->holders.load(std::memory_order_acquire) != 0) return false;
  }
  return by_name_.empty();
}

}  // namespace meterbank::detail
