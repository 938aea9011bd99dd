// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/sharded.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "meterbank/publisher/sharded_recorder.hpp"

namespace meterbank::border {
namespace {

// What the counting functions of one sharded instance need, at an address that stays.
class ShardedParts : public ShardedWriter {
 public:
  explicit ShardedParts(const ShardedWriter& writer) : ShardedWriter(writer) {
    const std::uint32_t words = shards_.first->writer.words();
    std::uint32_t counter = 0;
    for (; counter < words && detail::place_of(slot_.life(), counter).known; ++counter) {
      recorders_.push_back(writer.recorder(counter));
    }
  }

  // Null: it is not a counter of the set. One of another form records nothing.
  [[nodiscard]] ShardedRecorder* recorder_of(std::uint32_t counter) noexcept {
    return counter < recorders_.size() ? &recorders_[counter] : nullptr;
  }
  void apply(std::span<const mb_sharded_change> changes) noexcept {
    update([&](ShardValues& values) noexcept {
      for (const mb_sharded_change& change : changes) apply(change, values);
    });
  }

 private:
  void apply(const mb_sharded_change& change, ShardValues& values) noexcept {
    switch (change.kind) {
      case MB_SHARDED_ADD:
        return values.add(change.counter, change.amount);
      case MB_SHARDED_RAISE:
        return values.raise(change.counter, change.amount);
      case MB_SHARDED_LOWER:
        return values.lower(change.counter, change.amount);
      case MB_SHARDED_RECORD:
        if (const ShardedRecorder* recorder = recorder_of(change.counter)) {
          values.record(*recorder, change.value);
        }
        return;
      default:
        return;
    }
  }

  std::vector<ShardedRecorder> recorders_;
};

using HeldSharded = Held<ShardedInstance, ShardedParts>;
constinit HandleTable<HeldSharded> sharded_instances("sharded instance");

mb_sharded held_as_number(const std::shared_ptr<HeldSharded>& held) {
  mb_sharded instance{};
  instance.number = sharded_instances.insert(held);
  instance.counting = &held->parts();
  return instance;
}

// Null: it counts into nothing.
ShardedParts* parts_of(const mb_sharded* instance) noexcept {
  return static_cast<ShardedParts*>(instance->counting);
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_set_create_sharded(mb_set* set, const char* name, const mb_instance_options* options,
                                mb_sharded* instance, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(instance, "instance"); !good) return good;
    if (set == nullptr) return {};
    auto found = sets.find(number_of(set));
    if (!found) return tl::make_unexpected(found.error());
    const auto read = read_options(options);
    if (!read) return tl::make_unexpected(read.error());
    auto created = (*found)->create_sharded_instance(text_of(name), *read);
    if (!created) return tl::make_unexpected(created.error());
    *instance = held_as_number(std::make_shared<HeldSharded>(std::move(*created)));
    return {};
  });
}

mb_status mb_set_find_sharded(mb_set* set, const char* name, mb_sharded* instance,
                              mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(instance, "instance"); !good) return good;
    if (set == nullptr) return refuse(MB_NOT_FOUND, "a disabled set has no instances");
    auto found = sets.find(number_of(set));
    if (!found) return tl::make_unexpected(found.error());
    const auto writer = (*found)->find_sharded(text_of(name));
    if (!writer) {
      return refuse(MB_NOT_FOUND, "no live instance '" + std::string(text_of(name)) + "'");
    }
    *instance = held_as_number(std::make_shared<HeldSharded>(*writer));
    return {};
  });
}

void mb_sharded_close(const mb_sharded* instance) {
  if (instance != nullptr) close_held(sharded_instances, instance->number);
}

void mb_sharded_free(mb_sharded* instance) {
  if (instance == nullptr) return;
  free_held(sharded_instances, instance->number);
  *instance = mb_sharded();
}

uint32_t mb_sharded_id(const mb_sharded* instance) {
  return instance == nullptr ? kAnyInstanceId : id_of_held(sharded_instances, instance->number);
}

void mb_sharded_add(const mb_sharded* instance, uint32_t counter, uint64_t delta) {
  if (ShardedParts* const parts = parts_of(instance)) parts->add(counter, delta);
}
void mb_sharded_raise(const mb_sharded* instance, uint32_t counter, uint64_t value) {
  if (ShardedParts* const parts = parts_of(instance)) parts->raise(counter, value);
}
void mb_sharded_lower(const mb_sharded* instance, uint32_t counter, uint64_t value) {
  if (ShardedParts* const parts = parts_of(instance)) parts->lower(counter, value);
}

void mb_sharded_record(const mb_sharded* instance, uint32_t counter, double value) {
  ShardedParts* const parts = parts_of(instance);
  if (parts == nullptr) return;
  if (ShardedRecorder* const recorder = parts->recorder_of(counter)) recorder->record(value);
}

void mb_sharded_update(const mb_sharded* instance, const mb_sharded_change* changes, size_t count) {
  ShardedParts* const parts = parts_of(instance);
  if (parts != nullptr && count != 0) parts->apply(std::span(changes, count));
}
