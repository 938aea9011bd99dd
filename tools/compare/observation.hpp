// SPDX-License-Identifier: Apache-2.0
//
// A range of a recording, sample by sample: what a comparison has to know of it.
//
//   Observation observation;
//   while (...) {
//     query.collect(newer, time);
//     observation.take(newer, older, query.version(), catalog, {window_ns});
//   }
//
// Thread safety  One thread at a time.
// Errors         take() may throw std::bad_alloc.
// Cost           A series takes up to 2 KiB of block sums. A distribution also takes 8 bytes for
//                each bucket in use, in each of at most 64 blocks. None of it grows with the number
//                of samples. Instances that came and went stay.
// Units          Nanoseconds, and as the names say.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compare/series.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::compare {

// Samples from the first to the last one that had it.
struct Presence {
  std::uint64_t first = kNever, last = 0;

  void see(std::uint64_t tick) noexcept;
};

// Of all providers of one name.
struct ProviderHistory {
  std::map<std::pair<std::uint32_t, std::uint64_t>, Presence> lives;  // by pid and start time
  Presence alive;
  ProviderState last_state = ProviderState::kLive;

  // One began after another one had ended.
  [[nodiscard]] bool was_restarted() const;
};

struct RowHistory {
  std::string path;
  Presence there;
  bool is_asked_of_other = true;  // the recorder of the other side records it where it is
};

struct Reading {
  std::uint64_t window_ns = 0;  // how long the sample took to read
};

class Observation {
 public:
  // `older` is the sample before, or an empty one. `version` is that of the query.
  void take(const Sample& newer, const Sample& older, std::uint64_t version, const Catalog& catalog,
            Reading reading);

  // The recorder of the other side is asked for the rows that are named from now on, and for no
  // others: that it lacks those says nothing.
  void begin_asked_of_other();
  void take_asked_of_other(const Row& row);

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(nanoseconds_) / 1e9; }
  // By how much a rate may be wrong because the samples at its ends took time to read, as a share
  // of itself.
  [[nodiscard]] double slack() const noexcept;

  using SeriesByKey = std::unordered_map<std::string, Series*>;
  [[nodiscard]] const std::deque<Series>& series() const noexcept { return series_; }
  [[nodiscard]] const SeriesByKey& by_key() const noexcept { return by_key_; }
  [[nodiscard]] const std::map<std::string, ProviderHistory>& providers() const noexcept {
    return providers_;
  }
  // The name of the provider in the key of a set; empty for a total.
  [[nodiscard]] static std::string provider_of(const std::string& set_key);
  // Instances by set, then by name.
  using Rows = std::map<std::string, std::map<std::string, RowHistory>>;
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  [[nodiscard]] bool was_there_throughout(const Presence& there) const noexcept;
  // No instance of the set came or went.
  [[nodiscard]] bool kept_instances(const std::string& set_key) const;

 private:
  struct Place {
    const InstanceView* instance = nullptr;
    const CounterView* counter = nullptr;
    Series* series = nullptr;
    RowHistory* row = nullptr;
  };
  Place find(const Value& value);
  void see_providers(const Catalog& catalog);

  std::deque<Series> series_;
  SeriesByKey by_key_;
  Rows rows_;
  std::map<std::string, ProviderHistory> providers_;
  // Of the values of a sample, as long as the query stays as it is.
  std::vector<Place> places_;
  std::uint64_t version_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t nanoseconds_ = 0;  // a clock that went back adds none
  Timestamp last_;
  std::uint64_t first_window_ns_ = 0, last_window_ns_ = 0;
};

}  // namespace meterbank::compare
