// SPDX-License-Identifier: Apache-2.0
//
// Text of a manifest as it may stand in C and C++: UTF-8 without control characters, as check()
// wants it. It stays what it is, except characters that turn the direction of writing: compilers
// warn of those.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meterbank::generator {

// Between the quotes of "..." and L"...".
[[nodiscard]] std::string c_text(std::string_view text);

// Between the quotes of a resource script's L"...".
[[nodiscard]] std::string resource_text(std::string_view text);

// On one line of a comment, whatever is in it: a file's name may be anything. The template has to
// end the line with something else, because a backslash there would continue the comment.
[[nodiscard]] std::string comment_text(std::string_view text);

// Whole lines of a comment, without the slashes in front.
[[nodiscard]] std::vector<std::string> comment_lines(std::string_view text);

}  // namespace meterbank::generator
