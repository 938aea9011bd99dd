// SPDX-License-Identifier: Apache-2.0
//
// Negative controls: every rule is fed what it must refuse, beside the nearest thing it must let
// pass.
#include <gtest/gtest.h>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

std::size_t count_of(const Findings& findings) { return findings.size(); }

SourceFile header(std::string text) { return {"shm/include/meterbank/shm/x.hpp", std::move(text)}; }

TEST(Layers, KeepCodeCommentsAndLiteralsApart) {
  const std::string text =
      "int a = 1'000;  // it's\n/* b */ call(\"c // d\", '\"');\nauto r = R\"x(e \" // f)x\"; g();";

  const Layers layers = split_layers(text);

  EXPECT_EQ(layers.code.size(), text.size());
  EXPECT_NE(layers.code.find("int a = 1'000;"), std::string::npos);
  EXPECT_NE(layers.code.find("g();"), std::string::npos);
  for (const char hidden : {'b', 'd', 'f'}) {
    EXPECT_EQ(layers.code.find(hidden), std::string::npos) << hidden;
  }
  EXPECT_NE(layers.comments.find("// it's"), std::string::npos);
  EXPECT_EQ(layers.comments.find("// d"), std::string::npos);
  EXPECT_NE(layers.uncommented.find("c // d"), std::string::npos);
}

TEST(DefaultOrders, AreFoundInEveryFormOfAccess) {
  const SourceFile file = header(
      "word.load();\nword->store(1);\nword.fetch_add(\n    1);\nword.exchange(2);\n"
      "word.compare_exchange_strong(a, b);\nflag.test_and_set();\nstd::atomic_load(&word);\n");

  const Findings findings = find_default_orders(file);

  EXPECT_EQ(findings.size(), 7U) << describe(findings);
}

TEST(DefaultOrders, ReportTheLineOfTheCall) {
  const Findings findings = find_default_orders(header("int a;\n\nword\n    .load();\n"));

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().line, 4U);
}

TEST(DefaultOrders, AcceptAnOrderThatIsNamedSomehow) {
  const SourceFile file = header(
      "word.load(std::memory_order_acquire);\nword.store(f(1, 2),\n    "
      "std::memory_order_relaxed);\n"
      "word.load(kLoadOrder);\nword.store(1, order);\nA::load_acquire(word);\n"
      "std::exchange(a, b);\nfile.load(path);\n// word.load()\nprint(\"word.load()\");\n");

  EXPECT_EQ(describe(find_default_orders(file)), "");
}

TEST(DefaultOrders, KnowTheOrdersOfTheRaceExplorerAndNothingLikeThem) {
  EXPECT_EQ(describe(find_default_orders(
                header("word.load(rl::mo_relaxed, $);\n"
                       "word.store(1, weak ? rl::mo_relaxed : rl::mo_release, $);\n"))),
            "");

  const Findings findings =
      find_default_orders(header("word.store(mo_value, $);\nword.store(1, rl::mo_relax, $);\n"));

  EXPECT_EQ(findings.size(), 2U) << describe(findings);
}

TEST(Fences, NeedALabelNearby) {
  EXPECT_EQ(count_of(find_unlabelled_fences(
                header("// a fence\nstd::atomic_thread_fence(std::memory_order_release);\n"))),
            1U);
  EXPECT_EQ(count_of(find_unlabelled_fences(header("A::fence_release();\n"))), 1U);
  EXPECT_EQ(count_of(find_unlabelled_fences(header("__atomic_thread_fence(__ATOMIC_ACQUIRE);\n"))),
            1U);
  EXPECT_EQ(count_of(find_unlabelled_fences(header("// [W1]\n\n\n\n\n\n\nA::fence_acquire();\n"))),
            1U);
}

TEST(Fences, NeedALabelInTheHeadersOfCToo) {
  EXPECT_EQ(count_of(find_unlabelled_fences(header("mb_fence_release();\n"))), 1U);
  EXPECT_EQ(describe(find_unlabelled_fences(header("static inline void mb_fence_release(void) {}\n"
                                                   "// [W2] why.\nmb_fence_release();\n"))),
            "");
}

