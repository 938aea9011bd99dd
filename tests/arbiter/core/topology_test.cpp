// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/topology.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::arbiter {
namespace {

// Lines 1 to 4 of most texts here.
constexpr std::string_view kHead =
    "pmu p cpus=0-7 gp=4 fixed=2 width=48 flags=overflow\n"
    "class low p gp=0x3\n"
    "unit lbr p conflicts=pt\n"
    "unit pt p scope=core n=2\n";

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
  const Topology topology = parsed(
      "# comment\n"
      "\tpmu\tcpu_core cpus=0-15 gp=8 fixed=4 width=48 flags=overflow,userread # more\n"
      "\n"
      "pmu bare cpus=3 gp=0\n"
      "cores cpu_core siblings=0,8\n"
      "class low4 cpu_core gp=0x0f\n"
      "class inst cpu_core gp=0xff fixed=0,3\n"
      "block pair cpu_core align=2 len=4\n"
      "unit lbr cpu_core scope=cpu n=1 conflicts=pt\n"
      "unit eventbuf cpu_core scope=core n=3 shareable=threshold-min\n"
      "unit pt cpu_core scope=pmu\n"
      "extra offcore_rsp cpu_core scope=core n=2 share=same-config\n"
      "event cpu_core 0x80-0x8f -> low4\n"
      "event cpu_core 60:0x0 -> inst\n"
      "foreign watchdog cpu_core cpus=0-14 event=0x3c");
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

TEST(TopologyFile, MayHaveNothingToLend) {
  EXPECT_TRUE(parsed("").pmus.empty());
  EXPECT_TRUE(parsed("\n\n# nothing\n   \n").pmus.empty());
}

TEST(TopologyFile, ConflictsHoldBothWays) {
  const Topology topology = parsed(kHead);
  EXPECT_EQ(topology.units.at(0).conflicts, std::vector<std::string>{"pt"});
  EXPECT_EQ(topology.units.at(1).conflicts, std::vector<std::string>{"lbr"});
  const Topology both = parsed("pmu p cpus=0 gp=1\nunit a p conflicts=b,b\nunit b p conflicts=a\n");
  EXPECT_EQ(both.units.at(1).conflicts, std::vector<std::string>{"a"});
}

TEST(TopologyFile, NamesBelongToOnePmuAndOneKind) {
  const Topology topology = parsed(
      "pmu a cpus=0 gp=1\npmu b cpus=1 gp=2\n"
      "class x a gp=1\nclass x b gp=2\nunit x a\nunit x b\nextra x a share=same-config\n"
      "event b 1 -> x\n");
  EXPECT_EQ(topology.events.at(0).event_class, 1U);
}

TEST(TopologyFile, ForeignHoldersFindRulesBelowThem) {
  const Topology topology = parsed(
      "pmu p cpus=0 gp=2\nclass a p gp=1\nclass b p gp=2\nevent p 0x3c -> a\n"
      "foreign dog p cpus=0 event=0x3c\nevent p 0x3c:0 -> b\n");
  EXPECT_EQ(topology.foreign.at(0).event_class, 1U);
}

struct BadLine {
  std::string_view line;  // the fifth
  std::string_view what;
  ErrorCode code = ErrorCode::kInvalidArgument;
};

constexpr ErrorCode kLimit = ErrorCode::kLimit;

constexpr BadLine kBadLines[] = {
    {"pnu x cpus=0 gp=1", "'pnu' is no kind of line"},
    {"cpus=0 pmu x gp=1", "'cpus=0' is no kind of line"},
    {"pmu cpus=0 gp=1", "pmu takes 1 words before its keys, not 0"},
    {"pmu x y cpus=0 gp=1", "pmu takes 1 words before its keys, not 2"},
    {"pmu x gp=1", "pmu lacks cpus="},
    {"pmu x cpus=0", "pmu lacks gp="},
    {"pmu x cpus= gp=1", "cpus= without a value"},
    {"pmu x cpus=0 gp=1 gp=2", "gp= twice"},
    {"pmu x cpus=0 gp=1 scope=cpu", "pmu has no 'scope'"},
    {"pmu x cpus=0 gp=1 =4", "pmu has no ''"},
    {"pmu p cpus=0 gp=1", "'p' is there already"},
    {"pmu x/y cpus=0 gp=1", "'x/y' is no name"},
    {"pmu \xc3\xa9 cpus=0 gp=1", "'\xc3\xa9' is no name"},
    {"pmu x cpus=3-1 gp=1", "CPU set: '3-1' ends before it begins"},
    {"pmu x cpus=0,,1 gp=1", "CPU set: '' is neither a number nor a range"},
    {"pmu x cpus=0-4096 gp=1", "CPU set: '0-4096' is beyond the last CPU there can be"},
    {"pmu x cpus=0 gp=33", "gp=33 is out of range", kLimit},
    {"pmu x cpus=0 gp=-1", "gp='-1' is not a number"},
    {"pmu x cpus=0 gp=4294967296", "gp='4294967296' is not a number"},
    {"pmu x cpus=0 gp=0x", "gp='0x' is not a number"},
    {"pmu x cpus=0 gp=1 fixed=33", "fixed=33 is out of range", kLimit},
    {"pmu x cpus=0 gp=1 width=65", "width=65 is out of range", kLimit},
    {"pmu x cpus=0 gp=1 width=0", "width=0 is out of range"},
    {"pmu x cpus=0 gp=1 flags=fast", "flag 'fast' is unknown"},
    {"pmu x cpus=0 gp=1 flags=overflow,", "flag '' is unknown"},
    {"cores q siblings=0,1", "no PMU 'q' above this line"},
    {"cores p", "cores lacks siblings="},
    {"cores p siblings=7-8", "siblings='7-8' goes beyond the CPUs of p"},
    {"class x q gp=1", "no PMU 'q' above this line"},
    {"class x p", "a class without counters"},
    {"class x p gp=0x0", "a class without counters"},
    {"class x p gp=0x10", "gp=0x10 has more than the 4 general counters of p"},
    {"class x p gp=0x100000000", "gp=0x100000000 has more than the 4 general counters of p"},
    {"class x p gp=0xg", "gp='0xg' is no mask"},
    {"class x p fixed=2", "p has no fixed counter '2'"},
    {"class x p fixed=0-1", "p has no fixed counter '0-1'"},
    {"class x p fixed=0,", "p has no fixed counter ''"},
    {"class low p gp=0x1", "'low' is there already"},
    {"block x q len=1", "no PMU 'q' above this line"},
    {"block x p", "block lacks len="},
    {"block x p len=0", "len=0 is out of range"},
    {"block x p len=5", "a block of 5 does not fit p"},
    {"block x p len=33", "len=33 is out of range", kLimit},
    {"block x p len=2 align=0", "align=0 is out of range"},
    {"block x p len=2 align=33", "align=33 is out of range", kLimit},
    {"unit x q", "no PMU 'q' above this line"},
    {"unit lbr p", "'lbr' is there already"},
    {"unit x p scope=node", "scope='node' is unknown"},
    {"unit x p n=0", "n=0 is out of range"},
    {"unit x p n=1025", "n=1025 is out of range", kLimit},
    {"unit x p shareable=yes", "shareable='yes' is unknown"},
    {"unit x p conflicts=bts", "no unit 'bts' of p"},
    {"unit x p conflicts=pt,", "no unit '' of p"},
    {"unit x p conflicts=x", "a unit in conflict with itself"},
    {"unit x p conflicts=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,q,r", "too many conflicts", kLimit},
    {"extra x q share=same-config", "no PMU 'q' above this line"},
    {"extra x p", "extra lacks share="},
    {"extra x p share=any", "share='any' is unknown"},
    {"extra x p n=0 share=same-config", "n=0 is out of range"},
    {"event q 0x3c -> low", "no PMU 'q' above this line"},
    {"event p 0x3c -> high", "no class 'high' of p above this line"},
    {"event p 0x3c => low", "event has no ''"},
    {"event p 0x3c to low", "'to' instead of ->"},
    {"event p 0x3c low", "event takes 4 words before its keys, not 3"},
    {"event p cycles -> low", "'cycles' is no event"},
    {"event p 0x3c: -> low", "'0x3c:' is no event"},
    {"event p 0x3c:z -> low", "'0x3c:z' is no event"},
    {"event p 1-2-3 -> low", "'1-2-3' is no event"},
    {"event p 0x100000000 -> low", "'0x100000000' is no event"},
    {"event p 0x8f-0x80 -> low", "'0x8f-0x80' ends before it begins"},
    {"foreign dog q cpus=0 event=1", "no PMU 'q' above this line"},
    {"foreign dog p event=1", "foreign lacks cpus="},
    {"foreign dog p cpus=0", "foreign lacks event="},
    {"foreign dog p cpus=6-8 event=1", "cpus='6-8' goes beyond the CPUs of p"},
    {"foreign dog p cpus=0 event=1-2", "event='1-2' is more than one"},
    {"foreign dog p cpus=0 event=low", "'low' is no event"},
    {"foreign dog p cpus=0 event=0x3c", "event 0x3c of p has no class"},
    {std::string_view("unit x\0 p", 9), "control character '\\u{0}' in column 7"},
    {"unit x p\r", "control character '\\u{d}' in column 9"},
    {"# \x1b[2J", "control character '\\u{1b}' in column 3"},
    {"unit \x7f p", "control character '\\u{7f}' in column 6"},
};

// Followed by a good line, so that a fault found at the end is known by its own line, too.
std::string text_with(std::string_view line) {
  return fmt::format("{}{}\nunit last p\n", kHead, line);
}

TEST(TopologyFile, RefusesEachKindOfBadLineByItsNumber) {
  for (const BadLine& bad : kBadLines) {
    const Error error = refused(text_with(bad.line));
    EXPECT_EQ(error.what, fmt::format("t:5: {}", bad.what));
    EXPECT_EQ(error.code, bad.code) << error.what;
    EXPECT_FALSE(error.remedy.empty()) << error.what;
  }
}

// The control of the test above: what it puts around its lines is no fault.
TEST(TopologyFile, AcceptsGoodLinesInThePlaceOfBadOnes) {
  for (const std::string_view line :
       {"", "#", "pmu x cpus=0-4095 gp=32 fixed=32 width=1", "pmu x cpus=0 gp=0",
        "cores p siblings=0-7", "class x p gp=0xf fixed=1", "class x p fixed=0,1",
        "block x p len=4 align=32", "unit x p n=1024 conflicts=lbr,last",
        "extra x p scope=pmu share=same-config", "event p 0-0xffffffff:0xffffffff -> low",
        "unit lower-than.Z_9 p", "# \xc3\xa9"}) {
    EXPECT_TRUE(parse_topology(text_with(line), "t")) << line;
  }
}

TEST(TopologyFile, RefusesDuplicates) {
  EXPECT_EQ(refused("pmu p cpus=0-3 gp=1\ncores p siblings=0,1\ncores p siblings=1-3\n").what,
            "t:3: CPU '1' is in a core already");
  EXPECT_EQ(
      refused("pmu p cpus=0 gp=1\nclass a p gp=1\nevent p 1-2 -> a\n\nevent p 0x1-0x2 -> a\n").what,
      "t:5: '0x1-0x2' has a class since line 3");
  for (const std::string_view line :
       {"block x p len=1", "extra x p share=same-config", "foreign x p cpus=0 event=1"}) {
    EXPECT_EQ(refused(fmt::format("pmu p cpus=0 gp=1\n{0}\n{0}\n", line)).what,
              "t:3: 'x' is there already");
  }
}

TEST(TopologyFile, KeepsFileNamesFromActingOnATerminal) {
  const auto topology = parse_topology("x", "a\x1b[2J\nb");
  ASSERT_FALSE(topology);
  EXPECT_EQ(topology.error().what, "a\\u{1b}[2J\\u{a}b:1: 'x' is no kind of line");
}

TEST(TopologyFile, HasLimits) {
  const auto refuses = [](const std::string& text, std::string_view what) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, ErrorCode::kLimit) << error.what;
    EXPECT_EQ(error.what, what);
    EXPECT_FALSE(error.remedy.empty()) << what;
  };
  const auto many = [](std::string_view form, std::size_t count) {
    std::string text = "pmu p cpus=0 gp=1\nclass a p gp=1\n";
    for (std::size_t i = 0; i < count; ++i) text += fmt::format(fmt::runtime(form), i);
    return text;
  };
  EXPECT_TRUE(parse_topology(std::string(kTopologyBytesMax, '\n'), "t"));
  refuses(std::string(kTopologyBytesMax + 1, '\n'),
          "t:1: 1048577 bytes are too many for a topology");
  EXPECT_TRUE(parse_topology("\n#" + std::string(kTopologyLineBytesMax - 1, 'x') + "\n", "t"));
  refuses("\n#" + std::string(kTopologyLineBytesMax, 'x'), "t:2: a line of 4097 bytes");
  EXPECT_TRUE(parse_topology("pmu " + std::string(64, 'x') + " cpus=0 gp=1", "t"));
  refuses("pmu " + std::string(65, 'x') + " cpus=0 gp=1", "t:1: a name of 65 bytes");
  EXPECT_TRUE(parse_topology(many("event p {} -> a\n", kTopologyRulesMax - 2), "t"));
  refuses(many("event p {} -> a\n", kTopologyRulesMax - 1), "t:8193: too many rules");
  EXPECT_TRUE(parse_topology(many("pmu x{} cpus=0 gp=1\n", kTopologyPmusMax - 1), "t"));
  refuses(many("pmu x{} cpus=0 gp=1\n", kTopologyPmusMax), "t:258: too many PMUs");
  EXPECT_TRUE(parse_topology(many("unit x{} p\n", kTopologyUnitsMax), "t"));
  refuses(many("unit x{} p\n", kTopologyUnitsMax + 1), "t:1027: too many units");
}

TEST(TopologyFile, ShowsLongWordsInPart) {
  const Error error = refused("pmu p cpus=0 gp=" + std::string(4000, '7'));
  EXPECT_LT(error.message().size(), 200U);
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
  const Topology topology = parsed(
      "pmu p cpus=0 gp=8\npmu q cpus=0 gp=2\n"
      "class a p gp=1\nclass b p gp=2\nclass c p gp=4\nclass d p gp=8\n"
      "event p 0x10-0x1f -> a\n"
      "event p 0x12 -> b\n"
      "event p 0x12:0x01 -> c\n"
      "event p 0x10-0x14:0x01 -> d\n");
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
  const Topology topology = parsed(
      "pmu p cpus=0-7 gp=8\npmu few cpus=0,2 gp=1\ncores p siblings=0,4\ncores p siblings=1,5\n");
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
  const Topology topology = parsed("pmu a cpus=0 gp=1\npmu b cpus=0 gp=1\n");
  EXPECT_EQ(topology.find_pmu("b"), 1U);
  EXPECT_EQ(topology.find_pmu("B"), std::nullopt);
  EXPECT_EQ(topology.find_pmu(""), std::nullopt);
}

}  // namespace
}  // namespace meterbank::arbiter
