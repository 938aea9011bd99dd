// SPDX-License-Identifier: Apache-2.0
//
// From samples of queries to the frames of a recording.
//
//   TickWriter writer;
//   SchemaNumbers schemas;                        // of the file that is written
//   for (;;) {
//     catalog.refresh(); query.update(catalog);   // now and then
//     query.collect(sample, now);
//     const RateInput rate{&query, &sample};
//     writer.tick({catalog, {&rate, 1}, now, window_ns}, schemas, bytes);
//   }
//
// The bytes are complete frames, to be appended to the file at once. Whole blocks are recorded: a
// query that selects one counter of a set records all counters of the rows. Several queries are
// sampled at rates of their own: a tick has the rows of those that are due. A registration that two
// of them select belongs to the first.
//
// Thread safety  One thread at a time per object.
// Errors         tick() may throw std::bad_alloc; the next tick then begins a chunk.
// Progress       Makes no system call.
// Cost           A tick costs its rows; a changed directory costs the providers, and the rows of
//                the sets that changed; a new chunk costs everything.
// Lifetime       Keeps views of the catalog: memory of a provider that ended is kept until the next
//                tick.
// Units          Nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::recording {

inline constexpr std::size_t kRatesMax = 32;  // queries of one recording

// Which schemas a file has already.
class SchemaNumbers {
 public:
  SchemaNumbers();
  SchemaNumbers(SchemaNumbers&&) noexcept;
  SchemaNumbers& operator=(SchemaNumbers&&) noexcept;
  ~SchemaNumbers();

 private:
  friend class DirectoryWriter;
  struct Known;
  std::unique_ptr<Known> known_;
};

// Which of a query's selections show rows of their own: the rows themselves before a total of them,
// and each registration once.
struct ShownSet {
  const SelectedSet* selected = nullptr;
  std::size_t first_row = 0;  // in a sample of the query
};
[[nodiscard]] std::vector<ShownSet> shown_once(std::span<const SelectedSet> selected);

struct RateInput {
  const Query* query = nullptr;    // updated with the catalog
  const Sample* sample = nullptr;  // that it collected since; null: not due
};

// Which rate samples a registration, where one query selects those of several rates. A chunk may
// then begin where not all rates are due.
struct AssignedRates {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::function<std::uint32_t(const ProviderView&, const RegisteredSet&)> rate_of;
  std::uint64_t due = 0;      // a bit for each rate
  std::uint64_t version = 0;  // grows when rate_of() says something else
};

struct TickInput {
  const Catalog& catalog;
  std::span<const RateInput> rates;  // all of the recording, at most kRatesMax, in their order
  Timestamp time;
  std::uint64_t window_ns = 0;              // from the first load of the samples to the last
  const AssignedRates* assigned = nullptr;  // with one query in `rates`, which has a sample
  // False: a set is listed from the first tick that has a row of it.
  bool lists_all_sets = true;
  // False: not all rates have a sample, so the chunk goes on, if there is one.
  bool may_begin_chunk = true;
};

class TickWriter {
 public:
  TickWriter();
  TickWriter(TickWriter&&) noexcept;
  TickWriter& operator=(TickWriter&&) noexcept;
  ~TickWriter();

  // The next tick begins a chunk: it goes to another file, or an earlier one was lost.
  void begin_chunk() noexcept;
  // The next tick that may do so begins a chunk: all rates are due whatever their intervals say.
  [[nodiscard]] bool wants_everything() const noexcept;
  // Appends the frames of a tick: schemas that the file lacks, and a key frame or a tick.
  // Precondition: all rates have a sample if it begins a chunk.
  void tick(const TickInput& input, SchemaNumbers& schemas, std::string& out);

  [[nodiscard]] std::uint64_t chunks() const noexcept;
  [[nodiscard]] std::uint64_t rows() const noexcept;    // of the last tick
  [[nodiscard]] std::uint64_t values() const noexcept;  // words of them
  // Sets that are not recorded, because their description is too large to be read back.
  [[nodiscard]] std::uint64_t left_out() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::recording
