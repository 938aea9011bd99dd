// SPDX-License-Identifier: Apache-2.0
//
// Two pods whose process 1 publishes under one name. They share a folder and nothing else.
#include <stdlib.h>

#include "pod_fixture.hpp"

namespace meterbank::test {
namespace {

// Whether pods are in user namespaces of their own as well.
enum class Users { kOfTheMachine, kShifted };

class SharedVolume : public PodTest, public testing::WithParamInterface<Users> {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    if (IsSkipped()) return;
    if (is_shifted()) {
      const Ended ended = in_pod(new_pod(), {"/bin/true"});
      if (ended.code == kNoPods) GTEST_SKIP() << "no user namespace: " << ended.err;
    }
    first_ = start(11, new_pod());
    second_ = start(22, new_pod());
  }
  [[nodiscard]] static bool is_shifted() { return GetParam() == Users::kShifted; }
  [[nodiscard]] Words new_pod() const {
    Words options{"--volume", volume_.path()};
    if (is_shifted()) options.emplace_back("--shifted");
    return options;
  }
  // The user of the pods as this machine numbers them.
  [[nodiscard]] static std::string user() {
    return std::to_string(is_shifted() ? kShift + kPodUser : kPodUser);
  }
  [[nodiscard]] Words volume() const { return {"--dir", volume_.path()}; }
  // A user of this machine who is in the group of the volume, and may do nothing else.
  [[nodiscard]] static Words agent() { return {"--user", "12345", "--groups", user()}; }

