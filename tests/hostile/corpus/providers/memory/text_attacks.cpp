// SPDX-License-Identifier: Apache-2.0
//
// Texts that steer a terminal, a spreadsheet or a path.
#include <cstring>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder =
    std::memory_order_relaxed;  // the attacker is alone until it is ready
// Title, clipboard, bell, clear screen; C1 in two bytes; delete.
constexpr std::string_view kControls =
    "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[2J\xc2\x9b"
    "31m\x7f\x08\x0e";
constexpr std::string_view kBidi = "\u202eabc\u2066\u2069\u200f\u061c";

// One text wherever the schema has any, and in a name of a row.
[[noreturn]] void everywhere(const Stage& stage, std::string_view text) {
  PatchedProvider provider(stage);
  provider.put(&SchemaHeader::help, text);
  provider.put(&SchemaHeader::label, text);
  for (std::size_t i = 0; i < 2; ++i) {
    provider.put(i, &CounterRecord::unit, text);
    provider.put(i, &CounterRecord::help, text);
    provider.put(i, &CounterRecord::name, "n" + std::to_string(i) + std::string(text));
    provider.put(i, &CounterRecord::symbol, "s" + std::to_string(i) + std::string(text));
  }
  provider.put(&SchemaHeader::name, "n" + std::string(text));
  provider.put(&SchemaHeader::symbol, "s" + std::string(text));
  provider.put_name(0, text);
  provider.put_name(1, std::string(text) + "and" + std::string(text) + std::string(30, 'l'));
  provider.announce();
  stage.hold();
}

[[noreturn]] void one_text(const Stage& stage, TextRef SchemaHeader::*field) {
  PatchedProvider provider(stage);
  provider.put(field, kControls);
  provider.announce();
  stage.hold();
}
[[noreturn]] void one_text(const Stage& stage, TextRef CounterRecord::*field) {
  PatchedProvider provider(stage);
  provider.put(0, field, kControls);
  provider.announce();
  stage.hold();
}

// Eight rows at most: as many as the first group has.
[[noreturn]] void rows_called(const Stage& stage, const std::vector<std::string>& names) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < names.size(); ++i) plain.push_back("row" + std::to_string(i));
  PatchedProvider provider(stage, kAttacked, plain);
  for (std::uint32_t i = 0; i < names.size(); ++i) provider.put_name(i, names[i]);
  provider.announce();
  stage.hold();
}

constexpr std::array kAttacks{
    Attack{"controls_in_every_text",
           "Escape sequences in each text of a schema and in names: none reaches a terminal.",
           [](const Stage& stage) { everywhere(stage, kControls); }, "left_out>|rows>"},
    Attack{"controls_in_the_set_name", "Escape sequences in the name of a set alone.",
           [](const Stage& stage) { one_text(stage, &SchemaHeader::name); }, "left_out>|rows>"},
    Attack{"controls_in_the_set_symbol", "Escape sequences in the symbol of a set alone.",
           [](const Stage& stage) { one_text(stage, &SchemaHeader::symbol); }, "left_out>|rows>"},
    Attack{"controls_in_the_help", "Escape sequences in the help of a set alone.",
           [](const Stage& stage) { one_text(stage, &SchemaHeader::help); }, "left_out>|rows>"},
    Attack{"controls_in_the_label", "Escape sequences in what an instance is, alone.",
           [](const Stage& stage) { one_text(stage, &SchemaHeader::label); }, "left_out>|rows>"},
    Attack{"controls_in_a_unit", "Escape sequences in the unit of a counter alone.",
           [](const Stage& stage) { one_text(stage, &CounterRecord::unit); }, "left_out>|rows>"},
    Attack{"controls_in_a_counter_name", "Escape sequences in the name of a counter alone.",
           [](const Stage& stage) { one_text(stage, &CounterRecord::name); }, "left_out>|rows>"},
    Attack{"controls_in_row_names", "Escape sequences, line ends, tabs and a NUL in names.",
           [](const Stage& stage) {
             rows_called(stage, {std::string(kControls), "line\nforged\t1\t2", "a\rb",
                                 std::string("nul\0behind", 10), "\xc2\x85next\xe2\x80\xa8line"});
           },
           "rows>|left_out>"},
    Attack{"bidi_in_every_text", "Marks that turn text around: shown, not obeyed.",
           [](const Stage& stage) { everywhere(stage, kBidi); }, "left_out>|rows>"},
    Attack{"broken_utf8_in_every_text", "Bytes that are no UTF-8: repaired or left out.",
           [](const Stage& stage) { everywhere(stage, "\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90"); },
           "left_out>|rows>"},
    Attack{"names_of_1023_bytes", "The longest names there are, and one that is longer.",
           [](const Stage& stage) {
             rows_called(stage, {std::string(1023, 'w'), std::string(1020, '\xcc') + "abc",
                                 std::string(1024, 'x'), std::string(4096, 'y')});
           },
           "rows>"},
    Attack{"names_that_are_paths", "Stars, slashes, numbers, dots and brackets as names.",
           [](const Stage& stage) {
             rows_called(stage, {"*", "?", "/", "a/b", "#1", "..", "a#0", "[x]"});
           },
           "rows>"},
    Attack{"names_that_are_options", "What a command line, printf() or a path would take apart.",
           [](const Stage& stage) {
             rows_called(stage, {"\\\\healthy", "-n", "healthy:healthy_venues", "(eu)", "%s%n",
                                 "{x}", "--", "healthy_venues/eu"});
           },
           "rows>"},
    Attack{"names_that_are_formulas", "Names that a spreadsheet would run.",
           [](const Stage& stage) {
             rows_called(stage, {"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\"=1\"", ",=1",
                                 "'=1", ";=1"});
           },
           "rows>"},
    Attack{"names_equal_but_for_case", "Names that are one up to case, and one that is empty.",
           [](const Stage& stage) {
             rows_called(stage, {"row", "ROW", "Row", ""});
           },
           "rows>"},
    Attack{"provider_name_with_controls", "Escape sequences in the header's name of the provider.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             std::memcpy(provider.header().name.data(), kControls.data(), kControls.size());
             provider.header().name_bytes = static_cast<std::uint32_t>(kControls.size());
             provider.announce();
             stage.hold();
           },
           "rows>"},
    Attack{"text_value_with_controls", "A text as a value, of escape sequences, then too long.",
           [](const Stage& stage) {
             auto counters = kLevelCounters;
             counters[0].type = CounterType::kText;
             counters[0].form = ValueForm::kText;
             counters[0].text_bytes = 64;
             counters[0].aggregate = kAggregateUndefined;
             CountersetSpec spec = kAttacked;
             spec.counters = counters;
             PatchedProvider provider(stage, spec);
             for (std::uint32_t slot = 0; slot < 3; ++slot) {
               const BlockParts<SharedWord> block = provider.block(slot);
               for (SharedWord* const copy : {block.copy0, block.copy1}) {
                 copy[0].store(slot == 2 ? ~std::uint64_t{0} : kControls.size(), kRelaxedOrder);
                 std::memcpy(static_cast<void*>(copy + 2), kControls.data(), kControls.size());
               }
             }
             stage.hold();
           },
           "rows>"},
};

}  // namespace

Attacks text_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
