// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "handles.hpp"
#include "meterbank/border/versioned.hpp"

namespace meterbank::border {

constinit HandleTable<HeldInstance> instances("instance");

Outcome<InstanceOptions> read_options(const mb_instance_options* given) {
  if (given == nullptr) return InstanceOptions();
  constexpr mb_instance_options kDefaults = MB_INSTANCE_OPTIONS_INIT;
  constexpr std::size_t kFirstBytes = 12;
  auto taken = take_versioned(given, kDefaults, kFirstBytes, "mb_instance_options");
  if (!taken) return tl::make_unexpected(taken.error());
  InstanceOptions options;
  if (taken->id.is_set != 0) options.id = taken->id.id;
  return options;
}

namespace {

mb_block block_of(HeldInstance& held) noexcept {
  return std::bit_cast<mb_block>(held.parts().writer());
}

mb_instance held_as_number(std::shared_ptr<HeldInstance> held) {
  mb_instance instance{};
  instance.block = block_of(*held);
  instance.number = instances.insert(std::move(held));
  return instance;
}

// A counter of one of several forms, and the block that it is in.
struct FoundCounter {
  mb_block block;
  CounterPlace place;
  [[nodiscard]] std::uint32_t time_word(std::uint32_t words_before) const noexcept {
    return place.timed ? place.more + words_before : 0;
  }
};

// Nothing: the instance counts into nothing, and so does what is made of it.
template <typename IsForm>
Outcome<std::optional<FoundCounter>> find_counter(const mb_instance* instance,
                                                  std::uint32_t counter, IsForm is_form,
                                                  const std::string& form) {
  if (instance == nullptr) return refuse(MB_INVALID_ARGUMENT, "the instance is NULL");
  if (instance->number == 0) return std::nullopt;
  auto held = instances.find(instance->number);
  if (!held) return tl::make_unexpected(held.error());
  const CounterPlace place = (*held)->parts().place_of(counter);
  if (!place.known || !is_form(place.form)) {
    return refuse(MB_INVALID_ARGUMENT,
                  "counter " + std::to_string(counter) + " is not a " + form + " of the set",
                  "name a counter by its position in the specification");
  }
  return FoundCounter{block_of(**held), place};
}

bool is_number(ValueForm form) noexcept {
  return form == ValueForm::kUnsigned || form == ValueForm::kSigned || form == ValueForm::kReal;
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_set_create_instance(mb_set* set, const char* name, const mb_instance_options* options,
                                 mb_instance* instance, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(instance, "instance"); !good) return good;
    if (set == nullptr) return {};
    auto found = sets.find(number_of(set));
    if (!found) return tl::make_unexpected(found.error());
    const auto read = read_options(options);
    if (!read) return tl::make_unexpected(read.error());
    auto created = (*found)->create_instance(text_of(name), *read);
    if (!created) return tl::make_unexpected(created.error());
    *instance = held_as_number(std::make_shared<HeldInstance>(std::move(*created)));
    return {};
  });
}

mb_status mb_set_find_instance(mb_set* set, const char* name, mb_instance* instance,
                               mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(instance, "instance"); !good) return good;
    if (set == nullptr) return refuse(MB_NOT_FOUND, "a disabled set has no instances");
    auto found = sets.find(number_of(set));
    if (!found) return tl::make_unexpected(found.error());
    const auto writer = (*found)->find(text_of(name));
    if (!writer) {
      return refuse(MB_NOT_FOUND, "no live instance '" + std::string(text_of(name)) + "'");
    }
    *instance = held_as_number(std::make_shared<HeldInstance>(*writer));
    return {};
  });
}

void mb_instance_close(const mb_instance* instance) {
  if (instance != nullptr) close_held(instances, instance->number);
}

void mb_instance_free(mb_instance* instance) {
  if (instance == nullptr) return;
  free_held(instances, instance->number);
  *instance = mb_instance();
}

uint32_t mb_instance_id(const mb_instance* instance) {
  return instance == nullptr ? kAnyInstanceId : id_of_held(instances, instance->number);
}

mb_status mb_instance_gauge(const mb_instance* instance, uint32_t counter, mb_gauge* gauge,
                            mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(gauge, "gauge"); !good) return good;
    const auto found = find_counter(instance, counter, is_number, "gauge");
    if (!found) return tl::make_unexpected(found.error());
    if (!*found) return {};
    const CounterPlace& place = (*found)->place;
    *gauge = {(*found)->block, place.own, static_cast<std::uint32_t>(place.form),
              (*found)->time_word(0)};
    return {};
  });
}

mb_status mb_instance_recorder(const mb_instance* instance, uint32_t counter, mb_recorder* recorder,
                               mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(recorder, "recorder"); !good) return good;
    const auto is_form = [](ValueForm form) { return form == ValueForm::kDistribution; };
    const auto found = find_counter(instance, counter, is_form, "distribution");
    if (!found) return tl::make_unexpected(found.error());
    if (!*found) return {};
    const CounterPlace& place = (*found)->place;
    *recorder = {(*found)->block,   place.own,         place.more,
                 place.shape.scale, place.shape.first, place.shape.buckets};
    return {};
  });
}

mb_status mb_instance_text(const mb_instance* instance, uint32_t counter, mb_text* text,
                           mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(text, "text"); !good) return good;
    const auto is_form = [](ValueForm form) { return form == ValueForm::kText; };
    const auto found = find_counter(instance, counter, is_form, "text");
    if (!found) return tl::make_unexpected(found.error());
    if (!*found) return {};
    const CounterPlace& place = (*found)->place;
    const std::uint32_t words = place.more_words - (place.timed ? 1 : 0);
    *text = {(*found)->block, place.own, place.more, words, (*found)->time_word(words)};
    return {};
  });
}
