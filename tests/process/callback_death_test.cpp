// SPDX-License-Identifier: Apache-2.0
//
// A provider that is killed while it computes an answer.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using namespace std::chrono_literals;
using test::kWaves;
using test::TemporaryDirectory;

void say(int pipe) { static_cast<void>(!::write(pipe, "x", 1)); }
bool hear(int pipe) {
  char byte = 0;
  return ::read(pipe, &byte, 1) == 1;
}

// A child that publishes, answers twice, then never again.
[[noreturn]] void publish(const std::string& directory, int pipe) {
  Provider provider = *Provider::create({.name = "sea", .directory = directory});
  int answers = 0;
  const auto waves =
      *provider.add(kWaves,
                    [&](CallbackRequest& request) {
                      if (request.reason() != CallbackReason::kCollect) return 0U;
                      if (++answers > 2) {
                        say(pipe);
                        for (;;) ::pause();
                      }
                      request.add("red", 3, std::array<std::uint64_t, 4>{10, 20, 30, 40});
                      return 0U;
                    },
                    {.serial = true});
  say(pipe);
  for (;;) ::pause();
}

TEST(CallbackDeath, AProviderThatIsKilledWhileItComputesIsGoneAtOnce) {
  const TemporaryDirectory directory;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) publish(directory.path(), ends[1]);
  ASSERT_TRUE(hear(ends[0]));
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  for (int round = 0; round < 2; ++round) {
    query.collect(sample, 20s);
    ASSERT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kAnswered);
  }
  std::thread killer([&] {
    hear(ends[0]);  // it is in the callback
    ::kill(child, SIGKILL);
  });
  // Far longer than a test may take: what ends the wait is the death.
  query.collect(sample, std::chrono::hours(1));
  killer.join();
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kGone);
  EXPECT_EQ(content_of(sample).status, std::vector{RowStatus::kUnanswered});
  ::waitpid(child, nullptr, 0);
  catalog.refresh();
  query.update(catalog);
  EXPECT_FALSE(query.asks());  // who is dead is not asked
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace meterbank
