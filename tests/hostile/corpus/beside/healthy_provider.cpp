// SPDX-License-Identifier: Apache-2.0
//
// Publishes what healthy.hpp says until it is killed. Says "ready" when everything is there.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "healthy.hpp"

namespace meterbank::hostile {
namespace {

std::uint32_t add_pools(CallbackRequest& request) {
  std::uint32_t id = 0;
  for (const HealthyRow& row : kHealthyRows) {
    if (row.set != kHealthyPools.symbol) continue;
    request.add(row.instance, id++, std::array<std::uint64_t, 2>{row.level, row.level});
  }
  return 0;
}

int publish() {
  auto provider = Provider::create({.name = std::string(kHealthyName)});
  if (!provider) {
    std::fprintf(stderr, "%s\n", provider.error().message().c_str());
    return 1;
  }
  const auto venues = provider->add(kHealthyVenues);
  const auto machine = provider->add(kHealthyMachine);
  const auto pools = provider->add(kHealthyPools, add_pools);
  if (!venues || !machine || !pools) return 1;
  std::vector<Instance> kept;
  for (const HealthyRow& row : kHealthyRows) {
    if (row.set == kHealthyPools.symbol) continue;
    const Registration& set = row.set == kHealthyVenues.symbol ? *venues : *machine;
    kept.push_back(*set.create_instance(row.instance));
    kept.back().update([&row](Values& values) noexcept {
      values.set(Level::kLevel, row.level);
      values.set(Level::kCount, row.level);
    });
  }
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}

}  // namespace
}  // namespace meterbank::hostile

int main() { return meterbank::hostile::publish(); }
