// SPDX-License-Identifier: Apache-2.0
//
// What can be read: the providers of this machine and what they declare.
//
// All system calls of a reader happen here, in open() and refresh(). Everything a provider wrote is
// copied once and the copy is checked; a provider whose directory does not hold together is listed
// with the reason instead of its sets.
//
// Thread safety  One thread at a time per Catalog; different catalogs are independent. Views are
//                immutable, so any number of threads may read one.
// Errors         open() and refresh() report lack of memory (base/result.hpp). Functions that
//                return strings may throw std::bad_alloc; the others do not allocate.
// Progress       No segment can hang or crash a function: every loop over what a provider wrote has
//                a bound.
// Cost           A catalog, one query of it and two samples take at most twice the bytes that are
//                mapped, and 32 MiB, in private memory; mapped pages are shared with the provider
//                and do not count. What changed between two calls of refresh() is there in both
//                states until Query::update(). Rows that are computed on demand count as mapped.
// Lifetime       A view keeps its provider's memory mapped, as do queries and samples, which keep
//                views; all of them may outlive the catalog.
// Units          Times are nanoseconds, sizes are bytes. CounterView::unit is a UCUM code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/reader/instance_views.hpp"
#include "meterbank/reader/outside_labels.hpp"
#include "meterbank/shm/counter_type.hpp"
#include "meterbank/shm/distribution.hpp"
#include "meterbank/shm/record_removal.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"
#include "meterbank/shm/shard_join.hpp"

namespace meterbank {

class Attachment;
class MappedSegment;
struct RecordedProvider;
struct RecordedRows;

enum class ProviderState : std::uint8_t {
  kLive,
  kHung,        // alive, but its keeper thread has ended or not ticked for three periods
  kDead,        // the process is gone; its last values stay readable while this catalog holds them
  kClosed,      // ended in order
  kUnreadable,  // exists, see ProviderView::error
  // Cannot be verified from here, see ProviderView::error: its process is in another pid namespace,
  // or procfs does not show it. It may well live, and is readable if its memory can be had. Never
  // taken for dead, and its record is not for others to remove.
  kForeign,
};
[[nodiscard]] std::string_view name_of(ProviderState state) noexcept;
// Whether its process runs, as far as this process can tell.
[[nodiscard]] constexpr bool is_alive(ProviderState state) noexcept {
  return state == ProviderState::kLive || state == ProviderState::kHung ||
         state == ProviderState::kForeign;
}

// Whether its provider or process is known to have ended.
[[nodiscard]] constexpr bool has_ended(ProviderState state) noexcept {
  return state == ProviderState::kDead || state == ProviderState::kClosed;
}

// Why something in the directories is not among Catalog::providers(). What one user puts there
// never keeps out the providers of another one.
enum class LeftOutReason : std::uint8_t {
  kProvidersMax,    // a provider beyond CatalogOptions::providers_per_user_max
  kRecordsMax,      // a record of a dead or unreadable provider, beyond the same number
  kNotRead,         // called like a record; its user has too many of them, later refreshes read on
  kCannotOpen,      // a record or directory: it may not be read, or this process lacks descriptors
  kLargeDirectory,  // the rest of a directory with too many objects; later refreshes read on
  kProcess,         // a process whose descriptors may not be listed, see all_namespaces
  kSameMemory,      // a record of memory that another record has brought in
  kNotARecord,      // called like a record, but not one
  kPolicy,          // a record of another user, see CatalogOptions::users
  kSquatted,        // a directory called like that of a user, of another owner
};
[[nodiscard]] std::string_view name_of(LeftOutReason reason) noexcept;
// Whether healthy providers may be among what was left out.
[[nodiscard]] constexpr bool hides_providers(LeftOutReason reason) noexcept {
  return reason <= LeftOutReason::kProcess && reason != LeftOutReason::kRecordsMax;
}

struct LeftOut {
  std::uint32_t uid = 0;  // owner of what was left out; 0xffffffff: of users beyond the first ones
  LeftOutReason reason = LeftOutReason::kNotARecord;
  std::uint64_t count = 0;
};

// Which limit keeps a provider's memory, or a part of it, from being mapped.
enum class ReadLimit : std::uint8_t {
  kNone,
  kSegmentBytes,  // CatalogOptions::segment_bytes_max
  kUserBytes,     // CatalogOptions::user_bytes_max
  kOpenFiles,     // this process, or the machine, lacks descriptors or memory
};

// A choice of users, by the kernel's word about who owns a provider's memory.
enum class UserPolicy : std::uint8_t { kOwn, kOwnAndRoot, kEveryone };
[[nodiscard]] bool includes(UserPolicy users, std::uint32_t uid) noexcept;
// For a process of user `own_uid`.
[[nodiscard]] bool includes(UserPolicy users, std::uint32_t uid, std::uint32_t own_uid) noexcept;

struct CatalogOptions {
  // One directory, or several with ':' between them. Empty: METERBANK_DIR, else the directories of
  // segment_directories().
  std::string directory = {};
  // Also look for providers by their memory, in all processes that this one may look into: those of
  // containers that share no directory with it. Their callbacks cannot be asked. What one walk over
  // the processes costs is a thousandth of the time to the next; see docs/containers.md.
  bool all_namespaces = false;
  // Read ProviderView::outside. It costs one file a provider, once.
  bool outside_labels = false;
  // Only providers that match all of these are listed; the others are counted by unchosen().
  std::vector<LabelPattern> where = {};
  // Whose providers are attached. Others are counted in Catalog::skipped().
  UserPolicy users = UserPolicy::kEveryone;
  // Whose providers are trusted: totals are made of their rows only, and names mean what they say.
  // See docs/decisions/0016-identity-and-trust.md.
  UserPolicy trust = UserPolicy::kOwnAndRoot;
  // What is mapped, and with it what a reader takes for itself: at most twice as much, and 32 MiB.
  // The defaults are for one machine of 10,000 providers and 1,000,000 instances. Of a larger
  // segment the extents that fit are mapped, and what lies in them is read.
  std::uint64_t segment_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t user_bytes_max = std::uint64_t{4} << 30;  // all segments of one uid
  // Dead, unreadable and repeated records do not count.
  std::uint32_t providers_per_user_max = 16'384;

