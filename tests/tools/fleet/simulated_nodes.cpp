// SPDX-License-Identifier: Apache-2.0
//
// Providers of many nodes in one process: each has the order gateway of `meterbank demo` in a
// runtime directory of its own, FOLDER/node-000 and so on. Values change only when standard input
// says so: `NODE VENUE SECONDS` is one order and its latency. `.` is answered by a line when all
// before it is published.
//
// usage: meterbank_simulated_nodes FOLDER NODES
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/publisher.hpp"
#include "orders.hpp"

namespace {

constexpr std::array<std::string_view, 2> kVenues = {"eu", "us"};
// More digits than a double has: what goes through one shows it.
constexpr std::uint64_t kQueueDepth = (std::uint64_t{1} << 53) + 1;

struct Node {
  meterbank::Provider provider;
  std::vector<orders::DemoOrdersInstance> venues;
};

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "meterbank_simulated_nodes: " << why << '\n';
  std::exit(3);
}

template <typename T>
T must(meterbank::Result<T> result) {
  if (!result) give_up(result.error().message());
  return std::move(*result);
}

Node make_node(const std::filesystem::path& folder, std::size_t number) {
  std::ostringstream name;
  name << "node-" << std::setw(3) << std::setfill('0') << number;
  const std::filesystem::path directory = folder / name.str();
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  Node node{must(meterbank::Provider::create({.name = "orders", .directory = directory})), {}};
  orders::DemoOrders set = must(orders::DemoOrders::add(node.provider));
  for (const std::string_view venue : kVenues) {
    node.venues.push_back(must(set.create(venue)));
    node.venues.back().set_state("open");
    node.venues.back().set_queue_depth(kQueueDepth + number);
  }
  return node;
}

void take_order(orders::DemoOrdersInstance& venue, double seconds) {
  venue.update([&](orders::DemoOrdersUpdate& row) noexcept {
    row.add_accepted(1U);
    row.add_bytes_received(118U);
    row.record_latency(seconds);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) give_up("usage: meterbank_simulated_nodes FOLDER NODES");
  std::vector<Node> nodes;
  for (std::size_t number = 0; number < std::stoul(argv[2]); ++number) {
    nodes.push_back(make_node(argv[1], number));
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == ".") {
      std::cout << "published" << std::endl;
      continue;
    }
    std::istringstream words(line);
    std::size_t node = 0, venue = 0;
    double seconds = 0;
    if (!(words >> node >> venue >> seconds) || node >= nodes.size() || venue >= kVenues.size()) {
      give_up("not an order: " + line);
    }
    take_order(nodes[node].venues[venue], seconds);
  }
  return 0;
}
