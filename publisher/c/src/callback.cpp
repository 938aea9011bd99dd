// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/callback.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "handles.hpp"
#include "meterbank/border/per_process.hpp"
#include "meterbank/border/versioned.hpp"

namespace meterbank::border {
namespace {

// Interests that C code has pointers to: one for each set that it asked about, for ever.
struct KeptInterests final : OfOneProcess {
  std::mutex mutex;
  std::deque<Interest> all;  // which never moves them
  std::unordered_map<std::uint64_t, const Interest*> by_set;
};
constinit PerProcess<KeptInterests> kept_interests;

const Interest* keep_interest(std::uint64_t set, const Registration& registration) {
  KeptInterests& kept = kept_interests.get();
  const std::lock_guard lock(kept.mutex);
  const auto [place, is_new] = kept.by_set.try_emplace(set, nullptr);
  if (place->second == nullptr) {
    place->second = &kept.all.emplace_back(registration.interest());
  }
  return place->second;
}

Outcome<CallbackOptions> read_callback_options(const mb_callback_options* given) {
  if (given == nullptr) return CallbackOptions();
  constexpr mb_callback_options kDefaults = MB_CALLBACK_OPTIONS_INIT;
  constexpr std::size_t kFirstBytes = 8;
  auto taken = take_versioned(given, kDefaults, kFirstBytes, "mb_callback_options");
  if (!taken) return tl::make_unexpected(taken.error());
  if ((taken->flags & ~MB_CALLBACK_SERIAL) != 0) {
    return refuse(MB_INVALID_ARGUMENT,
                  "mb_callback_options: has flags that this library does not know",
                  "MB_CALLBACK_SERIAL");
  }
  return CallbackOptions{.serial = (taken->flags & MB_CALLBACK_SERIAL) != 0};
}

// During a call, a request is the address of what C++ callbacks get.
const CallbackRequest& request_of(const mb_request* request) noexcept {
  return *reinterpret_cast<const CallbackRequest*>(request);
}
const Interest* interest_of(const mb_interest* interest) noexcept {
  return reinterpret_cast<const Interest*>(interest);
}

static_assert(MB_REQUEST_COLLECT == static_cast<int>(CallbackReason::kCollect));
static_assert(MB_REQUEST_ENUMERATE == static_cast<int>(CallbackReason::kEnumerate));
static_assert(MB_REQUEST_REMOVE_INTEREST == static_cast<int>(CallbackReason::kRemoveInterest));
using Added = CallbackRequest::Added;
static_assert(MB_ROW_ADDED == static_cast<int>(Added::kYes));
static_assert(MB_ROW_DROPPED == static_cast<int>(Added::kDropped));
static_assert(MB_ROW_NO_VALUES == static_cast<int>(Added::kNoValues));
static_assert(MB_ROW_BAD_NAME == static_cast<int>(Added::kBadName));
static_assert(MB_ROW_RESERVED_ID == static_cast<int>(Added::kReservedId));
static_assert(MB_ROW_NO_MEMORY == static_cast<int>(Added::kNoMemory));
static_assert(MB_ROW_WRONG_REASON == static_cast<int>(Added::kWrongReason));

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_provider_add_callback(mb_provider* provider, const mb_counterset_spec* spec,
                                   mb_callback callback, void* context,
                                   const mb_callback_options* options, mb_set** set,
                                   mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(set, "set"); !good) return good;
    const auto read = read_callback_options(options);
    if (!read) return tl::make_unexpected(read.error());
    Callback function;
    if (callback != nullptr) {
      function = [callback, context](CallbackRequest& request) {
        return callback(reinterpret_cast<mb_request*>(&request), context);
      };
    }
    const auto number = add_set(provider, spec, std::pair(std::move(function), *read));
    if (!number) return tl::make_unexpected(number.error());
    *set = handle_of<mb_set>(*number);
    return {};
  });
}

mb_request_reason mb_request_why(const mb_request* request) {
  return static_cast<mb_request_reason>(request_of(request).reason());
}
int mb_request_wants(const mb_request* request, uint32_t counter_id) {
  return request_of(request).wants(counter_id) ? 1 : 0;
}
uint32_t mb_request_instance_id(const mb_request* request) {
  return request_of(request).instance_id();
}
const char* mb_request_instance_mask(const mb_request* request, size_t* bytes) {
  const std::string_view mask = request_of(request).instance_mask();
  if (bytes != nullptr) *bytes = mask.size();
  return mask.data();
}
int mb_request_collects_many(const mb_request* request) {
  return request_of(request).collects_many() ? 1 : 0;
}
int mb_request_is_cancelled(const mb_request* request) {
  return request_of(request).is_cancelled() ? 1 : 0;
}
uint64_t mb_request_deadline_ns(const mb_request* request) {
  const auto deadline = request_of(request).deadline().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(deadline).count());
}
mb_row_added mb_request_add(mb_request* request, const char* name, uint32_t id,
                            const uint64_t* values, size_t count) {
  auto& cpp_request = *reinterpret_cast<CallbackRequest*>(request);
  const std::span<const std::uint64_t> given(values, values == nullptr ? 0 : count);
  return static_cast<mb_row_added>(cpp_request.add(text_of(name), id, given));
}

mb_status mb_set_interest(mb_set* set, const mb_interest** interest, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(interest, "interest"); !good) return good;
    if (set == nullptr) return {};
    auto found = sets.find(number_of(set));
    if (!found) return tl::make_unexpected(found.error());
    *interest = reinterpret_cast<const mb_interest*>(keep_interest(number_of(set), **found));
    return {};
  });
}
int mb_interest_wanted(const mb_interest* interest) {
  return interest != nullptr && interest_of(interest)->wanted() ? 1 : 0;
}
int mb_interest_wants_counter(const mb_interest* interest, uint32_t counter) {
  return interest != nullptr && interest_of(interest)->wanted(counter) ? 1 : 0;
}
