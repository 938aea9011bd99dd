// SPDX-License-Identifier: Apache-2.0
//
// Plain English as a test: phrases that this tree does not use, each with what to write instead.
// This is the only file that may contain them.
#include <algorithm>
#include <array>
#include <cctype>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;

// Uses of "publisher" that name the library, its folder, namespace, target or header.
constexpr std::array<std::string_view, 10> kLibrary = {
    "-publisher",  "publisher/",  "/publisher", "::publisher",    "_publisher",
    "`publisher`", "publisher.h", "|publisher", "shm, publisher", "shm publisher"};
constexpr std::array<std::string_view, 4> kLibraryInWords = {
    "publisher library", "windows publisher", "# publisher", "publisher pcw"};
constexpr std::array<std::string_view, 2> kThere = {"there is none", "there are none"};
constexpr std::string_view kProcess = "the process, thread, reader, provider or client";
constexpr std::string_view kInvalid = "'invalid ...' or 'is not a ...'";

constexpr auto kAnyCase = PlainWord::Match::kAnyCase;
constexpr auto kThisCase = PlainWord::Match::kThisCase;
constexpr auto kPartOfAName = PlainWord::Match::kPartOfAName;

constexpr std::array<PlainWord, 24> kPlainWords = {{
    {"again and again", "'repeatable', 'repeatedly' or the interval", kAnyCase},
    {"what is not there yet", "'missing' and the name of the thing", kAnyCase},
    {"for so long", "'for SPAN' or 'for this time'", kAnyCase},
    {"is none", kInvalid, kThisCase, kThere},  // Python has None
    {"are none", kInvalid, kThisCase, kThere},
    {"is no packet", "'malformed packet'", kAnyCase},
    {"is no text", "'is not UTF-8' or 'is not a text'", kAnyCase},
    {"has no end", "'is not NUL-terminated'", kAnyCase},
    {"contradicts itself", "'is inconsistent'", kAnyCase},
    {"wish of one's own", "'preference'", kAnyCase},
    {"of one's own", "'caller-defined' or whose it is", kAnyCase},
    {"CPUs of ours", "'allowed CPUs'", kAnyCase},
    {"who dies how", "'what a crash leaves behind'", kAnyCase},
    {"fingers from", "'if you know ...'", kAnyCase},
    {"that is as in", "the argument itself, in one line", kAnyCase},
    {"has to be told", "'a notification is pending'", kAnyCase},
    {"company:", "'Thread safety:' and which threads may call what", kAnyCase},
    {"nobody", kProcess, kPartOfAName},
    {"somebody", kProcess, kPartOfAName},
    {"anybody", kProcess, kPartOfAName},
    {"everybody", "'all ...' or 'every ...' and the kind", kPartOfAName},
    {"whoever", kProcess, kPartOfAName},
    {"patience", "'timeout'", kPartOfAName},
    {"publisher", "'provider' for the process, 'publisher library' for the library", kPartOfAName,
     kLibrary, kLibraryInWords},
}};

constexpr std::string_view kTable = "tests/tidy/plain_words.cpp";

// The rules for includes and their tests name the parts of the tree; a changelog names what was.
bool is_exempt(std::string_view path, const PlainWord& word) {
  if (path == kTable) return true;
  const bool is_old_name = word.banned == "publisher" || word.banned == "patience";
  return is_old_name && (path == "CHANGELOG.md" || is_under(path, "tests/tidy"));
}

// The text as it is read: line breaks, and what stands for comments and literals around them, are
// one blank. `offsets` leads back to the text.
struct Prose {
  std::string text;
  std::vector<std::size_t> offsets;
};

Prose prose_of(std::string_view text) {
  Prose prose;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_not_of(" \t\"", at), text.size());
    const bool is_break = end < text.size() && text[end] == '\n';
    if (is_break) end = std::min(text.find_first_not_of(" \t\n/#*\"", end), text.size());
    prose.text += is_break ? ' ' : text[at];
    prose.offsets.push_back(at);
    at = is_break ? end : at + 1;
  }
  return prose;
}

char lower(char c) noexcept {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool same(char a, char b) noexcept { return lower(a) == lower(b); }

bool stands_at(std::string_view text, std::size_t at, const PlainWord& word) {
  const std::string_view found = text.substr(at, word.banned.size());
  if (word.match == PlainWord::Match::kPartOfAName) return true;
  if (word.match == PlainWord::Match::kThisCase && found != word.banned) return false;
  const std::size_t end = at + found.size();
  const bool ends =
      end == text.size() || !is_word_character(text[end]) || !std::isalpha(found.back());
  return ends && (at == 0 || !is_word_character(text[at - 1]));
}

// Whether one of `contexts` lies around the `size` characters at `at`.
bool lies_in(std::string_view text, std::size_t at, std::size_t size,
             std::span<const std::string_view> contexts) {
  return std::any_of(contexts.begin(), contexts.end(), [&](std::string_view context) {
    const std::size_t begin = at + size > context.size() ? at + size - context.size() : 0;
    const std::size_t found = text.find(context, begin);
    return found != kNone && found <= at;
  });
}

}  // namespace

std::span<const PlainWord> plain_words() { return kPlainWords; }

Findings find_unplain_words(const SourceFile& file) {
  Findings findings;
  const Prose prose = prose_of(file.text);
  const std::string_view text = prose.text;
  for (const PlainWord& word : kPlainWords) {
    if (is_exempt(file.path, word)) continue;
    for (auto from = text.begin();;) {
      const auto found =
          std::search(from, text.end(), word.banned.begin(), word.banned.end(), same);
      if (found == text.end()) break;
      from = found + 1;
      const auto at = static_cast<std::size_t>(found - text.begin());
      const std::size_t size = word.banned.size();
      if (!stands_at(text, at, word) || lies_in(text, at, size, word.allowed) ||
          lies_in(text, at, size, word.also_allowed)) {
        continue;
      }
      findings.push_back(
          {file.path, line_at(file.text, prose.offsets[at]),
           "'" + std::string(word.banned) + "': write " + std::string(word.instead)});
    }
  }
  return findings;
}

}  // namespace meterbank::tidy
