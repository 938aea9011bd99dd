// SPDX-License-Identifier: Apache-2.0
//
// What a new version of a manifest may not do to those who read the old one.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parsed.hpp"

namespace meterbank::generator {
namespace {

constexpr std::string_view kOld = R"([provider]
name = "orders"

[[counterset]]
name = "Demo Orders"
symbol = "demo_orders"
instances = "multiple"

[[counterset.counter]]
id = 1
name = "Accepted/sec"
symbol = "accepted"
unit = "{order}"

[[counterset.counter]]
id = 2
name = "Mean Size"
type = "average_bulk"
base = 3
unit = "By"

[[counterset.counter]]
id = 3
type = "average_base"

[[counterset.counter]]
id = 4
name = "Depth"
type = "large_rawcount"
)";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kOld);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::string against(const std::string& text, std::string_view old = kOld) {
  const Manifest now = parsed(text, "new.toml");
  EXPECT_EQ(faults_of(now), "");
  Problems problems;
  check_against(now, parsed(old, "old.toml"), problems);
  return problems.text("new.toml");
}

TEST(Against, AcceptsTheSameManifest) { EXPECT_EQ(against(std::string(kOld)), ""); }

TEST(Against, AcceptsAdditionsAndChangesOfTextForPeople) {
  EXPECT_EQ(against(std::string(kOld) + "\n[[counterset.counter]]\nid = 5\nname = \"New\"\n"), "");
  EXPECT_EQ(against(replaced("unit = \"By\"", "unit = \"By\"\nhelp = \"Of an order.\"")), "");
  EXPECT_EQ(against(replaced("name = \"Depth\"", "name = \"DEPTH\"")), "");
  EXPECT_EQ(against(replaced("type = \"average_base\"", "type = \"average_base\"\nname = \"B\"")),
            "");
  EXPECT_EQ(against(std::string(kOld) +
                    "\n[[counterset]]\nname = \"More\"\n[[counterset.counter]]\nid = 1\nname = "
                    "\"A\"\n"),
            "");
}

TEST(Against, ARetypedCounterIsRefused) {
  EXPECT_EQ(against(replaced("type = \"large_rawcount\"", "type = \"bulk_count\"")),
            "new.toml:29:1: error: counter 4 'Depth' was of type large_rawcount\n"
            "new.toml:29:1: hint: readers would compute with it as before: add a counter with "
            "another id\n");
}

TEST(Against, AnotherFormOrUnitIsRefused) {
  EXPECT_EQ(against(replaced("type = \"large_rawcount\"",
                             "type = \"large_rawcount\"\nform = \"signed\"")),
            "new.toml:30:1: error: counter 4 'Depth' was unsigned, and would be signed\n"
            "new.toml:30:1: hint: readers would compute with it as before: add a counter with "
            "another id\n");
  EXPECT_EQ(
      against(replaced("unit = \"By\"", "unit = \"KiBy\"")),
      "new.toml:20:1: error: counter 2 'Mean Size' had the unit 'By', and would have the unit "
      "'KiBy'\n"
      "new.toml:20:1: hint: old and new values would be taken for the same: add a counter "
      "with another id\n");
}

TEST(Against, ALostCounterIsRefused) {
  EXPECT_EQ(against(replaced("\n[[counterset.counter]]\nid = 4\nname = \"Depth\"\ntype = "
                             "\"large_rawcount\"\n",
                             "")),
            "new.toml:4:1: error: counterset 'Demo Orders' has lost its counter 4 'Depth'\n"
            "new.toml:4:1: hint: it was old.toml:26; keep it, whether it still counts or not\n");
}

TEST(Against, AnotherIdIsRefused) {
  EXPECT_EQ(against(replaced("id = 4", "id = 5")),
            "new.toml:27:1: error: counter 5 'Depth' had the id 4\n"
            "new.toml:27:1: hint: consumers know it by that: put it back\n");
}

TEST(Against, AnIdThatMeansSomethingElseIsRefused) {
  EXPECT_EQ(against(replaced("name = \"Depth\"", "name = \"Height\"")),
            "new.toml:27:1: error: id 4 was that of 'Depth'\n"
            "new.toml:27:1: hint: readers would take one for the other: keep it, or give the new "
            "one another id\n");
}

