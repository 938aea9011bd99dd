// SPDX-License-Identifier: Apache-2.0
//
// What a query wants of one registration: all its patterns or items in one request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "query_request.hpp"

namespace meterbank {

struct AskedRows {
  std::vector<std::uint64_t> counter_mask;  // as in ChannelRequest
  std::uint32_t instance_id = kAnyInstanceId;
  std::string pattern = "*";  // `*` and `?`, no escapes
  bool collect_many = true;

  friend bool operator==(const AskedRows&, const AskedRows&) = default;
};

// A registration whose provider gets messages: its rows are computed on demand, or it counts
// interested readers.
struct TouchedSet {
  std::shared_ptr<const ProviderView> provider;
  const RegisteredSet* set = nullptr;  // in *provider
  AskedRows asked;
};

[[nodiscard]] constexpr bool has_callback(const RegisteredSet& set) noexcept {
  return (set.flags & kRegistrationCallback) != 0;
}
[[nodiscard]] constexpr bool counts_interest(const RegisteredSet& set) noexcept {
  return (set.flags & (kRegistrationCallback | kRegistrationInterest)) != 0;
}

// Nothing: the request does not concern the registration, whatever rows it has. Never narrower than
// what the query selects.
[[nodiscard]] std::optional<AskedRows> asked_of(const QueryRequest& request,
                                                const ProviderView& provider,
                                                const RegisteredSet& set);

}  // namespace meterbank
