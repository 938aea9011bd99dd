// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "damaged_files.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kOwn = 990;  // the arbiter's user

Policy parsed(const std::string& text) {
  const auto policy = parse_policy(text, "p");
  EXPECT_TRUE(policy) << policy.error().message();
  return policy ? *policy : Policy::standard();
}

ClientIdentity alice() {
  return {.pid = 100,
          .uid = 1001,
          .gid = 100,
          .groups = {200, 300},
          .start_time = 5,
          .program = "app",
          .executable = "/usr/bin/app",
          .cgroup = "/system.slice/app.service"};
}

// A rule of these keys, parted by "; ".
std::string rule(const std::string& keys) {
  std::string text = "[[rule]]\n";
  for (std::size_t at = 0; at < keys.size();) {
    const std::size_t end = std::min(keys.find("; ", at), keys.size());
    text += keys.substr(at, end - at) + "\n";
    at = end + 2;
  }
  return text;
}

Rights rights(const std::string& text, const ClientIdentity& client = alice()) {
  return parsed(text).rights_of(client, kOwn);
}

bool is_plain(const Rights& rights) {
  return !rights.is_denied && !rights.is_administrator && !rights.may_count_cpus &&
         !rights.may_count_kernel && !rights.may_have_whole && !rights.may_have_buffer &&
         !rights.may_delegate && rights.priority_max == pmu::Priority::kMonitoring && !rights.cpus;
}

TEST(Policy, ClientsThatNoRuleMatchesMayCountTheirOwnTasksInUserMode) {
  EXPECT_TRUE(is_plain(rights("")));
  EXPECT_TRUE(is_plain(rights(rule(R"(user = 1002; allow = ["whole-cpu"])") +
                              rule(R"(user = 1003; deny = "everything")") +
                              rule("group = 400; admin = true"))));
  EXPECT_FALSE(is_plain(rights(rule(R"(user = 1001; allow = ["whole-cpu"])"))));
}

TEST(Policy, RootAndTheArbitersOwnUserMayDoAllOfIt) {
  for (const std::uint32_t uid : {0U, kOwn}) {
    ClientIdentity client = alice();
    client.uid = uid;
    const Rights all =
        rights(rule(R"(deny = "everything")") + rule(R"(user = 0; deny = "everything")") +
                   rule(R"(user = 990; deny = "everything")"),
               client);
    EXPECT_TRUE(all.is_administrator);
    EXPECT_FALSE(all.is_denied);
    EXPECT_TRUE(all.may_count_cpus && all.may_count_kernel && all.may_have_whole &&
                all.may_have_buffer && all.may_delegate);
    EXPECT_EQ(all.priority_max, pmu::Priority::kCritical);
    EXPECT_FALSE(all.cpus);
  }
}

TEST(Policy, EachKeyOfARuleGivesItsRight) {
  const Rights some =
      rights(rule(R"(user = 1001; allow = ["whole-cpu"]; priority = "interactive"; counters = 4; )"
                  R"(leases = 8; waits = 1; cpus = "0-3")"));
  EXPECT_EQ(some.priority_max, pmu::Priority::kInteractive);
  EXPECT_EQ(some.counters_max, 4U);
  EXPECT_EQ(some.leases_max, 8U);
  EXPECT_EQ(some.waits_max, 1U);
  EXPECT_EQ(some.cpus, CpuSet::range(0, 3));
  EXPECT_TRUE(some.may_count_cpus);
  EXPECT_FALSE(some.may_count_kernel);
  EXPECT_TRUE(rights(rule(R"(allow = ["kernel"])")).may_count_kernel);
  EXPECT_TRUE(rights(rule(R"(allow = ["exclusive"])")).may_have_whole);
  EXPECT_TRUE(rights(rule(R"(allow = ["buffer"])")).may_have_buffer);
  EXPECT_TRUE(rights(rule(R"(allow = ["delegate"])")).may_delegate);
}

