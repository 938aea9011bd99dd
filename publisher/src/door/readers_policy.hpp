// SPDX-License-Identifier: Apache-2.0
//
// Which users may read a provider: ProviderOptions::readers. Root and the provider's own user
// always may, because they can read the memory of its process anyway.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::detail {

class ReadersPolicy {
 public:
  // "owner", "everyone", "group:NAME" or "group:GID". Empty: the group of the runtime directory if
  // that has its set-group-id bit, else the owner. METERBANK_READERS takes the place of `option`,
  // but not in set-uid programs. Errors: kInvalidArgument.
  static Result<ReadersPolicy> choose(std::string_view option, const std::string& directory);

  // `groups` are all groups of the user's process.
  [[nodiscard]] bool admits(uid_t uid, std::span<const gid_t> groups) const noexcept;
  [[nodiscard]] bool admits_everyone() const noexcept { return everyone_; }

 private:
  static Result<ReadersPolicy> parse(std::string_view text, std::string_view source);

  uid_t owner_ = 0;
  bool everyone_ = false;
  std::optional<gid_t> group_;
};

// The primary and the supplementary groups of the process at the other end, as of its connect().
// Only the primary one if the kernel does not name the others. Errors: std::bad_alloc.
[[nodiscard]] std::vector<gid_t> peer_groups(int socket, gid_t primary);

}  // namespace meterbank::detail
