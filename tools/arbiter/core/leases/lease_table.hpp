// SPDX-License-Identifier: Apache-2.0
//
// All leases, their numbers and tokens, and what is counted of them as they change, so that no step
// looks at all of them. A lease changes its state only here; so the counts cannot drift from the
// leases. A lease whose other parts are changed was handed out here to be changed, so it is known
// which leases may have changed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "arbiter/core/lease.hpp"
#include "arbiter/core/policy.hpp"

namespace meterbank::arbiter {

// How many leases a user has, and how many requests wait.
struct UserCounts {
  std::uint32_t leases = 0;
  std::uint32_t waits = 0;
  friend bool operator==(const UserCounts&, const UserCounts&) = default;
};

class LeaseTable {
 public:
  using Leases = std::map<LeaseNumber, Lease>;

  // Tokens carry the epoch. Numbers are from 1 to below `leases_max`, which is at least 2.
  LeaseTable(std::uint16_t epoch, std::uint32_t leases_max, const Policy& policy);

  // ---- The leases ----
  // A lease that has ended stays until forget_ended(), in state kNone.
  [[nodiscard]] const Leases& all() const noexcept { return leases_; }
  [[nodiscard]] auto begin() const noexcept { return leases_.begin(); }
  [[nodiscard]] auto end() const noexcept { return leases_.end(); }
  [[nodiscard]] bool contains(LeaseNumber number) const { return find(number) != nullptr; }
  // Precondition: there is one.
  [[nodiscard]] Lease& at(LeaseNumber number) { return *find(number); }
  [[nodiscard]] const Lease& at(LeaseNumber number) const { return *find(number); }
  // Null: there is none.
  [[nodiscard]] Lease* find(LeaseNumber number);
  [[nodiscard]] const Lease* find(LeaseNumber number) const;
  // Null: there is none that has not ended.
  [[nodiscard]] Lease* find_present(LeaseNumber number);
  [[nodiscard]] const Lease* find_present(LeaseNumber number) const;
  // Null: this client does not hold it.
  [[nodiscard]] Lease* find_held(ClientNumber client, pmu::Token token);

  // ---- What happens to them ----
  [[nodiscard]] bool has_free_number() const { return free_number().has_value(); }
  // In state kQueued, with a number and its place in the order of arrival. A dry run gets no token:
  // no client will ever hold it. Precondition: has_free_number(). The lease stays where it is.
  Lease& add(Lease lease);
  // A client that has the old token is fenced by that.
  void renew_token(Lease& lease);
  // False: it was in this state already.
  bool become(Lease& lease, pmu::LeaseState state);
  // Precondition: none of those that have ended waits.
  void forget_ended();
  // Each lease that was handed out to be changed since the last call, once.
  [[nodiscard]] std::vector<LeaseNumber> take_touched();

  // ---- What is counted of them ----
  void adopt(const Policy& policy);
  [[nodiscard]] UserCounts counts_of(std::uint32_t uid) const;
  // Whether a lease of a higher class may have its counters.
  [[nodiscard]] bool gives_way(const Lease& lease) const;
  // Whether any lease of a lower class does.
  [[nodiscard]] bool may_preempt(pmu::Priority priority) const;
  // Whether the counts are what counting anew gives. For tests.
  [[nodiscard]] bool is_tallied() const { return counted_anew() == tally_; }

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // Into an empty table. False: it is inconsistent. Throws what the JSON library throws.
  [[nodiscard]] bool load(const nlohmann::json& from, const Machine& machine);

 private:
  struct Tally {
    std::map<std::uint32_t, UserCounts> users;     // by uid; users that have something
    std::array<std::uint32_t, 8> giving_way = {};  // leases that would, by priority
    friend bool operator==(const Tally&, const Tally&) = default;
  };

  [[nodiscard]] std::optional<LeaseNumber> free_number() const;
  void touch(Lease& lease);
  void count_in(const Lease& lease, Tally& counts) const;
  void count_out(const Lease& lease);
  [[nodiscard]] Tally counted_anew() const;

  std::uint16_t epoch_;
  std::uint32_t leases_max_;
  std::array<ClassRules, 4> classes_;
  Leases leases_;
  std::vector<Lease*> by_number_;  // points into leases_; null: no lease has that number
  std::map<LeaseNumber, std::uint32_t> generations_;  // the last one of each number
  std::uint64_t next_arrival_ = 1;
  std::vector<LeaseNumber> ended_;  // have no holder any more
  std::vector<LeaseNumber> touched_;
  Tally tally_;
};

}  // namespace meterbank::arbiter
