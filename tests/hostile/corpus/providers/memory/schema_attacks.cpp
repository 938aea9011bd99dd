// SPDX-License-Identifier: Apache-2.0
//
// Schemas whose numbers do not hold together.
#include <limits>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder = std::memory_order_relaxed;  // disorder is welcome

using Change = void (*)(PatchedProvider& provider);

[[noreturn]] void with_schema_of(const Stage& stage, Change change, const CountersetSpec& spec) {
  PatchedProvider provider(stage, spec);
  change(provider);
  provider.announce();
  stage.hold();
}

template <Change kChange>
[[noreturn]] void with_schema(const Stage& stage) {
  with_schema_of(stage, kChange, kAttacked);
}

// Eight rows of buckets over all that a scale of 3 has between 1 and 1,000.
CountersetSpec with_distribution(std::array<CounterSpec, 2>& counters) {
  counters = kLevelCounters;
  counters[1].form = ValueForm::kDistribution;
  counters[1].aggregate = kAggregateUndefined;
  counters[1].buckets = {.scale = 3, .least = 1, .most = 1000};
  CountersetSpec spec = kAttacked;
  spec.counters = counters;
  return spec;
}

constexpr std::array kAttacks{
    Attack{"ids_twice", "Two counters of one id.",
           with_schema<[](PatchedProvider& p) { p.counter(1).id = p.counter(0).id; }>,
           "left_out>|rows>"},
    Attack{"links_in_a_circle", "A counter that is its own base, clock and frequency.",
           with_schema<[](PatchedProvider& provider) {
             CounterRecord& counter = provider.counter(0);
             counter.type = 0x20020400;  // raw fraction
             counter.base = counter.time = counter.frequency = counter.multi = counter.id;
           }>,
           "left_out>|rows>"},
    Attack{"types_unknown", "Counter types that no formula knows, another each moment.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             stage.keep_on([&] {
               provider.counter(0).type = static_cast<std::uint32_t>(any_number());
               provider.counter(1).type = static_cast<std::uint32_t>(any_number());
               provider.announce();
             });
           }},
    Attack{"scales_out_of_range",
           "Values to be shown times 10 to the power of two thousand million.",
           with_schema<[](PatchedProvider& provider) {
             provider.counter(0).scale = std::numeric_limits<std::int32_t>::max();
             provider.counter(1).scale = std::numeric_limits<std::int32_t>::min();
             provider.counter(0).aggregate = 0xffffffff;
             provider.counter(0).detail = 0xffffffff;
           }>,
           "left_out>|rows>"},
    Attack{"texts_outside", "Texts that begin before, in and behind the schema.",
           with_schema<[](PatchedProvider& provider) {
             provider.counter(0).name = {0xffffff00, 0x200};
             provider.counter(0).unit = {0, 0xffffffff};
             provider.counter(1).help = {provider.registration().schema_bytes - 1, 100};
             provider.schema().help = {0, 96};
           }>,
           "left_out>"},
    Attack{"counters_more_than_bytes", "More counters than the schema has room for.",
           with_schema<[](PatchedProvider& p) { p.schema().counters = 4000; }>, "left_out>"},
    Attack{"counter_records_of_no_bytes", "A stride of zero.",
           with_schema<[](PatchedProvider& p) { p.schema().counter_bytes = 0; }>, "left_out>"},
    Attack{"kind_unknown", "A kind of instances that does not exist.",
           with_schema<[](PatchedProvider& provider) { provider.schema().instances = 0xffffffff; }>,
           "left_out>|rows>"},
    Attack{"words_out_of_the_block", "Counters whose further words lie beyond their block.",
           with_schema<[](PatchedProvider& provider) {
             provider.counter(0).form = ValueForm::kText;
             provider.counter(0).more_words = 0x7fffffff;
             provider.counter(1).form = ValueForm::kDistribution;
             provider.counter(1).more_words = 4;
             provider.counter(1).bucket_scale = 100;
           }>,
           "left_out>"},
    Attack{"buckets_beyond_all_numbers", "A first bucket whose value no double holds.",
           [](const Stage& stage) {
             std::array<CounterSpec, 2> counters;
             with_schema_of(
                 stage,
                 [](PatchedProvider& provider) {
                   provider.counter(1).bucket_first = std::numeric_limits<std::int32_t>::max();
                   provider.counter(1).bucket_scale = -4;
                 },
                 with_distribution(counters));
           },
           "left_out>|rows>"},
    Attack{
        "distribution_that_contradicts_itself",
        "A count of one, buckets of all ones, a sum that is not a number: shown as not cookable.",
        [](const Stage& stage) {
          std::array<CounterSpec, 2> counters;
          with_schema_of(
              stage,
              [](PatchedProvider& provider) {
                for (std::uint32_t slot = 0; slot < 3; ++slot) {
                  const BlockParts<SharedWord> block = provider.block(slot);
                  for (SharedWord* const copy : {block.copy0, block.copy1}) {
                    for (std::uint32_t word = 1; word < block.words; ++word) {
                      copy[word].store(slot == 0 ? ~std::uint64_t{0} : any_number(), kRelaxedOrder);
                    }
                    copy[1].store(slot, kRelaxedOrder);
                  }
                }
              },
              with_distribution(counters));
        },
        "rows>"},
    Attack{"schema_flickers", "The bytes of the schema change without pause.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             const std::uint32_t bytes = provider.registration().schema_bytes;
             std::vector<std::byte> honest(bytes);
             std::byte* const schema = provider.at(provider.registration().schema);
             std::copy_n(schema, bytes, honest.data());
             stage.keep_on([&, at = std::size_t{0}]() mutable {
               schema[at] = honest[at];
               at = any_number() % bytes;
               schema[at] = static_cast<std::byte>(any_number());
               provider.announce();
             });
           }},
};

}  // namespace

Attacks schema_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
