// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/policy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

Rights rights(const std::string& text, const ClientIdentity& client = alice()) {
  return parsed(text).rights_of(client, kOwn);
}

bool is_plain(const Rights& rights) {
  return !rights.is_denied && !rights.is_administrator && !rights.may_count_cpus &&
         !rights.may_count_kernel && !rights.may_have_whole && !rights.may_have_buffer &&
         !rights.may_delegate && rights.priority_max == pmu::Priority::kMonitoring && !rights.cpus;
}

TEST(Policy, WithoutAMatchingLineAClientMayCountItsOwnTasksInUserMode) {
  EXPECT_TRUE(is_plain(rights("")));
  EXPECT_TRUE(is_plain(rights("allow user=1002 whole-cpu\ndeny user=1003\nadmin group=400\n")));
  EXPECT_FALSE(is_plain(rights("allow user=1001 whole-cpu\n")));
}

TEST(Policy, RootAndTheArbitersOwnUserMayDoAllOfIt) {
  for (const std::uint32_t uid : {0U, kOwn}) {
    ClientIdentity client = alice();
    client.uid = uid;
    const Rights all = rights("deny\ndeny user=0\ndeny user=990\n", client);
    EXPECT_TRUE(all.is_administrator);
    EXPECT_FALSE(all.is_denied);
    EXPECT_TRUE(all.may_count_cpus && all.may_count_kernel && all.may_have_whole &&
                all.may_have_buffer && all.may_delegate);
    EXPECT_EQ(all.priority_max, pmu::Priority::kCritical);
    EXPECT_FALSE(all.cpus);
  }
}

TEST(Policy, EachWordOfAnAllowLineGivesItsRight) {
  const Rights some = rights(
      "allow user=1001 priority=interactive counters=4 leases=8 waits=1 cpus=0-3 whole-cpu\n");
  EXPECT_EQ(some.priority_max, pmu::Priority::kInteractive);
  EXPECT_EQ(some.counters_max, 4U);
  EXPECT_EQ(some.leases_max, 8U);
  EXPECT_EQ(some.waits_max, 1U);
  EXPECT_EQ(some.cpus, CpuSet::range(0, 3));
  EXPECT_TRUE(some.may_count_cpus);
  EXPECT_FALSE(some.may_count_kernel);
  EXPECT_TRUE(rights("allow kernel").may_count_kernel);
  EXPECT_TRUE(rights("allow exclusive").may_have_whole);
  EXPECT_TRUE(rights("allow buffer").may_have_buffer);
  EXPECT_TRUE(rights("allow delegate").may_delegate);
}

TEST(Policy, LastLineThatSaysARightDecidesIt) {
  const Rights mixed = rights(
      "allow user=1001 counters=4 kernel\n"
      "allow group=300 counters=6 priority=critical\n"
      "allow user=1001 priority=batch\n"
      "allow user=1002 counters=9\n");
  EXPECT_EQ(mixed.counters_max, 6U);
  EXPECT_EQ(mixed.priority_max, pmu::Priority::kBatch);
  EXPECT_TRUE(mixed.may_count_kernel);
  EXPECT_TRUE(rights("allow user=1001\ndeny user=1001\n").is_denied);
  EXPECT_FALSE(rights("deny\nallow user=1001\n").is_denied);
  EXPECT_FALSE(rights("allow kernel whole-cpu\ndeny group=200 kernel\n").may_count_kernel);
  EXPECT_TRUE(rights("allow kernel whole-cpu\ndeny group=200 kernel\n").may_count_cpus);
  EXPECT_FALSE(rights("deny kernel\n").is_denied);
}

TEST(Policy, AdministratorsMayDoAllUntilTheyAreDenied) {
  const Rights admin = rights("admin group=200\n");
  EXPECT_TRUE(admin.is_administrator);
  EXPECT_TRUE(admin.may_have_whole);
  EXPECT_EQ(admin.priority_max, pmu::Priority::kCritical);
  EXPECT_FALSE(rights("admin group=101\n").is_administrator);
  const Rights denied = rights("admin group=200\ndeny user=1001\n");
  EXPECT_TRUE(denied.is_denied);
  EXPECT_FALSE(denied.is_administrator);
  EXPECT_FALSE(denied.may_have_whole);
  EXPECT_FALSE(rights("deny user=1001\nadmin group=200\n").is_denied);
}

