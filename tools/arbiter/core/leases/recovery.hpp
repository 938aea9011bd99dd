// SPDX-License-Identifier: Apache-2.0
//
// After a crash: what was held when the arbiter before ended, as its journal says. For a while, the
// grace, only its holders are served, so that a restart of the arbiter lets no client come
// between a lease and its holder.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "arbiter/core/arbiter.hpp"

namespace meterbank::arbiter {

// Of what is asked for. Keeps honest clients from mistakes, and is no defence.
[[nodiscard]] std::uint64_t digest_of(const pmu::Allocate& asked) noexcept;

class Recovery {
 public:
  void remember(const std::vector<JournalRecord>& journal);
  void begin_grace(Nanoseconds until_ns) noexcept { grace_until_ns_ = until_ns; }

  [[nodiscard]] bool is_grace(Nanoseconds now) const noexcept { return now < grace_until_ns_; }
  [[nodiscard]] Nanoseconds grace_until_ns() const noexcept { return grace_until_ns_; }
  [[nodiscard]] bool has_leases() const noexcept { return !leases_.empty(); }

  // Why this lease does not reclaim the one that it names; nothing: it does.
  [[nodiscard]] std::optional<Decision> refusal(const Lease& lease) const;
  // False: there is none to be reclaimed. It can be reclaimed once.
  bool reclaim(pmu::Token token);

  // Whether this process had that counter open, of a lease that can be reclaimed.
  [[nodiscard]] bool expects(const ClientIdentity& client, const pmu::Offer& offer) const;
  // Precondition: it is expected.
  void accept(const pmu::Offer& offer);
  // Open::kept of the carrier of a lease that reclaims this one and has descriptors.
  [[nodiscard]] std::vector<std::uint64_t> kept_for(pmu::Token token) const;

  // Ends the grace when its time is over: returns the records of leases that were not reclaimed,
  // and so have ended. Nothing: it lasts, or there was none.
  [[nodiscard]] std::optional<std::vector<JournalRecord>> end_grace(Nanoseconds now);

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // Throws what the JSON library throws.
  void load(const nlohmann::json& from);

 private:
  // A counter of the arbiter before, which its holder kept open.
  struct KeptCounter {
    std::uint64_t kernel_id = 0;  // 0: not known
    bool is_offered = false;
  };

  [[nodiscard]] const KeptCounter* find_counter(const pmu::Offer& offer) const;

  Nanoseconds grace_until_ns_ = 0;
  std::map<pmu::Token, JournalRecord> leases_;
  // Of these: counters whose descriptors their holders have, and which of them were offered.
  std::map<pmu::Token, std::vector<KeptCounter>> counters_;
};

}  // namespace meterbank::arbiter