TEST(Fences, AreContentWithALabelOnTheLineOrAbove) {
  EXPECT_EQ(describe(find_unlabelled_fences(
                header("// [W1] pairs with [R2].\n// Why.\nstd::atomic_thread_fence(order);\n"
                       "A::fence_release();  // [W2]\nstatic void fence_acquire() noexcept {}\n"))),
            "");
}

TEST(Labels, NeedAMate) {
  const std::vector<SourceFile> files = {header("// [W1] pairs with [R1]\n// [R1]\nint a[10];\n")};

  const Findings findings = find_single_labels(files);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().what, "[W1] has no mate");
}

TEST(Labels, FindTheirMateInAnotherFile) {
  const std::vector<SourceFile> files = {header("// [W1] pairs with [R1]\n"),
                                         {"reader/src/a.cpp", "// [R1] pairs with [W1]\n"}};

  EXPECT_EQ(describe(find_single_labels(files)), "");
}

constexpr std::string_view kDrawing =
    "//      writer                                  reader\n"
    "// [W1] word := new            release          word             acquire   [R1]\n"
    "//      other := new           relaxed          fence            acquire   [R2]\n"
    "word.store(1);  // [W1] pairs with [R1]. Without it the reader sees an old word.\n"
    "// [R1] pairs with [W1], [R2] with nothing.\n";

std::string label_mistakes(std::string_view added_lines) {
  const std::vector<SourceFile> files = {header(std::string(kDrawing)),
                                         {"reader/src/a.cpp", std::string(added_lines)}};
  return describe(find_label_mistakes(files));
}

TEST(Labels, AreDefinedInADrawingAndUsedAnywhere) {
  EXPECT_EQ(label_mistakes(""), "");
  EXPECT_EQ(label_mistakes("word.load();  // [R1] the words follow their number\n"), "");
}

TEST(Labels, AreNotDefinedTwice) {
  EXPECT_EQ(label_mistakes("int a;\n// [W1] claim := new           release\n"),
            "reader/src/a.cpp:2: [W1] is defined in two drawings\n");
  EXPECT_EQ(label_mistakes("//      s := seq               acquire  [R2]\n"),
            "reader/src/a.cpp:1: [R2] is defined in two drawings\n");
}

TEST(Labels, AreNotUsedUndefined) {
  EXPECT_EQ(label_mistakes("// [W2] pairs with [R1]. release: old words are seen.\n"),
            "reader/src/a.cpp:1: [W2] is defined in no drawing\n");
  EXPECT_EQ(label_mistakes("int a;  // [W2] a             release\n"),
            "reader/src/a.cpp:1: [W2] is defined in no drawing\n");
}

TEST(Labels, DoNotBorrowTheirArgument) {
  for (const std::string_view comment :
       {"[W1] as in set()", "[R1] as above", "[R1] see x.hpp", "acquire, as [R1]: older words"}) {
    EXPECT_NE(label_mistakes("word.load();  // " + std::string(comment) + "\n"), "") << comment;
  }
}

TEST(Volatile, IsFoundUnlessItIsAssemblerOrASignalFlag) {
  EXPECT_EQ(count_of(find_volatile(header("volatile int a;\nint* volatile b;\n"))), 2U);
  EXPECT_EQ(describe(find_volatile(header(
                "asm volatile(\"pause\");\nvolatile std::sig_atomic_t stop = 0;\n// volatile\n"))),
            "");
}

TEST(RawPrinting, IsFoundOutsideTheSinks) {
  for (const std::string_view code :
       {"std::cout << name;", "std::cerr << name;", "std::printf(\"%s\", name);",
        "std::fputs(name, stderr);", "console.out << name;", "console.err\n    << name;",
        "err_ << name;", "static_cast<void>(::write(STDERR_FILENO, name, 3));"}) {
    EXPECT_EQ(count_of(find_raw_printing(header(std::string(code) + "\n"))), 1U) << code;
  }
  EXPECT_EQ(describe(find_raw_printing(header("// std::cout\nstd::snprintf(text, 3, \"printf\");\n"
                                              "out.append(name); charset_of(STDERR_FILENO);\n"))),
            "");
  EXPECT_EQ(describe(find_raw_printing({"tools/cli/session/console.cpp", "console.err << x;\n"})),
            "");
}

