// SPDX-License-Identifier: Apache-2.0
#include "meterbank/publisher/provider.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "meterbank/base/report_no_memory.hpp"
#include "meterbank/base/without_cancellation.hpp"
#include "notice/notice.hpp"
#include "notice/standard_error.hpp"
#include "owned_registration.hpp"
#include "owned_segment.hpp"

namespace meterbank {
namespace detail {

SlotReference::SlotReference(SlotLife& life) noexcept : life_(&life) {
  // relaxed: taking a reference orders nothing; the slot was found under the mutex, or is held.
  life.holders.fetch_add(1, std::memory_order_relaxed);
}

SlotReference::SlotReference(const SlotReference& other) noexcept : life_(other.life_) {
  if (life_ != nullptr)
    life_->holders.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
}

void SlotReference::release() noexcept {
  // Read while this reference still keeps it from being replaced.
  const auto* const kept = life_->kept;
  // release: the holder's last store is done before the slot can have another life. acquire: the
  // last one deletes what the others have read.
  if (life_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete kept;
}

CounterPlace place_of(const SlotLife* life, std::uint32_t counter) noexcept {
  if (life == nullptr) return {};
  const std::vector<std::byte>& schema = (*life->kept)->schema;
  SchemaHeader header;
  std::memcpy(&header, schema.data(), sizeof header);
  if (counter >= header.counters) return {};
  std::uint32_t more = header.counters;
  CounterRecord record;
  for (std::uint32_t index = 0; index <= counter; ++index) {
    if (index != 0) more += record.more_words;
    std::memcpy(&record, schema.data() + sizeof header + index * sizeof record, sizeof record);
  }
  CounterPlace place{.known = true,
                     .form = record.form,
                     .timed = (record.flags & kCounterTimed) != 0,
                     .own = counter,
                     .more = more,
                     .more_words = record.more_words,
                     .shape = {}};
  if (record.form == ValueForm::kDistribution) {
    place.shape = {record.bucket_scale, record.bucket_first,
                   record.more_words - DistributionShape::kBuckets};
  }
  return place;
}

void say_not_published(const Error& why) noexcept {
  const int kept = errno;
  try {
    notice("counters are not published: " + why.message());
  } catch (...) {
    const WithoutPipeSignal quiet;
    std::fputs("meterbank: counters are not published: out of memory\n", stderr);
  }
  errno = kept;
}

}  // namespace detail

namespace {

void close_slot(detail::SlotLife* life) noexcept {
  if (life == nullptr) return;
  const int kept = errno;
  detail::OwnedRegistration& registration = **life->kept;
  if (!registration.segment->is_inherited()) {
    const std::lock_guard lock(registration.segment->mutex);
    registration.close_instance_locked(*life);
  }
  errno = kept;
}

std::uint32_t id_of(const detail::SlotLife* life) noexcept {
  return life == nullptr ? kAnyInstanceId : life->id;
}

}  // namespace

void Instance::end() const noexcept { close_slot(slot_.life()); }
std::uint32_t Instance::id() const noexcept { return id_of(slot_.life()); }

void ShardedInstance::end() const noexcept { close_slot(slot_.life()); }
std::uint32_t ShardedInstance::id() const noexcept { return id_of(slot_.life()); }

Result<detail::SlotReference> Registration::create(std::string_view name, InstanceOptions options,
                                                   bool sharded) const {
  const WithoutCancellation whole;
  if (!state_) return detail::SlotReference();
  detail::OwnedSegment& segment = *state_->segment;
  if (segment.is_inherited()) {
    return tl::make_unexpected(segment.usable().error());
  }
  if (state_->form.sharded() != sharded) {
    return fail(
        ErrorCode::kInvalidArgument,
        "instance '" + std::string(name) + "' of '" + state_->name + "': the set is " +
            (sharded ? "not sharded" : "sharded"),
        sharded ? "create_instance(), or CountersetSpec::sharded" : "create_sharded_instance()");
  }
  const std::lock_guard lock(segment.mutex);
  return state_->create_locked(name, options);
}

Result<Instance> Registration::create_instance(std::string_view name,
                                               InstanceOptions options) const {
  auto slot = report_no_memory([&] { return create(name, options, false); });
  if (!slot) return tl::make_unexpected(std::move(slot.error()));
  if (slot->life() == nullptr) return Instance();
  const BlockWriter<StdAtomics> writer = slot->life()->writer;
  return Instance(InstanceWriter(writer, *slot));
}

Result<ShardedInstance> Registration::create_sharded_instance(std::string_view name,
                                                              InstanceOptions options) const {
  auto slot = report_no_memory([&] { return create(name, options, true); });
  if (!slot) return tl::make_unexpected(std::move(slot.error()));
  if (slot->life() == nullptr) return ShardedInstance();
  const detail::Shards shards = slot->life()->shards_now(state_->rseq);
  return ShardedInstance(ShardedWriter(shards, *slot));
}

std::optional<detail::SlotReference> Registration::find_slot(std::string_view name,
                                                             std::optional<std::uint32_t> id,
                                                             bool sharded) const {
  if (!state_ || state_->form.sharded() != sharded) return std::nullopt;
  detail::OwnedSegment& segment = *state_->segment;
  if (segment.is_inherited()) return std::nullopt;
  const std::lock_guard lock(segment.mutex);
  detail::SlotLife* life = id ? state_->find_locked(name, *id) : state_->find_locked(name);
  if (life == nullptr) return std::nullopt;
  return detail::SlotReference(*life);
}

std::optional<InstanceWriter> Registration::find(std::string_view name,
                                                 std::optional<std::uint32_t> id) const {
  auto slot = find_slot(name, id, false);
  if (!slot) return std::nullopt;
  const BlockWriter<StdAtomics> writer = slot->life()->writer;
  return InstanceWriter(writer, *slot);
}

std::optional<ShardedWriter> Registration::find_sharded(std::string_view name,
                                                        std::optional<std::uint32_t> id) const {
  auto slot = find_slot(name, id, true);
  if (!slot) return std::nullopt;
  const detail::Shards shards = slot->life()->shards_now(state_->rseq);
  return ShardedWriter(shards, *slot);
}

void Registration::close() const noexcept {
  const WithoutCancellation whole;
  if (!state_) return;
  if (state_->segment->is_inherited()) return;
  state_->close();
}

Interest Registration::interest() const noexcept {
  Interest interest;
  if (!state_) return interest;
  detail::OwnedSegment& segment = *state_->segment;
  if (segment.is_inherited()) return interest;
  const std::lock_guard lock(segment.mutex);
  if (state_->interest == nullptr) return interest;
  interest.kept_ = state_;
  interest.readers_ = &state_->interest->readers();
  interest.counters_ = state_->interest->counters();
  interest.positions_ = state_->interest->positions();
  return interest;
}

RegistrationState Registration::state() const noexcept {
  if (!state_) return RegistrationState::kFree;
  if (state_->segment->is_inherited()) return RegistrationState::kClosed;
  const std::lock_guard lock(state_->segment->mutex);
  // relaxed: only the owner stores it, under the mutex.
  return RegistrationWord::of(state_->record->word.load(std::memory_order_relaxed)).state;
}

Interest::Interest() noexcept {
  static constinit SharedWord no_reader{0};
  readers_ = &no_reader;
}

Provider::Provider(std::shared_ptr<detail::OwnedSegment> segment) noexcept
    : segment_(std::move(segment)) {}
Provider::Provider(Provider&&) noexcept = default;
Provider& Provider::operator=(Provider&& other) noexcept {
  if (this != &other) {
    const WithoutCancellation whole;
    if (segment_) segment_->close();
    segment_ = std::move(other.segment_);
  }
  return *this;
}
Provider::~Provider() {
  const WithoutCancellation whole;
  if (segment_) segment_->close();
}

Result<Provider> Provider::create(ProviderOptions options) {
  const WithoutCancellation whole;
  return report_no_memory([&]() -> Result<Provider> {
    detail::free_ended_memory();
    auto segment = make_of_one_process<detail::OwnedSegment>(std::move(options));
    if (auto started = segment->start(); !started) return tl::make_unexpected(started.error());
    return Provider(std::move(segment));
  });
}

Provider Provider::create_or_disabled(ProviderOptions options) noexcept {
  const WithoutCancellation whole;
  const int kept = errno;
  try {
    auto provider = create(std::move(options));
    errno = kept;
    if (provider) return std::move(*provider);
    detail::say_not_published(provider.error());
  } catch (...) {
    detail::say_not_published(out_of_memory());
  }
  errno = kept;
  return Provider(nullptr);
}

Result<Registration> Provider::add(const CountersetSpec& spec) {
  return report_no_memory([&] { return add_registration(spec, std::nullopt); });
}

Result<Registration> Provider::add(const CountersetSpec& spec, Callback callback,
                                   CallbackOptions options) {
  return report_no_memory(
      [&] { return add_registration(spec, std::pair(std::move(callback), options)); });
}

Result<Registration> Provider::add_registration(
    const CountersetSpec& spec, std::optional<std::pair<Callback, CallbackOptions>> with) {
  const WithoutCancellation whole;
  if (!segment_) return Registration();
  auto schema = encode_schema(spec, segment_->options.name);
  if (!schema) return tl::make_unexpected(schema.error());
  if (with) {
    if (auto good = check_callback(spec); !good) return tl::make_unexpected(good.error());
  }
  auto fresh = make_of_one_process<detail::OwnedRegistration>(segment_, std::move(*schema), spec);
  if (segment_->is_inherited()) {
    return tl::make_unexpected(segment_->usable().error());
  }
  const std::lock_guard lock(segment_->mutex);
  if (auto good = segment_->usable(); !good) return tl::make_unexpected(good.error());
  std::optional<detail::OwnedRegistration::Call> call;
  if (with) {
    call.emplace(detail::OwnedRegistration::Call{std::move(with->first), with->second});
    if (auto good = segment_->serve_callbacks(); !good) return tl::make_unexpected(good.error());
  }
  if (fresh->form.cut_pair != 0) {
    if (auto good = segment_->serve_cuts(); !good) return tl::make_unexpected(good.error());
  }
  for (const auto& known : segment_->registrations) {
    if (known->inserted && (known->guid == fresh->guid || equal_folded(known->name, fresh->name))) {
      return fail(ErrorCode::kExists, "counterset '" + fresh->name + "' is registered already",
                  "register it once per provider, or close the other registration");
    }
    if (!known->inserted && known->schema == fresh->schema && known->form == fresh->form &&
        known->rseq == fresh->rseq && known->is_idle_locked()) {
      known->publish_locked(std::move(call));
      return Registration(known);
    }
  }
  // Known from the moment on in which it has memory of the segment, so that a further try can use
  // that.
  segment_->registrations.reserve(segment_->registrations.size() + 1);
  if (auto good = fresh->make_record_locked(); !good) return tl::make_unexpected(good.error());
  segment_->registrations.push_back(fresh);
  fresh->publish_locked(std::move(call));
  return Registration(std::move(fresh));
}

bool Provider::is_disabled() const noexcept { return segment_ == nullptr; }

std::string Provider::record() const { return segment_ ? segment_->record : std::string(); }

}  // namespace meterbank
