// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/topology.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::arbiter::topology_test {
namespace {

// Lines 1 to 6 of most texts here. Tables of the PMU follow.
constexpr std::string_view kHead = R"([[pmu]]
name = "p"
cpus = "0-7"
general = 4
fixed = 2
class.low = {general = 0x3}
)";

// A PMU; keys and tables of it may follow.
std::string pmu_named(std::string_view name, std::string_view cpus = "0",
                      std::uint32_t general = 1) {
  return fmt::format("[[pmu]]\nname = \"{}\"\ncpus = \"{}\"\ngeneral = {}\n", name, cpus, general);
}

Topology parsed(std::string_view text) {
  auto topology = parse_topology(text, "t");
  EXPECT_TRUE(topology) << (topology ? "" : topology.error().message());
  return topology.value_or(Topology());
}

Error refused(std::string_view text) {
  const auto topology = parse_topology(text, "t");
  EXPECT_FALSE(topology) << text.substr(0, 200);
  return topology ? Error() : topology.error();
}

TEST(TopologyFile, SaysEverythingItCanSay) {
  const Topology topology = parsed(R"(# comment
[[pmu]]
name = "cpu_core"
	cpus = "0-15"  # more
general = 8
fixed = 4
width = 48
flags = ["overflow", "userread"]
cores = ["0,8"]
event = [
  {code = [0x80, 0x8f], class = "low4"},
  {code = 60, mask = 0x0, class = "inst"},
]
[pmu.class]
low4 = {general = 0x0f}
inst = {general = 0xff, fixed = [0, 3]}
[pmu.block]
quad = {align = 2, length = 4}
[pmu.unit]
lbr = {scope = "cpu", count = 1, conflicts = ["pt"]}
eventbuf = {scope = "core", count = 3, shareable = "threshold-min"}
pt = {scope = "pmu"}
[pmu.extra]
offcore_rsp = {scope = "core", count = 2}
[pmu.foreign]
watchdog = {cpus = "0-14", code = 0x3c}

[[pmu]]
name = "bare"
cpus = "3"
general = 0)");
  ASSERT_EQ(topology.pmus.size(), 2U);
  const Pmu& pmu = topology.pmus[0];
  EXPECT_EQ(pmu.name, "cpu_core");
  EXPECT_EQ(pmu.cpus.text(), "0-15");
  EXPECT_EQ(pmu.general, 8U);
  EXPECT_EQ(pmu.fixed, 4U);
  EXPECT_EQ(pmu.width, 48U);
  EXPECT_TRUE(pmu.has_overflow && pmu.has_user_read);
  EXPECT_EQ(topology.pmus[1].width, 64U);
  EXPECT_FALSE(topology.pmus[1].has_overflow || topology.pmus[1].has_user_read);
  EXPECT_EQ(topology.cores.at(0).text(), "0,8");
  EXPECT_EQ(topology.classes.at(0).counters, 0x0fU);
  EXPECT_EQ(topology.classes.at(1).counters, 0x9'0000'00ffU);
  EXPECT_EQ(topology.blocks.at(0).length, 4U);
  EXPECT_EQ(topology.blocks.at(0).alignment, 2U);
  EXPECT_EQ(topology.units.at(0).conflicts, std::vector<std::string>{"pt"});
  EXPECT_EQ(topology.units.at(1).scope, Scope::kCore);
  EXPECT_EQ(topology.units.at(1).count, 3U);
  EXPECT_TRUE(topology.units.at(1).is_shareable);
  EXPECT_EQ(topology.units.at(2).scope, Scope::kPmu);
  EXPECT_FALSE(topology.units.at(2).is_shareable);
  EXPECT_EQ(topology.extras.at(0).count, 2U);
  EXPECT_EQ(topology.extras.at(0).scope, Scope::kCore);
  EXPECT_EQ(topology.events.at(0).first, 0x80U);
  EXPECT_EQ(topology.events.at(0).last, 0x8fU);
  EXPECT_FALSE(topology.events.at(0).unit_mask);
  EXPECT_EQ(topology.events.at(1).first, 0x3cU);
  EXPECT_EQ(topology.events.at(1).unit_mask, 0U);
  EXPECT_EQ(topology.foreign.at(0).cpus.text(), "0-14");
  EXPECT_EQ(topology.foreign.at(0).event_class, 1U);
}

