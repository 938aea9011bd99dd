// SPDX-License-Identifier: Apache-2.0
//
// What came of asking: one answer a registration whose rows are computed on demand.
//
// Thread safety  Answers are immutable once they are in a sample: any thread may read them.
// Errors         AnswerOutcome says what went wrong. reason() may throw std::bad_alloc.
// Progress       Reading an answer waits for nothing; Query::collect() has waited.
// Cost           One answer a registration and an ask, shared by query and samples.
// Lifetime       An answer keeps its provider's view.
// Units          Timeouts are nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/channel.hpp"

namespace meterbank {

enum class AnswerOutcome : std::uint8_t {
  // Rows came; a callback that ended badly may not have added all.
  kAnswered,
  kReturnedCode,  // the callback said so: CallbackAnswer::code
  kThrew,         // CallbackAnswer::text
  kCancelled,     // it was told that the reader gave up
  kNoMemory,      // in the provider
  kIncomplete,    // there were more rows than an answer can hold
  // Nothing came that could be used.
  kTimeout,    // no answer within the reader's timeout
  kBusy,       // all places of the registration were taken until then
  kGone,       // no process listens, or the provider ended meanwhile
  kRefused,    // CallbackAnswer::refusal
  kMalformed,  // what came breaks the rules of the channel or of the schema
  kDenied,     // by the kernel; or another user than the provider's listens there
  kReentrant,  // asked from inside a callback of the same process, which could only wait for itself
};
[[nodiscard]] std::string_view name_of(AnswerOutcome outcome) noexcept;
// Rows are as new as the answer.
[[nodiscard]] constexpr bool has_rows(AnswerOutcome outcome) noexcept {
  return outcome <= AnswerOutcome::kIncomplete;
}

struct CallbackAnswer {
  std::shared_ptr<const ProviderView> provider;
  const RegisteredSet* set = nullptr;  // in *provider
  AnswerOutcome outcome = AnswerOutcome::kAnswered;
  ChannelRefusal refusal{};         // if the outcome is kRefused
  std::uint32_t code = 0;           // if the outcome is kReturnedCode
  std::uint32_t interest_code = 0;  // what the callback returned for kAddInterest
  std::string text;                 // UTF-8 of the provider; escape it for a terminal
  std::size_t rows = 0;             // that the reader took over
  std::uint64_t timeout_ns = 0;     // how long was waited at most

  // A phrase for people: "no answer within 1 s", "the callback returned 5". Not escaped.
  [[nodiscard]] std::string reason() const;
};

// What the callback of a registration returned when it was told of the interest of a query.
struct InterestAnswer {
  std::shared_ptr<const ProviderView> provider;
  const RegisteredSet* set = nullptr;  // in *provider
  std::uint32_t code = 0;              // 0 too where it has not answered in time
};

}  // namespace meterbank
