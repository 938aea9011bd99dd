// SPDX-License-Identifier: Apache-2.0
//
// Providers that say they are another one, or that their sets and rows are.
#include <cstring>

#include "identity.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder =
    std::memory_order_relaxed;  // the attacker is alone until it is ready

[[noreturn]] void as_healthy(const Stage& stage, const CountersetSpec& spec,
                             const std::vector<std::string>& rows,
                             std::string_view name = kAttackerName) {
  const PatchedProvider provider(stage, spec, rows, name);
  stage.hold();
}

// Three rows of the healthy set that are called as a healthy one, with one id.
[[noreturn]] void rows_of_one_name_and_id(const Stage& stage, InstanceIdentity identity) {
  CountersetSpec spec = kHealthyVenues;
  spec.identity = identity;
  PatchedProvider provider(stage, spec, {"x", "y", "z"});
  const std::uint64_t bytes = 2;
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    provider.put_name(slot, "eu");
    provider.descriptor(slot).identity.store(bytes << 32, kRelaxedOrder);
  }
  provider.announce();
  stage.hold();
}

constexpr std::array kAttacks{
    Attack{"same_set_same_rows",
           "The healthy set once more, with rows of the same names: both have theirs.",
           [](const Stage& stage) {
             as_healthy(stage, kHealthyVenues, {"eu", "us", "asia"});
           },
           "rows>", Place::kOwnDirectory, 1 + 2 + 3},
    Attack{"same_provider_name", "Called as the healthy provider, with its sets and rows.",
           [](const Stage& stage) {
             as_healthy(stage, kHealthyVenues, {"eu", "us", "asia"}, kHealthyName);
           },
           "", Place::kOwnDirectory, 1 + 2 + 3},
    Attack{"same_guid_other_description",
           "The healthy GUID for a set of another name: both are there.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.guid = kHealthyVenues.guid;
             as_healthy(stage, spec, {"one"});
           },
           "rows>"},
    Attack{"same_guid_single", "The healthy GUID for a set that has no instances.",
           [](const Stage& stage) {
             CountersetSpec spec = kHealthyVenues;
             spec.instances = InstanceKind::kSingle;
             as_healthy(stage, spec, {""});
           },
           "rows>"},
    Attack{"same_name_other_guid", "The healthy set's name and symbol, and another GUID.",
           [](const Stage& stage) {
             CountersetSpec spec = kHealthyVenues;
             spec.guid = {};
             as_healthy(stage, spec, {"mars"});
           },
           "rows>"},
    Attack{"counter_called_like_an_instance",
           "The healthy set with a counter called `eu`: healthy_venues/eu is the instance.",
           [](const Stage& stage) { counter_called_like_an_instance(stage); }, "rows>"},
    Attack{"total_row", "A row called `_Total` in the healthy set: the total is the reader's own.",
           [](const Stage& stage) { total_row(stage); }, "rows>", Place::kOwnDirectory, kTotalLie},
    Attack{"total_row_of_the_reserved_id", "The same with the id that is kept for the total.",
           [](const Stage& stage) {
             PatchedProvider provider(stage, kHealthyVenues, {"x"});
             provider.put_name(0, "_total");
             const std::uint64_t bytes = 6;
             provider.descriptor(0).identity.store(bytes << 32 | 0xfffffffe, kRelaxedOrder);
             provider.rows()[0].set(Level::kLevel, kTotalLie);
             provider.announce();
             stage.hold();
           },
           "rows>|left_out>", Place::kOwnDirectory, kTotalLie},
    Attack{"repeated_pair_in_a_unique_set",
           "Rows that only differ in their slots, in a set that says that names are unique.",
           [](const Stage& stage) { rows_of_one_name_and_id(stage, InstanceIdentity::kUnique); },
           "rows>", Place::kOwnDirectory, 1 + 2 + 3},
    Attack{"repeated_pair", "The same in a set that says that name and id together are unique.",
           [](const Stage& stage) { rows_of_one_name_and_id(stage, InstanceIdentity::kNameAndId); },
           "rows>", Place::kOwnDirectory, 1 + 2 + 3},
    Attack{"segment_id_of_the_healthy_provider", "A segment with the healthy one's random id.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             const PointerRecord healthy = *PointerRecord::parse(stage.healthy_record());
             const std::string path = "/proc/" + std::to_string(healthy.pid) + "/fd/" +
                                      std::to_string(healthy.descriptor);
             const int memory = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
             auto& id = provider.header().segment_id;
             if (::pread(memory, id.data(), sizeof id, offsetof(SegmentHeader, segment_id)) < 0) {
               return;
             }
             provider.announce();
             stage.hold();
           },
           "rows>"},
    Attack{"records_of_one_memory", "1,024 records of one memfd: one provider, counted once.",
           [](const Stage& stage) {
             const int memory = forge_memory({}, honest_image(stage, kHealthyVenues));
             PointerRecord record = record_for(memory);
             for (int i = 0; i < 1024; ++i) {
               record.name = "attacker" + std::to_string(i);
               publish(stage, record);
             }
             stage.hold();
           },
           "rows>", Place::kOwnDirectory, 1 + 2 + 3},
    Attack{"records_of_one_memory_by_other_descriptors",
           "500 descriptors of one memfd, a record each: one provider.",
           [](const Stage& stage) {
             const int memory = forge_memory({}, honest_image(stage, kHealthyVenues));
             for (int i = 0; i < 500; ++i) {
               publish(stage, record_for(::dup(memory), "attacker" + std::to_string(i)));
             }
             stage.hold();
           },
           "rows>", Place::kOwnDirectory, 1 + 2 + 3},
};

}  // namespace

void same_guid_older(const Stage& stage) {
  auto counters = kLevelCounters;
  counters[0].id = 70;
  counters[1].id = 71;
  counters[1].type = CounterType::kLargeRawCount;
  CountersetSpec spec = kHealthyVenues;
  spec.counters = std::span(counters).first(1);
  PatchedProvider provider(stage, spec, {"eu"});
  provider.header().created_realtime_ns = 0;
  provider.header().created_monotonic_ns = 0;
  provider.header().start_time = 0;
  provider.announce();
  stage.hold();
}

void counter_called_like_an_instance(const Stage& stage) {
  auto counters = kLevelCounters;
  counters[0].name = "eu";
  counters[0].symbol = "eu";
  CountersetSpec spec = kHealthyVenues;
  spec.guid = {};
  spec.counters = counters;
  const PatchedProvider provider(stage, spec);
  stage.hold();
}

void total_row(const Stage& stage) {
  PatchedProvider provider(stage, kHealthyVenues, {"_Total"});
  provider.rows()[0].set(Level::kLevel, kTotalLie);
  stage.hold();
}

Attacks identity_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
