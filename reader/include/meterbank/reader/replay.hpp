// SPDX-License-Identifier: Apache-2.0
//
// Providers of another time. A recording tells a Replay what it knows, tick by tick, and the Replay
// shows it as a Catalog. Queries compile on that catalog, and samples, rows and values are what
// they would have been live.
//
//   Replay replay;
//   add_provider(), add_set(), begin_instance(), words(), set_row() ...   what changed in this tick
//   replay.show(time);
//   query.update(replay.catalog());
//   query.collect(sample, replay.time());
//
// Between two calls of show() the catalog stays what it was, but the words of its rows change
// already: collect after show(). The rows of an instance that ended stay readable by plans of the
// tick before until the first change after show().
//
// A provider's callbacks are never asked: Query::asks() is false for its sets. What they answered
// when the recording was made is shown as rows (add_answered()) and outcomes (set_answer()).
//
// Thread safety  One thread at a time, which also refreshes, updates and collects. Samples and
//                views may go to other threads.
// Errors         What comes from a file is checked. Functions that return a Result refuse what no
//                reader could have had (kCorrupt), what is there already (kExists) and what would
//                take more memory than CatalogOptions allow (kLimit), and change nothing then. All
//                but words(), set_row() and set_liveness() may throw std::bad_alloc; a Replay that
//                did can only be destroyed.
// Progress       Every loop is bounded by what was added.
// Cost           show() takes what changed: a copy of the list of instances of each set that has
//                other instances, a list of sets for each provider that changed, and nothing for
//                words and statuses. A row takes whole cache lines for its words and 16 bytes, 8
//                bytes beside them, and 44 and a name for its instance. Memory for rows grows by
//                doubling.
// Lifetime       Views, queries and samples keep what they show, and may outlive the Replay.
// Units          Times are nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/callback_answer.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank {

// The members of ProviderView of these names, as a reader had them.
struct ReplayedProvider {
  std::string name;
  std::uint32_t pid = 0;
  std::uint32_t pid_here = 0;
  OutsideLabels outside;  // shown if CatalogOptions ask for it
  std::uint32_t uid = 0;
  std::uint64_t start_time = 0;
  std::array<std::uint64_t, 2> segment_id{};  // no two providers at a time have the same
  ProviderState state = ProviderState::kLive;
  std::string record;
  std::array<std::uint64_t, 2> record_file{};
  std::string socket;
  std::uint64_t created_realtime_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t directory_version = 0;
  Error error;
  ReadLimit limited_by = ReadLimit::kNone;
  std::vector<Error> errors;
  bool has_segment = true;  // ProviderView::segment was not null
};

// The members of RegisteredSet of these names.
struct ReplayedSet {
  std::shared_ptr<const Counterset> set;
  std::uint64_t generation = 0;
  RegistrationState state = RegistrationState::kInserted;
  std::uint64_t flags = 0;
  // What registration of the provider it is: one of at most kRegistrationsMax different numbers in
  // the life of a provider, and no two sets at a time have the same.
  Ref registration = 0;
  std::uint64_t bytes = 0;
};

// The members of InstanceView of these names. A slot has one instance at a time.
struct ReplayedInstance {
  std::uint32_t slot = 0;  // at most InstanceView::kSlotMask
  std::string_view name = {};
  std::uint32_t id = 0;
  std::uint64_t generation = 0;
  bool closed = false;
};

// Numbers of what was added. They are valid until it is removed or has ended; a number of something
// that is not there is a mistake of the caller with undefined results.
enum class ReplayProviderId : std::uint32_t {};
enum class ReplaySetId : std::uint32_t {};
enum class ReplayRowId : std::uint32_t {};  // in its set

class Replay {
 public:
  // The options outside_labels, where, users and trust work as they do for live providers. One
  // provider takes at most segment_bytes_max of memory; all providers of a user take at most
  // user_bytes_max. UserPolicy::kOwn accepts the providers of the user `own_uid`.
  Replay(CatalogOptions options, std::uint32_t own_uid);
  explicit Replay(CatalogOptions options = {});  // own_uid is the user of this process
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;
  ~Replay();

  // ---- Providers ----
  [[nodiscard]] Result<ReplayProviderId> add_provider(ReplayedProvider facts);
  // Its sets and rows stay as they are. Errors: kInvalidArgument for another segment_id.
  [[nodiscard]] Result<void> change_provider(ReplayProviderId provider, ReplayedProvider facts);
  // With its sets.
  void remove_provider(ReplayProviderId provider);
  // What ProviderView::heartbeat_age_ns() and refused() return. No change of the directory.
  void set_liveness(ReplayProviderId provider, std::uint64_t heartbeat_age_ns,
                    std::uint64_t refused);

  // ---- Sets ----
  // Becomes number `position` of ProviderView::sets; behind all others if there are fewer.
  [[nodiscard]] Result<ReplaySetId> add_set(ReplayProviderId provider, ReplayedSet facts,
                                            std::size_t position = ~std::size_t{0});
  // Another state or other flags. The schema, generation and registration stay.
  void change_set(ReplaySetId set, RegistrationState state, std::uint64_t flags);
  // With its instances, and with the rows that were answered for it.
  void remove_set(ReplaySetId set);
  // What ProviderView::interested() returns. No change of the directory.
  void set_interest(ReplaySetId set, std::uint64_t connections);

  // Rows that the callback of the set answered with: those of selections with
  // SelectedSet::is_on_demand(), whose set, provider and instances have this schema, the second
  // number of ProviderView::segment_id, and these slots. A set has at most one such companion.
  [[nodiscard]] Result<ReplaySetId> add_answered(ReplaySetId of,
                                                 std::shared_ptr<const Counterset> set,
                                                 std::uint64_t segment_serial);
  // What Sample::callbacks says of the set; provider and set of `answer` do not matter. Shown until
  // another call, or until clear_answer().
  void set_answer(ReplaySetId set, CallbackAnswer answer);
  void clear_answer(ReplaySetId set);

  // ---- Rows ----
  // The words of the row are zeros, its status is kFresh, its consistency is that of the set.
  // Errors: kExists, if the slot has an instance; kCorrupt, kLimit.
  [[nodiscard]] Result<ReplayRowId> begin_instance(ReplaySetId set,
                                                   const ReplayedInstance& instance);
  // Listed from now on with InstanceView::closed; the row keeps its values.
  void close_instance(ReplaySetId set, ReplayRowId row);
  // Not listed any more.
  void end_instance(ReplaySetId set, ReplayRowId row);
  // BlockForm::words of the set, as a sample of the reader had them. Valid until the instance ends.
  [[nodiscard]] std::span<std::uint64_t> words(ReplaySetId set, ReplayRowId row) noexcept;
  // What the sample said of the row. Without holds_values(status) its words are shown as zeros.
  void set_row(ReplaySetId set, ReplayRowId row, RowStatus status,
               RowConsistency consistency) noexcept;

  // ---- A tick ----
  // The catalog shows what was told so far. Its version grows if anything but words, statuses,
  // answers, liveness and interest has changed.
  void show(Timestamp time);
  [[nodiscard]] Timestamp time() const noexcept;
  // refresh() of it changes nothing, stale() is false. It stays where it is until the Replay ends
  // or is assigned to.
  [[nodiscard]] Catalog& catalog() noexcept;
  [[nodiscard]] const Catalog& catalog() const noexcept;
  // Bytes of all rows, as far as CatalogOptions limit them.
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace meterbank
