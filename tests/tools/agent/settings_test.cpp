// SPDX-License-Identifier: Apache-2.0
#include "agent/config/settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "agent/options.hpp"

namespace meterbank::agent {
namespace {

constexpr std::string_view kWhole = R"(
dir = "/run/meterbank"
all_namespaces = true
trust = "everyone"
timeout_ms = 250
prefix = "acme_"
paths = ["demo_orders/*/*", '\Memory\Available Bytes']

[exporter]
listen = "[::1]:9400"
compress = "never"

[[rule]]
set = "demo_orders"
counter = "latency"
name = "order_latency"
help = "How long orders take."

[[rule]]
set = "demo_*"
label = "desk"

[[rule]]
counter = "state"
drop = true
)";

std::string faults_of(std::string_view text) {
  syntax::Problems problems;
  EXPECT_FALSE(parse_settings(text, problems)) << text;
  return problems.text("agent.toml");
}

TEST(AgentSettings, AreWhatTheFileSays) {
  syntax::Problems problems;
  const auto settings = parse_settings(kWhole, problems);
  ASSERT_TRUE(settings) << problems.text("agent.toml");
  const exposition::SnapshotOptions& snapshots = settings->snapshots;
  EXPECT_EQ(snapshots.catalog.directory, "/run/meterbank");
  EXPECT_TRUE(snapshots.catalog.all_namespaces);
  EXPECT_EQ(snapshots.catalog.trust, UserPolicy::kEveryone);
  EXPECT_EQ(snapshots.timeout.count(), 250);
  EXPECT_EQ(snapshots.names.prefix, "acme_");
  EXPECT_EQ(snapshots.patterns.size(), 2U);
  EXPECT_EQ(settings->address, "[::1]:9400");
  EXPECT_EQ(settings->server.compression, Compression::kNever);
  ASSERT_EQ(snapshots.names.rules.size(), 3U);
  EXPECT_EQ(snapshots.names.rules[0].name, "order_latency");
  EXPECT_EQ(snapshots.names.rules[1].label, "desk");
  EXPECT_TRUE(snapshots.names.rules[2].drop);
}

TEST(AgentSettings, AreTheDefaultsWithoutAFile) {
  syntax::Problems problems;
  const auto settings = parse_settings("", problems);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->address, kDefaultAddress);
  EXPECT_EQ(settings->snapshots.names.prefix, "meterbank_");
  EXPECT_EQ(settings->server.compression, Compression::kRemote);
}

TEST(AgentSettings, NameEveryFaultWithItsPlace) {
  EXPECT_EQ(faults_of("dri = \"/run\"\ntrust = 1\n[exporter]\ncompress = \"often\"\n[push]\n"),
            "agent.toml:1:1: error: the file has no 'dri'\n"
            "agent.toml:1:1: hint: it can have dir, all_namespaces, trust, prefix, timeout_ms, "
            "paths\n"
            "agent.toml:2:1: error: 'trust' is not a text\n"
            "agent.toml:4:1: error: invalid compress: often\n"
            "agent.toml:4:1: hint: remote, always or never\n"
            "agent.toml:5:1: error: the file has no table 'push'\n"
            "agent.toml:5:1: hint: it can have [exporter] and [[rule]]\n");
}

TEST(AgentSettings, RefuseEachKindOfFault) {
  for (const std::string text : {"dir = ",
                                 "dir = \"\"",
                                 "dir = 5",
                                 "all_namespaces = \"yes\"",
                                 "trust = \"us\"",
                                 "timeout_ms = 0",
                                 "timeout_ms = 10001",
                                 "timeout_ms = 1.5",
                                 "prefix = \"Acme-\"",
                                 "prefix = \"9\"",
                                 "paths = \"a/b\"",
                                 "paths = [1]",
                                 "paths = [\"a/b/c/d/e\"]",
                                 "exporter = 1",
                                 "[[exporter]]",
                                 "[rule]",
                                 "rule = []\nrule = []",
                                 "[exporter]\nport = 1",
                                 "[[rule]]",
                                 "[[rule]]\nset = \"x\"",
                                 "[[rule]]\nname = \"x\"",
                                 "[[rule]]\ncounter = \"x\"\nname = \"X-y\"",
                                 "[[rule]]\ndrop = \"yes\"",
                                 "dir = \"a\"\ndir = \"b\"",
                                 "\xff",
                                 "dir = \"\x01\""}) {
    EXPECT_NE(faults_of(text).find("agent.toml:"), std::string::npos) << text;
  }
}

TEST(AgentSettings, GiveWayToOptions) {
  const auto line = parse_command_line(
      {"--listen", "127.0.0.1:1", "--prefix", "x_", "--compress", "always", "a/b"});
  ASSERT_TRUE(line);
  syntax::Problems problems;
  const auto settings = load_settings(*line, problems);
  ASSERT_TRUE(settings && *settings);
  EXPECT_EQ((*settings)->address, "127.0.0.1:1");
  EXPECT_EQ((*settings)->snapshots.names.prefix, "x_");
  EXPECT_EQ((*settings)->server.compression, Compression::kAlways);
  EXPECT_EQ((*settings)->snapshots.patterns, std::vector<std::string>{"a/b"});
}

}  // namespace
}  // namespace meterbank::agent
