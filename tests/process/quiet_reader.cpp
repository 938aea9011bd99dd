// SPDX-License-Identifier: Apache-2.0
//
//   quiet_reader COLLECTS [one_call_between]
//
// Takes snapshots through the reader library between two system calls that nothing else here makes:
// a tracer of this program sees whether any other was made between them. It is its own provider,
// without a keeper thread, and publishes between the snapshots.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "../support/orders_schema.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using test::Venue;

void mark() { ::syscall(SYS_getppid); }

bool follow(std::uint64_t collects, bool one_call_between) {
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create(
      {.name = "quiet", .directory = directory.path(), .heartbeat = std::chrono::milliseconds(0)});
  Instance instance = *provider.add(test::kOrders)->create_instance("eu");
  auto catalog = *Catalog::open({.directory = directory.path()});
  auto query = *Query::compile(catalog, {"demo_orders"});
  Sample sample;
  query.prepare(sample);
  std::uint64_t right = 0;
  mark();
  for (std::uint64_t number = 1; number <= collects; ++number) {
    instance.update([number](Values& values) noexcept {
      values.set(Venue::kAccepted, number);
      values.set(Venue::kBytes, 2 * number);
    });
    const CollectSummary summary = query.collect(sample, Timestamp{number, number});
    const bool is_right = summary.rows == 1 && summary.not_fresh == 0 && !summary.stale &&
                          !catalog.stale() && content_of(sample).row(0)[0] == number &&
                          content_of(sample).row(0)[1] == 2 * number;
    right += is_right ? 1U : 0U;
    if (one_call_between && number == collects / 2) ::syscall(SYS_getuid);
  }
  mark();
  return right == collects;
}

}  // namespace
}  // namespace meterbank

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool one_call_between = argc > 2 && std::string_view(argv[2]) == "one_call_between";
  return meterbank::follow(std::strtoull(argv[1], nullptr, 10), one_call_between) ? 0 : 1;
}