// What `//   ` begins in the comment of topology.hpp.
TEST(TopologyFile, HeadersExampleIsUnderstood) {
  std::ifstream header(METERBANK_CORE "/topology.hpp");
  std::string text;
  for (std::string line; std::getline(header, line) && line != "#pragma once";) {
    if (line.starts_with("//   ")) text += line.substr(5);
    text += '\n';
  }
  const Topology topology = parsed(text);
  ASSERT_EQ(topology.pmus.size(), 1U);
  EXPECT_EQ(topology.cores.size(), 2U);
  EXPECT_EQ(topology.events.size(), 2U);
  EXPECT_EQ(topology.units.size(), 3U);
  EXPECT_EQ(topology.foreign.size(), 1U);
}

TEST(TopologyFile, MayHaveNothingToLend) {
  EXPECT_TRUE(parsed("").pmus.empty());
  EXPECT_TRUE(parsed("\n\n# nothing\n   \n").pmus.empty());
}

TEST(TopologyFile, ConflictsHoldBothWays) {
  const Topology topology =
      parsed(pmu_named("p") + "unit.lbr = {conflicts = [\"pt\"]}\nunit.pt = {count = 2}\n");
  EXPECT_EQ(topology.units.at(0).conflicts, std::vector<std::string>{"pt"});
  EXPECT_EQ(topology.units.at(1).conflicts, std::vector<std::string>{"lbr"});
  const Topology both = parsed(
      pmu_named("p") + "unit.a = {conflicts = [\"b\", \"b\"]}\nunit.b = {conflicts = [\"a\"]}\n");
  EXPECT_EQ(both.units.at(1).conflicts, std::vector<std::string>{"a"});
}

TEST(TopologyFile, NamesBelongToOnePmuAndOneKind) {
  const Topology topology =
      parsed(pmu_named("a") + "class.x = {general = 1}\nunit.x = {}\nextra.x = {}\n" +
             pmu_named("b", "1", 2) +
             "class.x = {general = 2}\nunit.x = {}\nevent = [{code = 1, class = \"x\"}]\n");
  EXPECT_EQ(topology.events.at(0).event_class, 1U);
}

TEST(TopologyFile, KeepsTheOrderOfTheFile) {
  const Topology topology = parsed(
      pmu_named("z", "0", 4) + "event = [{code = 2, class = \"n\"}, {code = 1, class = \"b\"}]\n" +
      "[pmu.class]\nn = {general = 1}\nb = {general = 2}\nq = {general = 4}\n" + pmu_named("a"));
  ASSERT_EQ(topology.pmus.size(), 2U);
  EXPECT_EQ(topology.pmus[0].name, "z");
  ASSERT_EQ(topology.classes.size(), 3U);
  EXPECT_EQ(topology.classes[0].name, "n");
  EXPECT_EQ(topology.classes[1].name, "b");
  EXPECT_EQ(topology.classes[2].name, "q");
  EXPECT_EQ(topology.events.at(0).first, 2U);
}

TEST(TopologyFile, ForeignHoldersAreOfTheNearestEvent) {
  const Topology topology =
      parsed(pmu_named("p", "0", 2) +
             "foreign.dog = {cpus = \"0\", code = 0x3c}\n"
             "event = [{code = 0x3c, class = \"a\"}, {code = 0x3c, mask = 0, class = \"b\"}]\n"
             "[pmu.class]\na = {general = 1}\nb = {general = 2}\n");
  EXPECT_EQ(topology.foreign.at(0).event_class, 1U);
}

struct BadText {
  std::string_view text;  // from line 7 on
  std::string_view what;  // with its place
  ErrorCode code = ErrorCode::kInvalidArgument;
};

constexpr ErrorCode kLimit = ErrorCode::kLimit;

