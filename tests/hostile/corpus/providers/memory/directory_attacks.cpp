// SPDX-License-Identifier: Apache-2.0
//
// Directories that lead in circles, overlap, or lead out of the memory.
#include <cstring>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder = std::memory_order_relaxed;  // disorder is welcome

template <auto kChange>
[[noreturn]] void with_directory(const Stage& stage) {
  PatchedProvider provider(stage);
  kChange(provider);
  provider.announce();
  stage.hold();
}

void list_more(PatchedProvider& provider, std::uint32_t count,
               const std::function<Ref(std::uint32_t, Ref)>& place) {
  SegmentHeader& header = provider.header();
  const Ref first = header.registrations[0].load(kRelaxedOrder);
  for (std::uint32_t i = 1; i < count; ++i)
    header.registrations[i].store(place(i, first), kRelaxedOrder);
  header.registrations_count.store(count, kRelaxedOrder);
}

constexpr std::array kAttacks{
    Attack{"groups_in_a_ring", "A group that follows itself: the walk ends.",
           with_directory<[](PatchedProvider& provider) {
             provider.group().next.store(provider.group_ref(), kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"groups_in_a_ring_of_two", "Two groups that follow each other: the walk ends.",
           with_directory<[](PatchedProvider& provider) {
             const Ref second = make_ref(0, provider.bytes() - 16 * 1024);
             auto* const group = new (provider.at(second)) GroupHeader{};
             group->slots = 8;
             group->next.store(provider.group_ref(), kRelaxedOrder);
             provider.group().next.store(second, kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"registrations_overlap", "Each registration begins inside the one before.",
           with_directory<[](PatchedProvider& provider) {
             list_more(provider, 200, [](std::uint32_t i, Ref first) { return first + i * 64; });
           }>,
           "left_out>"},
    Attack{"registration_listed_256_times", "One registration in all places: it counts once.",
           with_directory<[](PatchedProvider& provider) {
             list_more(provider, 256, [](std::uint32_t, Ref first) { return first; });
           }>,
           "left_out>"},
    Attack{"registrations_share_rows", "200 registrations of one list of groups.",
           with_directory<[](PatchedProvider& provider) {
             const std::uint32_t room = provider.bytes() - 48 * 1024;
             list_more(provider, 200, [&](std::uint32_t i, Ref first) {
               const Ref copy = make_ref(0, room + i * 128);
               std::memcpy(provider.at(copy), provider.at(first), sizeof(RegistrationRecord));
               return copy;
             });
           }>,
           "left_out>|rows>"},
    Attack{"schema_inside_a_block", "The schema is where values are written without pause.",
           [](const Stage& stage) {
             PatchedProvider provider(stage);
             provider.registration().schema = provider.group_ref() + 64;
             provider.announce();
             stage.keep_on([&] { provider.rows()[0].set(Level::kLevel, any_number()); });
           },
           "left_out>|rows>"},
    Attack{"schema_in_the_header", "The schema is the segment header.",
           with_directory<[](PatchedProvider& provider) {
             provider.registration().schema = make_ref(0, 64);
           }>,
           "left_out>"},
    Attack{"schema_of_a_gibibyte", "schema_bytes is beyond all memory: nothing is allocated.",
           with_directory<[](PatchedProvider& provider) {
             provider.registration().schema_bytes = 0x40000000;
           }>,
           "left_out>"},
    Attack{"group_of_too_many_slots", "Four thousand million slots in a group.",
           with_directory<[](PatchedProvider& provider) { provider.group().slots = 0xfffffff8; }>,
           "left_out>"},
    Attack{"group_of_no_slots", "A group of none.",
           with_directory<[](PatchedProvider& p) { p.group().slots = 0; }>, "left_out>"},
    Attack{"group_of_odd_slots", "A number of slots that is not a multiple of eight.",
           with_directory<[](PatchedProvider& p) { p.group().slots = 11; }>, "left_out>"},
    Attack{"group_across_the_end", "A group that begins in the last line of the memory.",
           with_directory<[](PatchedProvider& provider) {
             const Ref last = make_ref(0, provider.bytes() - 64);
             (new (provider.at(last)) GroupHeader{})->slots = 8;
             provider.registration().first_group.store(last, kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"group_misaligned", "A group that begins within a line.",
           with_directory<[](PatchedProvider& provider) {
             provider.registration().first_group.store(provider.group_ref() + 8, kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"form_of_4096_words", "Blocks of 4,096 words where there are two counters.",
           with_directory<[](PatchedProvider& p) { p.registration().words = 4096; }>, "left_out>"},
    Attack{"form_of_seven_lanes", "Seven slots that share a head, which no form has.",
           with_directory<[](PatchedProvider& p) { p.registration().lanes = 7; }>, "left_out>"},
    Attack{"form_of_many_shards", "1,025 shards of two words in 64 KiB.",
           with_directory<[](PatchedProvider& p) { p.registration().shards = 1025; }>, "left_out>"},
    Attack{"names_overlap", "All long names are one piece of memory, which ends at the end.",
           with_directory<[](PatchedProvider& provider) {
             const Ref end = make_ref(0, provider.bytes() - 1023);
             std::memset(static_cast<void*>(provider.at(end)), 'n', 1023);
             for (std::uint32_t slot = 0; slot < 3; ++slot) {
               SlotDescriptor& row = provider.descriptor(slot);
               row.identity.store(std::uint64_t{1023} << 32 | slot, kRelaxedOrder);
               row.name.store(end + slot % 2, kRelaxedOrder);
             }
           }>,
           "rows>|left_out>"},
    Attack{"rows_of_one_id", "All rows have one id, which is reserved.",
           with_directory<[](PatchedProvider& provider) {
             for (std::uint32_t slot = 0; slot < 3; ++slot) {
               provider.descriptor(slot).identity.store(std::uint64_t{3} << 32 | 0xfffffffe,
                                                        kRelaxedOrder);
             }
           }>,
           "rows>|left_out>"},
    Attack{"registration_flickers",
           "Forms, references and words of the registration change without pause.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             auto& record = provider.registration();
             auto* const words = reinterpret_cast<SharedWord*>(&record);
             std::array<std::uint64_t, sizeof(RegistrationRecord) / 8> honest{};
             std::memcpy(honest.data(), static_cast<const void*>(&record), sizeof record);
             stage.keep_on([&] {
               const std::size_t at = any_number() % honest.size();
               words[at].store(any_number() % 2 == 0 ? honest[at] : any_number() >> 40,
                               kRelaxedOrder);
               provider.announce();
             });
           }},
    Attack{"directory_flickers", "Any word of the directory changes, and is right again.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             auto* const words = reinterpret_cast<SharedWord*>(provider.at(0));
             std::vector<std::uint64_t> honest(16 * 1024 / 8);
             std::memcpy(honest.data(), provider.at(0), honest.size() * 8);
             stage.keep_on([&, at = std::size_t{0}]() mutable {
               words[at].store(honest[at], kRelaxedOrder);
               at = any_number() % honest.size();
               words[at].store(any_number() >> (any_number() % 64), kRelaxedOrder);
             });
           }},
};

}  // namespace

Attacks directory_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
