// SPDX-License-Identifier: Apache-2.0
//
// Blocks, checkpoints, epochs, shards and stamps that lie.
#include <cmath>
#include <limits>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder = std::memory_order_relaxed;  // disorder is welcome

template <auto kStep>
[[noreturn]] void change_blocks(const Stage& stage) {
  PatchedProvider provider(stage);
  const std::array blocks{provider.block(0), provider.block(1), provider.block(2)};
  stage.keep_on([&] {
    for (const auto& block : blocks) kStep(block);
  });
}

CountersetSpec gauges(std::array<CounterSpec, 2>& counters) {
  counters = kLevelCounters;
  for (CounterSpec& counter : counters) {
    counter.type = CounterType::kLargeRawCount;
    counter.form = ValueForm::kReal;
    counter.timed = true;
    counter.aggregate = kAggregateUndefined;
  }
  CountersetSpec spec = kAttacked;
  spec.counters = counters;
  return spec;
}

constexpr std::array kAttacks{
    Attack{"seq_always_odd", "The sequence number is odd for ever: copy 1 is read, or nothing.",
           [](const Stage& stage) {
             PatchedProvider provider(stage);
             for (std::uint32_t slot = 0; slot < 3; ++slot) {
               provider.block(slot).seq->store(0x7fffffffffffffff, kRelaxedOrder);
             }
             stage.hold();
           },
           "rows>"},
    Attack{"seq_at_random", "Another sequence number each moment: reads end after a few attempts.",
           change_blocks<[](const auto& b) { b.seq->store(any_number(), kRelaxedOrder); }>,
           "rows>"},
    Attack{"seq_never_settles", "The sequence number grows, and the checkpoint's, too.",
           change_blocks<[](const auto& block) {
             block.seq->fetch_add(1, kRelaxedOrder);
             block.checkpoint->fetch_add(1, kRelaxedOrder);
           }>,
           "rows>"},
    Attack{"seq_jumps_back", "Versions from the beginning to the end and back.",
           change_blocks<[](const auto& block) {
             const std::uint64_t now = block.seq->load(kRelaxedOrder);
             block.seq->store(now < 4 ? ~std::uint64_t{1} : 2, kRelaxedOrder);
           }>,
           "rows>"},
    Attack{"checkpoints_lie", "Checkpoints of versions to come, of other words, half written.",
           change_blocks<[](const auto& block) {
             block.seq->fetch_add(1, kRelaxedOrder);
             for (std::uint32_t word = 0; word < checkpoint_words(block.words); ++word) {
               block.checkpoint[word].store(any_number() | 1ULL << 63, kRelaxedOrder);
             }
           }>,
           "rows>"},
    Attack{"epochs_lie", "A settled epoch of the end of time, and saved states of any.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.cuts = true;
             PatchedProvider provider(stage, spec);
             const BlockParts<SharedWord> block = provider.block(0);
             stage.keep_on([&] {
               provider.header().settled_epoch.store(any_number() >> (any_number() % 64),
                                                     kRelaxedOrder);
               for (std::uint32_t word = 0; word < cut_words(block.words); ++word) {
                 block.cut[word].store(any_number() >> (any_number() % 64), kRelaxedOrder);
               }
             });
           },
           "rows>"},
    Attack{"shards_lie", "Shards of other lives and states, that change without pause.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.shards = 8;
             PatchedProvider provider(stage, spec);
             ShardedInstance row = *provider.set().create_sharded_instance("row");
             stage.keep_on([&] {
               const auto shard = static_cast<std::uint32_t>(any_number() % 9);
               const BlockParts<SharedWord> block = provider.block(0, shard);
               block.slot->store(any_number() >> (any_number() % 64), kRelaxedOrder);
               block.seq->store(any_number() >> (any_number() % 64), kRelaxedOrder);
             });
           }},
    Attack{"values_of_all_ones", "The largest number in each word, then the smallest.",
           change_blocks<[](const auto& block) {
             for (std::uint32_t word = 0; word < block.words; ++word) {
               const std::uint64_t now = block.copy0[word].load(kRelaxedOrder);
               block.copy0[word].store(~now | 1, kRelaxedOrder);
               block.copy1[word].store(~now & 1, kRelaxedOrder);
             }
           }>,
           "rows>"},
    Attack{"gauges_that_are_no_numbers", "NaN, infinity and denormal numbers, timed to come.",
           [](const Stage& stage) {
             std::array<CounterSpec, 2> counters;
             const CountersetSpec spec = gauges(counters);
             PatchedProvider provider(stage, spec);
             const std::array bits{~std::uint64_t{0}, std::uint64_t{0x7ff0000000000000},
                                   std::uint64_t{0xfff0000000000000}, std::uint64_t{1}};
             stage.keep_on([&, turn = 0U]() mutable {
               for (std::uint32_t slot = 0; slot < 3; ++slot) {
                 const BlockParts<SharedWord> block = provider.block(slot);
                 for (std::uint32_t word = 0; word < block.words; ++word) {
                   block.copy0[word].store(bits[turn++ % bits.size()], kRelaxedOrder);
                   block.copy1[word].store(bits[turn++ % bits.size()], kRelaxedOrder);
                 }
               }
             });
           },
           "rows>"},
    Attack{"stamps_to_come", "Values that will be true at the end of time.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             spec.stamped = true;
             PatchedProvider provider(stage, spec);
             for (Instance& row : provider.rows()) {
               row.update([](Values& values) noexcept { values.stamp(~std::uint64_t{0}); });
             }
             stage.hold();
           },
           "rows>"},
    Attack{"generations_flap", "Slots begin a new life, or an older one, without pause.",
           change_blocks<[](const auto& b) { b.slot->store(any_number(), kRelaxedOrder); }>},
    Attack{"memberships_flap", "The membership word moves, back and forth, and the rows with it.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             stage.keep_on([&] {
               provider.registration().membership.store(any_number(), kRelaxedOrder);
               provider.registration().live_instances.store(any_number(), kRelaxedOrder);
               provider.registration().interest.store(any_number(), kRelaxedOrder);
               provider.announce();
             });
           }},
    Attack{"registration_states_flap", "Inserted, closing, closed and free, without pause.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             stage.keep_on([&] {
               provider.registration().word.store(any_number(), kRelaxedOrder);
               provider.announce();
             });
           }},
    Attack{"rows_of_one_torn_block", "Writes to the copy that is read, in the middle of reads.",
           change_blocks<[](const auto& block) {
             const std::uint64_t value = any_number() % 1000;
             for (std::uint32_t word = 0; word < block.words; ++word) {
               block.copy0[word].store(value, kRelaxedOrder);
             }
           }>,
           "rows>"},
};

}  // namespace

Attacks value_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
