// SPDX-License-Identifier: Apache-2.0
//
// A plugin that counts for its host: it has the library's inline code, and none of its functions.
#include "meterbank/publisher/sharded.hpp"

extern "C" [[gnu::visibility("default")]] bool count_for_host(
    const meterbank::detail::Shards* shards) {
  return meterbank::detail::add_in_place(*shards, 0, 1);
}
