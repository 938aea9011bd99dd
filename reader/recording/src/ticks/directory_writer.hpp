// SPDX-License-Identifier: Apache-2.0
//
// The directory of a recording as it was written last, and what has to be written for it to become
// that of a sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../frames/bytes.hpp"
#include "meterbank/recording/row_coder.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "schema_bytes.hpp"

namespace meterbank::recording {

struct SchemaNumbers::Known {
  std::map<Guid, std::uint32_t> numbers;
};

// A schema of one or more sets.
struct WrittenSchema {
  SchemaBytes content;
  Guid hash;
  std::vector<Column> columns;  // empty: it cannot be read back
};

struct WrittenRow {
  std::uint32_t slot = 0;
  std::uint32_t id = 0;
  std::uint64_t generation = 0;
  bool is_closed = false;
  std::string_view name;   // kept by WrittenSet::instances
  std::size_t number = 0;  // in the selection
  RowStatus status = RowStatus::kFresh;
  RowConsistency consistency = RowConsistency::kBlock;
  RowHistory history;
};

inline constexpr std::uint32_t kNoRate = 0xffffffff;

struct WrittenSet {
  std::uint32_t provider = 0;  // index
  Ref registration = 0;
  std::uint64_t generation = 0;
  std::uint64_t serial = 0;  // ProviderView::segment_id[1]: 0, or of answered rows
  Guid guid;
  std::uint32_t answers_for = 0;  // index of the set whose callback gave the answered rows
  std::uint32_t position = 0;     // in ProviderView::sets
  std::uint64_t flags = 0;
  RegistrationState state = RegistrationState::kInserted;
  std::shared_ptr<const WrittenSchema> schema;
  std::uint32_t rate = kNoRate;  // whose query selects rows of it
  std::vector<WrittenRow> rows;  // in the order of their slots
  InstanceViews instances;       // that `rows` were made of
  std::size_t first_row = 0;     // in the sample
  std::uint64_t seen = 0;

  [[nodiscard]] const std::vector<Column>& columns() const noexcept { return schema->columns; }
};

class DirectoryWriter {
 public:
  // Takes over what `input` has, and appends the events for it.
  void update(const TickInput& input, SchemaNumbers& schemas, std::string& schema_frames,
              std::string& section);
  // Everything, for a key frame.
  void append_everything(SchemaNumbers& schemas, std::string& schema_frames, std::string& section);

  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  // Null where an index is free.
  [[nodiscard]] std::span<const std::unique_ptr<WrittenSet>> sets() noexcept { return sets_; }

 private:
  struct Provider {
    std::shared_ptr<const ProviderView> view;  // null: the index is free
    std::string facts, lasting_facts;  // as they were written last; lasting: but for moving ones
    std::uint64_t seen = 0;
  };
  struct ProviderKey {
    std::string record;
    std::uint64_t inode = 0;
    friend auto operator<=>(const ProviderKey&, const ProviderKey&) = default;
  };
  struct SetKey {
    std::uint32_t provider = 0;
    Ref registration = 0;
    std::uint64_t generation = 0;
    std::uint64_t serial = 0;
    friend auto operator<=>(const SetKey&, const SetKey&) = default;
  };
  // A registration of a provider, and what a sample has of it.
  struct Found {
    const ProviderView* provider;
    const RegisteredSet* registered;
    const SelectedSet* selected;  // null: no rows
    std::uint32_t rate = kNoRate;
    std::size_t first_row = 0;
    std::uint32_t position = 0;
  };
  struct FoundRow {
    const InstanceView* instance = nullptr;
    std::size_t number = 0;
  };

  static constexpr std::uint32_t kNoProvider = 0xffffffff;
  static constexpr std::uint32_t kNoSet = 0xffffffff;

  void take_providers(const Catalog& catalog, ByteWriter& events);
  // What the queries select, in memory of the caller.
  using Selections = std::vector<std::vector<SelectedSet>>;
  [[nodiscard]] std::vector<Found> find_sets(const TickInput& input,
                                             const Selections& selections) const;
  [[nodiscard]] static bool is_declared_for(const std::vector<Found>& answered,
                                            const ProviderView& provider,
                                            const RegisteredSet& registered);
  void take_set(const Found& found, SchemaNumbers& schemas, std::string& frames,
                ByteWriter& events);
  void take_rows(std::uint32_t index, const Found& found, bool is_changed, ByteWriter& events);
  [[nodiscard]] static std::vector<FoundRow> in_slot_order(const Found& found);
  void merge_rows(std::uint32_t index, const std::vector<FoundRow>& wanted, ByteWriter& events);
  [[nodiscard]] SetKey key_of(const ProviderView& provider, const RegisteredSet& registered) const;
  [[nodiscard]] std::uint32_t declared_set(const SetKey& answered, const Guid& guid) const;
  [[nodiscard]] std::vector<std::uint32_t> in_listed_order() const;
  void drop_unseen(ByteWriter& events);
  [[nodiscard]] std::unique_ptr<WrittenSet> set_of(const SetKey& key, const Found& found);
  [[nodiscard]] std::shared_ptr<const WrittenSchema> schema_of(const Counterset& set);
  void append_set(std::uint32_t index, SchemaNumbers& schemas, std::string& frames,
                  ByteWriter& events) const;

  std::vector<Provider> providers_;
  std::set<std::uint32_t> free_providers_, free_sets_;  // indexes
  std::map<ProviderKey, std::uint32_t> provider_indexes_;
  std::vector<std::unique_ptr<WrittenSet>> sets_;
  std::map<SetKey, std::uint32_t> set_indexes_;
  std::map<Guid, std::weak_ptr<const WrittenSchema>> schemas_;
  std::uint64_t round_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t events_ = 0;  // of the section that is being written
};

}  // namespace meterbank::recording
