// SPDX-License-Identifier: Apache-2.0
//
// The arbiter under load: holders that are killed, callers that flood, packets by the million.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "../../support/depth.hpp"
#include "exchange_script.hpp"
#include "meterbank/base/clock.hpp"
#include "pmud_process.hpp"

namespace meterbank::test {
namespace {

double ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

// The child only makes system calls that are safe after a fork, and holds what its parent's packet
// asks for until it is killed.
TEST(PmudStorm, NoLeaseOfAKilledHolderIsLost) {
  const int kills = static_cast<int>(test::depth(100, 10'000));
  PmudProcess pmud;
  RawClient eye = RawClient::greeted(pmud.socket());
  const std::size_t descriptors = pmud.descriptors();
  std::uint64_t longest = 0;
  std::mt19937 random(7);
  for (int i = 0; i < kills; ++i) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      die_with_parent();
      RawClient client = RawClient::greeted(pmud.socket());
      const pmu::Token token = token_of(client.ask(whole(0b11)));
      static_cast<void>(!::write(ends[1], &token, sizeof token));
      for (;;) ::pause();
    }
    ::close(ends[1]);
    pmu::Token token = 0;
    // Some are killed before they have what they want.
    if (random() % 4 != 0) {
      ASSERT_EQ(::read(ends[0], &token, sizeof token), static_cast<ssize_t>(sizeof token));
      ASSERT_NE(token, 0U);
    }
    const std::uint64_t killed = clock_ns(CLOCK_MONOTONIC);
    ::kill(child, SIGKILL);
    ASSERT_TRUE(comes_true([&] { return !eye.ledger()->is_in_force(token); }));
    const pmu::Token mine = token_of(eye.ask(waiting(whole(0b11))));
    ASSERT_NE(mine, 0U) << "kill " << i;
    longest = std::max(longest, clock_ns(CLOCK_MONOTONIC) - killed);
    ASSERT_TRUE(eye.ask(pmu::Free{mine}).has_value());
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
  }
  // The segment of its countersets grows by a few extents; nothing grows with the kills.
  EXPECT_TRUE(comes_true([&] { return pmud.descriptors() <= descriptors + 8; }));
  for (std::uint32_t slot = 0; slot < eye.ledger()->slot_count(); ++slot) {
    EXPECT_TRUE(comes_true([&] { return eye.ledger()->slot_word(slot) == 0; })) << slot;
  }
  std::printf("%d kills; from a kill to the next holder's grant at most %.2f ms\n", kills,
              ms(longest));
}

// Connects, sends rubbish or nothing, leaves; a thousand times a second.
TEST(PmudStorm, AHealthyClientIsServedThroughAFloodOfHostileOnes) {
  PmudProcess pmud;
  // Before the others, who are of the same user: together they may have all the places there are.
  RawClient healthy = RawClient::greeted(pmud.socket());
  std::atomic<bool> is_over{false};
  std::atomic<int> connects{0};
  std::thread flood([&] {
    std::mt19937 random(11);
    std::vector<RawClient> silent;
    auto next = std::chrono::steady_clock::now();
    // relaxed: wishes and counts carry no other values.
    while (!is_over.load(std::memory_order_relaxed)) {
      if (auto socket = PacketSocket::connect(pmud.socket())) {
        const std::vector<std::byte> rubbish(random() % 200 + 1, std::byte{3});
        if (random() % 3 != 0) static_cast<void>(socket->send(rubbish));
      }
      connects.fetch_add(1, std::memory_order_relaxed);
      next += std::chrono::milliseconds(1);
      std::this_thread::sleep_until(next);
    }
  });
  std::vector<std::uint64_t> times;
  const int rounds = static_cast<int>(test::depth(300, 10'000));
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t asked = clock_ns(CLOCK_MONOTONIC);
    const pmu::Token token = token_of(healthy.ask(events(1, 0b01)));
    times.push_back(clock_ns(CLOCK_MONOTONIC) - asked);
    ASSERT_NE(token, 0U);
    const auto freed = healthy.ask(pmu::Free{token});
    ASSERT_TRUE(freed && freed->as<pmu::Done>() != nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  is_over.store(true, std::memory_order_relaxed);
  flood.join();
  std::sort(times.begin(), times.end());
  std::printf(
      "%d hostile connections; a grant took %.3f ms in the middle, %.3f ms at 99 %%, %.3f ms"
      " at most\n",
      connects.load(std::memory_order_relaxed), ms(times[times.size() / 2]),
      ms(times[times.size() * 99 / 100]), ms(times.back()));
  // The flood took place, and the log stayed small.
  EXPECT_GE(connects.load(std::memory_order_relaxed), rounds / 2);  // relaxed: joined above
  EXPECT_LT(pmud.complaints().size(), std::size_t{1} << 16);
}

TEST(PmudStorm, NoPacketLeavesALeaseOrACounterBehind) {
  const std::uint64_t packets = test::depth(20'000, 10'000'000);
  std::mt19937_64 random(1);
  std::uint64_t sent = 0, granted = 0, rejected = 0;
  while (sent < packets) {
    ExchangeScript script;
    std::vector<std::uint8_t> bytes(4096);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    script.play(bytes);
    script.finish();  // fails the test if a lease or a counter is left
    sent += script.packets();
    granted += script.granted();
    rejected += script.rejected();
  }
  std::printf("%llu packets, %llu rejected, %llu leases\n", static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(rejected), static_cast<unsigned long long>(granted));
  EXPECT_GT(granted, packets / 200) << "packets that do not get far show little";
}

}  // namespace
}  // namespace meterbank::test
