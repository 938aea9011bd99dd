// SPDX-License-Identifier: Apache-2.0
//
// Readers whose process the provider cannot hold, and so may not learn of its end.
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "../support/forbidden_calls.hpp"
#include "../support/wave_schema.hpp"
#include "channel_fixture.hpp"

namespace meterbank {
namespace {

using test::ForbiddenCall;

constexpr std::uint32_t kPeerProcess = 77;  // SO_PEERPIDFD
constexpr int kServed = 0, kTurnedAway = 1, kNotPrepared = 2;

int ask(const std::string& directory) {
  auto provider = Provider::create({.name = "sea", .directory = directory});
  if (!provider) return kNotPrepared;
  const auto waves = provider->add(test::kTide, [](CallbackRequest& request) {
    request.add("", 0, std::array<std::uint64_t, 4>{1, 2, 3, 4});
    return 0U;
  });
  const auto catalog = Catalog::open({.directory = directory});
  if (!waves || !catalog || catalog->providers().empty()) return kNotPrepared;
  test::AskingReader reader(provider->record());
  if (!reader.is_connected()) return kNotPrepared;
  ChannelRequest request;
  request.type = MessageType::kCollect;
  request.registration = catalog->providers().at(0)->sets.at(0).registration;
  request.generation = catalog->providers().at(0)->sets.at(0).generation;
  const auto answer = reader.ask_and_wait(request);
  return answer && answer->rows.size() == 1 ? kServed : kTurnedAway;
}

// How a provider treats a reader where these calls fail; in a process of its own.
int treated_where(const std::vector<ForbiddenCall>& calls) {
  const test::TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(test::forbid(calls) ? ask(directory.path()) : kNotPrepared);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kNotPrepared;
}

TEST(UnheldPeer, IsServedWhereTheKernelCannotTell) {
  EXPECT_EQ(treated_where({}), kServed);
  EXPECT_EQ(treated_where({{SYS_getsockopt, ENOPROTOOPT, kPeerProcess}}), kServed);
  EXPECT_EQ(treated_where({{SYS_getsockopt, ENOPROTOOPT, kPeerProcess}, {SYS_pidfd_open, ENOSYS}}),
            kServed);
  EXPECT_EQ(treated_where({{SYS_getsockopt, EPERM, kPeerProcess}}), kServed);
}

TEST(UnheldPeer, IsRefusedWithoutADescriptorForIt) {
  EXPECT_EQ(treated_where({{SYS_getsockopt, EMFILE, kPeerProcess}}), kTurnedAway);
  EXPECT_EQ(treated_where({{SYS_getsockopt, ENOPROTOOPT, kPeerProcess}, {SYS_pidfd_open, EMFILE}}),
            kTurnedAway);
}

// Its id may be another process's, which must not be watched in its place.
TEST(UnheldPeer, IsTurnedAwayWhenItHasEnded) {
  EXPECT_EQ(treated_where({{SYS_getsockopt, EINVAL, kPeerProcess}}), kTurnedAway);
  EXPECT_EQ(treated_where({{SYS_getsockopt, ESRCH, kPeerProcess}}), kTurnedAway);
}

}  // namespace
}  // namespace meterbank
