// SPDX-License-Identifier: Apache-2.0
//
// Between packets and kernel: what clients send goes to the arbiter, what the arbiter wants done is
// done by the backend, and the ledger shows it. No socket and no loop in here, so that hostile
// packets can be tried by the million.
//
//   server        Exchange                Arbiter          Backend      LedgerWriter
//     | -- packet --> | -- received --------> |
//     |               | <---------- actions - |
//     |               | -- open, read, close ---------------> |
//     |               | -- outcome ---------> |
//     |               | -- words, before counters are taken away ----------> |
//     | <--- send --- |
//
// One thread. Nothing waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/backend/backend.hpp"
#include "arbiter/core/arbiter.hpp"
#include "arbiter/server/client/process_table.hpp"
#include "arbiter/server/publish/ledger_writer.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::arbiter {

// What carries out the actions that leave this process.
class Outside {
 public:
  Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  virtual ~Outside() = default;

  // `attached` stays the caller's.
  virtual void send(ClientNumber client, std::vector<std::byte> packet, int attached) = 0;
  // After what was sent before. The exchange is told by disconnected() when it has happened.
  virtual void hang_up(ClientNumber client) = 0;
  // Its descriptors are about to be closed: they are watched no longer.
  virtual void closes(CarrierNumber carrier) = 0;
  virtual void record(const JournalRecord& record) = 0;
  // A request got its counters, so long after it came.
  virtual void granted(Nanoseconds waited) = 0;
};

// What a new image of this program takes over of a client; its identity it asks the kernel for.
struct SavedVisitor {
  ClientNumber client = 0;
  bool has_greeted = false;
  std::uint32_t faults = 0;
  int heartbeat = -1;  // descriptor
};

class Exchange {
 public:
  static constexpr std::uint32_t kFaultsMax = 3;
  // Samples for readers of the published rows are not taken more often.
  static constexpr Nanoseconds kSamplePeriod = 100'000'000;

  // All that it is given outlives it.
  Exchange(Arbiter arbiter, Backend& backend, const ProcessTable& processes, LedgerWriter ledger,
           Outside& outside);

  void connected(ClientNumber client, const ClientIdentity& identity, Nanoseconds now);
  void disconnected(ClientNumber client, Nanoseconds now);
  // `is_too_fast`: this user sends more than its share, and is told so.
  void received(ClientNumber client, std::span<const std::byte> packet, UniqueFd attached,
                bool is_too_fast, Nanoseconds now);
  // To be called at deadline(), and at least every 100 ms: time, heartbeats, samples.
  void passed(Nanoseconds now);
  // A counter of the carrier may have been lost.
  void check(CarrierNumber carrier, Nanoseconds now);
  void adopt(Policy policy, Nanoseconds now);
  void end(Nanoseconds now);
  // Until when nothing but what was held before is given out; as Welcome says.
  void set_grace_end(Nanoseconds end) noexcept { grace_end_ = end; }

  [[nodiscard]] const Arbiter& arbiter() const noexcept { return arbiter_; }
  [[nodiscard]] LedgerWriter& ledger() noexcept { return ledger_; }
  [[nodiscard]] std::uint64_t packets_rejected() const noexcept { return packets_rejected_; }

  // ---- For an image of this program that goes on with all of it ----
  [[nodiscard]] std::vector<SavedVisitor> visitors() const;
  // Of a client that the restored arbiter knows. Takes the heartbeat over.
  void adopt(const SavedVisitor& saved, ClientIdentity identity);
  void replace_ledger(LedgerWriter ledger) { ledger_ = std::move(ledger); }
  void announce_ledger();  // fills it, and hands it to all clients

 private:
  struct Visitor {
    ClientIdentity identity;
    bool has_greeted = false;
    std::uint32_t faults = 0;
    std::optional<MappedExtent> heartbeat;
    UniqueFd heartbeat_file;  // of the same memory, for a new image of this program
    Nanoseconds beat = 0;     // the last one that the arbiter was told of
  };

  struct Kept {
    ClientNumber client = 0;
    UniqueFd event;
  };

  // False: the memory cannot be had.
  [[nodiscard]] static bool attach_heartbeat(Visitor& visitor, UniqueFd file);
  void reject(ClientNumber client, Visitor& visitor, std::uint64_t id, pmu::Rejection reason);
  void refuse(ClientNumber client, std::uint64_t id, std::string sentence);
  void send(ClientNumber client, std::uint64_t id, const pmu::ArbiterMessage& message,
            int attached = -1);
  void greet(ClientNumber client, Visitor& visitor, std::uint64_t id, UniqueFd heartbeat,
             Nanoseconds now);
  [[nodiscard]] bool is_admissible(ClientNumber client, const Visitor& visitor, std::uint64_t id,
                                   const pmu::ClientMessage& message, int attached);
  void sample_carriers(Nanoseconds now);
  void listen_to_hearts(Nanoseconds now);

  // Carries out all that the arbiter wants done.
  void settle(Nanoseconds now);
  void write_ledger();
  void carry_out(Send& action, Nanoseconds now);
  void carry_out(const Deliver& action, Nanoseconds now);
  void carry_out(const Open& action, Nanoseconds now);
  void carry_out(const Close& action, Nanoseconds now);
  void carry_out(const Pause& action, Nanoseconds now);
  void carry_out(const Resume& action, Nanoseconds now);
  void carry_out(const ReadCounters& action, Nanoseconds now);
  void carry_out(const Confirm& action, Nanoseconds now);
  void carry_out(const Guard& action, Nanoseconds now);
  void carry_out(const ProbeKernel& action, Nanoseconds now);
  void carry_out(const Verify& action, Nanoseconds now);
  void carry_out(const Survey& action, Nanoseconds now);
  void carry_out(const Disconnect& action, Nanoseconds now);
  void carry_out(const Record& action, Nanoseconds now);

  Arbiter arbiter_;
  Backend& backend_;
  const ProcessTable& processes_;
  LedgerWriter ledger_;
  Outside& outside_;
  std::map<ClientNumber, Visitor> visitors_;
  // What was offered while grace lasts, by the kernel's numbers.
  std::map<std::uint64_t, Kept> kept_;
  std::uint64_t ledger_changes_ = ~std::uint64_t{0};  // of the arbiter, when it was last written
  std::uint64_t packets_rejected_ = 0;
  Nanoseconds grace_end_ = 0;
  Nanoseconds sampled_ = 0;
  Nanoseconds online_checked_ = 0;
};

}  // namespace meterbank::arbiter
