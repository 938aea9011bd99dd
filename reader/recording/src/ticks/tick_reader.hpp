// SPDX-License-Identifier: Apache-2.0
//
// From the frames of a recording to a Replay.
//
// Everything in a frame is checked before it is used. What a file can make a reader allocate is
// limited by what the frame declares row by row, and by the limits of the Replay.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../frames/bytes.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/row_coder.hpp"
#include "tick_times.hpp"

namespace meterbank::recording {

struct ReadSchema {
  std::shared_ptr<const Counterset> set;
  std::vector<Column> columns;
};

// The schemas of one file, by their numbers. Null: damaged, or of a newer version.
class ReadSchemas {
 public:
  // Errors: kCorrupt; the sets of this schema cannot be shown then.
  Result<void> take(std::span<const std::byte> payload);
  [[nodiscard]] std::shared_ptr<const ReadSchema> find(std::uint64_t number) const;
  // Another file begins. Schemas of the same content stay the same objects.
  void begin_file();

 private:
  std::map<std::uint64_t, std::shared_ptr<const ReadSchema>> numbers_;
  std::map<Guid, std::shared_ptr<const ReadSchema>> by_hash_;
};

class TickReader {
 public:
  static constexpr std::uint64_t kNoRate = ~std::uint64_t{0};

  explicit TickReader(Replay& replay) noexcept : replay_(&replay) {}

  // Payloads of a key frame, behind its marker, and of a tick. `recorder` is the one
  // that the head of the file names: a chunk continues the one before it only if the same one wrote
  // both, and no tick between them is missing. After an error ticks are lost until the next key
  // frame. Errors: kCorrupt, kLimit.
  Result<void> take_key(ByteReader payload, const ReadSchemas& schemas, const Guid& recorder);
  Result<void> take_tick(ByteReader payload, const ReadSchemas& schemas);
  // From now on the directory alone is read. Precondition: nothing was taken.
  void leave_values_out() noexcept { has_values_ = false; }
  // Whether a tick can be taken.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  void lose() noexcept { is_whole_ = false; }

  [[nodiscard]] const TickTimes& times() const noexcept { return times_; }
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return times_.window_ns(); }
  // A bit for each rate whose rows the last tick has.
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }
  // The rate of a set that the catalog shows; kNoRate: its rows are not recorded.
  [[nodiscard]] std::uint64_t rate_of(const ProviderView& provider,
                                      const RegisteredSet& registered) const noexcept;

 private:
  static constexpr std::uint64_t kNoSet = ~std::uint64_t{0};
  struct Row {
    std::uint32_t slot = 0;
    ReplayRowId number{};
    RowStatus status = RowStatus::kFresh;
    RowConsistency consistency = RowConsistency::kBlock;
    RowHistory history;
    std::span<std::uint64_t> words = {};  // where the replay keeps them
    // What the replay was told last: most rows are as they were.
    RowStatus told_status = RowStatus::kBusy;
    RowConsistency told_consistency = RowConsistency::kBlock;
  };
  // What the catalog knows a set by. Its registration is a number that the replay gives.
  struct CatalogKey {
    std::uint64_t segment = 0, serial = 0, generation = 0;
    Guid guid;
    friend auto operator<=>(const CatalogKey&, const CatalogKey&) = default;
  };
  struct Set {
    ReplaySetId number{};
    std::uint64_t provider = 0;  // index
    std::uint64_t answers_for = kNoSet;
    std::uint64_t answered = kNoSet;  // the set that answers for this one
    std::shared_ptr<const ReadSchema> schema;
    std::uint64_t rate = kNoRate;
    std::vector<Row> rows;  // in the order of their slots
    CatalogKey key;
  };
  struct Provider {
    ReplayProviderId number{};
    std::uint64_t segment = 0;
    std::set<std::uint64_t> sets;  // indexes
  };

  Result<void> read_section(ByteReader section, const ReadSchemas& schemas);
  Result<void> read_event(ByteReader& section, const ReadSchemas& schemas);
  Result<void> read_provider(ByteReader& section);
  Result<void> read_set(ByteReader& section, const ReadSchemas& schemas);
  Result<void> read_answered(ByteReader& section, const ReadSchemas& schemas);
  Result<void> read_rows(ByteReader& section);
  Result<void> begin_rows(ByteReader& section, Set& set);
  Result<void> begin_row(ByteReader& section, Set& set, std::uint64_t slot);
  void drop_provider(std::uint64_t index);
  void add_set(std::uint64_t index, Set set);
  void forget_set(std::uint64_t index);
  void drop_set(std::uint64_t index);
  void drop_everything();
  void forget_rows() noexcept;
  [[nodiscard]] bool decode_rows(std::span<const std::byte> bytes);
  void decode_row(Set& set, Row& row);

  Replay* replay_;
  bool has_values_ = true;
  std::map<std::uint64_t, Provider> providers_;  // by index
  std::map<std::uint64_t, Set> sets_;
  std::map<CatalogKey, std::uint64_t> rates_;  // of the sets
  RowDecoder decoder_;
  TickTimes times_;
  std::uint64_t due_ = 0;
  Guid recorder_;
  std::uint64_t ticks_ = 0;  // since this recorder began
  bool is_whole_ = false;
};

}  // namespace meterbank::recording
