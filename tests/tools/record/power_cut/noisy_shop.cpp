// SPDX-License-Identifier: Apache-2.0
//
//   noisy_shop DIRECTORY
//
// A provider whose values can hardly be compressed, until its standard input ends.
#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "../../../support/orders_schema.hpp"
#include "meterbank/publisher.hpp"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  auto provider = *meterbank::Provider::create({.name = "shop", .directory = arguments[1]});
  auto orders = *provider.add(meterbank::test::kOrders);
  std::vector<meterbank::Instance> venues;
  for (int venue = 0; venue < 1000; ++venue) {
    venues.push_back(*orders.create_instance("venue " + std::to_string(venue)));
  }
  std::cout << "ready" << std::endl;
  std::minstd_rand noise(1);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  do {
    for (auto& venue : venues) {
      venue.update([&](meterbank::Values& values) {
        values.add(0U, 1);
        values.set(1U, noise());
      });
    }
  } while (::poll(&input, 1, 2) == 0);
  return 0;
}
