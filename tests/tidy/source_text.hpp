// SPDX-License-Identifier: Apache-2.0
//
// The source tree as text: what the tidy rules look at. A file is split into layers of equal
// length, so that a rule about code never trips over prose and an offset means the same in every
// layer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::tidy {

struct SourceFile {
  std::string path;  // relative to the root, with forward slashes
  std::string text;
};

// Each layer has the length and the line breaks of the text; what it does not hold is blank.
struct Layers {
  std::string code;         // neither comments nor the insides of literals
  std::string comments;     // only comments
  std::string uncommented;  // everything but comments
};

// Knows line and block comments, string, character and raw string literals, digit separators.
[[nodiscard]] Layers split_layers(std::string_view text);

[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

// The number of the line that holds `offset`, from 1.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

// CMake files and scripts: the text without comments.
[[nodiscard]] std::string without_hash_comments(std::string_view text);

// Without blanks at the beginning.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

[[nodiscard]] bool is_word_character(char c) noexcept;

// The offset just behind the bracket that closes the one at `open`; npos when there is none.
[[nodiscard]] std::size_t behind_closing_bracket(std::string_view code, std::size_t open);

// Offsets of `word` where it stands as a whole word.
[[nodiscard]] std::vector<std::size_t> find_words(std::string_view code, std::string_view word);

[[nodiscard]] bool is_cpp(std::string_view path) noexcept;  // .hpp .cpp .h
[[nodiscard]] bool is_under(std::string_view path, std::string_view folder) noexcept;
[[nodiscard]] std::string_view folder_of(std::string_view path) noexcept;  // "" at the root
[[nodiscard]] std::string_view name_of(std::string_view path) noexcept;

// Every regular file under `root`, sorted by path. Build trees and hidden folders other than .ci
// are no part of the source; of other files than text ones only the path is kept.
[[nodiscard]] std::vector<SourceFile> read_tree(const std::filesystem::path& root);

}  // namespace meterbank::tidy
