// SPDX-License-Identifier: Apache-2.0
//
// Countersets whose rows are computed when somebody asks for them, as with PCW_CALLBACK.
//
//   auto pools = provider.add(kPools, [](mb::CallbackRequest& request) {
//     for (const Pool& pool : all_pools()) {
//       request.add(pool.name, pool.id, {{pool.used(), pool.size()}});
//     }
//     return 0U;
//   });
//
// The callback runs on threads of the library, several at a time unless told otherwise. What it
// returns is shown to the reader and changes nothing: rows that it added are delivered. It may
// throw; that is shown, too. It may not wait for the registration to be closed, which waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace meterbank {

namespace detail {
class RunningCallback;
}

enum class CallbackReason : std::uint8_t {
  kAddInterest,     // somebody began to be interested in the counters of the mask
  kRemoveInterest,  // the same somebody ended, in order or not; these two balance
  kEnumerate,       // wants rows' names and ids; values are ignored
  kCollect,         // wants rows with values
};

// One request, for the time of the call. Company: the thread of the call.
class CallbackRequest {
 public:
  [[nodiscard]] CallbackReason reason() const noexcept;

  // What is wanted. Heeding it saves work and nothing else: the reader filters what it gets.
  [[nodiscard]] bool wants(std::uint32_t counter_id) const noexcept;
  // Bit x of word x / 64: the counter with id x. All ones in a single word: all.
  [[nodiscard]] std::span<const std::uint64_t> counter_mask() const noexcept;
  [[nodiscard]] std::uint32_t instance_id() const noexcept;  // kAnyInstanceId: any
  [[nodiscard]] std::string_view instance_mask() const noexcept;  // `*` and `?`; "*": all
  // False: the first row is enough, others are dropped.
  [[nodiscard]] bool collects_many() const noexcept;

  // True once the reader has gone, or has given up: nobody waits for what follows. One load.
  [[nodiscard]] bool is_cancelled() const noexcept;
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept;

  enum class Added : std::uint8_t {
    kYes,
    kNotWanted,    // filtered out; cheaper to be told than to send
    kNoValues,     // a row to collect needs a value a counter, in the order of the schema
    kBadName,      // not UTF-8, too long, or empty where instances have names
    kReservedId,
    kNoMemory,
    kWrongReason,  // in an interest request, which has no rows
  };
  // Copies the name and the values.
  Added add(std::string_view name, std::uint32_t id, std::span<const std::uint64_t> values);

 private:
  friend class detail::RunningCallback;
  explicit CallbackRequest(detail::RunningCallback& call) noexcept : call_(&call) {}

  detail::RunningCallback* call_;
};

// Returns a code of its own; 0 is good.
using Callback = std::function<std::uint32_t(CallbackRequest&)>;

struct CallbackOptions {
  bool serial = false;  // one call at a time, for callbacks that are not thread-safe
};

}  // namespace meterbank
