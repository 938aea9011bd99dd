// SPDX-License-Identifier: Apache-2.0
//
// What a catalog keeps between its refreshes, beside its attachments and the lists of its public
// face.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "attachment.hpp"
#include "door_connection.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "process/process_table.hpp"
#include "process/process_walk.hpp"
#include "record_scan.hpp"

namespace meterbank {

// What one look for records found. Attachment::is_listed() says which of the known ones are still
// there.
struct Catalog::Found {
  std::vector<FoundRecord> added;
  std::uint64_t unopened = 0;  // directories that this process lacked a descriptor for
  bool is_news = false;        // something may be there that was not there before, or the reverse
};

struct Catalog::Parts {
  // Providers whose memory is there, and records without.
  struct Counts {
    std::uint32_t with_memory = 0;
    std::uint32_t without = 0;
  };

  ProcessTable processes;
  DoorTimeouts timeouts;
  std::map<std::string, RecordDirectory, std::less<>> directories;
  ProcessWalk walk;
  std::vector<LeftOut> left_out_of_walk;
  SegmentDirectories listed;
  std::uint64_t listing_rests_until = 0;  // CLOCK_MONOTONIC
  std::unordered_map<std::uint32_t, Counts> of_user;
  bool is_unfinished = true;  // the last refresh ended early, or there was none

  void count(const Attachment& attachment) {
    Counts& counts = of_user[attachment.owner()];
    ++(attachment.mapped_bytes() > 0 ? counts.with_memory : counts.without);
  }
};

}  // namespace meterbank