  // True if ProviderView::outside is read: it was asked for, or another option needs it.
  [[nodiscard]] bool wants_labels() const noexcept {
    return outside_labels || all_namespaces || !where.empty();
  }
};

[[nodiscard]] std::string_view name_of(RegistrationState state) noexcept;

// Named ...View because the publisher library has types called Provider, Instance and Counter, and
// one program may use both libraries.
struct CounterView {
  std::uint32_t id = 0;
  std::uint32_t word = 0;  // index in the block
  CounterType type = CounterType::kRawCount;
  std::uint64_t attributes = 0;
  std::int32_t scale = 0;
  std::uint32_t detail = 100;
  // Words of the linked counters, kNoCounter where there is none. Resolved from ids and checked.
  std::uint32_t base = kNoCounter;
  std::uint32_t time = kNoCounter;
  std::uint32_t frequency = kNoCounter;
  std::uint32_t multi = kNoCounter;
  std::uint32_t aggregate = 0;
  // `aggregate`; for a base, clock or number of components without one, that of the first counter
  // that refers to it and has one. A ratio of joined values is then of values joined alike.
  std::uint32_t joined_by = 0;
  // What the words are; see schema_layout.hpp. `more` of them lie behind the words of all counters.
  ValueForm form = ValueForm::kUnsigned;
  bool timed = false;       // the last of them says when the value was set
  bool any_thread = false;  // added to by several threads: exact by itself, whenever it is read
  std::uint32_t more = 0;
  std::uint32_t more_words = 0;
  DistributionShape shape;
  std::string name, symbol, unit, help;
};

// A counterset as its provider describes it; immutable and shared by queries and samples.
struct Counterset {
  Guid guid, provider_guid;
  std::string name, symbol, help, label;
  InstanceKind instances = InstanceKind::kSingle;
  // What the provider says. A set that says kUnique may have instances of one name all the same.
  InstanceIdentity identity = InstanceIdentity::kUnique;
  Consistency consistency = Consistency::kBlock;
  BlockForm form;
  std::vector<ShardJoin> joins;           // of a sharded set, one a word of its blocks
  std::uint32_t stamp_word = kNoCounter;  // word of the hidden time stamp
  std::vector<CounterView> counters;

