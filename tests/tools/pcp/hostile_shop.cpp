// SPDX-License-Identifier: Apache-2.0
//
// A provider with names that no service should choose: 10,500 counters and 10,000 instances whose
// names become one name in PCP, names of 1,023 bytes, quotes, and bytes that are not UTF-8. Ends
// with its standard input.
#include <sys/mman.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/publisher.hpp"

namespace {

using meterbank::CounterSpec;

constexpr std::size_t kSets = 3;
constexpr std::size_t kCounters = 3500;
constexpr std::size_t kInstances = 10'000;
constexpr std::string_view kMarker = "marker-to-be-overwritten";

// Each bit of `number` doubles a letter's separator, or takes another one.
std::string variant(std::size_t number, std::string_view one, std::string_view other) {
  constexpr std::size_t kBits = 14;
  std::string name = "a";
  for (std::size_t bit = 0; bit < kBits; ++bit) {
    name.append((number >> bit & 1U) != 0 ? other : one).append("b");
  }
  return name;
}

// Writes what the library refuses over names that it accepted, as a hostile provider would: its
// memory is its own.
void overwrite_markers() {
  constexpr std::string_view kHostile = "\"\n\\\x01\xff\xfe\xc0\x80\x1b[2J'{}%n,:\t\r";
  static_assert(kHostile.size() <= kMarker.size());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::array<char, 5> rights{};
    const int found =
        std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights.data());
    const bool is_shared = found == 3 && std::string_view(rights.data()) == "rw-s";
    if (!is_shared || line.find("memfd") == std::string::npos) continue;
    auto* at = reinterpret_cast<char*>(begin);
    auto* const last = reinterpret_cast<char*>(end);
    while (true) {
      at = static_cast<char*>(
          ::memmem(at, static_cast<std::size_t>(last - at), kMarker.data(), kMarker.size()));
      if (at == nullptr) break;
      std::memcpy(at, kHostile.data(), kHostile.size());
      ++at;
    }
  }
}

int complain(const meterbank::Error& error) {
  std::cerr << error.message() << '\n';
  return 3;
}

}  // namespace

int main() {
  auto provider = meterbank::Provider::create(
      {.name = "say \"hi\" / \\ \xc3\xbc", .bytes_max = std::uint64_t{256} << 20});
  if (!provider) return complain(provider.error());
  std::vector<std::string> names;
  for (std::size_t counter = 0; counter < kCounters; ++counter) {
    names.push_back(variant(counter, "_", "__"));
  }
  std::vector<CounterSpec> counters;
  for (const std::string& name : names) {
    counters.push_back({.id = static_cast<std::uint32_t>(counters.size() + 1),
                        .name = name,
                        .symbol = name,
                        .unit = "a\"b",
                        .help = "say \"hi\""});
  }
  const std::array<std::string, kSets> sets = {"same_name", "Same__Name", "same___name"};
  std::vector<meterbank::Instance> instances;
  std::vector<meterbank::Registration> registrations;
  for (const std::string& set : sets) {
    auto added = provider->add({.name = set, .symbol = set, .counters = counters});
    if (!added) return complain(added.error());
    auto instance = added->create_instance("one");
    if (!instance) return complain(instance.error());
    instances.push_back(std::move(*instance));
    registrations.push_back(std::move(*added));
  }
  const std::string longest(1023, '"');
  const std::array few{CounterSpec{.id = 1, .name = longest, .symbol = "quotes"},
                       CounterSpec{.id = 2, .name = kMarker, .symbol = "_9_", .help = kMarker}};
  auto crowd = provider->add(
      {.name = longest, .symbol = "crowd", .help = kMarker, .label = kMarker, .counters = few});
  if (!crowd) return complain(crowd.error());
  for (std::size_t number = 0; number < kInstances; ++number) {
    auto instance = crowd->create_instance(variant(number, " ", "_"));
    if (!instance) return complain(instance.error());
    instance->add(0U, number);
    instances.push_back(std::move(*instance));
  }
  for (const std::string& name : {longest, std::string(kMarker)}) {
    auto instance = crowd->create_instance(name);
    if (!instance) return complain(instance.error());
    instances.push_back(std::move(*instance));
  }
  overwrite_markers();
  std::cout << "ready" << std::endl;
  std::cin.ignore(1'000'000, EOF);
  return 0;
}
