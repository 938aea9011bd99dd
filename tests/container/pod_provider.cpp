// SPDX-License-Identifier: Apache-2.0
//
//   meterbank_pod_provider NAME VALUE [crash]
//
// Publishes one counter that holds VALUE until it is stopped, in the folder of its user or the one
// that METERBANK_DIR names, or ends without closing it. Writes its pid on the machine, as POD_PID
// has it, when readers see it.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "meterbank/publisher.hpp"

namespace mb = meterbank;

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  constexpr std::array kCounters{mb::CounterSpec{
      .id = 1, .name = "Accepted", .symbol = "accepted", .type = mb::CounterType::kLargeRawCount}};
  auto provider = mb::Provider::create({.name = words[1]});
  if (!provider) return ::fprintf(stderr, "%s\n", provider.error().message().c_str()), 1;
  const auto set = provider->add(
      {.name = "Pod Orders", .symbol = "pod_orders", .label = "venue", .counters = kCounters});
  if (!set) return ::fprintf(stderr, "%s\n", set.error().message().c_str()), 1;
  auto row = set->create_instance("main");
  if (!row) return ::fprintf(stderr, "%s\n", row.error().message().c_str()), 1;
  row->add(0, ::strtoull(words[2], nullptr, 10));

  const char* const pid = ::getenv("POD_PID");
  ::printf("%s\n", pid == nullptr ? "-" : pid);
  ::fflush(stdout);
  if (count == 4) ::_exit(0);
  for (;;) ::pause();
}