TEST(Policy, ClientsAreKnownByWhatTheKernelSaysOfThem) {
  struct Subject {
    const char* words;
    bool is_alice;
  };
  for (const Subject& subject : {Subject{"user=1001", true},
                                 Subject{"user=1002", false},
                                 Subject{"group=100", true},
                                 Subject{"group=300", true},
                                 Subject{"group=301", false},
                                 Subject{"", true},
                                 Subject{"executable=/usr/bin/app", true},
                                 Subject{"executable=/usr/bin/ap", false},
                                 Subject{"executable=/usr/bin/app2", false},
                                 Subject{"executable=/usr/*", true},
                                 Subject{"executable=*", true},
                                 Subject{"executable=*/app", true},
                                 Subject{"executable=/*/*/*", true},
                                 Subject{"executable=/*b*n*p", true},
                                 Subject{"executable=/*x*", false},
                                 Subject{"executable=/usr/bin/app*", true},
                                 Subject{"cgroup=/system.slice/*", true},
                                 Subject{"cgroup=/user.slice/*", false},
                                 Subject{"user=1001 group=300 executable=* cgroup=*.service", true},
                                 Subject{"user=1001 group=301", false},
                                 Subject{"user=1002 group=300", false}}) {
    EXPECT_EQ(rights(std::string("allow ") + subject.words + " kernel\n").may_count_kernel,
              subject.is_alice)
        << subject.words;
  }
}

TEST(Policy, AnUnknownPropertyOfAClientMatchesNoLine) {
  ClientIdentity client = alice();
  client.executable.clear();
  EXPECT_FALSE(rights("allow executable=* kernel", client).may_count_kernel);
  client.cgroup.clear();
  EXPECT_FALSE(rights("allow cgroup=* kernel", client).may_count_kernel);
}

TEST(Policy, UsersAndGroupsAreLookedUpByName) {
  ClientIdentity client = alice();
  client.uid = 1;
  client.gid = 2;
  EXPECT_TRUE(rights("allow user=daemon kernel", client).may_count_kernel);
  EXPECT_TRUE(rights("allow group=bin kernel", client).may_count_kernel);
  EXPECT_FALSE(rights("allow user=root kernel", client).may_count_kernel);
}

