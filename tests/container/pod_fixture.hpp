// SPDX-License-Identifier: Apache-2.0
//
// Pods beside this process, and readers in them, between them and outside. pod.cpp says what a pod
// is. Tests skip themselves where this process may make none.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "../support/comes_true.hpp"
#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "../terminal/program.hpp"

namespace meterbank::test {

using Words = std::vector<std::string>;

constexpr uid_t kPodUser = 65532;
constexpr uid_t kShift =
    100'000;  // added to user numbers in the user namespaces that pod.cpp makes
constexpr int kNoPods = 77;

inline Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// A folder of this machine that pods share. Users of the group publish in it.
class Volume {
 public:
  explicit Volume(uid_t owner = 0, gid_t group = kPodUser, mode_t mode = 03775) {
    EXPECT_EQ(::chown(path().c_str(), owner, group), 0);
    EXPECT_EQ(::chmod(path().c_str(), mode), 0);
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::size_t files() const { return folder_.files(); }

 private:
  TemporaryDirectory folder_{"/dev/shm"};
};

class PodTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make pods";
    const Ended ended = in_pod({}, {"/bin/true"});
    if (ended.code == kNoPods) GTEST_SKIP() << "no pod can be made here: " << ended.err;
    ASSERT_EQ(ended.code, 0) << ended.err;
  }

  // A provider that is process 1 of a pod of its own; 0 if it did not start. Returns its pid on
  // this machine.
  std::string start(int value, const Words& options = {}) {
    pods_.push_back(std::make_unique<Background>(
        METERBANK_POD,
        options + Words{"--", METERBANK_POD_PROVIDER, name_, std::to_string(value)}));
    const std::string& said = pods_.back()->said();
    EXPECT_NE(said.find('\n'), std::string::npos) << "the provider did not start";
    return said.substr(0, said.find('\n'));
  }
  void end_all() { pods_.clear(); }

  // A program as process 1 of a pod of its own.
  [[nodiscard]] static Ended in_pod(const Words& options, const Words& program) {
    return run_on_pipes(METERBANK_POD, options + Words{"--"} + program);
  }
  [[nodiscard]] static Ended read_in_pod(const Words& options, const Words& verb) {
    return in_pod(options, Words{METERBANK_PROGRAM} + verb);
  }
  // A program that shares the pid namespace and all the rest of the pod of this process.
  [[nodiscard]] static Ended read_beside(const std::string& pid, const Words& verb) {
    return read_in_pod({"--join", pid}, verb);
  }
  // On this machine, with no capability but those of `options`.
  [[nodiscard]] static Ended read_on_node(const Words& options, const Words& verb) {
    return read_in_pod(Words{"--node"} + options, verb);
  }
  // On this machine, as root.
  [[nodiscard]] static Ended read(const Words& verb) {
    return run_on_pipes(METERBANK_PROGRAM, verb);
  }

  // What get_ printed.
  [[nodiscard]] static std::multiset<int> values_of(const Ended& got) {
    std::multiset<int> values;
    const auto document = nlohmann::json::parse(got.out, nullptr, false);
    if (document.is_discarded()) return values;
    for (const auto& row : document["samples"]) values.insert(row["value"].get<int>());
    return values;
  }
  // How many records `doctor --clean` says that it removed; -1: it says nothing of the kind.
  [[nodiscard]] static int removed_by(const Ended& cleaned) {
    const auto at = cleaned.out.find("removed ");
    return at == std::string::npos ? -1 : ::atoi(cleaned.out.c_str() + at + 8);
  }

  // All providers of a test have this name, and those of tests that run meanwhile have others.
  const std::string name_ = "orders" + std::to_string(::getpid());
  const Words get_{"get", name_ + ":pod_orders/main/accepted", "--raw", "-f", "json"};
  static inline const Words kProviders{"list", "--providers", "-f", "json"};

  // What `list --providers -f json` says of the providers of this name.
  [[nodiscard]] static std::vector<nlohmann::json> providers_of(const Ended& listed,
                                                                const std::string& name) {
    std::vector<nlohmann::json> found;
    for (const auto& each : nlohmann::json::parse(listed.out, nullptr, false)) {
      if (each.is_object() && each["name"] == name) found.push_back(each);
    }
    return found;
  }

  // That these are live, each is process 1 of its pod, and all have this user and, outside, these
  // pids.
  static void expect_first_processes(const std::vector<nlohmann::json>& found,
                                     const std::string& user, const std::set<std::string>& pids) {
    std::set<std::string> found_pids;
    for (const auto& each : found) {
      EXPECT_EQ(each["state"], "live");
      EXPECT_EQ(each["pid"], 1);
      EXPECT_EQ(std::to_string(each["uid"].get<int>()), user);
      const std::string pid = std::to_string(each["pid_here"].get<int>());
      EXPECT_EQ(each["provider"], each["name"].get<std::string>() + "@" + pid);
      found_pids.insert(pid);
    }
    EXPECT_EQ(found_pids, pids);
  }

 private:
  std::vector<std::unique_ptr<Background>> pods_;
};

}  // namespace meterbank::test