TEST(Policy, LastRuleThatSaysARightDecidesIt) {
  const Rights mixed =
      rights(rule(R"(user = 1001; allow = ["kernel"]; counters = 4)") +
             rule(R"(group = 300; allow = []; counters = 6; priority = "critical")") +
             rule(R"(user = 1001; allow = []; priority = "batch")") +
             rule("user = 1002; allow = []; counters = 9"));
  EXPECT_EQ(mixed.counters_max, 6U);
  EXPECT_EQ(mixed.priority_max, pmu::Priority::kBatch);
  EXPECT_TRUE(mixed.may_count_kernel);
  const std::string allowed = rule("user = 1001; allow = []");
  EXPECT_TRUE(rights(allowed + rule(R"(user = 1001; deny = "everything")")).is_denied);
  EXPECT_FALSE(rights(rule(R"(deny = "everything")") + allowed).is_denied);
  const Rights less = rights(rule(R"(allow = ["kernel", "whole-cpu"])") +
                             rule(R"(group = 200; deny = ["kernel"])"));
  EXPECT_FALSE(less.may_count_kernel);
  EXPECT_TRUE(less.may_count_cpus);
  EXPECT_FALSE(rights(rule(R"(deny = ["kernel"])")).is_denied);
}

TEST(Policy, AdministratorsMayDoAllUntilTheyAreDenied) {
  const std::string admins = rule("group = 200; admin = true");
  const std::string denied_alice = rule(R"(user = 1001; deny = "everything")");
  const Rights admin = rights(admins);
  EXPECT_TRUE(admin.is_administrator);
  EXPECT_TRUE(admin.may_have_whole);
  EXPECT_EQ(admin.priority_max, pmu::Priority::kCritical);
  EXPECT_FALSE(rights(rule("group = 101; admin = true")).is_administrator);
  const Rights denied = rights(admins + denied_alice);
  EXPECT_TRUE(denied.is_denied);
  EXPECT_FALSE(denied.is_administrator);
  EXPECT_FALSE(denied.may_have_whole);
  EXPECT_FALSE(rights(denied_alice + admins).is_denied);
}

