// SPDX-License-Identifier: Apache-2.0
//
// Paths of articles about Windows, on this machine.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "host/host_provider.hpp"
#include "meterbank/base/machine_name.hpp"

namespace meterbank::cli::host_paths_test {
namespace {

constexpr std::array kPaths{
    R"(\Processor(_Total)\% Processor Time)",
    R"(\Processor(0)\% User Time)",
    R"(\Processor(_Total)\% Privileged Time)",
    R"(\Processor(_Total)\Interrupts/sec)",
    R"(\Processor Information(_Total)\% Processor Time)",
    R"(\Process(*)\% Processor Time)",
    R"(\Process(*)\Working Set)",
    R"(\Process(*)\Private Bytes)",
    R"(\Process(*)\ID Process)",
    R"(\Process(*)\Thread Count)",
    R"(\Memory\Available MBytes)",
    R"(\Memory\Committed Bytes)",
    R"(\Memory\Pages/sec)",
    R"(\Memory\% Committed Bytes In Use)",
    R"(\System\Processor Queue Length)",
    R"(\System\Context Switches/sec)",
    R"(\System\System Up Time)",
    R"(\LogicalDisk(*)\% Free Space)",
    R"(\LogicalDisk(_Total)\Free Megabytes)",
    R"(\Network Interface(*)\Bytes Total/sec)",
    R"(\TCPv4\Connections Established)",
    R"(\TCPv4\Segments Retransmitted/sec)",
    R"(\UDPv4\Datagrams Received/sec)",
    R"(\Objects\Processes)",
    R"(\Objects\Threads)",
};

class HostPaths : public CliTest {
 protected:
  void SetUp() override {
    auto started = host::HostProvider::start({.directory = directory_});
    ASSERT_TRUE(started) << started.error().message();
    host_.emplace(std::move(*started));
  }
  [[nodiscard]] std::vector<std::string> with_paths(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), kPaths.begin(), kPaths.end());
    return arguments;
  }

  std::optional<host::HostProvider> host_;
};

// The part of the path that names no instance: "\Process(", "\Memory\".
std::string set_of(const std::string& path) {
  return path.substr(0, path.find_first_of("(\\", 1) + 1);
}

TEST_F(HostPaths, SelectRowsThroughGet) {
  for (const std::string path : kPaths) {
    const auto outcome = meterbank({"get", path, "-f", "json"});
    EXPECT_EQ(outcome.code, kExitDone) << path << outcome.err;
    EXPECT_NE(outcome.out.find("\"value\""), std::string::npos) << path;
  }
}

TEST_F(HostPaths, SelectColumnsThroughTypeperf) {
  const auto outcome = meterbank(with_paths({"typeperf", "-sc", "1", "-si", "0.01"}));

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const std::string header = outcome.out.substr(0, outcome.out.find("\r\n"));
  for (const std::string path : kPaths) {
    const std::string column = "\"\\\\" + machine_name() + set_of(path);
    EXPECT_NE(header.find(column), std::string::npos) << path;
    const std::string counter = path.substr(path.rfind('\\')) + '"';
    EXPECT_NE(header.find(counter), std::string::npos) << path;
  }
}

TEST_F(HostPaths, GiveTheNumbersThatTheirNamesPromise) {
  const auto outcome = meterbank({"typeperf", R"(\Memory\Available MBytes)",
                                  R"(\Memory\Available Bytes)", "-sc", "1", "-si", "0.01"});
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const std::string record = outcome.lines().at(1);
  const auto field = [&](std::size_t number) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < number; ++i) at = record.find(",\"", at) + 2;
    return std::stod(record.substr(at));
  };
  EXPECT_DOUBLE_EQ(field(1), std::floor(field(2) / 1048576));
}

}  // namespace
}  // namespace meterbank::cli::host_paths_test
