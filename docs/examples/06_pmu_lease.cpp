// SPDX-License-Identifier: Apache-2.0
//
// A counter of the processor, leased: one that counts how often a variable is written.
#include <atomic>
#include <cstdio>

#include "meterbank/pmu.hpp"

namespace pmu = meterbank::pmu;

int main() {
  auto arbiter = pmu::Connection::connect({});
  if (!arbiter) return std::fprintf(stderr, "%s\n", arbiter.error().message().c_str()), 1;

  static std::atomic<std::uint64_t> watched{0};
  auto lease = arbiter->acquire(
      pmu::Request()
          .breakpoint(reinterpret_cast<std::uint64_t>(&watched), 8, pmu::Watch::kWrite)
          .this_thread()
          .wait(std::chrono::seconds(5))  // other clients may have all counters
          .label("an example"));
  // The sentence names its holder, and until when.
  if (!lease) return std::printf("not granted: %s\n", lease.error().message().c_str()), 0;

  for (int write = 0; write < 1000; ++write) watched.store(1, std::memory_order_relaxed);

  const auto values = lease->read();
  if (!values) return std::fprintf(stderr, "%s\n", values.error().message().c_str()), 1;
  // Asked after reading: the value was counted for this lease.
  if (!lease->is_in_force()) return std::printf("not granted: taken away meanwhile\n"), 0;
  const std::string quality(name_of(values->head.quality));
  std::printf("written %llu times (%s)\n",
              static_cast<unsigned long long>(values->values.at(0).value), quality.c_str());
}  // the destructor gives the counter back
