// SPDX-License-Identifier: Apache-2.0
//
// Text that attacks the program that prints it, and what to look for in an output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meterbank::test {

// Bytes of every hostile text, so that one takes the place of another in memory.
inline constexpr std::size_t kHostileBytes = 48;

// Sequences in groups that fit into one text each. '<' stands before each sequence.
[[nodiscard]] const std::vector<std::string>& hostile_groups();

// "F07" and letters: a valid name, to be replaced by an invalid one.
[[nodiscard]] std::string harmless_text(std::string_view tag);
// "F07", the group, and letters.
[[nodiscard]] std::string hostile_text(std::string_view tag, std::string_view group);

// What of `output` a terminal might obey or a person might be misled by; empty if there is nothing.
// On a terminal, the sequences with which this program draws are no finding.
[[nodiscard]] std::string first_danger(std::string_view output, bool is_terminal);

}  // namespace meterbank::test
