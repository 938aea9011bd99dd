// SPDX-License-Identifier: Apache-2.0
//
// A recording of a shop whose sets were sampled at two rates.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "made_recording.hpp"

namespace meterbank::record {

// Two sets, each with a rate: orders of one customer and, seldomer, aisles of which readers make a
// total.
class MadeShop {
 public:
  MadeShop(std::uint64_t orders_seconds, std::uint64_t aisles_seconds)
      : parts_{Part{"orders/*", orders_seconds}, Part{"aisles/*", aisles_seconds}} {
    recording::Head head;
    for (const Part& part : parts_) head.rates.push_back({part.seconds * kSecond, part.pattern});
    recording::append_head(head, bytes_);
    ReplayedProvider facts = test::provider_called("shop");
    facts.uid = ::getuid();  // a total is of the providers of one user
    facts.outside.pid = facts.pid;
    facts.outside.container = std::string(64, 'c');
    facts.outside.unit = "shop.service";
    const auto shop = *replay_.add_provider(std::move(facts));
    orders_ = *replay_.add_set(shop, test::registered(orders(), 1));
    Counterset aisles = test::two_counters("aisles");
    aisles.instances = InstanceKind::kMultipleAggregate;
    for (CounterView& counter : aisles.counters) {
      counter.aggregate = counter.joined_by = kAggregateSum;
    }
    aisles_ = *replay_.add_set(shop, test::registered(std::move(aisles), 2));
    for (const auto& [slot, name] : {std::pair{0U, "fruit"}, std::pair{1U, "bread"}}) {
      static_cast<void>(
          replay_.begin_instance(aisles_, {.slot = slot, .name = name, .generation = 1}));
    }
    begin_orders();
  }
  // The orders of another customer, in the slot of those before.
  void begin_orders() {
    if (row_) replay_.end_instance(orders_, *row_);
    ++generation_;
    row_ = *replay_.begin_instance(
        orders_, {.name = "of " + std::to_string(generation_), .generation = generation_});
  }
  // The sample of this second, if it has one of a set. `more`: is added to the balance.
  void tick(std::uint64_t second, RowStatus status = RowStatus::kFresh, std::int64_t more = 0) {
    const auto is_due = [&](const Part& part) { return second % part.seconds == 0; };
    if (std::none_of(parts_.begin(), parts_.end(), is_due)) return;
    const auto words = replay_.words(orders_, *row_);
    words[0] = 3 + second;
    words[1] = 100 + second;
    words[2] = static_cast<std::uint64_t>(more - 7 - static_cast<std::int64_t>(second));
    replay_.set_row(orders_, *row_, status, RowConsistency::kBlock);
    const Timestamp now{kSecond * (100 + second), kSecond * (1'700'000'000 + second)};
    replay_.show(now);
    std::vector<recording::RateInput> rates;
    for (Part& part : parts_) {
      if (!part.query) part.query.emplace(*Query::compile(replay_.catalog(), {part.pattern}));
      part.query->update(replay_.catalog());
      part.query->collect(part.sample, now);
      rates.push_back({&*part.query, is_due(part) ? &part.sample : nullptr});
    }
    writer_.tick({replay_.catalog(), rates, now}, schemas_, bytes_);
  }
  void write(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes_; }

 private:
  static constexpr std::uint64_t kSecond = MadeRecording::kSecond;
  struct Part {
    const char* pattern;
    std::uint64_t seconds;
    std::optional<Query> query = {};
    Sample sample = {};
  };

  static Counterset orders() {
    Counterset set = test::two_counters("orders");
    set.form.words = 3;
    set.counters.resize(3);
    for (CounterView& counter : set.counters) counter.more = 3;
    set.counters[0].type = CounterType::kRawFraction;
    set.counters[0].base = 1;
    set.counters[1].type = CounterType::kRawBase;
    set.counters[2].id = 3;
    set.counters[2].word = 2;
    set.counters[2].type = CounterType::kLargeRawCount;
    set.counters[2].form = ValueForm::kSigned;
    set.counters[2].name = set.counters[2].symbol = "balance";
    return set;
  }

  Replay replay_{{.outside_labels = true}};
  ReplaySetId orders_{}, aisles_{};
  std::optional<ReplayRowId> row_;
  std::uint64_t generation_ = 0;
  std::array<Part, 2> parts_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_;
};

}  // namespace meterbank::record
