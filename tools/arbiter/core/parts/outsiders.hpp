// SPDX-License-Identifier: Apache-2.0
//
// Processes that count without a lease, and counters that the kernel refused though the books had
// them free. Both are in the books, so that what they use is not lent.
//
// Of some outsiders it is known how many counters they have. Others have opened events, of which
// only the kernel knows whether they need a counter of a PMU that is lent: what they have is found
// out when the kernel refuses it, and booked under their name until it is tried again.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "arbiter/core/parts/outbox.hpp"

namespace meterbank::arbiter {

// Whether it counts where the plan wants counters; `cpu`: on this CPU.
[[nodiscard]] bool is_in_way(const Outsider& outsider, const Plan& plan,
                             std::optional<std::uint32_t> cpu = std::nullopt);

class Outsiders {
 public:
  static constexpr Nanoseconds kRetry = 1'000'000'000;  // between two tries of what is refused

  // Book and outbox outlive it. Without a backend there is nothing to survey.
  Outsiders(MachineBook& book, Outbox& outbox, bool has_backend) noexcept
      : book_(&book), outbox_(&outbox), has_backend_(has_backend) {}

  // As the last survey found them.
  [[nodiscard]] const std::vector<Outsider>& all() const noexcept { return outsiders_; }
  [[nodiscard]] bool has_any() const noexcept { return !outsiders_.empty() || !refused_.empty(); }
  // Outsiders come and go unseen: what was known of them a while ago is no reason to refuse.
  [[nodiscard]] bool is_stale(Nanoseconds now) const noexcept;

  // Asks for a survey, unless one is under way.
  void survey();
  // Replaces what was known. Those that are new are in the journal.
  void surveyed(std::vector<Outsider> found, Nanoseconds now);
  // The kernel refused a counter that the books had: for a while it is not lent.
  void note_refused(const Opening& opening, Nanoseconds now);
  // Time has passed. True: the books have counters again that can be tried.
  [[nodiscard]] bool passed(Nanoseconds now, bool has_waiting);
  // When passed() has something to do; nothing: never.
  [[nodiscard]] std::optional<Nanoseconds> deadline(bool has_waiting) const;

  // ---- To be carried over ----
  void save(nlohmann::json& saved) const;
  // Throws what the JSON library throws. book() follows, when leases are in the books.
  void load(const nlohmann::json& from);
  void book();

 private:
  struct Refused {
    std::uint64_t holder = 0;  // in the book
    std::uint32_t counters = 0;
    Nanoseconds until_ns = 0;  // then it is tried again
  };
  void book_refused(const Place& place, const Refused& refused);

  MachineBook* book_;  // not owned
  Outbox* outbox_;     // not owned
  bool has_backend_;
  std::vector<Outsider> outsiders_;
  std::vector<std::uint64_t> holders_;  // of these, in the book
  std::map<Place, Refused> refused_;
  bool is_surveying_ = false;
  bool has_surveyed_ = false;
  Nanoseconds surveyed_ns_ = 0;
  std::uint64_t next_holder_ = MachineBook::kHoldersMax / 2;  // reservations are below
};

}  // namespace meterbank::arbiter
