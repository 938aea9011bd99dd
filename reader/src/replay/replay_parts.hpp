// SPDX-License-Identifier: Apache-2.0
//
// What a Replay knows: providers, sets, rows, and which of them changed since the last show().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meterbank/reader/replay.hpp"
#include "replayed_rows.hpp"
#include "replayed_segment.hpp"

namespace meterbank {

// Things by number. The number of one that was removed is used again.
template <typename Id, typename T>
class NumberedThings {
 public:
  Id add(std::unique_ptr<T> thing) {
    if (free_.empty()) {
      things_.emplace_back();
      free_.reserve(things_.capacity());  // so that remove() needs no memory
      free_.push_back(static_cast<Id>(things_.size() - 1));
    }
    const Id id = free_.back();
    free_.pop_back();
    things_[index_of(id)] = std::move(thing);
    return id;
  }
  void remove(Id id) noexcept {
    things_[index_of(id)] = nullptr;
    free_.push_back(id);
  }
  // Precondition: it is there.
  [[nodiscard]] T& operator[](Id id) const noexcept { return *things_[index_of(id)]; }

 private:
  static std::size_t index_of(Id id) noexcept { return static_cast<std::size_t>(id); }

  std::vector<std::unique_ptr<T>> things_;
  std::vector<Id> free_;
};

class Replay::Parts {
 public:
  Parts(CatalogOptions options, std::uint32_t own_uid);

  [[nodiscard]] Result<ReplayProviderId> add_provider(ReplayedProvider facts);
  [[nodiscard]] Result<void> change_provider(ReplayProviderId id, ReplayedProvider facts);
  void remove_provider(ReplayProviderId id);
  void set_liveness(ReplayProviderId id, std::uint64_t heartbeat_age_ns, std::uint64_t refused);

  [[nodiscard]] Result<ReplaySetId> add_set(ReplayProviderId id, ReplayedSet facts,
                                            std::size_t position);
  [[nodiscard]] Result<ReplaySetId> add_answered(ReplaySetId of,
                                                 std::shared_ptr<const Counterset> set,
                                                 std::uint64_t serial);
  void change_set(ReplaySetId id, RegistrationState state, std::uint64_t flags);
  void remove_set(ReplaySetId id);

  [[nodiscard]] Result<ReplayRowId> begin_instance(ReplaySetId id,
                                                   const ReplayedInstance& instance);
  void close_instance(ReplaySetId id, ReplayRowId row);
  void end_instance(ReplaySetId id, ReplayRowId row);
  [[nodiscard]] ReplayedRows& rows_of(ReplaySetId id) const noexcept { return sets_[id].rows; }

  void show(Timestamp time);
  [[nodiscard]] Timestamp time() const noexcept { return time_; }
  [[nodiscard]] Catalog& catalog() noexcept { return catalog_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  using View = std::shared_ptr<const ProviderView>;
  using SegmentId = std::array<std::uint64_t, 2>;
  // Rows that a registration keeps, or that were answered for it.
  using RecordKey = std::pair<Ref, bool>;

  static constexpr std::size_t kUnchanged = ~std::size_t{0};
  struct Provider {
    ReplayedProvider facts;
    ReplayedSegment segment;
    std::vector<ReplaySetId> sets;               // in the order of ProviderView::sets
    std::map<RecordKey, std::uint32_t> records;  // extents of all registrations that it ever had
    std::uint64_t bytes = 0;                     // of all rows
    View view;                                   // null before the first show()
    std::size_t listed_at = 0;
    bool is_listed = false;
    std::size_t changed_at = kUnchanged;  // its place in changed_
  };
  struct Set {
    Set(ReplayProviderId of, ReplayedSet known, ReplayedSegment& segment, std::uint32_t record)
        : provider(of), facts(std::move(known)), rows(segment, record, facts.set) {}

    ReplayProviderId provider;
    ReplayedSet facts;
    ReplayedRows rows;
    std::optional<ReplaySetId> answered;  // its companion
    std::uint64_t serial = 0;             // of a companion: ProviderView::segment_id[1]
    std::uint64_t bytes = 0;              // of its rows
  };

  [[nodiscard]] Result<void> check(const ReplayedProvider& facts) const;
  void mark_changed(ReplayProviderId id);
  void forget_change(Provider& provider) noexcept;
  [[nodiscard]] Result<std::uint32_t> record_of(Provider& provider, const RecordKey& key);
  // What the next row takes.
  [[nodiscard]] Result<void> take_room(Set& set);
  void drop(ReplaySetId id);

  [[nodiscard]] bool includes_user(const Provider& provider) const noexcept;
  [[nodiscard]] bool is_chosen(const Provider& provider) const;
  void fill_in(const Provider& provider, ProviderView& view) const;
  [[nodiscard]] View answered_view(Provider& provider, const Set& set) const;
  void build_view(Provider& provider) const;
  void list_all();

  Catalog catalog_;
  std::uint32_t own_uid_;
  bool wants_labels_;
  Timestamp time_;
  // Sets go first: their rows let go of their provider's segment.
  NumberedThings<ReplayProviderId, Provider> providers_;
  NumberedThings<ReplaySetId, Set> sets_;
  std::set<ReplayProviderId> all_;
  std::map<SegmentId, ReplayProviderId> by_segment_;  // of providers with a segment
  std::vector<ReplayProviderId> changed_;
  bool is_relisted_ = false;  // the list of providers is to be made anew
  std::unordered_map<std::uint32_t, std::uint64_t> bytes_of_user_;
  std::uint64_t bytes_ = 0;
};

}  // namespace meterbank
