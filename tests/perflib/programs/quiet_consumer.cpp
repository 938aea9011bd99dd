// SPDX-License-Identifier: Apache-2.0
//
//   quiet_consumer READS [one_call_between]
//
// Reads through PerfLib between two system calls that nothing else here makes, so that a tracer
// of this program sees whether a read makes any. Ends with 1 unless all reads were right and
// none of them allocated.
#include <perflib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "../../support/allocation_count.hpp"
#include "../../support/orders_schema.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/perflib/scan_interval.hpp"

namespace meterbank {
namespace {

void mark() { ::syscall(SYS_getppid); }

HANDLE open_query() {
  HANDLE query = nullptr;
  PerfOpenQueryHandle(nullptr, &query);
  struct {
    PERF_COUNTER_IDENTIFIER header;
    WCHAR name[2];
  } wanted = {{{}, 0, sizeof(wanted), PERF_WILDCARD_COUNTER, 0xffffffff, 0, 0}, {L'*', 0}};
  std::memcpy(&wanted.header.CounterSetGuid, &test::kOrders.guid, sizeof(GUID));
  PerfAddCounters(query, &wanted.header, sizeof wanted);
  return query;
}

bool follow(std::uint64_t reads, bool one_call_between) {
  const test::TemporaryDirectory directory;
  ::setenv("METERBANK_DIR", directory.path().c_str(), 1);
  auto provider = *Provider::create(
      {.name = "quiet", .directory = directory.path(), .heartbeat = std::chrono::milliseconds(0)});
  Instance instance = *provider.add(test::kOrders)->create_instance("eu");
  set_scan_interval(kNeverScan);
  const HANDLE query = open_query();
  alignas(8) BYTE block[256];
  DWORD size = 0;
  PerfQueryCounterData(query, reinterpret_cast<PPERF_DATA_HEADER>(block), sizeof block, &size);
  const std::size_t values_at = size - 3 * 16 + 8;
  const std::size_t allocations = test::allocations_made();
  std::uint64_t right = 0;
  mark();
  for (std::uint64_t number = 1; number <= reads; ++number) {
    instance.set(test::Venue::kAccepted, number);
    const ULONG error = PerfQueryCounterData(query, reinterpret_cast<PPERF_DATA_HEADER>(block),
                                             sizeof block, &size);
    std::uint64_t value = 0;
    std::memcpy(&value, block + values_at, sizeof value);
    right += error == ERROR_SUCCESS && value == number ? 1U : 0U;
    if (one_call_between && number == reads / 2) ::syscall(SYS_getuid);
  }
  mark();
  const bool allocated = test::allocations_made() != allocations;
  PerfCloseQueryHandle(query);
  return right == reads && !allocated;
}

}  // namespace
}  // namespace meterbank

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool one_call_between = argc > 2 && std::string_view(argv[2]) == "one_call_between";
  return meterbank::follow(std::strtoull(argv[1], nullptr, 10), one_call_between) ? 0 : 1;
}
