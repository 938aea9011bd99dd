// SPDX-License-Identifier: Apache-2.0
//
// Hosts that name positions that are not there, and leave updates half way.
#include <array>
#include <stdexcept>

#include "../../support/cooked_values.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {
namespace {

constexpr std::array<std::uint32_t, 8> kNowhere{2,     3,          4095,       65535,
                                                65536, 0x7fffffff, 0x80000000, 0xffffffff};
constexpr std::size_t kRows = 5;

// What a reader sees of both counters of each row, seven times in a row.
bool is_read_as(const std::string& directory, std::uint64_t accepted, std::uint64_t bytes) {
  auto catalog = Catalog::open({.directory = directory});
  auto query = Query::compile(*catalog, {});
  Sample sample;
  for (int round = 0; round < 7; ++round) {
    query->collect(sample);
    const auto cooked = test::cooked_values(nullptr, sample);
    if (cooked.size() != 2 * kRows) return false;
    for (const test::KeptValue& row : cooked) {
      if (row.raw.value != (row.counter->symbol == "accepted" ? accepted : bytes)) return false;
    }
  }
  return true;
}

METERBANK_HOST(names_positions_outside_of_its_sets) {
  Provider provider = orders_provider(directory);
  AllRows rows(provider);
  std::uint64_t accepted = 0, bytes = 0;
  for (const std::uint32_t nowhere : kNowhere) {
    for (Instance* const row : {&rows.block, &rows.independent, &rows.cut}) {
      row->set(nowhere, 1);
      row->add(nowhere, 1);
      row->update([nowhere](Values& values) noexcept {
        values.add(Venue::kAccepted, 1);
        values.set(nowhere, 99);
        values.add(Venue::kBytes, 2);
      });
      row->update([nowhere](Values& values) noexcept { values.set(nowhere, 99); });
    }
    for (ShardedInstance* const row : {&rows.sharded, &rows.by_processor}) {
      row->add(nowhere, 1);
      row->update([nowhere](ShardValues& values) {
        values.add(Venue::kAccepted, 1);
        values.add(nowhere, 99);
        values.add(Venue::kBytes, 2);
      });
    }
    accepted += 1;
    bytes += 2;
    if (!is_read_as(directory, accepted, bytes)) {
      return wrong("an update with a wrong position is lost");
    }
  }
  return 0;
}

METERBANK_HOST(throws_in_updates) {
  Provider provider = orders_provider(directory);
  AllRows rows(provider);
  std::uint64_t bytes = 0;
  for (const std::uint32_t nowhere : kNowhere) {
    rows.independent.add(Venue::kBytes, 1);  // an update of it publishes word by word
    for (Instance* const row : {&rows.block, &rows.cut}) {
      try {
        row->update([nowhere](Values& values) {
          values.set(Venue::kBytes, 77);
          values.set(nowhere, 77);
          throw std::runtime_error("half way");
        });
      } catch (const std::runtime_error&) {
      }
      row->update([](Values& values) noexcept { values.add(Venue::kBytes, 1); });
    }
    for (ShardedInstance* const row : {&rows.sharded, &rows.by_processor}) {
      try {
        row->update([nowhere](ShardValues& values) {
          values.add(Venue::kBytes, 77);
          values.add(nowhere, 77);
          throw std::runtime_error("half way");
        });
      } catch (const std::runtime_error&) {
      }
      row->update([](ShardValues& values) { values.add(Venue::kBytes, 1); });
    }
    bytes += 1;
    if (!is_read_as(directory, 0, bytes)) return wrong("an update that threw was published");
  }
  return 0;
}

}  // namespace
}  // namespace meterbank::test