TEST(Against, ABaseThatBecomesACounterIsRefused) {
  std::string text = replaced("id = 3\ntype = \"average_base\"", "id = 3\nname = \"Other\"");
  text.replace(text.find("base = 3"), 8, "base = 5");
  EXPECT_EQ(against(text + "\n[[counterset.counter]]\nid = 5\ntype = \"average_base\"\n"),
            "new.toml:23:1: error: id 3 was that of a base counter\n"
            "new.toml:23:1: hint: readers would take one for the other: keep it, or give the new "
            "one another id\n");
}

TEST(Against, ExchangedIdsAreRefusedForBoth) {
  std::string text = replaced("id = 4", "id = 1");
  text.replace(text.find("id = 1"), 6, "id = 4");
  const std::string faults = against(text);
  EXPECT_NE(faults.find("id 1 was that of 'Accepted/sec'"), std::string::npos) << faults;
  EXPECT_NE(faults.find("id 4 was that of 'Depth'"), std::string::npos) << faults;
}

TEST(Against, ARenamedCounterIsRefused) {
  EXPECT_EQ(against(replaced("name = \"Accepted/sec\"", "name = \"Taken/sec\"")),
            "new.toml:11:1: error: counter 1 'Taken/sec' was named 'Accepted/sec'\n"
            "new.toml:11:1: hint: paths end with the name: put it back, or add a counter with "
            "another id\n");
}

TEST(Against, AnotherMetricWordIsRefused) {
  EXPECT_EQ(against(replaced("symbol = \"accepted\"", "symbol = \"taken\"")),
            "new.toml:12:1: error: the metric word of counter 1 'Accepted/sec' was accepted, and "
            "would be taken\n"
            "new.toml:12:1: hint: metrics end with it: say 'accepted' as its symbol\n");
  EXPECT_EQ(against(replaced("symbol = \"demo_orders\"", "symbol = \"orders\"")),
            "new.toml:6:1: error: the metric word of counterset 'Demo Orders' was demo_orders, and "
            "would be orders\n"
            "new.toml:6:1: hint: metrics and short paths begin with it: say 'demo_orders' as its "
            "symbol\n");
}

TEST(Against, OtherInstancesAreRefused) {
  EXPECT_EQ(against(replaced("instances = \"multiple\"", "instances = \"global_aggregate\"")),
            "new.toml:7:1: error: the instances of counterset 'Demo Orders' were multiple, and "
            "would be global_aggregate\n"
            "new.toml:7:1: hint: paths to them would change: make a set with another name and "
            "GUID\n");
}

TEST(Against, AnotherGuidOfTheSameNameIsRefused) {
  const std::string faults = against(
      replaced("symbol = \"demo_orders\"",
               "symbol = \"demo_orders\"\nguid = \"{5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42}\""));
  const std::string derived = Guid::from_name("orders", "Demo Orders").text();
  EXPECT_EQ(faults, "new.toml:7:1: error: counterset 'Demo Orders' had the GUID " + derived +
                        "\nnew.toml:7:1: hint: it was derived from the names of provider and set: "
                        "say that one, if a name has to change\n");
}

TEST(Against, AnotherProviderNameChangesDerivedGuidsAndIsRefused) {
  EXPECT_NE(against(replaced("name = \"orders\"", "name = \"venues\"")).find("had the GUID"),
            std::string::npos);
}

TEST(Against, ARenamedSetOfTheSameGuidIsRefused) {
  constexpr std::string_view kGuid =
      "\nguid = \"{5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42}\"\nsymbol = \"demo_orders\"";
  std::string old = replaced("\nsymbol = \"demo_orders\"", kGuid);
  std::string now = old;
  now.replace(now.find("Demo Orders"), 11, "Orders");
  EXPECT_EQ(against(now, old),
            "new.toml:5:1: error: counterset 'Orders' was named 'Demo Orders'\n"
            "new.toml:5:1: hint: paths begin with the name: put it back, or make a set with "
            "another GUID\n");
}

TEST(Against, ALostSetIsRefused) {
  const std::string faults = against(
      "[provider]\nname = \"orders\"\n[[counterset]]\nname = \"Other\"\n"
      "[[counterset.counter]]\nid = 1\nname = \"A\"\n");
  EXPECT_EQ(faults,
            "new.toml:1:1: error: counterset 'Demo Orders' is gone\n"
            "new.toml:1:1: hint: it was old.toml:4; readers of it would find nothing\n");
}

}  // namespace
}  // namespace meterbank::generator
