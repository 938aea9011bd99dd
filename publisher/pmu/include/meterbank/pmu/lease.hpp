// SPDX-License-Identifier: Apache-2.0
//
// The right to counters, for as long as the object lives and the arbiter agrees.
//
//   auto connection = pmu::Connection::connect({});
//   auto lease = connection->acquire(pmu::Request().event("cycles").cpus("0"));
//   if (!lease) print(lease.error().message());     // its holder, and until when
//   auto values = lease->read();                    // each with its quality
//
// A lease can end at any time: a client of a higher class needs its counters, its hold is over, the
// arbiter is gone. A caller that uses a value calls is_in_force() after reading it: if it is, the
// value was counted for this lease.
//
// Thread safety  Any thread may call any function, but none concurrently with moving, release() or
//                destruction.
// Errors         read() and local() return an Error, renew() and drained() a Refusal. In the child
//                of a fork, leases of the parent are not in force, do nothing and free nothing.
// Progress       is_in_force() and use() are wait-free. read(), renew() and drained() wait for the
//                arbiter, at most ConnectionOptions::timeout; the destructor for a second at most.
// Cost           is_in_force(): two loads of the ledger. use(): one store, after a look at the
//                clock. Neither makes a system call, where the vDSO has the clock.
// Lifetime       A lease ends with its connection, and may end before; see standing().
// Units          Times are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "meterbank/base/result.hpp"
#include "meterbank/pmu/local_counter.hpp"
#include "meterbank/pmu/refusal.hpp"
#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu {

namespace detail {
class Link;
struct Held;
}  // namespace detail

enum class Standing : std::uint8_t {
  kHeld,
  kRevoking,   // held until revoked_at_ns(): read, then say drained()
  kSuspended,  // counters are away for now
  kAdrift,     // the arbiter is gone; the lease is claimed again when there is one
  kLost,       // see cause()
  kReleased,   // by its holder; also in the child of a fork
};
[[nodiscard]] std::string_view name_of(Standing standing) noexcept;

class Lease {
 public:
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();  // gives the counters back

  // The name of this lease that comes with each value. Changes when an arbiter that died is
  // replaced by another, and the lease claimed again.
  [[nodiscard]] Token token() const noexcept;
  // False while it is suspended, and from 90 % of the term without use() on, as seen by the last
  // use(): so never later than the arbiter ends it.
  [[nodiscard]] bool is_in_force() const noexcept;
  // A sign of life, for leases with a term. False: there is nothing to use, because the lease is
  // suspended or adrift, or the call comes too late and the lease has ended; standing() says which.
  // read() and LocalCounter::read() through a lease call it themselves.
  bool use() noexcept;

  [[nodiscard]] Standing standing() const;
  [[nodiscard]] Cause cause() const;
  // CLOCK_MONOTONIC; 0: it is not being revoked.
  [[nodiscard]] std::uint64_t revoked_at_ns() const;
  // What was granted, when it was granted last.
  [[nodiscard]] Granted granted() const;

  // Asks the arbiter. Of a lease that was lost: its last values, with quality kFenced. Errors:
  // kClosed (ended, and no last values came), kGone (no arbiter), kForked, kCorrupt (a false
  // answer), kLimit (asked too often).
  [[nodiscard]] Result<LeaseValues> read();
  // Begins the longest hold anew. Refused where the class does not allow it, or the lease is over.
  [[nodiscard]] Asked<void> renew();
  // The last values were read, the counters may go. Refused unless it is being revoked.
  [[nodiscard]] Asked<void> drained();

  // A counter read without the arbiter, where its descriptor was delegated: `position` in
  // granted().counters. To be destroyed before the lease: the kernel takes a counter back when its
  // last descriptor is closed. Errors: kNotFound.
  [[nodiscard]] Result<LocalCounter> local(std::uint32_t position);

  // What the destructor does. What was counted is lost.
  void release() noexcept;

 private:
  friend class detail::Link;
  friend class Connection;
  explicit Lease(std::shared_ptr<detail::Held> held) noexcept;

  std::shared_ptr<detail::Held> held_;  // null: moved from
};

}  // namespace meterbank::pmu