constexpr BadText kBadTexts[] = {
    {"[[pnu]]", "7:1: topology has no 'pnu'"},
    {"[pmu.clas]", "7:1: pmu has no 'clas'"},
    {"gp = 3", "7:1: pmu has no 'gp'"},
    {"class = 3", "7:9: cannot redefine"},
    {"block = 3", "7:1: 'block' is one table"},
    {"block.x = 3", "7:7: 'x' is not a table"},
    {"[[pmu.block]]", "7:1: 'block' is one table"},
    {"[[pmu.block.x]]\nlength = 1", "7:1: block 'x' is not a list"},
    {"[pmu.event]", "7:1: 'event' is a list of tables"},
    {"event = 3", "7:1: 'event' is a list of tables"},
    {"[pmu.width]", "7:1: 'width' is not a table"},
    {"[[pmu]]\ncpus = \"0\"\ngeneral = 1", "7:1: pmu lacks name"},
    {"[[pmu]]\nname = \"x\"\ngeneral = 1", "7:1: pmu lacks cpus"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"", "7:1: pmu lacks general"},
    {"[[pmu]]\nname = 3\ncpus = \"0\"\ngeneral = 1", "8:1: 'name' is not a text"},
    {"[[pmu]]\nname = \"\"\ncpus = \"0\"\ngeneral = 1", "8:1: name is empty"},
    {"[[pmu]]\nname = \"x\"\nname = \"y\"", "9:8: cannot redefine existing string 'name'"},
    {"[[pmu]]\nname = \"p\"\ncpus = \"0\"\ngeneral = 1", "8:1: 'p' is there already"},
    {"[[pmu]]\nname = \"x/y\"\ncpus = \"0\"\ngeneral = 1", "8:1: 'x/y' is not a name"},
    {"[[pmu]]\nname = \"\xc3\xa9\"\ncpus = \"0\"\ngeneral = 1", "8:1: '\xc3\xa9' is not a name"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"\"\ngeneral = 1", "9:1: cpus names no CPU"},
    {"[[pmu]]\nname = \"x\"\ncpus = 0\ngeneral = 1", "9:1: 'cpus' is not a list of CPUs"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"3-1\"\ngeneral = 1",
     "9:1: CPU set: '3-1' ends before it begins"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0,,1\"\ngeneral = 1",
     "9:1: CPU set: '' is neither a number nor a range"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0-4096\"\ngeneral = 1",
     "9:1: CPU set: '0-4096' is beyond the last CPU there can be"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = 33", "10:1: general = 33 is out of range",
     kLimit},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = -1", "10:1: general = -1 is out of range"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = 4294967297",
     "10:1: general = 4294967297 is out of range", kLimit},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = \"1\"", "10:1: 'general' is not a number"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = 0x", "10:13: expected"},
    {"[[pmu]]\nname = \"x\"\ncpus = \"0\"\ngeneral = 1\nfixed = 33",
     "11:1: fixed = 33 is out of range", kLimit},
    {"width = 65", "7:1: width = 65 is out of range", kLimit},
    {"width = 0", "7:1: width = 0 is out of range"},
    {"flags = [\"fast\"]", "7:1: flag 'fast' is unknown"},
    {"flags = [\"overflow\", \"\"]", "7:22: flags has an empty text"},
    {"flags = \"overflow\"", "7:1: 'flags' is not a list"},
    {"flags = [1]", "7:10: 'flags' is not a list of texts"},
    {"cores = \"0,1\"", "7:1: 'cores' is not a list"},
    {"cores = [0]", "7:10: 'cores' is not a list of CPUs"},
    {"cores = [\"0\", \"7-8\"]", "7:15: core '7-8' goes beyond the CPUs of p"},
    {"class.x = {}", "7:7: a class without counters"},
    {"class.x = {general = 0x0}", "7:7: a class without counters"},
    {"class.x = {general = 0x10}",
     "7:12: general = 0x10 has more than the 4 general counters of p"},
    {"class.x = {general = 0x100000000}", "7:12: general = 4294967296 is out of range", kLimit},
    {"class.x = {general = 0xg}", "7:24: expected"},
    {"class.x = {general = 1, gp = 1}", "7:25: class 'x' has no 'gp'"},
    {"class.x = {fixed = [2]}", "7:12: p has no fixed counter 2"},
    {"class.x = {fixed = 1}", "7:12: 'fixed' is not a list"},
    {"class.x = {fixed = [\"0\"]}", "7:21: 'fixed' is not a number"},
    {"class.x = {fixed = [-1]}", "7:21: fixed = -1 is out of range"},
    {"class.low = {general = 1}", "7:13: cannot redefine existing table 'class.low'"},
    {"class.\"x/y\" = {general = 1}", "7:7: 'x/y' is not a name"},
    {"class.\"\" = {general = 1}", "7:7: '' is not a name"},
    {"block.x = {}", "7:7: block 'x' lacks length"},
    {"block.x = {length = 0}", "7:12: length = 0 is out of range"},
    {"block.x = {length = 5}", "7:12: a block of 5 does not fit p"},
    {"block.x = {length = 33}", "7:12: length = 33 is out of range", kLimit},
    {"block.x = {length = 2, align = 0}", "7:24: align = 0 is out of range"},
    {"block.x = {length = 2, align = 33}", "7:24: align = 33 is out of range", kLimit},
    {"unit.x = {scope = \"node\"}", "7:11: scope = 'node' is unknown"},
    {"unit.x = {scope = 1}", "7:11: 'scope' is not a text"},
    {"unit.x = {count = 0}", "7:11: count = 0 is out of range"},
    {"unit.x = {count = 1025}", "7:11: count = 1025 is out of range", kLimit},
    {"unit.x = {shareable = \"yes\"}", "7:11: shareable = 'yes' is unknown"},
    {"unit.x = {conflicts = [\"bts\"]}", "7:11: no unit 'bts' of p"},
    {"unit.x = {conflicts = [\"last\", \"\"]}", "7:32: conflicts has an empty text"},
    {"unit.x = {conflicts = [\"x\"]}", "7:11: a unit in conflict with itself"},
    {"unit.x = {conflicts = "
     "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\","
     "\"m\",\"n\",\"o\",\"q\",\"r\"]}",
     "7:11: too many conflicts", kLimit},
    {"extra.x = {share = \"any\"}", "7:12: extra 'x' has no 'share'"},
    {"extra.x = {count = 0}", "7:12: count = 0 is out of range"},
    {"event = [{code = 0x3c, class = \"high\"}]", "7:24: no class 'high' of p"},
    {"event = [{code = 0x3c}]", "7:10: event lacks class"},
    {"event = [{class = \"low\"}]", "7:10: event lacks code"},
    {"event = [{code = \"cycles\", class = \"low\"}]", "7:11: 'code' is not a number"},
    {"event = [{code = 0x3c, mask = \"z\", class = \"low\"}]", "7:24: 'mask' is not a number"},
    {"event = [{code = [1, 2, 3], class = \"low\"}]", "7:11: code has 3 numbers"},
    {"event = [{code = [1], class = \"low\"}]", "7:11: code has 1 numbers"},
    {"event = [{code = [1, true], class = \"low\"}]", "7:22: 'code' is not a number"},
    {"event = [{code = 0x100000000, class = \"low\"}]", "7:11: code = 4294967296 is out of range",
     kLimit},
    {"event = [{code = [0x8f, 0x80], class = \"low\"}]",
     "7:11: code = [0x8f, 0x80] ends before it begins"},
    {"foreign.dog = {code = 1}", "7:9: foreign 'dog' lacks cpus"},
    {"foreign.dog = {cpus = \"0\"}", "7:9: foreign 'dog' lacks code"},
    {"foreign.dog = {cpus = \"6-8\", code = 1}", "7:16: cpus = '6-8' goes beyond the CPUs of p"},
    {"foreign.dog = {cpus = \"0\", code = [1, 2]}", "7:28: 'code' is not a number"},
    {"foreign.dog = {cpus = \"0\", code = \"low\"}", "7:28: 'code' is not a number"},
    {"foreign.dog = {cpus = \"0\", code = 0x3c}", "7:28: event 0x3c of p has no class"},
    {std::string_view("unit.\0 = {}", 11), "7:6: control character U+0000"},
    {"# \x1b[2J", "7:3: control character U+001B"},
    {"unit.\x7f = {}", "7:6: control character U+007F"},
    {"# \xff", "7:3: byte 0xff is not UTF-8"},
    {"unit x p", "7:6: expected"},
};

