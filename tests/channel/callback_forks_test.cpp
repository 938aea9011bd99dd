// SPDX-License-Identifier: Apache-2.0
//
// One registry locks the mutexes of all providers for a fork. A callback may therefore create
// providers and fork, also while another thread forks.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "../support/wave_schema.hpp"
#include "channel_fixture.hpp"

namespace meterbank {
namespace {

constexpr std::array<std::uint64_t, 4> kWaveRow{1, 2, 3, 4};

std::uint32_t add_wave_row(CallbackRequest& request) {
  request.add("", 0, kWaveRow);
  return 0;
}

// Forks a child that ends at once. True: it did.
bool fork_and_wait() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
}

TEST(CallbackForks, ACallbackMayCreateAProviderAndForkWhileAnotherThreadForks) {
  ::alarm(60);  // a deadlock would end here
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "sea", .directory = directory.path()});
  const auto create_and_fork = [&directory](CallbackRequest& request) {
    auto inner = Provider::create({.name = "inner", .directory = directory.path()});
    const bool is_made = inner && inner->add(test::kTide, add_wave_row) && fork_and_wait();
    return is_made ? add_wave_row(request) : 1U;
  };
  const auto waves = provider.add(test::kTide, create_and_fork);
  ASSERT_TRUE(waves);
  const auto catalog = Catalog::open({.directory = directory.path()});
  ASSERT_TRUE(catalog);
  ASSERT_FALSE(catalog->providers().empty());
  ChannelRequest request;
  request.type = MessageType::kCollect;
  request.registration = catalog->providers().at(0)->sets.at(0).registration;
  request.generation = catalog->providers().at(0)->sets.at(0).generation;

  std::atomic<bool> stop{false};
  std::thread forks([&stop] {
    while (!stop.load(std::memory_order_seq_cst)) EXPECT_TRUE(fork_and_wait());
  });
  test::AskingReader reader(provider.record());
  ASSERT_TRUE(reader.is_connected());
  for (std::uint64_t id = 1; id <= 20; ++id) {
    request.id = id;
    const auto got = reader.ask_and_wait(request);
    ASSERT_TRUE(got) << id;
    EXPECT_EQ(got->rows.size(), 1U) << id;
  }
  stop.store(true, std::memory_order_seq_cst);
  forks.join();
  ::alarm(0);
}

}  // namespace
}  // namespace meterbank
