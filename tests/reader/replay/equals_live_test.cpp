// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "changing_providers.hpp"
#include "poured_replay.hpp"
#include "printed_rows.hpp"

namespace meterbank {
namespace {

using test::first_difference;
using test::PouredReplay;
using test::printed_rows;

struct Request {
  std::vector<std::string> patterns;
  std::vector<std::string> excluded = {};
};

const std::vector<Request>& requests() {
  static const std::vector<Request> all{
      {{}},
      {{"*/*/*"}},
      {{"*/_Total/*", "tiles/thing 1/*", "sharded/*/hits"}},
      {{"alpha:plain/*/orders", "repeated/thing 3#1/*", "repeated/thing 3#*/*", "global/*"}},
      {{"mixed/*/latency", "mixed/*/state", "history/*", "*/thing 2/*"},
       {"*/*/depth", "mixed/load"}},
      {{"independent/*/time_per_order", "nothing/*/at all", "stamped/*/*"}},
  };
  return all;
}

// A query of both worlds, and its last two samples of each.
class Pair {
 public:
  Pair(const Catalog& live, const Catalog& replayed, const Request& request)
      : live_(*Query::compile(live, request.patterns, request.excluded)),
        replayed_(*Query::compile(replayed, request.patterns, request.excluded)) {}

  void update_live(const Catalog& catalog) { live_changed_ = live_.update(catalog); }
  void collect_live(Timestamp time) { live_.collect(next(live_samples_), time); }
  void collect_replayed(const Catalog& catalog, Timestamp time) {
    EXPECT_EQ(replayed_.update(catalog), live_changed_);
    replayed_.collect(next(replayed_samples_), time);
    ++samples_;
  }
  void compare() {
    const Sample& live = live_samples_[latest()];
    const Sample& replayed = replayed_samples_[latest()];
    ASSERT_EQ("", first_difference(printed_rows(live.rows()), printed_rows(replayed.rows())));
    const auto live_lines = printed_rows(live.since(live_samples_[1 - latest()]));
    const auto lines = printed_rows(replayed.since(replayed_samples_[1 - latest()]));
    ASSERT_EQ("", first_difference(live_lines, lines));
    ASSERT_EQ(live_.expanded(PathSpelling::kShort), replayed_.expanded(PathSpelling::kShort));
    ASSERT_EQ(unmatched(live_), unmatched(replayed_));
    ASSERT_EQ(live.left_out().size(), replayed.left_out().size());
    EXPECT_FALSE(replayed_.asks());
  }

 private:
  static std::vector<std::string> unmatched(const Query& query) {
    std::vector<std::string> all;
    for (const Unmatched& one : query.unmatched()) {
      all.push_back(one.pattern + "|" + one.part + "|" + one.suggestion);
    }
    return all;
  }
  [[nodiscard]] std::size_t latest() const noexcept { return (samples_ + 1) % 2; }
  Sample& next(std::array<Sample, 2>& samples) const noexcept { return samples[samples_ % 2]; }

  Query live_, replayed_;
  bool live_changed_ = false;
  std::array<Sample, 2> live_samples_, replayed_samples_;
  std::size_t samples_ = 0;
};

// What a catalog lists of providers, sets and instances.
std::vector<std::string> listing_of(const Catalog& catalog) {
  std::vector<std::string> lines;
  for (const auto& provider : catalog.providers()) {
    lines.push_back(provider->label() + ' ' + std::string(name_of(provider->state)) + ' ' +
                    provider->error.what + ' ' + std::to_string(provider->bytes) + ' ' +
                    std::to_string(provider->refused()));
    for (const RegisteredSet& set : provider->sets) {
      lines.push_back("  " + set.set->name + ' ' + std::string(name_of(set.state)) + ' ' +
                      std::to_string(set.generation) + ' ' +
                      std::to_string(provider->interested(set)) + ' ' +
                      std::to_string(is_readable(*provider, set)));
      for (const InstanceView& instance : set.instances) {
        lines.push_back("    " + std::string(instance.name) + '#' + std::to_string(instance.id) +
                        ' ' + std::to_string(instance.slot) + ' ' +
                        std::to_string(instance.generation) + (instance.closed ? " closed" : ""));
      }
    }
  }
  return lines;
}

class ReplayEqualsLive : public testing::TestWithParam<unsigned> {
 protected:
  // One tick of the recorder and of all queries.
  void tick(Catalog& live, std::vector<Pair>& pairs) {
    providers_.count();
    for (int change = 0; change < 3; ++change) providers_.change();
    ASSERT_TRUE(live.refresh());
    // What ended has its last values, which no later sample has.
    recorder_->collect(sample_, now_);
    poured_.pour_last(sample_);
    recorder_->update(live);
    for (Pair& pair : pairs) pair.update_live(live);
    // Rows that end between two looks at the directory.
    if (providers_.flips(4)) providers_.close_some();
    now_.monotonic_ns += 1'000'000'000;
    now_.realtime_ns += 1'000'000'000;
    recorder_->collect(sample_, now_);
    for (Pair& pair : pairs) pair.collect_live(now_);
    poured_.pour(live, sample_);
    ASSERT_EQ(poured_.replay().time().realtime_ns, now_.realtime_ns);
    ASSERT_EQ("", first_difference(listing_of(live), listing_of(poured_.catalog())));
    for (Pair& pair : pairs) {
      pair.collect_replayed(poured_.catalog(), poured_.replay().time());
      pair.compare();
    }
  }

  test::TemporaryDirectory directory_;
  test::ChangingProviders providers_{directory_.path(), GetParam()};
  PouredReplay poured_;
  std::optional<Query> recorder_;
  Sample sample_;
  Timestamp now_{1'000'000'000, 1'700'000'000'000'000'000};
};

TEST_P(ReplayEqualsLive, InEveryRowAndValue) {
  Catalog live = *Catalog::open({.directory = directory_.path()});
  recorder_ = *Query::compile(live, {"*/*/*", "*/*"});
  std::vector<Pair> pairs;
  pairs.reserve(requests().size());
  for (const Request& request : requests()) pairs.emplace_back(live, poured_.catalog(), request);
  for (int step = 0; step < 100 && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    tick(live, pairs);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayEqualsLive, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace meterbank
