// SPDX-License-Identifier: Apache-2.0
//
// Style as a test: each rule takes source text and returns what is wrong with it, so that a rule
// can be shown to fail on a bad snippet before it is trusted with the tree. The rules read text,
// not syntax trees: they catch the slips people make, and a reviewer is still needed for the rest.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source_text.hpp"

namespace meterbank::tidy {

struct Finding {
  std::string path;
  std::size_t line;  // 0: the whole file
  std::string what;
};
using Findings = std::vector<Finding>;

// "path:line: what", one a line.
[[nodiscard]] std::string describe(const Findings& findings);

// Atomics (memory_order_rules.cpp).
// A load, store, exchange, compare-exchange, fetch-and-modify or test-and-set that leaves its order
// to the default. An order handed on in a variable or constant counts when its name ends in
// "order"; so do relacy's own names for the six orders.
[[nodiscard]] Findings find_default_orders(const SourceFile& file);
// A fence, bare or of an atomics policy, with no [W1]-like label in the comment on its line or in
// the six lines above it.
[[nodiscard]] Findings find_unlabelled_fences(const SourceFile& file);
// A label that stands in one line of all these files only: its mate does not carry it.
[[nodiscard]] Findings find_single_labels(std::span<const SourceFile> files);
// A label is defined where a drawing has it: in a whole line of comment, first or last on it, with
// its order in a column of its own, behind two blanks. Mistakes: a label that no drawing defines,
// or two; and one that borrows its argument ("as in set()", "see x.hpp", "as above") instead of
// saying what it orders.
[[nodiscard]] Findings find_label_mistakes(std::span<const SourceFile> files);
// `volatile` other than in assembler, on the flag of a signal handler, and in the one header whose
// functions Windows declares so.
[[nodiscard]] Findings find_volatile(const SourceFile& file);

// Output (printing_rules.cpp).
// A print other than in one of the few files that clean what they print: a stream of the process,
// or printf and its like.
[[nodiscard]] Findings find_raw_printing(const SourceFile& file);

// Includes (include_rules.cpp).
// One row of the table "Folders and their dependencies" in docs/architecture.md. A folder may
// include itself, the folders that its row names, and what these may include.
struct FolderRow {
  std::string folder;
  std::vector<std::string> may_include;
};
[[nodiscard]] std::vector<FolderRow> read_folder_table(std::string_view page);
// A row of a folder that does not exist, a name without a row, a source of the product that no row
// has. `paths` are the paths of all files.
[[nodiscard]] Findings find_table_mistakes(std::span<const FolderRow> table,
                                           std::span<const std::string> paths);
// An include that the table does not allow, or of another library's private header; Boost outside
// shm/src. `paths` tell which folder an include comes from.
[[nodiscard]] Findings find_forbidden_includes(const SourceFile& file,
                                               std::span<const FolderRow> table,
                                               std::span<const std::string> paths);
// The folders of the numbered list "Layers of the reader" in docs/architecture.md, lowest first.
[[nodiscard]] std::vector<std::string> read_layers(std::string_view page);
// A layer that does not exist, a source in `stack` that is in no layer.
[[nodiscard]] Findings find_layer_mistakes(std::string_view stack,
                                           std::span<const std::string> layers,
                                           std::span<const std::string> paths);
// An include of a file in one layer from another layer below it.
[[nodiscard]] Findings find_upward_includes(const SourceFile& file,
                                            std::span<const std::string> layers,
                                            std::span<const std::string> paths);

// The tree (tree_rules.cpp).
// A .cpp file that no CMakeLists.txt in its folder or above names.
[[nodiscard]] Findings find_unbuilt_sources(std::span<const SourceFile> files);
// A program under docs/examples that no test runs.
[[nodiscard]] Findings find_unrun_examples(std::span<const SourceFile> files);
// A file name that says nothing, a missing licence line, work put off without owner and reason.
[[nodiscard]] Findings find_forbidden_words(const SourceFile& file);
// What packages.txt lists and what the run script asks for must be the same groups, each line of
// the list a group and a package name.
[[nodiscard]] Findings find_package_mistakes(std::string_view packages, std::string_view run);

// A folder of tests that the table of tests/README.md, the `page`, does not name as `folder/`.
[[nodiscard]] Findings find_unlisted_test_folders(std::string_view page,
                                                  std::span<const SourceFile> files);

// Plain English (plain_words.cpp).
// A phrase that this tree does not use, and what to write instead. `allowed` and `also_allowed` are
// longer phrases in which it may stand.
struct PlainWord {
  enum class Match { kAnyCase, kThisCase, kPartOfAName };  // the last one: also inside a word
  std::string_view banned;
  std::string_view instead;
  Match match;
  std::span<const std::string_view> allowed = {};
  std::span<const std::string_view> also_allowed = {};
};
[[nodiscard]] std::span<const PlainWord> plain_words();
// Such a phrase in code, comment, literal or page, also across the end of a line.
[[nodiscard]] Findings find_unplain_words(const SourceFile& file);

// Tests (named_tests.cpp).
// A name between backticks in the last cell of a table that is neither a test, `Suite.Name`, of
// GoogleTest or of add_test(), nor an entry of the hostile corpus, nor a host program; a page that
// names none.
[[nodiscard]] Findings find_unknown_tests(const SourceFile& page,
                                          std::span<const SourceFile> files);

// Snippets (snippet_rules.cpp).
// A block of C++ in the page whose lines are not those, in this order, of a file in docs/examples,
// which is built and run.
[[nodiscard]] Findings find_foreign_snippets(const SourceFile& page,
                                             std::span<const SourceFile> files);

// Advice, not rules (length_advice.cpp): lines over 100 columns, functions over 70 lines, files
// over 500 lines, folders over 15 files.
[[nodiscard]] Findings advise_lengths(const SourceFile& file);
[[nodiscard]] Findings advise_folder_sizes(std::span<const SourceFile> files);

}  // namespace meterbank::tidy
