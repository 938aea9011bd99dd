// SPDX-License-Identifier: Apache-2.0
//
// Providers that keep to every rule, and change as fast as they can.
#include <memory>
#include <string>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

ProviderOptions options(const Stage& stage) {
  return {.name = std::string(kAttackerName),
          .directory = stage.directory(),
          .quarantine = std::chrono::milliseconds(0)};
}

constexpr std::array kAttacks{
    Attack{"providers_flap", "A provider begins and ends, without pause.",
           [](const Stage& stage) {
             stage.keep_on([&] {
               const auto provider = Provider::create(options(stage));
               const auto set = Provider::create(options(stage))->add(kAttacked);
             });
           }},
    Attack{"sets_flap", "A set is registered and closed, without pause.",
           [](const Stage& stage) {
             Provider provider = *Provider::create(options(stage));
             stage.keep_on([&] {
               const auto set = provider.add(kAttacked);
               if (!set) return;
               const auto row = set->create_instance("row");
               set->close();
             });
           }},
    Attack{"sets_with_history_flap",
           "A set whose rows count on after their end comes and goes: what is kept is bounded.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.instances = InstanceKind::kGlobalAggregateHistory;
             stage.keep_on([&] {
               Provider provider = *Provider::create(options(stage));
               const auto set = provider.add(spec);
               if (!set) return;
               auto row = set->create_instance("");
               if (row) row->set(Level::kLevel, 1);
             });
           }},
    Attack{"history_of_new_sets",
           "A set with history under another GUID each moment, in the same memory.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.instances = InstanceKind::kGlobalAggregateHistory;
             PatchedProvider provider(stage, spec, {""});
             // relaxed: disorder is welcome.
             stage.keep_on([&] {
               provider.schema().guid.part1 = static_cast<std::uint32_t>(any_number());
               provider.registration().word.fetch_add(1 << 16, std::memory_order_relaxed);
               provider.announce();
             });
           }},
    Attack{"rows_flap", "Rows are created and closed, 100 at a time, without pause.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage, kAttacked, {});
             stage.keep_on([&, turn = 0]() mutable {
               std::vector<Instance> rows;
               for (int i = 0; i < 100; ++i) {
                 auto row = provider.set().create_instance("row" + std::to_string(turn++));
                 if (row) rows.push_back(*std::move(row));
               }
             });
           }},
    Attack{"rows_change_names", "A slot is given to a row of another name each moment.",
           [](const Stage& stage) {
             PatchedProvider provider(stage);
             stage.keep_on([&] {
               provider.put_name(0, std::to_string(any_number()));
               provider.registration().membership.fetch_add(1, std::memory_order_relaxed);
               provider.announce();
             });
           },
           "rows>"},
    Attack{"extents_grow", "A provider that fills its 24 extents and begins anew.",
           [](const Stage& stage) {
             stage.keep_on([&] {
               Provider provider = *Provider::create(options(stage));
               const auto set = provider.add(kAttacked);
               std::vector<Instance> rows;
               for (int i = 0; set && i < 2000; ++i) {
                 auto row = set->create_instance(std::string(900, 'e') + std::to_string(i));
                 if (row) rows.push_back(*std::move(row));
               }
             });
           },
           "", Place::kOwnDirectory, 0, 4 << 20},  // it grows behind the runner's back
    Attack{"extents_flicker", "The list of extents changes, and their number.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             const int more = forge_memory({.bytes = 4096}, {});
             const PointerRecord facts = record_for(more);
             stage.keep_on([&] {
               SegmentHeader& header = provider.header();
               for (std::size_t i = 1; i < kExtentsMax; ++i) {
                 header.extents[i] = {any_number(), any_number() % 2 == 0 ? facts.inode : 1,
                                      facts.descriptor + static_cast<unsigned>(any_number() % 2),
                                      0};
               }
               header.extents_count.store(static_cast<std::uint32_t>(any_number() % 40),
                                          std::memory_order_relaxed);  // disorder is welcome
               provider.announce();
             });
           }},
    Attack{"records_are_replaced", "A record is written anew, under the same name, without pause.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             const PointerRecord record = provider.record();
             // Its keeper sees the change and writes the record, too: one of the two may lose.
             stage.keep_on([&] { static_cast<void>(write_record(stage.directory(), record)); });
           }},
};

}  // namespace

Attacks motion_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
