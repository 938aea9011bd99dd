// SPDX-License-Identifier: Apache-2.0
#include "agent/config/settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "agent/config/headers_file.hpp"
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

TEST(AgentSettings, SayWhatIsRecorded) {
  syntax::Problems problems;
  const auto settings = parse_settings(R"(
[record]
directory = "/var/lib/meterbank-agent/recording"
interval_ms = 100
size_mib = 256
paths = ["demo_orders/*/*"]
)",
                                       problems);
  ASSERT_TRUE(settings) << problems.text("agent.toml");
  EXPECT_EQ(settings->record.directory, "/var/lib/meterbank-agent/recording");
  EXPECT_EQ(settings->record.interval, std::chrono::milliseconds(100));
  EXPECT_EQ(settings->record.bytes_max, std::uint64_t{256} << 20U);
  EXPECT_EQ(settings->record.paths, std::vector<std::string>{"demo_orders/*/*"});
  EXPECT_FALSE(parse_settings("", problems)->record.is_on());
}

TEST(AgentSettings, SayWhereThePageForBrowsersIs) {
  syntax::Problems problems;
  const auto settings = parse_settings(R"(
[view]
listen = "localhost:19401"
address_file = "/run/meterbank-agent/view"
interval_ms = 500
paths = ["demo_orders/*/*"]
)",
                                       problems);
  ASSERT_TRUE(settings) << problems.text("agent.toml");
  EXPECT_EQ(settings->view.address, "localhost:19401");
  EXPECT_EQ(settings->view.address_file, "/run/meterbank-agent/view");
  EXPECT_EQ(settings->view.interval, std::chrono::milliseconds(500));
  EXPECT_EQ(settings->view.paths, std::vector<std::string>{"demo_orders/*/*"});
  EXPECT_FALSE(parse_settings("", problems)->view.is_on());
}

TEST(AgentSettings, NameWhatIsWrongWithThePageForBrowsers) {
  const std::string file = "address_file = \"/a\"\n", listen = "listen = \"127.0.0.1:0\"\n";
  const auto fault = [](const std::string& keys) { return faults_of("[view]\n" + keys); };
  EXPECT_NE(fault(file).find("no address to listen on"), std::string::npos);
  EXPECT_NE(fault(listen).find("address_file '' is not an absolute path"), std::string::npos);
  // The token would travel in plain text.
  for (const std::string address : {"0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1", ":1"}) {
    EXPECT_NE(fault(file + "listen = \"" + address + "\"\n").find("not a loopback address"),
              std::string::npos)
        << address;
  }
  EXPECT_NE(fault(file + listen + "interval_ms = 99\n").find("invalid interval: 99"),
            std::string::npos);
  EXPECT_NE(fault(file + listen + "paths = [\"a/b/c/d/e\"]\n"), "");
}

TEST(AgentSettings, NameWhatIsWrongWithARecording) {
  EXPECT_NE(faults_of("[record]\n").find("not an absolute path"), std::string::npos);
  EXPECT_NE(faults_of("[record]\ndirectory = \"here\"\n").find("not an absolute path"),
            std::string::npos);
  EXPECT_NE(
      faults_of("[record]\ndirectory = \"/a\"\ninterval_ms = 9\n").find("invalid interval: 9"),
      std::string::npos);
  EXPECT_NE(faults_of("[record]\ndirectory = \"/a\"\nsize_mib = 0\n").find("invalid size: 0"),
            std::string::npos);
  EXPECT_NE(faults_of("[record]\ndirectory = \"/a\"\npaths = [\"a/b/c/d/e\"]\n"), "");
}