TEST(Policy, ClientsAreKnownByWhatTheKernelSaysOfThem) {
  struct Subject {
    const char* keys;
    bool is_alice;
  };
  for (const Subject& subject :
       {Subject{"user = 1001; ", true},
        Subject{"user = 1002; ", false},
        Subject{"group = 100; ", true},
        Subject{"group = 300; ", true},
        Subject{"group = 301; ", false},
        Subject{"", true},
        Subject{R"(executable = "/usr/bin/app"; )", true},
        Subject{R"(executable = "/usr/bin/ap"; )", false},
        Subject{R"(executable = "/usr/bin/app2"; )", false},
        Subject{R"(executable = "/usr/*"; )", true},
        Subject{R"(executable = "*"; )", true},
        Subject{R"(executable = "*/app"; )", true},
        Subject{R"(executable = "/*/*/*"; )", true},
        Subject{R"(executable = "/*b*n*p"; )", true},
        Subject{R"(executable = "/*x*"; )", false},
        Subject{R"(executable = "/usr/bin/app*"; )", true},
        Subject{R"(cgroup = "/system.slice/*"; )", true},
        Subject{R"(cgroup = "/user.slice/*"; )", false},
        Subject{R"(user = 1001; group = 300; executable = "*"; cgroup = "*.service"; )", true},
        Subject{"user = 1001; group = 301; ", false},
        Subject{"user = 1002; group = 300; ", false}}) {
    EXPECT_EQ(rights(rule(std::string(subject.keys) + R"(allow = ["kernel"])")).may_count_kernel,
              subject.is_alice)
        << subject.keys;
  }
}

TEST(Policy, AnUnknownPropertyOfAClientMatchesNoLine) {
  ClientIdentity client = alice();
  client.executable.clear();
  EXPECT_FALSE(rights(rule(R"(executable = "*"; allow = ["kernel"])"), client).may_count_kernel);
  client.cgroup.clear();
  EXPECT_FALSE(rights(rule(R"(cgroup = "*"; allow = ["kernel"])"), client).may_count_kernel);
}

TEST(Policy, UsersAndGroupsAreLookedUpByName) {
  ClientIdentity client = alice();
  client.uid = 1;
  client.gid = 2;
  EXPECT_TRUE(rights(rule(R"(user = "daemon"; allow = ["kernel"])"), client).may_count_kernel);
  EXPECT_TRUE(rights(rule(R"(group = "bin"; allow = ["kernel"])"), client).may_count_kernel);
  EXPECT_FALSE(rights(rule(R"(user = "root"; allow = ["kernel"])"), client).may_count_kernel);
}

TEST(Policy, ClassTablesSayAllOfTheirClass) {
  const Policy standard = Policy::standard();
  EXPECT_TRUE(standard.classes[0].is_preemptible);
  EXPECT_TRUE(standard.classes[1].is_preemptible);
  EXPECT_FALSE(standard.classes[2].is_preemptible);
  EXPECT_FALSE(standard.classes[3].is_preemptible);
  EXPECT_EQ(standard.classes[2].hold_ns_max, 900'000'000'000U);
  EXPECT_TRUE(standard.classes[2].is_renewable);
  EXPECT_EQ(standard.whole_hold_ns_max, 60'000'000'000U);
  EXPECT_FALSE(standard.mixes_exact_with_outsiders);

  const Policy policy = parsed(R"(
[class]
batch = {hold = "500ms"}
monitoring = {hold = 0, preemptible = true}
interactive = {hold = "15m", renewable = true, quota = "50%"}
critical = {hold = "2h", quota = "0%"}
[whole]
hold = "30s"
)");
  EXPECT_EQ(policy.classes[0].hold_ns_max, 500'000'000U);
  EXPECT_FALSE(policy.classes[0].is_preemptible);
  EXPECT_FALSE(policy.classes[0].is_renewable);
  EXPECT_EQ(policy.classes[0].quota_permille, 1000U);
  EXPECT_TRUE(policy.classes[1].is_preemptible);
  EXPECT_EQ(policy.classes[1].hold_ns_max, 0U);
  EXPECT_TRUE(policy.classes[2].is_renewable);
  EXPECT_EQ(policy.classes[2].quota_permille, 500U);
  EXPECT_EQ(policy.classes[3].hold_ns_max, 7'200'000'000'000U);
  EXPECT_EQ(policy.classes[3].quota_permille, 0U);
  EXPECT_EQ(policy.whole_hold_ns_max, 30'000'000'000U);
}

TEST(Policy, ReservesGuardsAndOutsidersAreKept) {
  const Policy policy = parsed(R"(outsiders = "allow"
[[reserve]]
pmu = "cpu_core"  # for perf
cpus = "0-3"
counters = 1
[[reserve]]
pmu = "cpu_core"
cpus = "4"
counters = 2
[[guard]]
pmu = "cpu_atom"
cpus = "8-11"
)");
  ASSERT_EQ(policy.reserves.size(), 2U);
  EXPECT_EQ(policy.reserves[0].pmu, "cpu_core");
  EXPECT_EQ(policy.reserves[0].cpus, CpuSet::range(0, 3));
  EXPECT_EQ(policy.reserves[1].counters, 2U);
  ASSERT_EQ(policy.guards.size(), 1U);
  EXPECT_EQ(policy.guards[0].cpus, CpuSet::range(8, 11));
  EXPECT_TRUE(policy.mixes_exact_with_outsiders);
  EXPECT_FALSE(parsed("outsiders = \"refuse\"\n").mixes_exact_with_outsiders);
}

// What `//   ` begins in the comment of policy.hpp, with names of this machine.
TEST(Policy, HeadersExampleIsUnderstood) {
  std::ifstream header(METERBANK_CORE "/policy.hpp");
  std::string text;
  for (std::string line; std::getline(header, line) && line != "#pragma once";) {
    if (line.starts_with("//   ")) text += line.substr(5);
    text += '\n';
  }
  ASSERT_NE(text.find("[[guard]]"), std::string::npos);
  for (const auto& [name, known] : {std::pair<std::string, std::string>{"alice", "daemon"},
                                    {"guest", "root"},
                                    {"perf", "bin"},
                                    {"wheel", "root"}}) {
    text.replace(text.find('"' + name + '"'), name.size() + 2, '"' + known + '"');
  }
  const Policy policy = parsed(text);
  EXPECT_EQ(policy.rules.size(), 5U);
  EXPECT_EQ(policy.classes[2].quota_permille, 500U);
  EXPECT_EQ(policy.reserves.size(), 1U);
  EXPECT_EQ(policy.guards.size(), 1U);
}

struct BadPolicy {
  std::string text;   // from the third line on
  std::string place;  // of the fault
  std::string says;
  ErrorCode code = ErrorCode::kInvalidArgument;
};

BadPolicy bad_rule(const std::string& key, const std::string& place, const std::string& says,
                   ErrorCode code = ErrorCode::kInvalidArgument) {
  return {"[[rule]]\nallow = []\n" + key + "\n", place, says, code};
}

BadPolicy bad_batch(const std::string& keys, const std::string& place, const std::string& says) {
  return {"[class]\nbatch = {" + keys + "}\n", place, says};
}

TEST(Policy, EachFaultIsToldWithItsFileAndPlace) {
  constexpr ErrorCode kLimit = ErrorCode::kLimit;
  const BadPolicy policies[] = {
      {"permit = 1", "3:1", "policy has no 'permit'"},
      {"[permit]", "3:1", "policy has no 'permit'"},
      {"user = 1", "3:1", "policy has no 'user'"},
      {"[[permit]]", "3:1", "policy has no 'permit'"},
      {"[rule]\nallow = []", "3:1", "'rule' is a list of tables"},
      {"rule = 3", "3:1", "'rule' is a list of tables"},
      {"rule = [1, 2]", "3:1", "'rule' is a list of tables"},
      {"[[class]]", "3:1", "'class' is one table"},
      {"class = 3", "3:1", "'class' is one table"},
      {"[outsiders]", "3:1", "'outsiders' is not a table"},
      {"[[rule]]\nuser = 1", "3:1", "a rule says one of allow, deny and admin"},
      {"[[rule]]\nallow = []\ndeny = []", "3:1", "a rule says one of allow, deny and admin"},
      bad_rule(R"(user = "no-such-user-here")", "5:1", "user 'no-such-user-here' is unknown"),
      bad_rule(R"(group = "no-such-group-here")", "5:1", "group 'no-such-group-here' is unknown"),
      bad_rule(R"(user = "")", "5:1", "user is empty"),
      bad_rule(R"(user = "-1")", "5:1", "user '-1' is unknown"),
      bad_rule("user = -1", "5:1", "user = -1 is out of range"),
      bad_rule("user = 4294967296", "5:1", "user = 4294967296 is out of range", kLimit),
      bad_rule("user = true", "5:1", "'user' is not a text"),
      bad_rule("user = 1\nuser = 2", "6:8", "cannot redefine existing integer 'user'"),
      bad_rule("name = 1", "5:1", "rule has no 'name'"),
      bad_rule("[rule.user]", "5:1", "'user' is not a table"),
      {"[[rule]]\nallow = [\"everything\"]", "4:1", "right 'everything' is unknown"},
      {"[[rule]]\nallow = \"kernel\"", "4:1", "'allow' is not a list"},
      {"[[rule]]\nallow = [1]", "4:10", "'allow' is not a list of texts"},
      {"[[rule]]\nallow = [\"kernel\", \"kernel\"]", "4:1", "'kernel' twice"},
      bad_rule("counters = 65", "5:1", "counters = 65 is out of range", kLimit),
      bad_rule(R"(counters = "x")", "5:1", "'counters' is not a number"),
      bad_rule("counters = 1.5", "5:1", "'counters' is not a number"),
      bad_rule("counters = -1", "5:1", "counters = -1 is out of range"),
      bad_rule("leases = 4097", "5:1", "leases = 4097 is out of range", kLimit),
      bad_rule("waits = 4097", "5:1", "waits = 4097 is out of range", kLimit),
      bad_rule(R"(priority = "kernel")", "5:1", "priority = 'kernel' is unknown"),
      bad_rule(R"(priority = "high")", "5:1", "priority = 'high' is unknown"),
      bad_rule(R"(cpus = "a")", "5:1", "CPU set: 'a' is neither a number nor a range"),
      bad_rule(R"(cpus = "3-1")", "5:1", "CPU set: '3-1' ends before it begins"),
      bad_rule("cpus = 3", "5:1", "'cpus' is not a list of CPUs"),
      bad_rule(R"(cpus = "")", "5:1", "cpus names no CPU"),
      bad_rule(R"(executable = "app")", "5:1", "'app' is not a path from the root"),
      bad_rule(R"(cgroup = "slice")", "5:1", "'slice' is not a path from the root"),
      {"[[rule]]\ndeny = []\ncounters = 3", "4:1", "deny names no right"},
      {"[[rule]]\ndeny = [\"kernel\"]\ncounters = 3", "5:1", "rule has no 'counters'"},
      {"[[rule]]\ndeny = \"all\"", "4:1", "deny = 'all' is unknown"},
      {"[[rule]]\ndeny = [\"everything\"]", "4:1", "right 'everything' is unknown"},
      {"[[rule]]\ndeny = true", "4:1", "'deny' is not a list"},
      {"[[rule]]\nadmin = false", "4:1", "admin is false"},
      {"[[rule]]\nadmin = \"kernel\"", "4:1", "'admin' is not a yes or no"},
      {"[[rule]]\nadmin = true\npriority = \"batch\"", "5:1", "rule has no 'priority'"},
      {"[class.batch]", "3:1", "class 'batch' lacks hold"},
      {"[class]\nhold = 0", "4:1", "class has no 'hold'"},
      {"[class.kernel]\nhold = 0", "3:1", "class has no 'kernel'"},
      {"[class]\nbatch = 3", "4:1", "'batch' is one table"},
      {"[[class.batch]]\nhold = 0", "3:1", "'batch' is one table"},
      {"[class.batch]\nhold = 0\n[class.batch]\nhold = 1", "5:1", "cannot redefine"},
      bad_batch("hold = 1", "4:10", "hold is a number without a unit"),
      bad_batch(R"(hold = "1")", "4:10", "hold = '1' is not a time"),
      bad_batch(R"(hold = "1d")", "4:10", "hold = '1d' is not a time"),
      bad_batch(R"(hold = "m")", "4:10", "hold = 'm' is not a time"),
      bad_batch(R"(hold = "-1s")", "4:10", "hold = '-1s' is not a time"),
      bad_batch(R"(hold = "99999999999s")", "4:10", "hold = '99999999999s' is not a time"),
      bad_batch(R"(hold = 0, quota = "50")", "4:20", "quota = '50' is not a share"),
      bad_batch(R"(hold = 0, quota = "101%")", "4:20", "quota = '101%' is not a share"),
      bad_batch(R"(hold = 0, quota = "%")", "4:20", "quota = '%' is not a share"),
      bad_batch("hold = 0, quota = 50", "4:20", "'quota' is not a text"),
      bad_batch("hold = 0, renewable = 1", "4:20", "'renewable' is not a yes or no"),
      bad_batch("hold = 0, forever = true", "4:20", "class 'batch' has no 'forever'"),
      {"[whole]", "3:1", "whole lacks hold"},
      {"[whole]\nhold = \"soon\"", "4:1", "hold = 'soon' is not a time"},
      {"[[reserve]]\npmu = \"cpu\"\ncpus = \"0\"", "3:1", "reserve lacks counters"},
      {"[[reserve]]\npmu = \"cpu\"\ncounters = 1", "3:1", "reserve lacks cpus"},
      {"[[reserve]]\ncpus = \"0\"\ncounters = 1", "3:1", "reserve lacks pmu"},
      {"[[reserve]]\npmu = \"cpu\"\ncpus = \"0\"\ncounters = 0", "6:1",
       "counters = 0 is out of range"},
      {"[[reserve]]\npmu = \"cpu\"\ncpus = \"x\"\ncounters = 1", "5:1", "CPU set: 'x'"},
      {"[[guard]]\npmu = \"cpu\"", "3:1", "guard lacks cpus"},
      {"[[guard]]\ncpus = \"0\"", "3:1", "guard lacks pmu"},
      {"outsiders = true", "3:1", "'outsiders' is not a text"},
      {"outsiders = \"maybe\"", "3:1", "outsiders = 'maybe' is unknown"},
      {"outsiders = \"allow\"\noutsiders = \"refuse\"", "4:13", "cannot redefine"},
      {"# \x01", "3:3", "control character U+0001"},
      {"allow user", "3:7", "expected"},
  };
  for (const BadPolicy& bad : policies) {
    const auto policy = parse_policy("# a policy\n\n" + bad.text + "\n", "etc/pmud.toml");
    ASSERT_FALSE(policy) << bad.text;
    const std::string& what = policy.error().what;
    EXPECT_TRUE(what.starts_with("etc/pmud.toml:" + bad.place + ": " + bad.says))
        << bad.text << ": " << what;
    EXPECT_EQ(policy.error().code, bad.code) << bad.text;
    EXPECT_FALSE(policy.error().remedy.empty()) << bad.text;
  }
}

TEST(Policy, FirstFaultOfTheFileIsTold) {
  const auto policy = parse_policy("[[rule]]\nallow = []\nzeal = 1\nalso = 1\n[whole]\n", "p");
  ASSERT_FALSE(policy);
  EXPECT_TRUE(policy.error().what.starts_with("p:3:1: ")) << policy.error().what;
}

TEST(Policy, LimitsAreToldAsSuch) {
  const auto large = parse_policy(std::string(kPolicyBytesMax + 1, '#'), "p");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kLimit);
  EXPECT_EQ(large.error().what.find("p:1:1: "), 0U);
  const std::string one = rule("allow = []");
  std::string many;
  while (many.size() + one.size() <= kPolicyBytesMax) many += one;
  EXPECT_TRUE(parse_policy(many, "p"));
  EXPECT_TRUE(parse_policy("# " + std::string(kPolicyBytesMax - 2, 'x'), "p"));
}

// Whatever the bytes, there is a policy or an error with a place and a remedy.
TEST(Policy, SurvivesDamage) {
  const std::string whole = rule(R"(user = 1001; allow = ["kernel", "buffer"]; cpus = "0-3")") +
                            rule(R"(executable = "/usr/*"; deny = "everything")") +
                            "[class.batch]\nhold = \"15m\"\nquota = \"50%\"\n[whole]\nhold = 0\n"
                            "[[reserve]]\npmu = \"cpu\"\ncpus = \"0-3\"\ncounters = 1\n";
  ASSERT_TRUE(parse_policy(whole, "f"));
  expect_refusals_are_named(whole, 2000, 1,
                            [](const std::string& text) { return parse_policy(text, "f"); });
}

// A reader of files keeps the policy it has: nothing of a bad file comes out, not even its good
// rules.
TEST(Policy, BadFileChangesNothing) {
  Policy in_force = parsed(rule(R"(user = 1001; allow = ["kernel"])"));
  auto next = parse_policy(
      rule(R"(user = 1001; deny = "everything")") + rule(R"(allow = ["everything"])"), "p");
  ASSERT_FALSE(next);
  if (next) in_force = std::move(*next);
  EXPECT_TRUE(in_force.rights_of(alice(), kOwn).may_count_kernel);
  EXPECT_FALSE(in_force.rights_of(alice(), kOwn).is_denied);
}

TEST(Policy, GlobsOfManyStarsTakeNoLongTime) {
  ClientIdentity client = alice();
  client.executable = "/" + std::string(4000, 'a');
  std::string glob = "/";
  for (int star = 0; star < 1000; ++star) glob += "*a";
  const auto with = [](const std::string& path) {
    return rule("executable = \"" + path + "\"; allow = [\"kernel\"]");
  };
  EXPECT_TRUE(rights(with(glob), client).may_count_kernel);
  EXPECT_FALSE(rights(with(glob + "b"), client).may_count_kernel);
}

}  // namespace
}  // namespace meterbank::arbiter