  // By name, else by symbol, without regard to case; null if there is none.
  [[nodiscard]] const CounterView* find(std::string_view name_or_symbol) const noexcept;
  [[nodiscard]] const CounterView* find(std::uint32_t id) const noexcept;
};

// One registration of one provider. `instances` is what refresh() saw.
struct RegisteredSet {
  std::shared_ptr<const Counterset> set;
  std::uint64_t generation = 0;
  RegistrationState state = RegistrationState::kInserted;
  std::uint64_t flags = 0;
  std::uint64_t membership = 0;  // value of the membership word that `instances` belongs to
  Ref registration = 0;
  std::vector<Ref> groups;
  std::vector<GroupLayout> layouts;        // one a group
  std::vector<std::uint32_t> group_slots;  // slots of each group
  InstanceViews instances;
  // At least how many bytes of the segment its groups, schema and long names take.
  std::uint64_t bytes = 0;
  std::shared_ptr<const RecordedRows> recorded;  // null: its rows are live
};

// One provider at the time of a refresh(). Immutable; a change is a new view.
struct ProviderView {
  std::string name;
  std::uint32_t pid = 0;         // in the provider's own pid namespace, as its record says
  std::uint32_t pid_here = 0;    // of the same process, as this one sees it; 0: not known
  OutsideLabels outside;         // if CatalogOptions ask for it; `host` in any case
  std::uint32_t uid = 0;         // from the kernel
  bool trusted = false;          // CatalogOptions::trust includes the uid
  std::uint64_t start_time = 0;  // clock ticks since boot
  // What the reader knows the memory by, whatever a provider says: the inode of the first extent.
  // The second number is 0, or that of memory with answered rows.
  std::array<std::uint64_t, 2> segment_id{};
  ProviderState state = ProviderState::kLive;
  // Path of the pointer record; of memory that was found without one: its descriptor in procfs.
  std::string record;
  std::array<std::uint64_t, 2> record_file{};  // its device and inode
  std::string socket;                          // path of where it is asked; empty: nowhere
  std::uint64_t created_realtime_ns = 0;
  std::uint64_t bytes = 0;  // mapped
  std::uint64_t directory_version = 0;
  Error error;                              // why it is kUnreadable or kForeign, or not wholly read
  ReadLimit limited_by = ReadLimit::kNone;  // if `error` says so because of a limit
  std::vector<Error> errors;                // sets and instances that were left out, and why
  std::vector<RegisteredSet> sets;
  std::shared_ptr<const MappedSegment> segment;  // null if it could not be attached
  // Not null: it is of a recording, and what changes without a new view is as it was recorded.
  std::shared_ptr<const RecordedProvider> recorded;

  // The pid that labels and paths name it by: as this process sees it where that is known, so that
  // two providers of one name in two containers differ, and `ps` knows it.
  [[nodiscard]] std::uint32_t named_pid() const noexcept { return pid_here != 0 ? pid_here : pid; }
  // "orders@48213"
  [[nodiscard]] std::string label() const;
  // All three read the segment as it is now, or as it was recorded, and are 0 without one.
  [[nodiscard]] std::uint64_t heartbeat_age_ns() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept;  // creations the provider had to refuse
  // Connections that said they are interested in a set of this provider.
  [[nodiscard]] std::uint64_t interested(const RegisteredSet& set) const noexcept;
};

// Whether rows can be had of a registration: it is open, and its provider's memory is there.
[[nodiscard]] bool is_readable(const ProviderView& provider, const RegisteredSet& set) noexcept;

// Trusted providers first, among these living ones, then foreign ones; of equals the older one. The
// catalog itself lists them by name.
[[nodiscard]] bool comes_before(const ProviderView& left, const ProviderView& right) noexcept;

// Whether rows of both are rows of one set: of one GUID and kind, and counters that both have are
// counted alike. Names and texts may differ, and each may have counters that the other has not.
[[nodiscard]] bool agree(const Counterset& left, const Counterset& right);

// Removes the record of a provider that is proved to have ended, and its socket. Looks anew: the
// file has to be the one that the view was made of, and the process has to be gone by the rules of
// ProviderState::kDead at this moment.
[[nodiscard]] RecordRemoval remove_record(const ProviderView& provider);

class Catalog {
 public:
  // Errors: kNoDirectory, if directories were named and none of them is there and safe;
  // kInvalidArgument (`where`); kNoSpace. No provider is not an error.
  static Result<Catalog> open(CatalogOptions options);
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;
  ~Catalog();

