// SPDX-License-Identifier: Apache-2.0
//
// Finds the pointer records of a runtime directory, in time that its other users cannot stretch.
//
// Any user may be able to put files into the directory, so what was looked at is remembered by
// name, inode and time of change: junk costs one stat() a walk and is not opened again. Files of
// one user are read within a budget a walk; those of others come out of their own. A walk ends
// after `objects_max` entries, and the next one goes on there. A walk over many entries is not
// repeated at once. A directory in which everything is known is not walked through again while its
// time of change (st_ctime) is the same.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "process/process_walk.hpp"

namespace meterbank {

struct FoundRecord {
  std::string path;
  std::uint64_t listed_inode = 0;       // as the directory lists it
  std::uint32_t owner = 0;              // uid of the file
  std::uint64_t key = 0;                // of the file as it is
  std::array<std::uint64_t, 2> file{};  // its device and inode
  std::optional<PointerRecord> record;  // nothing: the caller knows this file
  std::optional<ProcessHere> process;   // that was found to hold the memory
};

struct RecordScan {
  // kPart: what was not found may be there. kNone: it was too early for another walk, or nothing
  // has changed since the last one.
  enum class Walked : std::uint8_t { kAll, kPart, kNone };
  Walked walked = Walked::kAll;
  std::vector<FoundRecord> found;
};

struct ScanLimits {
  std::uint64_t objects_max = std::uint64_t{1} << 20;
  std::uint32_t reads_per_user_max = 16'384;
  // So many entries may be walked over again at once.
  std::uint64_t objects_without_rest = 16'384;
};

class RecordDirectory {
 public:
  explicit RecordDirectory(std::string path, ScanLimits limits = {});

  // A record never changes under its name and inode.
  using KnowsRecord = std::function<bool(const std::string& path, std::uint64_t listed_inode)>;
  // Whether a record that was left out for `reason` may be tried again.
  using HasRoom = std::function<bool(std::uint32_t owner, LeftOutReason reason)>;

  // Reads the records that are not known. Opens nothing that could block or act, and follows no
  // link. Errors: kNoDirectory.
  [[nodiscard]] Result<RecordScan> scan(UserPolicy users, const KnowsRecord& knows,
                                        const HasRoom& has_room);
  // The caller did not make use of what was found, or a walk ended early: the next scan() walks
  // from the beginning, whatever has changed.
  void walk_again() noexcept {
    walked_at_.reset();
    resume_at_ = 0;
  }
  // The caller has no room for it: it is not read again until `has_room` says so.
  void leave_out(const FoundRecord& found, LeftOutReason reason);

  // As of the last walk.
  void count_left_out(std::vector<LeftOut>& sums);
  // Objects that are not called like records.
  [[nodiscard]] std::uint64_t other_objects() const noexcept { return other_objects_; }

 private:
  struct Judged {
    std::uint64_t key = 0;
    std::uint32_t owner = 0;
    LeftOutReason reason = LeftOutReason::kNotARecord;
  };
  struct Walk;
  // What a directory was when a walk through it began.
  struct Condition {
    std::array<std::uint64_t, 2> file{};    // device and inode
    std::array<std::int64_t, 2> changed{};  // st_ctim

    bool operator==(const Condition&) const = default;
  };

  [[nodiscard]] static Condition condition_of(const struct ::stat& facts) noexcept;
  [[nodiscard]] bool is_as_walked() const noexcept;
  [[nodiscard]] std::uint64_t key_of(std::string_view name, const struct ::stat& facts);
  [[nodiscard]] const Judged* find(std::uint64_t key) const noexcept;
  void visit(Walk& walk, const char* name, std::uint64_t listed_inode);
  void remember(Walk& walk);
  void sort_judged();

  std::string path_;
  ScanLimits limits_;
  std::string key_text_;
  std::vector<Judged> judged_;  // in order of their keys, once it was sorted
  bool is_sorted_ = true;
  std::vector<LeftOut> passed_over_;  // by the last walk, without being judged
  std::uint64_t other_objects_ = 0;
  std::optional<Condition> walked_at_;  // everything in it is known if it is still like that
  long resume_at_ = 0;                  // position in the directory; 0: the beginning
  std::uint64_t rests_until_ = 0;       // CLOCK_MONOTONIC
};

void add_left_out(std::vector<LeftOut>& sums, std::uint32_t uid, LeftOutReason reason,
                  std::uint64_t count);

}  // namespace meterbank
