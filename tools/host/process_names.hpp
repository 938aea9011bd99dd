// SPDX-License-Identifier: Apache-2.0
//
// Names of the rows of Process: the program's name for one process, `name:pid` for further ones of
// that name. A process keeps its name until it ends or becomes another program, so that rates are
// those of one process. Names that differ in case only are one name, because they are to readers.
//
// This is the one place that knows how namesakes are told apart: a set whose instances are known by
// name and id together would publish plain names.
//
// Cost           One round takes time linear in the number of processes, and allocates for new ones
//                only.
// Thread safety  One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "host/probe/process.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::host {

class ProcessNames {
 public:
  // One round: name_of() for every process, ascending by pid, then end_round(). The name is valid
  // until the next call.
  [[nodiscard]] std::string_view name_of(const ProcessReading& process);
  void end_round();

 private:
  struct Named {
    std::uint32_t pid = 0;
    std::uint64_t start_ticks = 0;
    ProcessName program;
    bool is_plain = false;  // the name is the program's, and in plain_
    std::string name;
  };
  [[nodiscard]] Named named(const ProcessReading& process);
  void release(const Named& process);

  std::vector<Named> before_;  // ascending by pid, as are those of this round
  std::vector<Named> now_;
  std::size_t position_ = 0;  // in before_: what lies below was kept or released
  std::unordered_set<std::string, KeyedFoldedHash, FoldedEqual> plain_;
};

}  // namespace meterbank::host
