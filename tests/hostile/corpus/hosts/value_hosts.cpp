// SPDX-License-Identifier: Apache-2.0
//
// Hosts that name positions that are not there, and leave updates half way.
#include <array>
#include <stdexcept>

#include "../../../support/cooked_values.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::hostile {
namespace {

constexpr std::array<std::uint32_t, 8> kNowhere{2,     3,          4095,       65535,
                                                65536, 0x7fffffff, 0x80000000, 0xffffffff};

// What a reader sees of both counters of each row, seven times in a row.
bool is_read_as(std::uint64_t level, std::uint64_t count) {
  auto catalog = Catalog::open({});
  auto query = Query::compile(*catalog, {});
  Sample sample;
  for (int round = 0; round < 7; ++round) {
    query->collect(sample);
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      const std::uint64_t wanted = row.counter->symbol == "level" ? level : count;
      if (row.raw.value != wanted) return false;
    }
  }
  return true;
}

int positions_out_of_range() {
  HostedProvider hosted({.name = "host"}, false);
  std::uint64_t level = 0, count = 0;
  for (const std::uint32_t nowhere : kNowhere) {
    for (Instance* const row : {&hosted.block, &hosted.independent, &hosted.cut}) {
      row->set(nowhere, 1);
      row->add(nowhere, 1);
      row->update([nowhere](Values& values) noexcept {
        values.add(Level::kLevel, 1);
        values.set(nowhere, 99);
        values.add(Level::kCount, 2);
      });
      row->update([nowhere](Values& values) noexcept { values.set(nowhere, 99); });
    }
    for (ShardedInstance* const row : {&hosted.sharded, &hosted.by_processor}) {
      row->add(nowhere, 1);
      row->update([nowhere](ShardValues& values) {
        values.add(Level::kLevel, 1);
        values.add(nowhere, 99);
        values.add(Level::kCount, 2);
      });
    }
    level += 1;
    count += 2;
    if (!is_read_as(level, count)) return fault("an update with a wrong position is lost");
  }
  return 0;
}

int updates_that_throw() {
  HostedProvider hosted({.name = "host"}, false);
  std::uint64_t count = 0;
  for (const std::uint32_t nowhere : kNowhere) {
    hosted.independent.add(Level::kCount, 1);  // an update of it publishes word by word
    for (Instance* const row : {&hosted.block, &hosted.cut}) {
      try {
        row->update([nowhere](Values& values) {
          values.set(Level::kCount, 77);
          values.set(nowhere, 77);
          throw std::runtime_error("half way");
        });
      } catch (const std::runtime_error&) {
      }
      row->update([](Values& values) noexcept { values.add(Level::kCount, 1); });
    }
    for (ShardedInstance* const row : {&hosted.sharded, &hosted.by_processor}) {
      try {
        row->update([nowhere](ShardValues& values) {
          values.add(Level::kCount, 77);
          values.add(nowhere, 77);
          throw std::runtime_error("half way");
        });
      } catch (const std::runtime_error&) {
      }
      row->update([](ShardValues& values) { values.add(Level::kCount, 1); });
    }
    count += 1;
    if (!is_read_as(0, count)) return fault("an update that threw was published");
  }
  return 0;
}

constexpr std::array kHosts{
    Host{"positions_out_of_range",
         "Positions outside the schema, alone and among good ones: "
         "they are ignored, and nothing else is lost.",
         positions_out_of_range},
    Host{"updates_that_throw", "Update functions that throw half way: nothing was published.",
         updates_that_throw},
};

}  // namespace

std::span<const Host> value_hosts() { return kHosts; }

}  // namespace meterbank::hostile
