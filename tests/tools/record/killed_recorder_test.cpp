// SPDX-License-Identifier: Apache-2.0
//
// SIGKILL at arbitrary moments: a child records ticks as fast as they are written, and says how
// many were. Whatever the moment, all of these are there, and at most the one that was being taken.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "../../support/comes_true.hpp"
#include "../../support/depth.hpp"
#include "../../support/orders_schema.hpp"
#include "made_ticks.hpp"
#include "meterbank/publisher.hpp"
#include "record/recorder.hpp"

namespace meterbank::record {
namespace {

// Both processes have it.
struct Told {
  std::atomic<std::uint64_t> written;  // by the child: ticks
};

// Ticks of about a kilobyte, so that a life begins several files.
[[noreturn]] void record_for_ever(const std::string& segments, const std::string& path,
                                  Told& told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto provider = *Provider::create({.name = "shop", .directory = segments});
  auto orders = *provider.add(test::kOrders);
  std::vector<Instance> venues;
  for (int venue = 0; venue < 150; ++venue) {
    venues.push_back(*orders.create_instance("venue " + std::to_string(venue)));
  }
  AppenderOptions files;
  files.path = path;
  files.is_ring = true;
  files.bytes_max = 2 << 20U;
  auto recorder = *Recorder::open({.catalog = {.directory = segments},
                                   .rates = {RatePlan{}},
                                   .files = files,
                                   .program = "test"});
  std::minstd_rand noise(1);
  for (std::uint64_t tick = 1;; ++tick) {
    for (Instance& venue : venues) {
      venue.update([&](Values& values) {
        values.set(0U, tick);
        values.set(1U, noise());
      });
    }
    const std::uint64_t before = recorder.file_counts().bytes;
    recorder.tick_everything();
    while (recorder.file_counts().bytes == before) {
      if (recorder.file_counts().lost != 0) ::_exit(1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    // relaxed: the other process needs this number only
    told.written.store(tick, std::memory_order_relaxed);
  }
}

// What each recorder left, by the order of their files.
std::vector<std::vector<std::uint64_t>> lives_in(const std::string& path, std::size_t& damages) {
  std::vector<std::vector<std::uint64_t>> lives;
  auto recording = recording::Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().message();
  if (!recording) return lives;
  while (recording->next()) {
    auto query = *Query::compile(recording->catalog(), {"*/*/accepted"});
    Sample sample;
    query.collect(sample, recording->time());
    const std::uint64_t number = (*(*sample.rows().begin()).begin()).raw.value;
    if (number == 1 || lives.empty()) lives.emplace_back();
    for (const Row& row : sample.rows()) {
      for (const Value& value : row) EXPECT_EQ(value.raw.value, number);
    }
    lives.back().push_back(number);
  }
  damages = recording->damages().size();
  return lives;
}

class KilledRecorder : public testing::Test {
 protected:
  KilledRecorder() {
    void* const page =
        ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told_ = new (page) Told{};
  }
  ~KilledRecorder() override { ::munmap(told_, sizeof(Told)); }

  // relaxed, both: a number, which orders nothing
  [[nodiscard]] std::uint64_t written() const {
    return told_->written.load(std::memory_order_relaxed);
  }

  // A life of a recorder; how many ticks it said to have written.
  std::uint64_t live_and_die(const std::string& path) {
    const test::TemporaryDirectory segments;
    told_->written.store(0, std::memory_order_relaxed);
    const pid_t child = ::fork();
    if (child == 0) record_for_ever(segments.path(), path, *told_);
    const std::uint64_t least = dice_() % 4 == 0 ? dice_() % 150 : dice_() % 20;
    EXPECT_TRUE(test::comes_true([&] { return written() >= least; })) << written();
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(dice_() % 2000);
    while (std::chrono::steady_clock::now() < end) {
    }
    ::kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    return written();
  }

  Told* told_;
  std::mt19937 dice_{std::random_device{}()};
};

TEST_F(KilledRecorder, LosesAtMostTheTickThatItWasWriting) {
  constexpr std::size_t kLives = 4;
  const std::uint64_t kills = test::depth(test::tries(100), 500);
  std::uint64_t torn = 0, ticks = 0;
  for (std::uint64_t kill = 0; kill < kills;) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.path() + "/ring";
    std::vector<std::uint64_t> said;
    for (std::size_t life = 0; life < kLives; ++life, ++kill) {
      said.push_back(live_and_die(path));
      ticks += said.back();
    }
    // A recorder that was killed before its first tick left a head, or nothing.
    std::erase(said, 0U);
    std::size_t damages = 0;
    auto lives = lives_in(path, damages);
    std::erase_if(lives,
                  [&](const auto& life) { return life.size() == 1 && lives.size() > said.size(); });
    ASSERT_EQ(damages, 0U);
    ASSERT_EQ(lives.size(), said.size());
    for (std::size_t life = 0; life < lives.size(); ++life) {
      ASSERT_EQ(lives[life].back(), lives[life].size());
      ASSERT_GE(lives[life].size(), said[life]);
      ASSERT_LE(lives[life].size(), said[life] + 1);
    }
    const auto opened = recording::Recording::open(path);
    for (const auto& file : opened->files()) torn += file.unfinished != 0 ? 1 : 0;
  }
  std::cout << kills << " kills, " << ticks << " ticks, " << torn << " files with a torn tail\n";
}

}  // namespace
}  // namespace meterbank::record
