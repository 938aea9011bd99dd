// SPDX-License-Identifier: Apache-2.0
//
// docs/host-counters.md against the manifests.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/sets/sets.hpp"
#include "meterbank/shm/counter_type.hpp"

namespace meterbank::host {
namespace {

using SetOf = const CountersetSpec& (*)() noexcept;

constexpr std::array<SetOf, 16> kSets{processor_information_set,
                                      processor_set,
                                      system_set,
                                      objects_set,
                                      memory_set,
                                      paging_file_set,
                                      disk_set,
                                      logical_disk_set,
                                      network_set,
                                      link_set,
                                      tcp_set,
                                      udp4_set,
                                      udp6_set,
                                      process_v2_set,
                                      process_set,
                                      process_io_set};

std::string page() {
  std::ifstream stream(METERBANK_HOST_PAGE);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// From the heading of the set to the next one; empty: there is none.
std::string_view section_of(std::string_view page, std::string_view set) {
  const auto begin = page.find("\n## " + std::string(set) + "\n");
  if (begin == std::string_view::npos) return {};
  const auto end = page.find("\n## ", begin + 1);
  return page.substr(begin, end == std::string_view::npos ? end : end - begin);
}

// As manifests spell it.
std::string_view short_name(CounterType type) {
  std::string_view name = name_of(type);
  for (const std::string_view prefix : {"perf_", "counter_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name;
}

// A row as it must begin; what follows is its source.
std::string row_of(const CounterSpec& counter) {
  std::string row = "\n| `" + std::string(counter.symbol) + "` | " + std::string(counter.name) +
                    " | " + std::to_string(counter.id);
  if (counter.base != kNoCounter) row += ", base " + std::to_string(counter.base);
  if (counter.time != kNoCounter) row += ", time " + std::to_string(counter.time);
  if (counter.frequency != kNoCounter) row += ", frequency " + std::to_string(counter.frequency);
  return row + " | " + std::string(short_name(counter.type)) + " | ";
}

// Why the page does not describe the set; no value: it does.
std::optional<std::string> difference(std::string_view page, const CountersetSpec& set) {
  const std::string_view section = section_of(page, set.name);
  if (section.find("\n\n`" + std::string(set.symbol) + "`. ") == std::string_view::npos) {
    return "no section " + std::string(set.name);
  }
  std::size_t named = 0;
  for (const CounterSpec& counter : set.counters) {
    if (counter.name.empty()) continue;
    ++named;
    const std::string row = row_of(counter);
    const auto at = section.find(row);
    if (at == std::string_view::npos) return "no row" + row;
    const std::string_view source = section.substr(at + row.size());
    if (source.substr(0, source.find('\n')).size() < std::string_view("/x |").size()) {
      return "no source of" + row;
    }
  }
  if (count(section, "\n| `") != named) return "too many rows of " + std::string(set.name);
  return std::nullopt;
}

TEST(HostPage, HasEveryCounterOfTheManifestsWithASourceAndNoOther) {
  const std::string text = page();
  std::size_t rows = 0;
  for (const SetOf set : kSets) {
    EXPECT_EQ(difference(text, set()).value_or(""), "");
    rows += count(section_of(text, set().name), "\n| `");
  }
  EXPECT_EQ(count(text, "\n| `"), rows);  // no table of a set that does not exist
}

TEST(HostPage, ComparesEveryManifestOfTheFolder) {
  std::size_t sets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(METERBANK_HOST_FOLDER)) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream stream(entry.path());
    const std::string manifest{std::istreambuf_iterator<char>(stream), {}};
    sets += count(manifest, "[[counterset]]");
  }
  EXPECT_EQ(sets, kSets.size());
}

// What the comparison is good for: each of these pages is wrong.
TEST(HostPageControl, FindsEveryKindOfDifference) {
  const std::string good = page();
  ASSERT_FALSE(difference(good, udp4_set()));
  const auto replaced = [&](std::string_view old_text, std::string_view new_text) {
    std::string text = good;
    const auto at = text.find(old_text, text.find("\n## UDPv4\n"));
    EXPECT_NE(at, std::string::npos) << old_text;
    return text.replace(at, old_text.size(), new_text);
  };
  for (const auto& [old_text, new_text] :
       {std::pair{"| Datagrams/sec |", "| Datagrams |"}, std::pair{"| 3 |", "| 4 |"},
        std::pair{"| bulk_count |", "| counter |"},
        std::pair{"| /proc/net/snmp Udp: NoPorts |", "| |"},
        std::pair{"\n| `datagrams_sent`", "\n| `x` | X | 9 | counter | /y |\n| `datagrams_sent`"},
        std::pair{"\n## UDPv4\n", "\n## UDP\n"}}) {
    EXPECT_TRUE(difference(replaced(old_text, new_text), udp4_set())) << old_text;
  }
}

}  // namespace
}  // namespace meterbank::host
