// SPDX-License-Identifier: Apache-2.0
//
// Takes an open breakpoint over from the image that this process had before: adopts the descriptor
// that is its first argument, writes four times to the address that is its second, and exits with
// what was counted. Above 100: what went wrong.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "arbiter/backend/perf/perf_backend.hpp"

int main(int count, char** arguments) {
  using namespace meterbank::arbiter;
  if (count != 3) return 110;
  const int descriptor = std::atoi(arguments[1]);
  const std::uintptr_t address = std::strtoull(arguments[2], nullptr, 10);
  void* const page = ::mmap(reinterpret_cast<void*>(address), 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) return 111;
  auto backend = PerfBackend::open({});
  if (!backend.has_value()) return 112;
  const auto pmu = (*backend)->machine().topology.find_pmu("breakpoint");
  if (!pmu.has_value()) return 113;
  SavedCarrier saved;
  saved.carrier = 1;
  saved.openings.resize(1);
  saved.openings[0].pmu = *pmu;
  saved.openings[0].task = static_cast<std::uint32_t>(::getpid());
  saved.openings[0].event = {2, 8, address};
  saved.descriptors = {descriptor};
  (*backend)->adopt({saved});
  const std::atomic_ref word(*static_cast<std::uint64_t*>(page));
  // relaxed: it is only to be written, each time.
  for (std::uint64_t i = 0; i < 4; ++i) word.store(i, std::memory_order_relaxed);
  const std::vector<Reading> readings = (*backend)->read(1);
  if (readings.size() != 1 || !readings[0].has_counter) return 114;
  return static_cast<int>(readings[0].value);
}
