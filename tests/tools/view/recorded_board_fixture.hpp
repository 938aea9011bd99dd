// SPDX-License-Identifier: Apache-2.0
//
// A board over a recording of the kitchen.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "board_fixture.hpp"
#include "cli/session/exit_code.hpp"
#include "record/kept_ticks.hpp"

namespace meterbank::view {

class RecordedBoard : public BoardTest {
 protected:
  // `moments` of them, in which the balance counts up from 0.
  void record(int moments) {
    std::thread recorder([&] {
      const auto outcome = meterbank(
          {"record", "-o", log_, "-i", "20ms", "--for", std::to_string(20 * moments) + "ms"});
      EXPECT_EQ(outcome.code, cli::kExitDone) << outcome.err;
      is_over_ = true;
    });
    for (int balance = 0; !is_over_; ++balance) {
      soup_.gauge(cli::Dish::kBalance).set_signed(balance);
      serve_a_hundred();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    recorder.join();
  }

  // Samples 10 ms apart by both clocks, each after `act(moment)`, of all counters in `directory`.
  template <typename Act>
  void save_evenly(const std::string& directory, int moments, Act act) {
    auto catalog = *Catalog::open({.directory = directory});
    auto query = *Query::compile(catalog, {});
    record::KeptTicks kept({.ticks_max = static_cast<std::size_t>(moments)});
    Sample sample;
    for (int moment = 0; moment < moments; ++moment) {
      act(moment);
      query.collect(sample);
      const std::uint64_t since = kStepNs * static_cast<std::uint64_t>(moment);
      sample.time = {.monotonic_ns = kStepNs + since, .realtime_ns = kBeginNs + since};
      kept.add(catalog, query, sample);
    }
    ASSERT_TRUE(kept.save(log_, "test", std::chrono::milliseconds(10)));
  }

  static constexpr std::uint64_t kStepNs = 10'000'000, kBeginNs = 1'700'000'000'000'000'000;
  const std::string log_ = file("kitchen.mbr");
  std::atomic<bool> is_over_ = false;
};

}  // namespace meterbank::view
