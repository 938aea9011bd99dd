// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>

#include "iteration.hpp"

namespace meterbank::border {

constinit HandleTable<HeldSample> samples("sample");

Outcome<SamplePair> SamplePair::find(const mb_sample* newer, const mb_sample* older) {
  SamplePair pair;
  auto found = samples.find(number_of(newer));
  if (!found) return tl::make_unexpected(found.error());
  pair.newer_ = std::move(*found);
  if (older == nullptr) return pair;
  found = samples.find(number_of(older));
  if (!found) return tl::make_unexpected(found.error());
  pair.older_ = std::move(*found);
  if (pair.older_ == pair.newer_) {
    return refuse(MB_INVALID_ARGUMENT, "newer and older are one sample",
                  "collect into two in turn");
  }
  return pair;
}

SamplePair::Locks SamplePair::lock() const {
  if (older_ == nullptr) return {std::unique_lock(newer_->mutex), {}};
  Locks locks{std::unique_lock(newer_->mutex, std::defer_lock),
              std::unique_lock(older_->mutex, std::defer_lock)};
  std::lock(locks.newer, locks.older);
  return locks;
}

Rows SamplePair::rows() const noexcept {
  return older_ == nullptr ? newer_->sample.rows() : newer_->sample.since(older_->sample);
}

std::uint64_t SamplePair::collections() const noexcept {
  return newer_->collections + (older_ == nullptr ? 0 : older_->collections);
}

namespace {

// A number for the identity and the order of values: equal ones have equal numbers.
class Layout {
 public:
  void add(const Row& row) noexcept {
    add(row.provider->segment_id[0]);
    add(row.provider->segment_id[1]);
    add(row.registered->registration);
    add(row.registered->generation);
    add(row.instance->generation);
    add(std::uint64_t{row.instance->id} << 32 | row.instance->slot);
    // Rows that are computed on demand take the slots of others.
    add(std::hash<std::string_view>()(row.name()));
    // What decides, besides names and ids, about the paths that a cursor gives.
    add(std::uint64_t{row.has_namesake} << 2 | std::uint64_t{row.shares_name} << 1 |
        std::uint64_t{row.is_apart});
  }
  void add(const CounterView& counter) noexcept {
    add(std::uint64_t{counter.id} << 32 | static_cast<std::uint32_t>(counter.type));
  }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  void add(std::uint64_t word) noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    number_ = (number_ ^ word) * kOdd;
    number_ ^= number_ >> 32;
  }

  std::uint64_t number_ = 1;
};

void store(const mb_values& values, std::size_t index, const Value& value) noexcept {
  if (index >= values.capacity) return;
  if (values.cooked != nullptr) {
    values.cooked[index] = has_value(value.cooked.status)
                               ? value.cooked.value
                               : std::numeric_limits<double>::quiet_NaN();
  }
  if (values.raw != nullptr) values.raw[index] = value.raw.value;
  if (values.status != nullptr) {
    values.status[index] = static_cast<std::uint8_t>(value.cooked.status);
  }
}

void store_all(const Rows& rows, mb_values& values) {
  Layout layout;
  values.count = 0;
  for (const Row& row : rows) {
    layout.add(row);
    for (const Value& value : row) {
      layout.add(*value.counter);
      store(values, values.count++, value);
    }
  }
  values.layout = layout.number();
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_sample_create(mb_sample** sample, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear_handle(sample, "sample"); !good) return good;
    *sample = handle_of<mb_sample>(samples.insert(std::make_shared<HeldSample>()));
    return {};
  });
}

void mb_sample_close(mb_sample* sample) { close_handle(samples, sample); }

mb_status mb_sample_answer(mb_sample* sample, size_t index, mb_answer* answer, mb_error* error) {
  return cross(error, [&] {
    return with(samples, sample, [&](HeldSample& held) -> Outcome<void> {
      if (auto good = can_fill(answer, "mb_answer"); !good) return good;
      const auto& answers = held.sample.callbacks;
      if (answers == nullptr || index >= answers->size()) {
        return refuse(MB_NOT_FOUND, "no more answers");
      }
      const CallbackAnswer& given = (*answers)[index];
      held.provider = given.provider->label();
      held.reason = given.reason();
      mb_answer filled = MB_ANSWER_INIT;
      filled.has_rows = has_rows(given.outcome) ? 1 : 0;
      filled.rows = given.rows;
      filled.provider = held.provider.c_str();
      filled.set = given.set->set->name.c_str();
      filled.reason = held.reason.c_str();
      fill_struct(answer, filled);
      return {};
    });
  });
}

mb_status mb_sample_values(mb_sample* newer, mb_sample* older, mb_values* values, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    constexpr mb_values kDefaults = MB_VALUES_INIT;
    auto taken = take_versioned(values, kDefaults, sizeof(mb_values), "mb_values");
    if (!taken) return tl::make_unexpected(taken.error());
    const auto pair = SamplePair::find(newer, older);
    if (!pair) return tl::make_unexpected(pair.error());
    const SamplePair::Locks locks = pair->lock();
    store_all(pair->rows(), *taken);
    fill_struct(values, *taken);
    return {};
  });
}
