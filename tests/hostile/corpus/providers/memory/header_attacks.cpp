// SPDX-License-Identifier: Apache-2.0
//
// Headers that contradict themselves.
#include <cstring>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

// relaxed, all stores here: disorder is welcome.
constexpr auto kRelaxedOrder = std::memory_order_relaxed;

template <auto kChange>
[[noreturn]] void with_header(const Stage& stage) {
  const PatchedProvider provider(stage);
  kChange(provider.header());
  stage.hold();
}

constexpr std::array kAttacks{
    Attack{"header_without_magic", "No magic word: the memory is refused by name.",
           with_header<[](SegmentHeader& header) { header.magic.store(0, kRelaxedOrder); }>,
           "error=NOT_A_SEGMENT"},
    Attack{"header_of_another_byte_order", "The ABI mark is reversed: refused by name.",
           with_header<[](SegmentHeader& header) { header.abi_mark = 0x08030201; }>,
           "error=WRONG_ABI"},
    Attack{"header_of_a_newer_layout", "A major version to come: refused, with the remedy.",
           with_header<[](SegmentHeader& header) { header.layout_major = 0xffff; }>,
           "error=NEWER_LAYOUT"},
    Attack{"header_of_layout_zero", "A major version that never was: refused as corrupt.",
           with_header<[](SegmentHeader& header) { header.layout_major = 0; }>, "error=CORRUPT"},
    Attack{"header_too_short", "header_bytes is smaller than the header: refused as corrupt.",
           with_header<[](SegmentHeader& header) { header.header_bytes = 64; }>, "error=CORRUPT"},
    Attack{"header_longer_than_memory",
           "header_bytes and name_bytes are the largest numbers: nothing is read by them.",
           with_header<[](SegmentHeader& header) {
             header.header_bytes = 0xffffffff;
             header.name_bytes = 0xffffffff;
             header.name.fill('\x1b');
           }>,
           "state=live"},
    Attack{"header_counts_huge",
           "Four thousand million registrations and extents: the fixed limits decide.",
           with_header<[](SegmentHeader& header) {
             header.registrations_count.store(0xffffffff, kRelaxedOrder);
             header.extents_count.store(0xffffffff, kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"header_refs_everywhere",
           "All 256 registrations point anywhere: each is left out for itself.",
           with_header<[](SegmentHeader& header) {
             for (std::size_t i = 1; i < kRegistrationsMax; ++i) {
               const auto ref = make_ref(any_number() % 3 == 0 ? 7 : 0,
                                         static_cast<std::uint32_t>(any_number() % 80000));
               header.registrations[i].store(ref, kRelaxedOrder);
             }
             header.registrations_count.store(kRegistrationsMax, kRelaxedOrder);
             header.directory_version.fetch_add(1, kRelaxedOrder);
           }>,
           "left_out>"},
    Attack{"header_flickers",
           "Magic word, ABI mark and version change without pause: attached or not, never half.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             SegmentHeader& header = provider.header();
             stage.keep_on([&] {
               header.magic.store(any_number() % 2 == 0 ? kSegmentMagic : any_number(),
                                  kRelaxedOrder);
               header.abi_mark = any_number() % 2 == 0 ? kAbiMark : 0;
               header.layout_major = static_cast<std::uint16_t>(any_number() % 3);
             });
           }},
    Attack{"header_version_runs",
           "The directory changes without pause, and nothing in it: nothing waits for it to end.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             stage.keep_on([&] { provider.announce(); });
           },
           "rows>"},
    Attack{"header_log_lies",
           "The log of changes names any slots of any sets, and the directory changes each time.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             SegmentHeader& header = provider.header();
             stage.keep_on([&] {
               const std::uint64_t next = header.directory_version.load(kRelaxedOrder) + 1;
               const std::uint64_t any = any_number() % 2 == 0 ? any_number() : any_number() % 20;
               header.changes[next % kChangesKept].store(next << 32 | (any & 0xffffffff),
                                                         kRelaxedOrder);
               header.directory_version.store(next, kRelaxedOrder);
             });
           },
           "rows>"},
    Attack{"header_state_unknown", "A state that does not exist: read as any other that lives.",
           with_header<[](SegmentHeader& header) { header.state.store(77, kRelaxedOrder); }>,
           "state=live|state=hung"},
    Attack{"header_closed_while_live",
           "Says that it is closed and goes on: its own rows are final, those of others are not.",
           [](const Stage& stage) {
             PatchedProvider provider(stage);
             provider.header().state.store(2, kRelaxedOrder);
             provider.announce();
             stage.keep_on([&] { provider.rows()[0].add(Level::kLevel, 1); });
           },
           "state=closed"},
    Attack{"header_all_ones",
           "Each byte behind the magic word is 0xff: refused without a look at the rest.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             std::memset(static_cast<void*>(provider.at(8)), 0xff, 300);
             stage.hold();
           },
           "error=WRONG_ABI"},
};

}  // namespace

Attacks header_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
