// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "../support/comes_true.hpp"
#include "pmu_fixture.hpp"

namespace meterbank::test {

// What is said in the place of an answer to Allocate.
using Lie = std::function<void(ScriptedArbiter& self, ScriptedArbiter::Client& client,
                               std::uint64_t id, const pmu::Allocate& asked)>;

class HostileArbiter : public PmuTest {
 protected:
  // With a timeout that a test can wait for. An arbiter that was too slow to greet is
  // asked again.
  [[nodiscard]] pmu::Connection connect_with_timeout(std::chrono::milliseconds timeout,
                                                     bool has_keeper = true) {
    std::optional<pmu::Connection> connected;
    EXPECT_TRUE(comes_true([&] {
      auto connection = pmu::Connection::connect(
          {.socket = socket(), .has_keeper = has_keeper, .timeout = timeout});
      if (connection) connected.emplace(std::move(*connection));
      return connected.has_value();
    }));
    return std::move(connected).value();
  }
  // The second of two requests, so that there is a lease to lose.
  void expect_drop(const std::string& name, const Lie& lie,
                   const pmu::Request& request = pmu::Request().event("cycles")) {
    SCOPED_TRACE(name);
    int asked = 0;
    arbiter([&](ScriptedArbiter& self, ScriptedArbiter::Client& client, std::uint64_t id,
                const pmu::ClientMessage& message) {
      const auto* const allocate = std::get_if<pmu::Allocate>(&message);
      if (allocate == nullptr || allocate->head.reclaims != 0 || ++asked != 2) return false;
      lie(self, client, id, *allocate);
      return true;
    });
    auto connection = connect();
    auto held = connection.acquire(pmu::Request().event("cycles"));
    ASSERT_TRUE(held);

    const auto lease = connection.acquire(request);

    ASSERT_FALSE(lease);
    ASSERT_TRUE(lease.error().error) << lease.error().message();
    EXPECT_EQ(lease.error().error->code, ErrorCode::kCorrupt) << lease.error().message();
    EXPECT_TRUE(notices_.await(pmu::LeaseNotice::Kind::kAdrift));
    // The same arbiter plays by the rules now, and is given another chance.
    EXPECT_TRUE(notices_.await(pmu::LeaseNotice::Kind::kReclaimed));
    EXPECT_TRUE(held->is_in_force());
  }
};

// Memory that is not sealed.
inline UniqueFd memory(std::size_t bytes) {
  UniqueFd memory(::memfd_create("lie", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
  return memory;
}

inline pmu::Granted good_grant(ScriptedArbiter& self, const pmu::Allocate& asked) {
  return self.grant_for(asked);
}

}  // namespace meterbank::test