// Followed by a good table, so that a fault found at the end is known by its own place, too.
std::string text_with(std::string_view text) {
  const bool is_in_pmu = !text.starts_with('[');
  return fmt::format(
      "{}{}\n{}", kHead, text,
      is_in_pmu ? "unit.last = {}\n" : "[[pmu]]\nname = 'l'\ncpus = '0'\ngeneral = 0\n");
}

TEST(TopologyFile, RefusesEachKindOfFaultAtItsPlace) {
  for (const BadText& bad : kBadTexts) {
    const Error error = refused(text_with(bad.text));
    EXPECT_TRUE(error.what.starts_with(fmt::format("t:{}", bad.what)))
        << bad.text << ": " << error.what;
    EXPECT_EQ(error.code, bad.code) << error.what;
    EXPECT_FALSE(error.remedy.empty()) << error.what;
  }
}

// The control of the test above: what it puts around its texts is no fault.
TEST(TopologyFile, AcceptsGoodTextsInThePlaceOfBadOnes) {
  for (const std::string_view text :
       {"", "#", "[[pmu]]\nname = 'x'\ncpus = '0-4095'\ngeneral = 32\nfixed = 32\nwidth = 1",
        "[[pmu]]\nname = 'x'\ncpus = '0'\ngeneral = 0", "cores = ['0-7']", "cores = []",
        "class.x = {general = 0xf, fixed = [1]}", "class.x = {fixed = [0, 1]}",
        "block.x = {length = 4, align = 32}", "unit.x = {count = 1024, conflicts = ['last']}",
        "extra.x = {scope = 'pmu'}", "event = []",
        "event = [{code = [0, 0xffffffff], mask = 0xffffffff, class = 'low'}]",
        "unit.lower-than-Z_9 = {}", "unit.'a.b' = {}", "# \xc3\xa9", "width = 1\r",
        "[pmu.block]"}) {
    EXPECT_TRUE(parse_topology(text_with(text), "t")) << text;
  }
}

