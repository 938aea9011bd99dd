// SPDX-License-Identifier: Apache-2.0
//
// The journal: what an arbiter that dies leaves for the next one, and what was decided of late.
//
//   JournalRecord 0 | JournalRecord 1 | ...   64 bytes each, little by little appended
//
// A record counts if its check does. A torn record at the end is cut off, one that was damaged is
// passed over: they have one size, so the next one is found. The file is written anew, to another
// name and then renamed, when it is opened and whenever it has grown to kRecordsMax: of leases that
// have not ended each grant is kept, of all else the last kTailRecords.
//
// It is written through the page cache, and survives the process; what a loss of power takes,
// takes the holders, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

class Journal {
 public:
  static constexpr std::size_t kTailRecords = 4096;
  static constexpr std::size_t kRecordsMax = std::size_t{1} << 16;

  // Reads what is there, and locks its directory against other arbiters. Errors: kExists, if one
  // has it; kNoDirectory, kDenied, kNoSpace, kSystem.
  static Result<Journal> open(const std::string& path);

  // Those that count, in their order.
  [[nodiscard]] std::vector<JournalRecord> records() const;
  // Of the arbiter that wrote last; 0: there was none.
  [[nodiscard]] std::uint16_t last_epoch() const noexcept { return last_epoch_; }
  // How many leases were granted and have not ended.
  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }
  // Bytes of the file that were no records.
  [[nodiscard]] std::size_t damaged_bytes() const noexcept { return damaged_bytes_; }

  // Sets the time and the check. False: there is no room; it is kept in memory, and written when
  // the file is next written anew.
  bool append(JournalRecord record) noexcept;
  // Grants of arbiters before `epoch` have no holder any more.
  void forget_before(std::uint16_t epoch) noexcept;
  // On disk, not only in the page cache.
  void sync() const noexcept;

 private:
  Journal() = default;
  void take(const JournalRecord& record);
  Result<void> rewrite();

  std::string name_;
  UniqueFd directory_;  // locked
  UniqueFd file_;
  // Of leases that have not ended: the grant, then the counters that were delegated.
  std::map<pmu::Token, std::vector<JournalRecord>> held_;
  std::deque<JournalRecord> tail_;
  std::size_t written_ = 0;
  std::size_t damaged_bytes_ = 0;
  std::uint16_t last_epoch_ = 0;
};

}  // namespace meterbank::arbiter
