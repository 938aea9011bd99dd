// SPDX-License-Identifier: Apache-2.0
//
// Style as a test: the tidy rules, applied to this source tree. That each rule can fail is shown in
// tidy_rules_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(METERBANK_SOURCE_DIR);
  return files;
}

std::string_view text_of(std::string_view path) {
  const auto found = std::find_if(tree().begin(), tree().end(),
                                  [&](const SourceFile& file) { return file.path == path; });
  return found == tree().end() ? std::string_view() : std::string_view(found->text);
}

template <typename Wanted, typename Rule>
std::string apply_to_each(Wanted wanted, Rule rule) {
  Findings all;
  for (const SourceFile& file : tree()) {
    if (!wanted(file.path)) continue;
    const Findings findings = rule(file);
    all.insert(all.end(), findings.begin(), findings.end());
  }
  return describe(all);
}

bool any_file(std::string_view) { return true; }

bool is_product(std::string_view path) {
  return is_under(path, "shm") || is_under(path, "publisher") || is_under(path, "reader") ||
         is_under(path, "tools");
}

TEST(SourceTree, IsTheOneThisTestWasBuiltFrom) {
  EXPECT_NE(text_of("tests/tidy/tidy_test.cpp").find("IsTheOneThisTestWasBuiltFrom"),
            std::string_view::npos);
  EXPECT_FALSE(text_of("CMakeLists.txt").empty());
}

TEST(SourceTree, NamesTheOrderOfEveryAtomicAccess) {
  EXPECT_EQ(apply_to_each(is_cpp, find_default_orders), "");
}

TEST(SourceTree, LabelsEveryFence) { EXPECT_EQ(apply_to_each(is_cpp, find_unlabelled_fences), ""); }

TEST(SourceTree, GivesEveryLabelItsMate) {
  std::vector<SourceFile> product;
  std::copy_if(tree().begin(), tree().end(), std::back_inserter(product),
               [](const SourceFile& f) { return is_product(f.path) && is_cpp(f.path); });

  EXPECT_EQ(describe(find_single_labels(product)), "");
}

TEST(SourceTree, DefinesEveryLabelInOneDrawing) {
  std::vector<SourceFile> sources;
  std::copy_if(tree().begin(), tree().end(), std::back_inserter(sources),
               [](const SourceFile& f) { return is_cpp(f.path); });

  EXPECT_EQ(describe(find_label_mistakes(sources)), "");
}

TEST(SourceTree, OrdersNothingByVolatile) { EXPECT_EQ(apply_to_each(is_cpp, find_volatile), ""); }

TEST(SourceTree, PrintsOnlyThroughItsSinks) {
  const auto wanted = [](std::string_view path) { return is_product(path) && is_cpp(path); };

  EXPECT_EQ(apply_to_each(wanted, find_raw_printing), "");
}

TEST(SourceTree, IncludesOnlyDownwards) {
  std::vector<std::string> paths;
  for (const SourceFile& file : tree()) paths.push_back(file.path);
  const auto table = read_folder_table(text_of("docs/architecture.md"));

  const auto rule = [&](const SourceFile& file) {
    return find_forbidden_includes(file, table, paths);
  };

  EXPECT_EQ(describe(find_table_mistakes(table, paths)), "");
  EXPECT_EQ(apply_to_each(is_cpp, rule), "");
}

TEST(SourceTree, StacksTheLayersOfTheReader) {
  std::vector<std::string> paths;
  for (const SourceFile& file : tree()) paths.push_back(file.path);
  const auto layers = read_layers(text_of("docs/architecture.md"));

  const auto rule = [&](const SourceFile& file) {
    return find_upward_includes(file, layers, paths);
  };

  EXPECT_GE(layers.size(), 2U);
  EXPECT_EQ(describe(find_layer_mistakes("reader/src", layers, paths)), "");
  EXPECT_EQ(apply_to_each(is_cpp, rule), "");
}

TEST(SourceTree, BuildsEverySourceFile) { EXPECT_EQ(describe(find_unbuilt_sources(tree())), ""); }

TEST(SourceTree, RunsEveryExample) { EXPECT_EQ(describe(find_unrun_examples(tree())), ""); }

TEST(SourceTree, HoldsNoEmptyNamesAndNoOpenEnds) {
  EXPECT_EQ(apply_to_each(any_file, find_forbidden_words), "");
}

TEST(SourceTree, IsWrittenInPlainWords) {
  EXPECT_EQ(apply_to_each(any_file, find_unplain_words), "");
}

TEST(SourceTree, InstallsThePackagesItLists) {
  EXPECT_EQ(describe(find_package_mistakes(text_of("packages.txt"), text_of("run"))), "");
}

TEST(SourceTree, RunsTheSnippetsOfItsReadme) {
  const SourceFile page{"README.md", std::string(text_of("README.md"))};
  EXPECT_EQ(describe(find_foreign_snippets(page, tree())), "");
}

TEST(SourceTree, ListsItsFoldersOfTests) {
  EXPECT_EQ(describe(find_unlisted_test_folders(text_of("tests/README.md"), tree())), "");
}

TEST(SourceTree, HasTheTestsThatItsSecurityPageNames) {
  const SourceFile page{"docs/security.md", std::string(text_of("docs/security.md"))};
  EXPECT_EQ(describe(find_unknown_tests(page, tree())), "");
}

// Lengths are advice: printed for the reader of the log, and never a reason to fail.
TEST(SourceTree, PrintsAdviceOnLengths) {
  const std::string lengths = apply_to_each(any_file, advise_lengths);
  const std::string folders = describe(advise_folder_sizes(tree()));
  std::cout << lengths << folders;
  SUCCEED();
}

}  // namespace
}  // namespace meterbank::tidy
