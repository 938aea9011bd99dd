// SPDX-License-Identifier: Apache-2.0
//
// Whether the process that wrote a record still runs, as far as this process can tell.
//
// A pid alone identifies no process: another one may have it by now, and in another pid namespace
// it is the pid of another process altogether. judge() applies the first row that holds:
//
//   |   | record and reader                              | the process          | verdict      |
//   |---|------------------------------------------------|----------------------|--------------|
//   | 1 | the reader does not know its pid namespace     | any                  | foreign      |
//   | 2 | different pid namespaces                       | any                  | foreign      |
//   | 3 | the record does not say its pid namespace:     |                      |              |
//   |   | the same boot id and, there, the start time    | runs                 | alive        |
//   |   | the same boot id and, there, the start time    | has ended            | gone         |
//   |   | otherwise                                      | was not looked at    | not looked   |
//   |   | otherwise                                      | any                  | foreign      |
//   | 4 | the same pid namespace                         | no such pid          | gone         |
//   | 5 |                                                | was not looked at    | not looked   |
//   | 6 |                                                | is hidden by procfs  | foreign      |
//   | 7 | the record has no start time, or one of        | any                  | foreign      |
//   |   | another time namespace                         |                      |              |
//   | 8 | the start times differ                         | any                  | gone         |
//   | 9 | the same start time                            | has ended            | gone         |
//   |10 | the same start time                            | runs                 | alive        |
//
// "Gone" is proved. The inode of a pid namespace is given out again only after its last process has
// ended, so an equal number proves either the same namespace or the end of the process. Boot ids
// decide nothing there: containers may show a boot id of their own, and systemd shows another one
// to services of such a container whose procfs it protects. Row 3: records of version 0.1. Row 7:
// /proc/PID/stat counts from the boot that the reader's time namespace shows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {

// From where a process looks at others. 0: not known.
struct Viewpoint {
  std::array<std::uint64_t, 2> boot_id{};
  std::uint64_t pid_namespace = 0;
  std::uint64_t time_namespace = 0;
  enum class Procfs : std::uint8_t { kOwnPids, kOtherPids, kNotLooked } procfs = Procfs::kOtherPids;

  [[nodiscard]] bool is_complete() const noexcept;

  [[nodiscard]] static Viewpoint of_this_process() noexcept;
};

// What one look at a pid found.
struct ProcessLook {
  enum class Found : std::uint8_t {
    kNone,       // the kernel knows no such pid
    kRunning,    // with `start_time`
    kEnded,      // with `start_time`; its parent has not asked for its exit status yet
    kHidden,     // there, but procfs does not show it, or shows another pid namespace
    kNotLooked,  // this process lacked a descriptor or memory, see `reason`
  };
  Found found = Found::kNotLooked;
  std::uint64_t start_time = 0;
  int reason = 0;  // errno
};

// Whether an errno says that this process or machine lacks something, and so nothing of the object.
[[nodiscard]] bool is_shortage(int reason) noexcept;

// Opens at most one descriptor and closes it.
[[nodiscard]] ProcessLook look_at_process(std::uint32_t pid, const Viewpoint& from) noexcept;

enum class Life : std::uint8_t { kAlive, kGone, kForeign, kNotLooked };

struct Verdict {
  Life life = Life::kNotLooked;
  std::string_view why;          // of kForeign and kNotLooked, for people
  std::string_view remedy = {};  // of kForeign
};

[[nodiscard]] Verdict judge(const PointerRecord& record, const Viewpoint& from,
                            const ProcessLook& look) noexcept;
// False: judge() says the same whatever a look finds, so that the look can be saved.
[[nodiscard]] bool needs_look(const PointerRecord& record, const Viewpoint& from) noexcept;

}  // namespace meterbank