TEST(Policy, ClassLinesSayAllOfTheirClass) {
  const Policy standard = Policy::standard();
  EXPECT_TRUE(standard.classes[0].is_preemptible);
  EXPECT_TRUE(standard.classes[1].is_preemptible);
  EXPECT_FALSE(standard.classes[2].is_preemptible);
  EXPECT_FALSE(standard.classes[3].is_preemptible);
  EXPECT_EQ(standard.classes[2].hold_ns_max, 900'000'000'000U);
  EXPECT_TRUE(standard.classes[2].is_renewable);
  EXPECT_EQ(standard.whole_hold_ns_max, 60'000'000'000U);
  EXPECT_FALSE(standard.mixes_exact_with_outsiders);

  const Policy policy = parsed(
      "class batch hold=500ms\nclass monitoring hold=0 preemptible\n"
      "class interactive hold=15m renewable quota=50%\nclass critical hold=2h quota=0%\n"
      "whole hold=30s\n");
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
  const Policy policy = parsed(
      "reserve pmu=cpu_core cpus=0-3 counters=1  # for perf\n"
      "reserve pmu=cpu_core cpus=4 counters=2\n"
      "guard   pmu=cpu_atom cpus=8-11\n"
      "outsiders allow\n");
  ASSERT_EQ(policy.reserves.size(), 2U);
  EXPECT_EQ(policy.reserves[0].pmu, "cpu_core");
  EXPECT_EQ(policy.reserves[0].cpus, CpuSet::range(0, 3));
  EXPECT_EQ(policy.reserves[1].counters, 2U);
  ASSERT_EQ(policy.guards.size(), 1U);
  EXPECT_EQ(policy.guards[0].cpus, CpuSet::range(8, 11));
  EXPECT_TRUE(policy.mixes_exact_with_outsiders);
  EXPECT_FALSE(parsed("outsiders allow\noutsiders refuse\n").mixes_exact_with_outsiders);
}

TEST(Policy, HeadersExampleIsUnderstood) {
  EXPECT_TRUE(
      parse_policy("allow user=1000  priority=interactive counters=4 cpus=0-3\n"
                   "allow group=0                 whole-cpu kernel exclusive buffer\n"
                   "allow executable=/usr/bin/node_exporter priority=monitoring whole-cpu\n"
                   "allow cgroup=/system.slice/*  counters=2 leases=8 waits=1 delegate\n"
                   "deny  user=1003\nadmin group=0\n\n# all\n",
                   "p"));
}

struct BadLine {
  std::string line;
  std::string says;
};

TEST(Policy, ReportsEachFaultWithItsFileAndLine) {
  const BadLine lines[] = {
      {"permit user=1", "'permit' is no kind of line"},
      {"user=1", "'user=1' is no kind of line"},
      {"allow user=no-such-user-here", "there is no user 'no-such-user-here'"},
      {"allow group=no-such-group-here", "there is no group 'no-such-group-here'"},
      {"allow user=", "user= without a value"},
      {"allow user=-1", "there is no user '-1'"},
      {"allow user=4294967296", "there is no user '4294967296'"},
      {"allow user=1 user=2", "user= twice"},
      {"allow name=1", "allow has no 'name'"},
      {"allow everything", "allow has no 'everything'"},
      {"allow kernel kernel", "kernel twice"},
      {"allow counters=65", "counters=65 is out of range"},
      {"allow counters=x", "counters='x' is not a number"},
      {"allow counters=-1", "counters='-1' is not a number"},
      {"allow leases=4097", "leases=4097 is out of range"},
      {"allow waits=4097", "waits=4097 is out of range"},
      {"allow priority=kernel", "there is no class 'kernel'"},
      {"allow priority=high", "there is no class 'high'"},
      {"allow cpus=a", ""},
      {"allow cpus=3-1", ""},
      {"allow executable=app", "'app' is no path from the root"},
      {"allow cgroup=slice", "'slice' is no path from the root"},
      {"deny counters=3", "deny has no 'counters'"},
      {"deny everything", "deny has no 'everything'"},
      {"admin kernel", "admin takes 0 words before its keys, not 1"},
      {"admin priority=batch", "admin has no 'priority'"},
      {"class batch", "class lacks hold="},
      {"class hold=0", "class takes 1 words before its keys, not 0"},
      {"class kernel hold=0", "there is no class 'kernel'"},
      {"class batch hold=1", "hold='1' is not a time"},
      {"class batch hold=1d", "hold='1d' is not a time"},
      {"class batch hold=m", "hold='m' is not a time"},
      {"class batch hold=-1s", "hold='-1s' is not a time"},
      {"class batch hold=99999999999s", "hold='99999999999s' is not a time"},
      {"class batch hold=0 quota=50", "quota='50' is no share"},
      {"class batch hold=0 quota=101%", "quota='101%' is no share"},
      {"class batch hold=0 quota=%", "quota='%' is no share"},
      {"class batch hold=0 forever", "class has no 'forever'"},
      {"whole", "whole lacks hold="},
      {"whole hold=soon", "hold='soon' is not a time"},
      {"reserve pmu=cpu cpus=0", "reserve lacks counters="},
      {"reserve pmu=cpu counters=1", "reserve lacks cpus="},
      {"reserve cpus=0 counters=1", "reserve lacks pmu="},
      {"reserve pmu=cpu cpus=0 counters=0", "counters=0 is out of range"},
      {"reserve pmu=cpu cpus=x counters=1", ""},
      {"guard pmu=cpu", "guard lacks cpus="},
      {"guard cpus=0", "guard lacks pmu="},
      {"outsiders", "outsiders takes 1 words before its keys, not 0"},
      {"outsiders maybe", "outsiders 'maybe' is unknown"},
      {"outsiders allow refuse", "outsiders takes 1 words before its keys, not 2"},
      {"allow \x01", "control character"},
  };
  for (const BadLine& bad : lines) {
    const auto policy = parse_policy("allow kernel\n\n" + bad.line + "\ndeny\n", "etc/pmud.policy");
    ASSERT_FALSE(policy) << bad.line;
    EXPECT_EQ(policy.error().what.find("etc/pmud.policy:3: "), 0U) << policy.error().what;
    EXPECT_NE(policy.error().what.find(bad.says), std::string::npos)
        << bad.line << ": " << policy.error().what;
    EXPECT_FALSE(policy.error().remedy.empty()) << bad.line;
  }
}

TEST(Policy, LimitsAreToldAsSuch) {
  const auto large = parse_policy(std::string(kPolicyBytesMax + 1, '#'), "p");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kLimit);
  EXPECT_EQ(large.error().what.find("p:1: "), 0U);
  EXPECT_EQ(parse_policy("# " + std::string(5000, 'x'), "p").error().code, ErrorCode::kLimit);
  std::string many;
  while (many.size() + 8 <= kPolicyBytesMax) many += "allow\n";
  EXPECT_TRUE(parse_policy(many, "p"));
}

// A reader of files keeps the policy it has: nothing of a bad file comes out, not even its good
// lines.
TEST(Policy, BadFileChangesNothing) {
  Policy in_force = parsed("allow user=1001 kernel\n");
  auto next = parse_policy("deny user=1001\nallow everything\n", "p");
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
  EXPECT_TRUE(rights("allow executable=" + glob + " kernel", client).may_count_kernel);
  EXPECT_FALSE(rights("allow executable=" + glob + "b kernel", client).may_count_kernel);
}

}  // namespace
}  // namespace meterbank::arbiter