const std::vector<std::string> kPaths = {
    "shm/include/meterbank/shm/block.hpp",
    "shm/src/gate.hpp",
    "publisher/include/meterbank/publisher.hpp",
    "publisher/pcw/include/wdm.h",
    "publisher/pmu/include/meterbank/pmu/lease.hpp",
    "publisher/pmu/hal/include/meterbank/hal/hardware_counters.h",
    "publisher/src/slots.hpp",
    "reader/include/meterbank/reader/query.hpp",
    "tools/cli/table.hpp",
    "tools/host/host.hpp",
};

constexpr std::string_view kFolders =
    "# A page\n\n## Folders and their dependencies\n\n| folder | contents | may include "
    "|\n|---|---|---|\n"
    "| `shm/` | bytes | the standard library; Boost in `shm/src` alone |\n"
    "| `publisher/` | writers | `shm` |\n"
    "| `publisher/pcw/` | Windows | `publisher` |\n"
    "| `publisher/pmu/` | leases | `shm` |\n"
    "| `publisher/pmu/hal/` | Windows | `publisher/pmu` |\n"
    "| `reader/` | readers | `shm` |\n"
    "| `tools/host` | a provider | `publisher` |\n"
    "| `tools/cli` | the program | `reader`, `tools/host` |\n"
    "| `tests/`, `bench/` | the rest | public headers |\n";

bool is_allowed(std::string from, std::string_view include) {
  const std::string text = "#include " + std::string(include) + "\n";
  return find_forbidden_includes({std::move(from), text}, read_folder_table(kFolders), kPaths)
      .empty();
}

std::string table_mistakes(std::string_view row, std::vector<std::string> more = {}) {
  more.insert(more.end(), kPaths.begin(), kPaths.end());
  return describe(
      find_table_mistakes(read_folder_table(std::string(kFolders) + std::string(row)), more));
}

TEST(IncludeTable, HasARowForEachFolderOfTheProduct) {
  EXPECT_EQ(table_mistakes("", {"tests/a_test.cpp", "docs/examples/a.cpp"}), "");
  EXPECT_EQ(table_mistakes("", {"tools/record/a.cpp"}),
            "tools/record/a.cpp: no row of the table has its folder\n");
  EXPECT_EQ(table_mistakes("| `tools/agent` | a daemon | `shm` |\n"),
            "tools/agent: the table has a row for this folder, which does not exist\n");
  EXPECT_EQ(
      table_mistakes("| `tools/record` | recordings | `tools/disk` |\n", {"tools/record/a.cpp"}),
      "tools/record: may include tools/disk, which has no row\n");
}

TEST(Includes, NeverGoUp) {
  EXPECT_FALSE(is_allowed("shm/src/a.cpp", "<meterbank/publisher.hpp>"));
  EXPECT_FALSE(is_allowed("shm/src/a.cpp", "<meterbank/reader/query.hpp>"));
  EXPECT_FALSE(is_allowed("shm/src/a.cpp", "\"../../tools/cli/table.hpp\""));
  EXPECT_FALSE(is_allowed("reader/src/a.cpp", "\"cli/table.hpp\""));
  EXPECT_FALSE(is_allowed("publisher/src/a.cpp", "<wdm.h>"));
  EXPECT_FALSE(is_allowed("tools/host/a.cpp", "\"cli/table.hpp\""));
  EXPECT_FALSE(is_allowed("tools/host/a.cpp", "<meterbank/reader/query.hpp>"));
}

TEST(Includes, NeverGoSideways) {
  EXPECT_FALSE(is_allowed("reader/src/a.cpp", "<meterbank/publisher.hpp>"));
  EXPECT_FALSE(is_allowed("publisher/src/a.cpp", "<meterbank/reader/query.hpp>"));
  EXPECT_FALSE(is_allowed("publisher/src/a.cpp", "<meterbank/reader/not_there.hpp>"));
  EXPECT_FALSE(is_allowed("publisher/pmu/src/a.cpp", "<meterbank/publisher.hpp>"));
  EXPECT_TRUE(is_allowed("publisher/pmu/hal/src/a.cpp", "<meterbank/pmu/lease.hpp>"));
  EXPECT_FALSE(is_allowed("publisher/pmu/src/a.cpp", "<meterbank/hal/hardware_counters.h>"));
}

