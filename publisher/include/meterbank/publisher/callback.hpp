// SPDX-License-Identifier: Apache-2.0
//
// Countersets whose rows are computed when a reader asks for them, as with PCW_CALLBACK.
//
//   auto pools = provider.add(kPools, [](mb::CallbackRequest& request) {
//     for (const Pool& pool : all_pools()) {
//       request.add(pool.name, pool.id, std::array{pool.used(), pool.size()});
//     }
//     return 0U;
//   });
//
// Instances that were created and rows that a callback added appear together.
//
// Thread safety  The callback runs on threads of the library, several at a time unless
//                CallbackOptions::serial is set. A CallbackRequest belongs to the thread of its
//                call. Interest may be used by any thread. A callback may call all functions of
//                this library.
// Errors         A callback returns 0 or a code of its own, or throws. Readers are shown the code
//                or the exception's text; rows that were added before are delivered all the same.
//                To PerfLib's consumers a code for kAddInterest refuses the counters.
// Progress       A callback may take its time: readers wait until their deadline, other providers
//                and the publish path do not. A close() of its own registration from inside a
//                callback takes effect when the last call has returned.
// Cost           Interest::wanted(): one load.
// Lifetime       A request is valid during its call. An Interest may outlive its registration.
// Units          Values are words of the schema's counters; deadlines are of steady_clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "meterbank/publisher/counter_position.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

namespace detail {
class RunningCall;
}  // namespace detail

enum class CallbackReason : std::uint8_t {
  kAddInterest,     // a reader began to collect the counters of the mask
  kRemoveInterest,  // the same reader ended, in order or not; these two balance
  kEnumerate,       // wants rows' names and ids; values are not looked at
  kCollect,         // wants rows with values
};

// One request.
class CallbackRequest {
 public:
  [[nodiscard]] CallbackReason reason() const noexcept;

  // What is wanted. Heeding it saves work and nothing else: the reader filters what it gets.
  [[nodiscard]] bool wants(std::uint32_t counter_id) const noexcept;
  // Bit x of word x / 64: the counter with id x. All ones in a single word: all.
  [[nodiscard]] std::span<const std::uint64_t> counter_mask() const noexcept;
  [[nodiscard]] std::uint32_t instance_id() const noexcept;       // kAnyInstanceId: any
  [[nodiscard]] std::string_view instance_mask() const noexcept;  // `*` and `?`; "*": all
  // False: the first row is enough, others are dropped.
  [[nodiscard]] bool collects_many() const noexcept;

  // True once the reader has gone or has given up, and once the registration is being closed:
  // no reader waits for the answer any more. Cost: one load.
  [[nodiscard]] bool is_cancelled() const noexcept;
  // The same for code in C that polls a word: 0 until then. Constant address during the call.
  [[nodiscard]] const std::atomic<std::uint32_t>& cancelled() const noexcept;
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept;

  enum class Added : std::uint8_t {
    kYes,
    kDropped,      // a row beyond the first, where the first is enough
    kNoValues,     // a row to collect has a value for each counter, in the order of the schema
    kBadName,      // not UTF-8, too long, empty where instances have names, or else not empty
    kReservedId,   // kAnyInstanceId and the one before
    kNoMemory,     // also: more rows than an answer can hold
    kWrongReason,  // an interest request has no rows
  };
  // Copies the name and the values. `values` may be empty in kEnumerate.
  Added add(std::string_view name, std::uint32_t id,
            std::span<const std::uint64_t> values) noexcept;

 private:
  friend class detail::RunningCall;
  explicit CallbackRequest(detail::RunningCall& call) noexcept : call_(&call) {}

  detail::RunningCall* call_;
};

// Returns a code of its own; 0 is good. Empty: the rows are the created instances, but the
// registration still counts interested readers.
using Callback = std::function<std::uint32_t(CallbackRequest&)>;

struct CallbackOptions {
  bool serial = false;  // one call at a time, for callbacks that are not thread-safe
};

// Whether any reader is interested, for the hot path.
class Interest {
 public:
  // The interest in a registration without a callback: no reader is interested.
  Interest() noexcept;

  [[nodiscard]] bool wanted() const noexcept {
    return readers_->load(std::memory_order_relaxed) != 0;  // relaxed: a hint, orders nothing
  }
  // In one counter, by its position in the schema.
  template <CounterName C>
  [[nodiscard]] bool wanted(C counter) const noexcept {
    const std::uint32_t position = position_of(counter);
    // relaxed: as above.
    return position < positions_ && counters_[position].load(std::memory_order_relaxed) != 0;
  }

 private:
  friend class Registration;

  std::shared_ptr<const void> kept_;  // the memory of the words below
  const SharedWord* readers_;
  const std::atomic<std::uint32_t>* counters_ = nullptr;
  std::uint32_t positions_ = 0;
};

}  // namespace meterbank