  // Looks for new providers, re-reads directories that changed, notices deaths. Dead and closed
  // providers stay listed until their pointer record is gone or a successor of the same name lives.
  // Several records of one memory are one provider.
  // Cost: a few loads a provider, and work for what changed only. A directory is scanned again if
  // its time of change is another one, or if something in it was left out; one of very many entries
  // is not scanned again at once. A process is checked through its pidfd. Beyond the pidfds that
  // are kept it is checked through procfs, unless its provider has a keeper that beats at least
  // every 10 seconds: then the kernel's mark of the keeper's death is enough. Keeps no descriptor
  // but pidfds, and of these at most a quarter of the soft limit of open files. Errors: kNoSpace;
  // the catalog goes on to list what it did, and the next call tries again.
  Result<void> refresh();

  // True if refresh() would find a change in an attached provider; it does not notice new
  // providers. Cost: two loads a provider, no system call.
  [[nodiscard]] bool stale() const noexcept;

  // By name, those of one name by pid, those of one process by age.
  [[nodiscard]] const std::vector<std::shared_ptr<const ProviderView>>& providers() const noexcept {
    return providers_;
  }
  // Dead providers that are not listed there because a successor of the same user, pid namespace
  // and name lives.
  [[nodiscard]] const std::vector<std::shared_ptr<const ProviderView>>& predecessors()
      const noexcept {
    return predecessors_;
  }
  [[nodiscard]] const CatalogOptions& options() const noexcept { return options_; }
  // The directories that were looked into, in order.
  [[nodiscard]] const std::vector<std::string>& directories() const noexcept {
    return directories_;
  }
  // Of directories that were named: why the last refresh could not look into some of them.
  [[nodiscard]] const std::vector<Error>& directory_errors() const noexcept {
    return directory_errors_;
  }
  // Providers that do not match CatalogOptions::where.
  [[nodiscard]] std::uint64_t unchosen() const noexcept { return unchosen_; }
  // Objects in them that were no pointer records, or were left out by policy.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  // What of these is called like a record or a directory of records, by owner and reason.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }
  // Grows with every refresh() that changed anything; queries compare it.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  friend struct ReplayedCatalog;
  struct Found;
  struct Means;
  struct Parts;

  Catalog();
  void look_around();
  [[nodiscard]] Found look_for_records();
  [[nodiscard]] bool find_directories();
  void add_walked(Found& found);
  void find_process(Attachment& attachment);
  void refresh(Attachment& attachment, std::optional<Means>& means);
  [[nodiscard]] bool refresh_known(std::optional<Means>& means);
  void list_anew(Found& found, std::optional<Means>& means);
  void add(Found& found, std::optional<Means>& means);
  void forget_predecessors();
  void list_providers(std::uint64_t unopened_directories);

  CatalogOptions options_;
  std::vector<std::string> directories_;
  std::unique_ptr<Parts> parts_;  // null: its providers are put into it, see Replay
  std::vector<std::unique_ptr<Attachment>> attachments_;  // of all records, in order of discovery
  std::vector<std::shared_ptr<const ProviderView>> providers_;
  std::vector<std::shared_ptr<const ProviderView>> predecessors_;
  std::vector<LeftOut> left_out_;
  std::vector<Error> directory_errors_;
  std::uint64_t unchosen_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace meterbank