TEST(TopologyFile, RefusesWhatIsSaidTwice) {
  EXPECT_EQ(refused(pmu_named("p", "0-3") + "cores = [\n\"0,1\",\n\"1-3\"]\n").what,
            "t:7:1: CPU '1' is in a core already");
  EXPECT_EQ(refused(pmu_named("p") +
                    "event = [{code = [1, 2], class = \"a\"},\n\n{code = [0x1, 0x2], class = "
                    "\"a\"}]\nclass.a = {general = 1}\n")
                .what,
            "t:7:2: the same event has a class since line 5");
  for (const std::string_view table :
       {"block.x = {length = 1}", "extra.x = {}", "foreign.x = {cpus = \"0\", code = 1}"}) {
    const Error error = refused(fmt::format("{}{}\n{}\n", pmu_named("p"), table, table));
    EXPECT_TRUE(error.what.starts_with("t:6:")) << error.what;
    EXPECT_NE(error.what.find("cannot redefine existing table"), std::string::npos) << error.what;
  }
}

TEST(TopologyFile, KeepsForeignNamesFromActingOnATerminal) {
  const auto topology = parse_topology("x = 1", "a\x1b[2J\nb");
  ASSERT_FALSE(topology);
  EXPECT_EQ(topology.error().what, "a\\u{1b}[2J\\u{a}b:1:1: topology has no 'x'");
  EXPECT_EQ(
      refused("[[pmu]]\ncores = [\"1\"]\ncpus = \"0\"\ngeneral = 1\nname = \"\\u001b[2J\"\n").what,
      "t:5:1: '\\u{1b}[2J' is not a name");
}

TEST(TopologyFile, HasLimits) {
  const auto refuses = [](const std::string& text, std::string_view what) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, ErrorCode::kLimit) << error.what;
    EXPECT_EQ(error.what, what);
    EXPECT_FALSE(error.remedy.empty()) << what;
  };
  const auto many = [](std::string_view begin, std::string_view form, std::size_t count,
                       std::string_view end = "") {
    std::string text(begin);
    for (std::size_t i = 0; i < count; ++i) text += fmt::format(fmt::runtime(form), i);
    return text.append(end);
  };
  EXPECT_TRUE(parse_topology(std::string(kTopologyBytesMax, '\n'), "t"));
  refuses(std::string(kTopologyBytesMax + 1, '\n'),
          "t:1:1: 1048577 bytes are too many for a topology");
  EXPECT_TRUE(parse_topology(pmu_named(std::string(64, 'x')), "t"));
  refuses(pmu_named(std::string(65, 'x')), "t:2:1: a name of 65 bytes");
  const std::string events = pmu_named("p") + "class.a = {general = 1}\nevent = [\n";
  constexpr std::string_view kEvent = "{{code = {}, class = \"a\"}},\n";
  EXPECT_TRUE(parse_topology(many(events, kEvent, kTopologyRulesMax - 2, "]\n"), "t"));
  refuses(many(events, kEvent, kTopologyRulesMax - 1, "]\n"), "t:8197:1: too many rules");
  constexpr std::string_view kPmu = "[[pmu]]\nname = \"x{}\"\ncpus = \"0\"\ngeneral = 1\n";
  EXPECT_TRUE(parse_topology(many("", kPmu, kTopologyPmusMax), "t"));
  refuses(many("", kPmu, kTopologyPmusMax + 1), "t:1025:1: too many PMUs");
  EXPECT_TRUE(parse_topology(many(pmu_named("p"), "unit.x{} = {{}}\n", kTopologyUnitsMax), "t"));
  refuses(many(pmu_named("p"), "unit.x{} = {{}}\n", kTopologyUnitsMax + 1),
          "t:1029:6: too many units");
}