TEST(Includes, StayOutOfThePrivateHeadersOfOtherParts) {
  EXPECT_FALSE(is_allowed("tools/cli/a.cpp", "\"../../publisher/src/slots.hpp\""));
  EXPECT_FALSE(is_allowed("reader/src/a.cpp", "\"../../shm/src/gate.hpp\""));
  EXPECT_FALSE(is_allowed("bench/a.cpp", "\"shm/src/gate.hpp\""));
}

TEST(Includes, ShowBoostInOneFolderOnly) {
  EXPECT_FALSE(is_allowed("shm/include/meterbank/shm/a.hpp", "<boost/x.hpp>"));
  EXPECT_FALSE(is_allowed("tools/cli/a.cpp", "<boost/x.hpp>"));
  EXPECT_TRUE(is_allowed("shm/src/a.cpp", "<boost/x.hpp>"));
}

TEST(Includes, MayGoDown) {
  EXPECT_TRUE(is_allowed("publisher/src/a.cpp", "<meterbank/shm/block.hpp>"));
  EXPECT_TRUE(is_allowed("publisher/src/a.cpp", "\"slots.hpp\""));
  EXPECT_TRUE(is_allowed("publisher/pcw/src/a.cpp", "<meterbank/publisher.hpp>"));
  EXPECT_TRUE(is_allowed("tools/cli/a.cpp", "<meterbank/reader/query.hpp>"));
  EXPECT_TRUE(is_allowed("tools/cli/a.cpp", "\"host/host.hpp\""));
  EXPECT_TRUE(is_allowed("tests/shm/a_test.cpp", "\"shm/src/gate.hpp\""));
  EXPECT_TRUE(is_allowed("shm/src/a.cpp", "<vector>"));
}

constexpr std::string_view kStack =
    "# A page\n\n## Layers of the reader\n\nAll of `reader/src`.\n\n1. `reader/src/text`: paths\n"
    "2. `reader/src/plan`: rows in `a/`\n\n## More\n\n3. `reader/src/cook`: numbers\n";

TEST(ReaderLayers, AreThoseOfTheListAndNoOthers) {
  const auto layers = read_layers(kStack);
  const std::vector<std::string> paths = {"reader/src/text/a.cpp", "reader/src/plan/a/a.cpp"};
  EXPECT_EQ(layers, (std::vector<std::string>{"reader/src/text", "reader/src/plan"}));
  EXPECT_EQ(describe(find_layer_mistakes("reader/src", layers, paths)), "");
  EXPECT_EQ(describe(find_layer_mistakes("reader/src", layers,
                                         std::vector<std::string>{paths[0], "reader/src/b.cpp"})),
            "reader/src/plan: the list has this layer, which does not exist\n"
            "reader/src/b.cpp: no layer of the list has its folder\n");
}

TEST(ReaderLayers, NeverLookUp) {
  const auto layers = read_layers(kStack);
  const std::vector<std::string> paths = {"reader/src/text/a.hpp", "reader/src/plan/b.hpp",
                                          "reader/include/meterbank/reader/c.hpp"};
  const auto upward = [&](std::string path, const std::string& include) {
    const SourceFile file{std::move(path), "#include \"" + include + "\"\n"};
    return describe(find_upward_includes(file, layers, paths));
  };
  EXPECT_EQ(upward("reader/src/text/a.cpp", "../plan/b.hpp"),
            "reader/src/text/a.cpp:1: ../plan/b.hpp: reader/src/text is below reader/src/plan\n");
  EXPECT_EQ(upward("reader/src/text/a.cpp", "a.hpp"), "");
  EXPECT_EQ(upward("reader/src/text/a.cpp", "meterbank/reader/c.hpp"), "");
  EXPECT_EQ(upward("reader/src/plan/b.cpp", "../text/a.hpp"), "");
  EXPECT_EQ(upward("tools/cli/a.cpp", "../../reader/src/plan/b.hpp"), "");
}

TEST(PlainWords, AreAskedForInCommentsLiteralsAndNames) {
  for (const PlainWord& word : plain_words()) {
    const std::string banned(word.banned);
    const std::string next_line =
        banned.substr(0, banned.find(' ')) + "\n  // " + banned.substr(banned.find(' ') + 1);
    std::vector<std::string> texts = {"// so " + banned + " here\n",
                                      "print(\"" + banned + "\");\n"};
    if (banned.find(' ') != std::string::npos) texts.push_back("// so " + next_line + " here\n");
    if (word.match == PlainWord::Match::kPartOfAName)
      texts.push_back("TEST(A, B" + banned + "C)\n");

    for (const std::string& text : texts) {
      const Findings findings = find_unplain_words(header(text));

      ASSERT_FALSE(findings.empty()) << text;
      EXPECT_NE(describe(findings).find("write " + std::string(word.instead)), std::string::npos);
      EXPECT_EQ(findings.front().line, 1U);
    }
  }
}

