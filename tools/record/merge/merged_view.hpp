// SPDX-License-Identifier: Apache-2.0
//
// What several recordings show, as one: a provider that two of them have is there once, and its
// rows are those of the recording that was looked at last. Providers of different machines are told
// apart, and the label `host` says which machine each one is of.
//
// Thread safety  One thread at a time.
// Errors         take(): kInvalidArgument, if two recorders sampled one set at different times;
//                kCorrupt and kLimit, as Replay has them. May throw std::bad_alloc.
// Progress       Bounded by the rows of the recordings.
// Cost           A moment costs its rows; a changed directory costs that of its recording.
// Lifetime       A part must outlive drop() of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::record {

// One of the recordings, at the moment that it shows.
struct MergedPart {
  std::size_t number = 0;  // tells it apart
  std::string path;        // as it is named in errors
  recording::Recording* recording = nullptr;
  Guid recorder;
  std::size_t machine = 0;
  std::string host;                    // label of its providers; empty: as they have it
  std::vector<std::uint32_t> sources;  // rate of the merged recording, for each of its own
  std::uint64_t clock_ahead = 0;  // is added to times of CLOCK_MONOTONIC in its rows, modulo 2^64
};

class MergedView {
 public:
  MergedView();

  // Takes over the moment that the part shows.
  Result<void> take(const MergedPart& part);
  // The part has no further moments. What it alone shows goes with the next show().
  void drop(std::size_t part);
  // Shows what was taken; `due` has a bit for each source that was.
  void show(Timestamp time, std::uint64_t due);
  // What is shown.
  [[nodiscard]] recording::TickInput tick(std::uint64_t window_ns) noexcept;

 private:
  struct Row {
    std::uint64_t generation = 0;
    std::uint32_t id = 0;
    bool is_closed = false;
    ReplayRowId number{};
  };
  struct SetKey {
    std::uint64_t serial = 0, generation = 0;
    Guid guid;
    friend auto operator<=>(const SetKey&, const SetKey&) = default;
  };
  struct Set {
    ReplaySetId number{};
    Ref registration = 0;
    std::shared_ptr<const Counterset> set;
    std::vector<std::uint32_t> time_words;  // of CLOCK_MONOTONIC
    RegistrationState state = RegistrationState::kInserted;
    std::uint64_t flags = 0;
    std::uint32_t source = recording::AssignedRates::kNone;
    Guid recorder;                                 // whose samples they are
    InstanceViews instances;                       // that `rows` were made of
    std::map<std::uint32_t, Row> rows;             // by slot
    std::map<std::size_t, std::uint32_t> holders;  // source of each part that has it
  };
  struct Provider {
    ReplayProviderId number{};
    std::uint64_t segment = 0;
    std::shared_ptr<const ProviderView> view;  // that it was made of
    std::set<std::size_t> holders;
    std::set<Ref> registrations;
    std::map<SetKey, Set> sets;
  };
  struct ProviderKey {
    std::size_t machine = 0;
    std::uint64_t inode = 0;
    std::string record;
    friend auto operator<=>(const ProviderKey&, const ProviderKey&) = default;
  };
  // Where the rows of a part's sample go.
  struct Copy {
    Set* set = nullptr;
    std::uint32_t rate = 0;  // of the part
    std::vector<std::pair<std::size_t, ReplayRowId>> rows;
  };
  struct PartState {
    std::uint64_t version = 0;
    std::optional<Query> query;
    Sample sample;
    std::vector<Copy> copies;
    std::uint64_t epoch = 0;
  };
  // A registration as a part shows it.
  struct Seen {
    const ProviderView* provider = nullptr;
    const RegisteredSet* registered = nullptr;
    std::uint32_t source = recording::AssignedRates::kNone;
    std::size_t position = 0;
  };

  Result<void> take_directory(const MergedPart& part, PartState& state);
  Result<void> take_answered(const MergedPart& part, const PartState& state);
  Result<void> take_provider(const MergedPart& part,
                             const std::shared_ptr<const ProviderView>& view,
                             std::set<ProviderKey>& seen);
  Result<void> take_set(const MergedPart& part, Provider& provider, const Seen& seen);
  Result<Set*> find_set(Provider& provider, const Seen& seen);
  [[nodiscard]] Result<bool> gives_rows(const MergedPart& part, const Provider& provider, Set& set,
                                        const Seen& seen);
  Result<void> take_rows(Set& set, const RegisteredSet& registered);
  [[nodiscard]] bool is_dropped(std::size_t part) const { return dropped_.contains(part); }
  void plan_copies(const MergedPart& part, PartState& state);
  void copy_rows(const MergedPart& part, const PartState& state);
  void remove_dropped();
  void forget(std::size_t part, const std::set<ProviderKey>& but);
  void remove_unheld(Provider& provider);
  [[nodiscard]] Set* set_of(const ProviderView& provider, const RegisteredSet& registered);
  static SetKey key_of(const ProviderView& provider, const RegisteredSet& registered) {
    return {provider.segment_id[1], registered.generation, registered.set->guid};
  }

  Replay replay_;
  std::map<ProviderKey, Provider> providers_;
  std::map<std::uint64_t, Provider*> by_segment_;
  std::map<std::size_t, PartState> parts_;
  std::set<std::size_t> dropped_;
  std::uint64_t epoch_ = 1;  // grows when rows, or where they come from, change
  recording::AssignedRates assigned_;
  std::optional<Query> query_;
  Sample sample_;
  recording::RateInput input_;
};

}  // namespace meterbank::record