  const std::multiset<int> both_{11, 22};
  Volume volume_{is_shifted() ? kShift : 0, is_shifted() ? kShift + kPodUser : kPodUser};
  std::string first_, second_;
};
INSTANTIATE_TEST_SUITE_P(Users, SharedVolume,
                         testing::Values(Users::kOfTheMachine, Users::kShifted),
                         [](const auto& users) {
                           return users.param == Users::kShifted ? "Shifted" : "OfTheMachine";
                         });

TEST_P(SharedVolume, ShowsProvidersOfOneNameAndPidToAnAgentOfTheMachine) {
  const Ended listed = read_on_node(agent(), kProviders + volume());
  EXPECT_EQ(listed.code, 0) << listed.err;
  const auto found = providers_of(listed, name_);
  ASSERT_EQ(found.size(), 2U) << listed.out << listed.err;
  expect_first_processes(found, user(), {first_, second_});

  const Ended got = read_on_node(agent(), get_ + volume());
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(values_of(got), both_);
  const Ended one = read_on_node(agent(), get_ + volume() + Words{"--where", "pid=" + second_});
  EXPECT_EQ(values_of(one), std::multiset<int>{22});
}

TEST_P(SharedVolume, ShowsThemToRoot) {
  // The door of a shifted pod does not know the machine's root, who then reads through procfs.
  const Ended got = read(get_ + volume());
  EXPECT_EQ(values_of(got), both_) << got.err;
  EXPECT_EQ(values_of(read(get_ + volume() + Words{"--all-namespaces"})), both_);
}

TEST_P(SharedVolume, ShowsThemToContainersOfTheSamePodAndOfOthers) {
  for (const Ended& got :
       {read_beside(first_, get_), read_beside(second_, get_), read_in_pod(new_pod(), get_)}) {
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(values_of(got), both_);
  }
}

TEST_P(SharedVolume, KeepsThemFromUsersWhoAreNotInItsGroup) {
  const Ended got = read_on_node({"--user", "12345"}, get_ + volume());
  EXPECT_NE(got.code, 0);
  EXPECT_NE(got.err.find("join the group that it admits, run as root"), std::string::npos)
      << got.err;
}

TEST_P(SharedVolume, KeepsEveryRecordFromEveryCleaner) {
  const Words clean{"doctor", "--clean"};
  const auto all_clean = [&] {
    int removed = 0;
    for (const Ended& ended :
         {read(clean + volume()), read_on_node({"--user", user()}, clean + volume()),
          read_on_node(agent(), clean + volume()), read_in_pod(new_pod(), clean)}) {
      removed += removed_by(ended);
    }
    return removed;
  };
  EXPECT_EQ(all_clean(), 0);
  EXPECT_EQ(removed_by(read_beside(first_, clean)) + removed_by(read_beside(second_, clean)), 0);
  EXPECT_EQ(volume_.files(), 4U);  // two records, each with its door
  EXPECT_EQ(values_of(read_on_node(agent(), get_ + volume())), both_);

  // Nothing outside proves their end either.
  end_all();
  const auto are_foreign = [&] {
    const auto found = providers_of(read_on_node(agent(), kProviders + volume()), name_);
    return found.size() == 2 && found[0]["state"] == "foreign" && found[1]["state"] == "foreign";
  };
  EXPECT_TRUE(comes_true(are_foreign));
  const Ended ended = read_on_node(agent(), get_ + volume());
  EXPECT_NE(ended.err.find("try: if its container has ended, remove " + volume_.path()),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(all_clean(), 0);
  EXPECT_EQ(volume_.files(), 4U);
}

TEST_P(SharedVolume, HoldsOneRecordOfAContainerThatCrashesInALoop) {
  const auto deaths = depth(10, 1'000);
  std::size_t files_max = 0;
  for (std::uint64_t death = 0; death < deaths; ++death) {
    const Ended crashed =
        in_pod(new_pod(), {METERBANK_POD_PROVIDER, name_, std::to_string(death), "crash"});
    ASSERT_EQ(crashed.code, 0) << crashed.err;
    files_max = std::max(files_max, volume_.files());
    if (death % 10 == 0) {
      ASSERT_EQ(values_of(read_on_node(agent(), get_ + volume())), both_) << death;
    }
  }
  EXPECT_LE(files_max, 6U);  // two neighbours of the same name and user, and the last life
  EXPECT_EQ(values_of(read_on_node(agent(), get_ + volume())), both_);
}

using Pod = PodTest;

TEST_F(Pod, HasNothingButItsVolume) {
  const Volume volume;
  // One line each: capabilities, filter, user, processes, /dev/shm in KiB, and three attempts.
  const std::string script =
      "for name in CapEff CapBnd Seccomp NoNewPrivs Uid; do"
      "  grep ^$name: /proc/self/status | tr -s '\\t ' ' '; done;"
      "ls -d /proc/[0-9]* | wc -w; df -k --output=size /dev/shm | tail -1 | tr -d ' ';"
      "(: >/usr/it) 2>/dev/null && echo wrote /usr; (: >/it) 2>/dev/null && echo wrote /;"
      "(: >/run/meterbank/it) 2>/dev/null && echo wrote the volume;"
      "unshare -m true 2>/dev/null && echo made a namespace; rm -f /run/meterbank/it";
  const Words shell{"/bin/sh", "-c", script};
  const Ended inside = in_pod({"--volume", volume.path()}, shell);
  EXPECT_EQ(inside.out.substr(0, inside.out.find("NoNewPrivs")),
            "CapEff: 0000000000000000\nCapBnd: 0000000000000000\nSeccomp: 2\n");
  EXPECT_NE(inside.out.find("NoNewPrivs: 1\nUid: 65532 65532 65532 65532\n"), std::string::npos);
  EXPECT_NE(inside.out.find("\n64\nwrote the volume\n"), std::string::npos) << inside.out;
  EXPECT_EQ(inside.out.find("wrote /"), std::string::npos);
  EXPECT_EQ(inside.out.find("made a namespace"), std::string::npos);

  // A control: the same script, where it may do all that.
  const Ended outside = run_on_pipes("/bin/sh", {"-c", script});
  EXPECT_EQ(outside.out.find("CapEff: 0000000000000000\n"), std::string::npos);
  EXPECT_NE(outside.out.find("made a namespace"), std::string::npos);
  EXPECT_EQ(outside.out.find("\n64\n"), std::string::npos);
}

// A control for KeepsEveryRecordFromEveryCleaner: the same command removes what is provably dead.
TEST_F(Pod, LeavesItsRecordWhereADeadOneIsCleaned) {
  const Volume volume;
  start(11, {"--volume", volume.path()});
  ASSERT_EQ(::setenv("METERBANK_DIR", volume.path().c_str(), 1), 0);
  { const Background dead(METERBANK_POD_PROVIDER, {"dead", "1"}); }
  ::unsetenv("METERBANK_DIR");
  EXPECT_EQ(volume.files(), 4U);
  EXPECT_EQ(removed_by(read({"doctor", "--clean", "--dir", volume.path()})), 1);
  EXPECT_EQ(volume.files(), 2U);
  EXPECT_EQ(values_of(read(get_ + Words{"--dir", volume.path()})), std::multiset<int>{11});
}

TEST_F(Pod, ThatSharesNothingIsReadByItsSidecarAlone) {
  const std::string pid = start(11);
  EXPECT_EQ(values_of(read_beside(pid, get_)), std::multiset<int>{11});
  const Ended other = read_in_pod({}, get_);
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("no provider found"), std::string::npos) << other.err;
  // A shared pid namespace is not enough for a sidecar of another user.
  const Ended stranger = read_in_pod({"--join", pid, "--user", "1000"}, get_);
  EXPECT_NE(stranger.code, 0);
  EXPECT_EQ(values_of(stranger), std::multiset<int>{});
}

// As with shareProcessNamespace of Kubernetes, or --pid=container:NAME of Docker: no folder is
// shared.
TEST_F(Pod, IsReadByItsMemoryInAnotherContainerThatSharesItsPidNamespace) {
  const std::string pid = start(11);
  const Words everywhere = get_ + Words{"--all-namespaces"};
  const Words sidecar{"--share-pids", pid};
  const Ended got = read_in_pod(sidecar, everywhere);
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(values_of(got), std::multiset<int>{11});
  EXPECT_EQ(values_of(read_in_pod(sidecar, get_)), std::multiset<int>{});
  EXPECT_EQ(values_of(read_in_pod(sidecar + Words{"--user", "1000"}, everywhere)),
            std::multiset<int>{});
}

TEST_F(Pod, PublishesInTheFoldersThatRuntimesMake) {
  const struct {
    const char* what;
    gid_t group;
    mode_t mode;
    Words provider, reader;
  } folders[] = {
      {"emptyDir in memory", 0, 01777, {}, {}},
      {"emptyDir in memory with fsGroup",
       kPodUser,
       03777,
       {},
       {"--user", "1", "--groups", "65532"}},
      {"hostPath that the packages made",
       kPodUser,
       02775,
       {"--user", "65530", "--groups", "65532"},
       {"--user", "65531", "--groups", "65532"}},
  };
  for (const auto& folder : folders) {
    const Volume volume(0, folder.group, folder.mode);
    const Words shared{"--volume", volume.path()};
    start(11, shared + folder.provider);
    EXPECT_EQ(volume.files(), 2U) << folder.what;
    const Ended got = read_in_pod(shared + folder.reader, get_);
    EXPECT_EQ(values_of(got), std::multiset<int>{11}) << folder.what << ": " << got.err;
    end_all();
  }
}

// A volume on a disk is open to all and has no sticky bit; a folder in it is the provider's own.
TEST_F(Pod, PublishesInAFolderOfAVolumeThatIsOpenToAll) {
  const Volume volume(0, kPodUser, 02777);
  const Words shared{"--volume", volume.path()};
  const Words own{"/usr/bin/env", "METERBANK_DIR=/run/meterbank/orders"};
  const Ended refused = in_pod(shared, Words{"/usr/bin/env", "METERBANK_DIR=/run/meterbank",
                                             METERBANK_POD_PROVIDER, name_, "11"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("/run/meterbank may be written by others"), std::string::npos)
      << refused.err;
  const Background provider(
      METERBANK_POD, shared + Words{"--"} + own + Words{METERBANK_POD_PROVIDER, name_, "11"});
  const Ended got = in_pod(shared, own + Words{METERBANK_PROGRAM} + get_);
  EXPECT_EQ(values_of(got), std::multiset<int>{11}) << got.err;
}

}  // namespace
}  // namespace meterbank::test