TEST(PlainWords, MayStandInLongerPhrases) {
  for (const PlainWord& word : plain_words()) {
    for (const auto& phrases : {word.allowed, word.also_allowed}) {
      for (const std::string_view phrase : phrases) {
        EXPECT_EQ(describe(find_unplain_words(header("// " + std::string(phrase) + "\n"))), "");
      }
    }
  }
  EXPECT_EQ(describe(find_unplain_words(header("// the companies; for so longer; x is None\n"))),
            "");
}

TEST(UnbuiltSources, AreThoseNoCMakeFileAboveThemNames) {
  const std::vector<SourceFile> files = {
      {"shm/CMakeLists.txt", "add_library(x src/a.cpp\n  # src/b.cpp\n  ${HERE}/src/c.cpp)\n"},
      {"reader/CMakeLists.txt", "add_library(y src/b.cpp)\n"},
      {"shm/src/a.cpp", ""},
      {"shm/src/b.cpp", ""},
      {"shm/src/c.cpp", ""},
  };

  const Findings findings = find_unbuilt_sources(files);

  ASSERT_EQ(findings.size(), 1U) << describe(findings);
  EXPECT_EQ(findings.front().path, "shm/src/b.cpp");
}

TEST(UnrunExamples, AreThoseBuiltButNotTested) {
  const std::string cmake =
      "add_executable(example_hello hello.cpp)\nadd_test(NAME hello COMMAND example_hello)\n"
      "add_executable(example_idle idle.cpp)\n"
      "function(example name)\n  add_executable(${name} ${name}.cpp)\n"
      "  add_test(NAME ${name} COMMAND ${name})\nendfunction()\nexample(read_back)\n";
  const std::vector<SourceFile> files = {{"docs/examples/CMakeLists.txt", cmake},
                                         {"docs/examples/hello.cpp", ""},
                                         {"docs/examples/idle.cpp", ""},
                                         {"docs/examples/read_back.cpp", ""}};

  const Findings findings = find_unrun_examples(files);

  ASSERT_EQ(findings.size(), 1U) << describe(findings);
  EXPECT_EQ(findings.front().path, "docs/examples/idle.cpp");
}

constexpr std::string_view kLicence = "// SPDX-License-Identifier: Apache-2.0\n";

TEST(ForbiddenWords, IncludeOpenEndsWithoutOwnerAndReason) {
  const std::string licence(kLicence);
  EXPECT_EQ(count_of(find_forbidden_words(header(licence + "// TODO tidy up\n"))), 1U);
  EXPECT_EQ(count_of(find_forbidden_words(header(licence + "// FIXME\n"))), 1U);
  EXPECT_EQ(describe(find_forbidden_words(header(licence + "// TODO(ann): needs Linux 6.9\n"))),
            "");
}

TEST(ForbiddenWords, IncludeFileNamesThatSayNothing) {
  const std::string licence(kLicence);
  EXPECT_EQ(count_of(find_forbidden_words({"shm/src/slot_manager.hpp", licence})), 1U);
  EXPECT_EQ(count_of(find_forbidden_words({"bench/util.cpp", licence})), 1U);
  EXPECT_EQ(describe(find_forbidden_words({"shm/src/utility_rate.hpp", licence})), "");
}

TEST(ForbiddenWords, StandForAMissingLicenceToo) {
  EXPECT_EQ(count_of(find_forbidden_words(header("#pragma once\n"))), 1U);
}

constexpr std::string_view kRun =
    "# reads packages.txt\n  install build $groups\n  *) groups=peers ;; esac\n";

TEST(Packages, MustStandInAKnownGroupOnceWithAValidName) {
  EXPECT_EQ(describe(find_package_mistakes("# why\nbuild g++\npeers  pcp\n", kRun)), "");
  for (const std::string_view mistake :
       {"build", "build a b", "demo cmake", "build g++", "build A_b"}) {
    const std::string packages = "build g++\npeers pcp\n" + std::string(mistake) + "\n";
    EXPECT_EQ(count_of(find_package_mistakes(packages, kRun)), 1U) << mistake;
  }
}

