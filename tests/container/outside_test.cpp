// SPDX-License-Identifier: Apache-2.0
//
// Pods that share nothing, seen from the machine: found by their memory,
// and told apart by what the kernel says of their processes.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "pod_fixture.hpp"

namespace meterbank::test {
namespace {

const std::string kPodName = "0f3c9e1a-6f5b-4b64-9f8e-1d2c3b4a5f60";
const std::string kContainer(64, 'a');

// A control group as a kubelet with containerd makes them, in the hierarchy that the reader takes.
class ControlGroups {
 public:
  ControlGroups() {
    for (const char* const hierarchy :
         {"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
      const std::string root = hierarchy;
      const std::string path = root + "/" + slice() + "/" + pod() + "/" + scope();
      std::error_code failed;
      if (!std::filesystem::exists(root + "/cgroup.procs", failed)) continue;
      std::filesystem::create_directories(path, failed);
      if (failed || !std::filesystem::exists(path + "/cgroup.procs", failed)) continue;
      root_ = root;
      path_ = path;
      return;
    }
  }
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;
  // A group can be removed when its last process is gone.
  ~ControlGroups() {
    if (path_.empty()) return;
    EXPECT_TRUE(comes_true([this] { return ::rmdir(path_.c_str()) == 0; }));
    ::rmdir((root_ + "/" + slice() + "/" + pod()).c_str());
    ::rmdir((root_ + "/" + slice()).c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  static std::string scope() { return "cri-containerd-" + kContainer + ".scope"; }

 private:
  static std::string slice() { return "kubepods.slice"; }
  static std::string pod() {
    std::string name = kPodName;
    std::replace(name.begin(), name.end(), '-', '_');
    return "kubepods-pod" + name + ".slice";
  }
  std::string root_, path_;
};

class Outside : public PodTest {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    if (IsSkipped()) return;
    first_ = start(11);
    second_ = start(22);
  }
  static Words everywhere(const Words& verb) { return verb + Words{"--all-namespaces"}; }

  const Volume empty_;  // that other users may look into
  const Words nowhere_{"--dir", empty_.path()};
  std::string first_, second_;
};

TEST_F(Outside, RootFindsProvidersOfOneNameAndPidThatShareNothing) {
  // The exit code speaks of all providers of the machine, those of other tests too.
  const Ended listed = read(everywhere(kProviders) + nowhere_);
  const auto found = providers_of(listed, name_);
  ASSERT_EQ(found.size(), 2U) << listed.out << listed.err;
  expect_first_processes(found, std::to_string(kPodUser), {first_, second_});
  for (const auto& each : found) EXPECT_TRUE(each["cgroup"].is_string());
  EXPECT_EQ(values_of(read(everywhere(get_) + nowhere_)), (std::multiset<int>{11, 22}));

  // A control: without the walk there is nothing to be found.
  EXPECT_EQ(providers_of(read(kProviders + nowhere_), name_).size(), 0U);
}

TEST_F(Outside, ChoosesPodsByPidAndUser) {
  const auto get = [this](const Words& where) {
    return values_of(read(everywhere(get_) + nowhere_ + where));
  };
  EXPECT_EQ(get({"--where", "pid=" + first_}), std::multiset<int>{11});
  EXPECT_EQ(get({"--where", "pid=" + second_}), std::multiset<int>{22});
  EXPECT_EQ(get({"--where", "uid=65532"}), (std::multiset<int>{11, 22}));
  EXPECT_EQ(get({"--where", "uid=65532", "--where", "pid=" + first_}), std::multiset<int>{11});
  EXPECT_EQ(get({"--where", "uid=1"}), std::multiset<int>{});
}

TEST_F(Outside, RowsAndPathsNameEachPodByItsPidHere) {
  const std::string path = ":pod_orders/main/accepted";
  const Words raw{"--raw", "-f", "plain"};
  const auto get = [&](const std::string& provider) {
    return read(everywhere({"get", provider + path}) + raw + nowhere_).out;
  };
  const std::string rows = get(name_);
  for (const auto& pid : {first_, second_}) {
    EXPECT_NE(rows.find(name_ + "@" + pid + path), std::string::npos) << rows;
  }
  const std::string row = get(name_ + "@" + first_);
  EXPECT_TRUE(row.ends_with("\t" + name_ + "@" + first_ + path + "\t11\t\n")) << row;
  EXPECT_EQ(std::ranges::count(row, '\n'), 1);
  EXPECT_EQ(get(name_ + "@1"), "");
}

TEST_F(Outside, ShowsContainerAndPodOfTheControlGroup) {
  const ControlGroups groups;
  if (groups.path().empty()) GTEST_SKIP() << "no control group can be made here";
  const std::string labelled = start(33, {"--cgroup", groups.path()});
  const auto listed = read(everywhere(kProviders) + nowhere_ + Words{"--where", "pid=" + labelled});
  const auto found = providers_of(listed, name_);
  ASSERT_EQ(found.size(), 1U) << listed.out << listed.err;
  EXPECT_EQ(found[0]["container"], kContainer);
  EXPECT_EQ(found[0]["pod"], kPodName);
  EXPECT_EQ(found[0]["unit"], groups.scope());
  EXPECT_NE(found[0]["cgroup"].get<std::string>().find("/kubepods.slice/"), std::string::npos);
  const Words patterns{"pod=" + kPodName, "container=aaaa*", "unit=cri-containerd-*",
                       "cgroup=/kubepods.slice/*"};
  for (const std::string& where : patterns) {
    const Ended got = read(everywhere(get_) + nowhere_ + Words{"--where", where});
    EXPECT_EQ(values_of(got), std::multiset<int>{33}) << where << got.err;
  }
  end_all();
}

TEST_F(Outside, AnAgentNeedsTwoCapabilitiesAndIsToldSo) {
  for (const char* user : {"0", "12345"}) {
    const auto get = [&](const std::string& capabilities) {
      return read_on_node({"--user", user, "--keep", capabilities}, everywhere(get_) + nowhere_);
    };
    const Ended both = get("sys_ptrace,dac_read_search");
    EXPECT_EQ(values_of(both), (std::multiset<int>{11, 22})) << both.err;
    for (const char* one : {"sys_ptrace", "dac_read_search", "net_admin"}) {
      const Ended got = get(one);
      EXPECT_EQ(values_of(got), std::multiset<int>{}) << user << one;
      for (const char* part : {"processes whose descriptors may not be listed (uid 65532)",
                               "with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"}) {
        EXPECT_NE(got.err.find(part), std::string::npos) << user << " " << one << ": " << got.err;
      }
    }
  }
}

TEST_F(Outside, APodCannotLookIntoAnother) {
  const Ended got = read_beside(first_, everywhere(get_));
  EXPECT_EQ(values_of(got), std::multiset<int>{11}) << got.err;
}

}  // namespace
}  // namespace meterbank::test
