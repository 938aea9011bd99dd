// SPDX-License-Identifier: Apache-2.0
#include "source_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;

// The word that ends just before `offset`: a literal's prefix, or the number of a digit separator.
std::string_view word_before(std::string_view text, std::size_t offset) {
  std::size_t begin = offset;
  while (begin > 0 && is_word_character(text[begin - 1])) --begin;
  return text.substr(begin, offset - begin);
}

// Each of these returns the offset just behind the token that begins at `begin`.
std::size_t behind_quoted(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != text[begin] && text[at] != '\n') {
    at += text[at] == '\\' ? std::size_t{2} : std::size_t{1};
  }
  return std::min(at + 1, text.size());
}

std::size_t behind_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == kNone) return text.size();
  std::string close = ")";
  close += text.substr(quote + 1, open - quote - 1);
  close += '"';
  const std::size_t end = text.find(close, open);
  return end == kNone ? text.size() : end + close.size();
}

std::size_t behind_comment(std::string_view text, std::size_t begin) {
  const bool is_line = text[begin + 1] == '/';
  const std::size_t end = text.find(is_line ? "\n" : "*/", begin + 2);
  if (end == kNone) return text.size();
  return is_line ? end : end + 2;
}

enum class Token { kCode, kComment, kLiteral };

struct Piece {
  Token token;
  std::size_t end;
};

Piece piece_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*')) {
    return {Token::kComment, behind_comment(text, at)};
  }
  if (c == '"') {
    const bool is_raw = word_before(text, at).ends_with('R');
    return {Token::kLiteral, is_raw ? behind_raw_string(text, at) : behind_quoted(text, at)};
  }
  if (c == '\'') {
    const std::string_view prefix = word_before(text, at);
    const bool separates_digits =
        !prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix.front())) != 0;
    if (!separates_digits) return {Token::kLiteral, behind_quoted(text, at)};
  }
  return {Token::kCode, at + 1};
}

bool is_text(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 23> kEndings = {
      ".hpp",  ".cpp", ".h",    ".c",        ".inc",      ".md",      ".txt",    ".cmake",
      ".json", ".sh",  ".py",   ".pml",      ".toml",     ".man",     ".policy", ".golden",
      ".xsd",  ".7",   ".tree", ".mustache", ".topology", ".service", ""};
  return std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

bool is_outside_the_source(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (name.starts_with('.')) return name != ".ci";
  return name == "build" || std::filesystem::exists(folder / "CMakeCache.txt");
}

}  // namespace

Layers split_layers(std::string_view text) {
  std::string blank(text);
  for (char& c : blank) {
    if (c != '\n') c = ' ';
  }
  Layers layers{blank, blank, blank};
  const auto copy = [&](std::string& layer, std::size_t begin, std::size_t end) {
    layer.replace(begin, end - begin, text.substr(begin, end - begin));
  };
  for (std::size_t at = 0; at < text.size();) {
    const Piece piece = piece_at(text, at);
    if (piece.token == Token::kComment) copy(layers.comments, at, piece.end);
    if (piece.token != Token::kComment) copy(layers.uncommented, at, piece.end);
    if (piece.token == Token::kCode) copy(layers.code, at, piece.end);
    if (piece.token == Token::kLiteral) layers.code[at] = text[at];
    at = piece.end;
  }
  return layers;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::string without_hash_comments(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    result += line.substr(0, line.find('#'));
    result += '\n';
  }
  return result;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return text;
}

bool is_word_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t behind_closing_bracket(std::string_view code, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    if (code[at] == '(' || code[at] == '{') ++depth;
    if ((code[at] == ')' || code[at] == '}') && --depth == 0) return at + 1;
  }
  return kNone;
}

std::vector<std::size_t> find_words(std::string_view code, std::string_view word) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = code.find(word); at != kNone; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && is_word_character(code[at - 1])) continue;
    if (end < code.size() && is_word_character(code[end])) continue;
    offsets.push_back(at);
  }
  return offsets;
}

bool is_cpp(std::string_view path) noexcept {
  return path.ends_with(".hpp") || path.ends_with(".cpp") || path.ends_with(".h");
}

bool is_under(std::string_view path, std::string_view folder) noexcept {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == kNone ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == kNone ? path : path.substr(slash + 1);
}

std::vector<SourceFile> read_tree(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
    if (at->is_directory() && is_outside_the_source(at->path())) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file()) {
      SourceFile file{at->path().lexically_relative(root).generic_string(), {}};
      if (is_text(at->path())) {
        std::ifstream in(at->path(), std::ios::binary);
        file.text.assign(std::istreambuf_iterator<char>(in), {});
      }
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace meterbank::tidy