TEST(AgentSettings, NameReceivers) {
  const test::TemporaryDirectory folder;
  const std::string headers = folder.path() + "/headers";
  std::ofstream(headers) << "# mine\n\nAuthorization: Bearer x\r\nX-Scope-OrgID: 7\n";
  syntax::Problems problems;
  const auto settings = parse_settings(R"(
[[push]]
name = "collector"
url = "https://collector:4318/v1/metrics"
interval_ms = 250
timeout_ms = 2000
queue_mib = 4
compress = "zstd"
headers_file = ")" + headers + R"("
labels = ["service.namespace=shop"]

[[push]]
protocol = "remote-write"
url = "http://127.0.0.1:9090/api/v1/write"
labels = ["instance=here"]

[[push]]
protocol = "remote-write"
url = "http://127.0.0.1:9091/api/v1/write"
)",
                                       problems);
  ASSERT_TRUE(settings) << problems.text("agent.toml");
  ASSERT_EQ(settings->receivers.size(), 3U);
  const push::ReceiverOptions& collector = settings->receivers[0];
  EXPECT_EQ(collector.name, "collector");
  EXPECT_EQ(collector.protocol, push::Protocol::kOtlp);
  EXPECT_EQ(collector.interval.count(), 250);
  EXPECT_EQ(collector.timeout.count(), 2000);
  EXPECT_EQ(collector.queue_bytes, std::size_t{4} << 20);
  EXPECT_EQ(collector.coding, push::Coding::kZstd);
  EXPECT_EQ(collector.headers,
            (std::vector<std::string>{"Authorization: Bearer x", "X-Scope-OrgID: 7"}));
  EXPECT_EQ(collector.labels, (std::vector<exposition::Label>{{"service.namespace", "shop"}}));
  EXPECT_EQ(settings->receivers[1].name, "remote-write");
  EXPECT_EQ(settings->receivers[1].labels,
            (std::vector<exposition::Label>{{"instance", "here"}, {"job", "meterbank"}}));
  EXPECT_EQ(settings->receivers[2].name, "remote-write-2");
}

TEST(AgentSettings, HaveNoFaultyReceivers) {
  const std::string sound = "[[push]]\nurl = \"http://h:1/\"\n";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"[[push]]\n", "invalid address of a receiver"},
           {"[[push]]\nurl = \"ftp://x/\"\n", "invalid address of a receiver: ftp://x/"},
           {sound + "protocol = \"grpc\"\n", "otlp, remote-write or remote-write-1"},
           {sound + "interval_ms = 1\n", "100 to 86400000 milliseconds"},
           {sound + "queue_mib = 0\n", "invalid queue: 0 MiB"},
           {sound + "compress = \"snappy\"\n", "gzip, zstd or none"},
           {sound + "labels = [\"a b=c\"]\n", "invalid label: a b=c"},
           {sound + "labels = [\"__x=c\"]\n", "invalid label: __x=c"},
           {sound + "labels = [1]\n", "is not a list of labels"},
           {sound + "headers_file = \"/nowhere\"\n", "read the file /nowhere"},
           {sound + "ca_file = \"/nowhere\"\n", "cannot read the ca_file '/nowhere'"},
           {sound + "nonsense = 1\n", "[[push]] has no 'nonsense'"},
           {sound + "name = \"a\"\n" + sound + "name = \"a\"\n", "two receivers are called a"},
           {sound + "protocol = \"remote-write\"\nlabels = [\"a.b=c\"]\n", "a name without dots"},
           {"[push]\nurl = \"http://h:1/\"\n", "the file has no table 'push'"}}) {
    EXPECT_NE(faults_of(text).find(words), std::string::npos) << text << faults_of(text);
  }
  std::string many;
  for (std::size_t number = 0; number <= kReceiversMax; ++number) many += sound;
  EXPECT_NE(faults_of(many).find(
                "agent.toml:17:1: error: too many receivers\nagent.toml:17:1: hint: 8 at most\n"),
            std::string::npos)
      << faults_of(many);
}

TEST(HeadersFile, ShowsNoLineThatIsFaulty) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.path() + "/headers";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"Authorization: secret\nsecret\n", "line 2 is not a header"},
           {": secret\n", "line 1 is not a header"},
           {"X y: secret\n", "line 1 is not a header"},
           {std::string("X: sec\0ret\n", 11), "line 1 has a control character"},
           {"content-type: secret\n", "line 1 is set by the agent"},
           {"User-Agent: secret\n", "line 1 is set by the agent"},
           {std::string(70'000, 'x'), "more than 64 KiB"}}) {
    std::ofstream(path) << text;
    const auto headers = read_headers_file(path);
    ASSERT_FALSE(headers) << text.substr(0, 40);
    EXPECT_NE(headers.error().message().find(words), std::string::npos)
        << headers.error().message();
    EXPECT_EQ(headers.error().message().find("secret"), std::string::npos);
  }
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
            "agent.toml:5:1: hint: it can have [exporter], [record], [view], [[push]] and "
            "[[rule]]\n");
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