TEST(TopologyFile, ShowsLongWordsInPart) {
  for (const std::string& text :
       {pmu_named("p", std::string(4000, '7')), pmu_named("p") + std::string(4000, 'x') + " = 1\n",
        "x = " + std::string(4000, '7'), pmu_named("p") + "x." + std::string(4000, 'y') + ".z\n"}) {
    EXPECT_LT(refused(text).message().size(), 400U);
  }
}

TEST(Pmu, CountsUpToAllBits) {
  Pmu pmu;
  EXPECT_EQ(pmu.counters(), 0U);
  pmu.general = 4;
  pmu.fixed = 3;
  EXPECT_EQ(pmu.counters(), 0x7'0000'000fU);
  pmu.general = kGeneralMax;
  pmu.fixed = kFixedMax;
  EXPECT_EQ(pmu.counters(), ~CounterMask{0});
}

TEST(Topology, PrefersRulesWithAUnitMaskAndThenTheFirst) {
  const Topology topology = parsed(pmu_named("p", "0", 8) +
                                   R"(event = [
  {code = [0x10, 0x1f], class = "a"},
  {code = 0x12, class = "b"},
  {code = 0x12, mask = 0x01, class = "c"},
  {code = [0x10, 0x14], mask = 0x01, class = "d"},
]
[pmu.class]
a = {general = 1}
b = {general = 2}
c = {general = 4}
d = {general = 8}
)" + pmu_named("q", "0", 2));
  EXPECT_EQ(topology.class_of(0, 0x12, 0x00), 0U);
  EXPECT_EQ(topology.class_of(0, 0x12, 0x01), 2U);
  EXPECT_EQ(topology.class_of(0, 0x13, 0x01), 3U);
  EXPECT_EQ(topology.class_of(0, 0x15, 0x01), 0U);
  EXPECT_EQ(topology.class_of(0, 0x0f, 0x01), std::nullopt);
  EXPECT_EQ(topology.class_of(0, 0x20, 0x01), std::nullopt);
  EXPECT_EQ(topology.class_of(1, 0x12, 0x01), std::nullopt);
  EXPECT_EQ(topology.counters_for(0, 0x12, 0x01), 4U);
  EXPECT_EQ(topology.counters_for(0, 0x20, 0x00), 0xffU);
  EXPECT_EQ(topology.counters_for(1, 0x12, 0x01), 0x3U);
  EXPECT_EQ(topology.counters_for(2, 0x12, 0x01), 0U);
}

TEST(Topology, KnowsWhoSharesWhat) {
  const Topology topology =
      parsed(pmu_named("p", "0-7", 8) + "cores = [\"0,4\", \"1,5\"]\n" + pmu_named("few", "0,2"));
  EXPECT_EQ(topology.sharing(0, Scope::kCpu, 4).text(), "4");
  EXPECT_EQ(topology.sharing(0, Scope::kCore, 4).text(), "0,4");
  EXPECT_EQ(topology.sharing(0, Scope::kCore, 2).text(), "2");
  EXPECT_EQ(topology.sharing(0, Scope::kPmu, 4).text(), "0-7");
  EXPECT_EQ(topology.sharing(1, Scope::kCore, 0).text(), "0");
  EXPECT_TRUE(topology.sharing(0, Scope::kCpu, 8).empty());
  EXPECT_TRUE(topology.sharing(1, Scope::kPmu, 1).empty());
  EXPECT_TRUE(topology.sharing(2, Scope::kCpu, 0).empty());
}

TEST(Topology, FindsPmusByName) {
  const Topology topology = parsed(pmu_named("a") + pmu_named("b"));
  EXPECT_EQ(topology.find_pmu("b"), 1U);
  EXPECT_EQ(topology.find_pmu("B"), std::nullopt);
  EXPECT_EQ(topology.find_pmu(""), std::nullopt);
}

}  // namespace
}  // namespace meterbank::arbiter::topology_test
