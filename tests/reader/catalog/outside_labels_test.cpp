// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/outside_labels.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace meterbank {
namespace {

const std::string kId(64, 'a');
const std::string kOtherId(64, 'b');
const std::string kPod = "0f3c9e1a-6f5b-4b64-9f8e-1d2c3b4a5f60";

OutsideLabels of(const std::string& path) { return parse_cgroup("0::" + path + "\n"); }

TEST(OutsideLabels, ComeFromTheGroupsOfKubernetes) {
  const auto systemd =
      of("/kubepods.slice/kubepods-burstable.slice/"
         "kubepods-burstable-pod0f3c9e1a_6f5b_4b64_9f8e_1d2c3b4a5f60.slice/cri-containerd-" +
         kId + ".scope");
  EXPECT_EQ(systemd.pod, kPod);
  EXPECT_EQ(systemd.container, kId);
  EXPECT_EQ(systemd.unit, "cri-containerd-" + kId + ".scope");
  const auto plain = of("/kubepods/besteffort/pod" + kPod + "/" + kId);
  EXPECT_EQ(plain.pod, kPod);
  EXPECT_EQ(plain.container, kId);
  const auto fixed = of("/kubepods/pod" + std::string(32, '7') + "/" + kId);
  EXPECT_EQ(fixed.pod, std::string(32, '7'));
}

TEST(OutsideLabels, ComeFromTheGroupsOfOtherPrograms) {
  EXPECT_EQ(of("/docker/" + kId).container, kId);
  EXPECT_EQ(of("/system.slice/docker-" + kId + ".scope").container, kId);
  EXPECT_EQ(of("/machine.slice/libpod-" + kId + ".scope/container").container, kId);
  EXPECT_EQ(of("/system.slice/orders.service").unit, "orders.service");
  EXPECT_EQ(of("/user.slice/user-1000.slice/session-3.scope").unit, "session-3.scope");
}

TEST(OutsideLabels, AreThoseOfTheHierarchyOfSystemdInVersionOne) {
  const auto labels = parse_cgroup(
      "12:cpu,cpuacct:/elsewhere.service\n1:name=systemd:/system.slice/orders.service\n");
  EXPECT_EQ(labels.unit, "orders.service");
  EXPECT_EQ(labels.cgroup, "/system.slice/orders.service");
}

TEST(OutsideLabels, AreThoseOfVersionOneWhereVersionTwoIsMountedAndNotUsed) {
  const std::string docker = "3:name=systemd:/docker/" + kId + "\n";
  EXPECT_EQ(parse_cgroup(docker + "0::/\n").container, kId);
  EXPECT_EQ(parse_cgroup("0::/\n" + docker).container, kId);
  EXPECT_EQ(parse_cgroup("0::/docker/" + kOtherId + "\n" + docker).container, kOtherId);
  EXPECT_EQ(parse_cgroup("3:name=systemd:/\n0::/\n").cgroup, "/");
}

TEST(OutsideLabels, AreTheOutermostOnesWhereGroupsPoseAsOthers) {
  const auto labels = of("/system.slice/mine.service/kubepods/pod" + kPod + "/" + kId + "/docker-" +
                         kOtherId + ".scope/yours.service");
  EXPECT_EQ(labels.unit, "mine.service");
  EXPECT_EQ(labels.container, kId);
  EXPECT_EQ(of("/docker/" + kId + "/kubepods/pod" + kPod + "/" + kOtherId).pod, "");
}

TEST(OutsideLabels, AreEmptyWhereNothingIsSaid) {
  for (const std::string& text :
       std::vector<std::string>{"", "\n", "0::/\n", "0::", "x", "0::/podx/abc\n",
                                "0::/pod/" + std::string(63, 'a') + "\n",
                                "0::/" + std::string(64, 'G') + "\n", "0::/..////..\n"}) {
    const auto labels = parse_cgroup(text);
    EXPECT_EQ(labels.container + labels.pod + labels.unit, "") << text;
  }
}

TEST(OutsideLabels, MatchWhatProcfsShowsForThisProcess) {
  const auto own = read_outside_labels(static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(own.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE(own.cgroup.empty() || own.cgroup.front() == '/') << own.cgroup;
  EXPECT_EQ(read_outside_labels(0).cgroup, "");
}

TEST(LabelPatterns, MatchOnlyLabelsThatAreKnown) {
  OutsideLabels labels;
  const auto matches = [&labels](const char* text) {
    return LabelPattern::parse(text)->matches(labels, 1000);
  };
  EXPECT_FALSE(matches("pod=*"));
  EXPECT_FALSE(matches("pid=*"));
  EXPECT_TRUE(matches("uid=1000"));
  EXPECT_FALSE(matches("uid=100"));
  labels = {.pid = 77, .cgroup = "/a/b", .container = kId, .pod = kPod, .unit = "orders.service"};
  for (const char* text :
       {"pid=77", "cgroup=/a/*", "container=aaa*", "pod=0f3c*", "unit=orders.*"}) {
    EXPECT_TRUE(matches(text)) << text;
  }
  EXPECT_TRUE(match_all({}, labels, 0));
  EXPECT_FALSE(
      match_all({*LabelPattern::parse("pid=77"), *LabelPattern::parse("uid=1")}, labels, 0));
}

TEST(LabelPatterns, AreRefusedIfTheLabelIsNone) {
  for (const char* text : {"", "pod", "pod=", "=x", "state=live"}) {
    const auto refused = LabelPattern::parse(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(refused.error().remedy.empty());
  }
  EXPECT_EQ(LabelPattern::parse("contaner=x").error().remedy, "container");
}

}  // namespace
}  // namespace meterbank
