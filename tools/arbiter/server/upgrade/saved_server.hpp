// SPDX-License-Identifier: Apache-2.0
//
// What one image of the program leaves for the next: state in a sealed memfd, and descriptors that
// stay open.
//
// The next image believes it as much as its own memory: no other process can have written it. A
// version that it does not know, or a text that does not parse, is an error all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arbiter/backend/backend.hpp"
#include "arbiter/server/exchange/exchange.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

struct SavedPacket {
  std::vector<std::uint8_t> bytes;
  int attached = -1;
};

struct SavedClient {
  SavedVisitor visitor;
  int socket = -1;
  std::vector<SavedPacket> unsent;
};

struct SavedServer {
  std::string arbiter;  // Arbiter::save()
  std::uint16_t epoch = 0;
  ClientNumber next_client = 1;
  int listener = -1;
  bool listener_name_stays = false;
  std::uint64_t connections_refused = 0;
  std::vector<SavedClient> clients;
  std::vector<SavedCarrier> carriers;

  // Every descriptor that is to stay open.
  [[nodiscard]] std::vector<int> descriptors() const;
};

// A sealed memfd, which cannot be changed any more, and that stays open over exec. Errors:
// kNoSpace.
[[nodiscard]] Result<UniqueFd> store(const SavedServer& saved);
// Errors: kCorrupt, kNewerLayout.
[[nodiscard]] Result<SavedServer> load_saved(int descriptor);

// Whether a descriptor is closed by exec.
void set_close_on_exec(int descriptor, bool is_closed) noexcept;

}  // namespace meterbank::arbiter