TEST(Packages, MustAgreeWithTheScriptThatInstallsThem) {
  EXPECT_EQ(count_of(find_package_mistakes("build g++\n", kRun)), 1U);
  EXPECT_EQ(count_of(find_package_mistakes("build g++\npeers a\ntest b\n", kRun)), 1U);
  EXPECT_EQ(count_of(find_package_mistakes("build g++\n", "install build\n")), 1U);
}

TEST(TestFolders, NeedALineInTheTable) {
  const std::vector<SourceFile> files = {{"tests/shm/a_test.cpp", ""},
                                         {"tests/shm/deep/b_test.cpp", ""},
                                         {"tests/abi/c_test.cpp", ""},
                                         {"tests/CMakeLists.txt", ""},
                                         {"shm/src/d.cpp", ""}};
  EXPECT_EQ(describe(find_unlisted_test_folders("| `shm/` | a |\n| `abi/` | c |\n", files)), "");
  EXPECT_EQ(count_of(find_unlisted_test_folders("| `shm/` | abi |\n", files)), 1U);
}

TEST(Snippets, StandInAnExampleThatIsRun) {
  const std::vector<SourceFile> files = {{"docs/examples/a.cpp", "int a;\n  int b;\nint c;\n"},
                                         {"shm/src/b.cpp", "int d;\n"}};
  const auto page = [](const std::string& code) {
    return SourceFile{"README.md", "words\n```cpp\n" + code + "```\nint d;\n"};
  };
  EXPECT_EQ(describe(find_foreign_snippets(page("int a;\n\nint b;\n"), files)), "");
  EXPECT_EQ(describe(find_foreign_snippets(page("int a;\nint c;\n"), files)), "");
  for (const char* const foreign : {"int b;\nint a;\n", "int d;\n", "int a;\nint a;\n"}) {
    EXPECT_EQ(count_of(find_foreign_snippets(page(foreign), files)), 1U) << foreign;
  }
}

TEST(NamedTests, MustExist) {
  const std::vector<SourceFile> files = {
      {"tests/shm/gate_test.cpp", "TEST(Gate, Holds) {}\nTEST_F(GateTest,\n       Opens) {}\n"},
      {"tests/hostile/corpus/a.cpp", "Attack{\"ring\", \"x\"}"},
      {"tests/process/hosts/b.cpp", "METERBANK_HOST(forks_often) {"},
      {"tests/reach/CMakeLists.txt",
       "add_test(NAME Reach.Goes COMMAND go)\nadd_test(NAME Reach.Far\n"},
      {"CMakeLists.txt", "add_test(NAME Reach.Nowhere COMMAND go)"},
      {"shm/src/gate.cpp", "TEST(Not, One)"}};
  const auto page = [](const std::string& cell) {
    return SourceFile{"docs/security.md", "| a | b | " + cell + " |\n"};
  };
  EXPECT_EQ(
      describe(find_unknown_tests(
          page("`Gate.Holds`, `GateTest.Opens`; `ring`, `forks_often`, `Reach.Goes`, `Reach.Far`"),
          files)),
      "");
  for (const char* const unknown :
       {"`Gate.Fails`", "`gate`", "`Not.One`", "`Reach.Nowhere`", "words alone"}) {
    EXPECT_EQ(count_of(find_unknown_tests(page(unknown), files)), 1U) << unknown;
  }
}

TEST(Lengths, AreAdvisedAgainstBeyondTheLimits) {
  const std::string body(71 * 6, '\n');
  EXPECT_EQ(count_of(advise_lengths(header(std::string(101, '/')))), 1U);
  EXPECT_EQ(count_of(advise_lengths(header("void f() {" + body + "}\n"))), 1U);
  EXPECT_EQ(count_of(advise_lengths(header(std::string(501, '\n')))), 1U);
  EXPECT_EQ(describe(advise_lengths(header("namespace a {" + body + "}\n"))), "");
  EXPECT_EQ(
      count_of(advise_folder_sizes(std::vector<SourceFile>(16, SourceFile{"shm/src/a.cpp", ""}))),
      1U);
}

}  // namespace
}  // namespace meterbank::tidy
