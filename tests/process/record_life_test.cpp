// SPDX-License-Identifier: Apache-2.0
//
// A provider's record: found again after it vanished, and gone with the lives that left it behind.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "../support/bare_provider.hpp"
#include "../support/comes_true.hpp"
#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank {
namespace {

using namespace std::chrono_literals;
using test::comes_true;

constexpr uid_t kStranger = 65534;

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool is_stopped(pid_t process) {
  const std::string stat = text_of("/proc/" + std::to_string(process) + "/stat");
  return stat.find(") T ") != std::string::npos;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class RecordLife : public testing::Test {
 protected:
  [[nodiscard]] Provider create(const std::string& name,
                                std::chrono::milliseconds heartbeat = 5ms) const {
    return Provider::create_or_disabled(
        {.name = name, .directory = directory_.path(), .heartbeat = heartbeat});
  }
  // What `act` makes its providers say.
  template <typename F>
  static std::string said_by(F&& act) {
    testing::internal::CaptureStderr();
    act();
    return testing::internal::GetCapturedStderr();
  }
  [[nodiscard]] std::string state_of(const std::string& name) const {
    const auto catalog = Catalog::open({.directory = directory_.path()});
    if (!catalog) return catalog.error().message();
    for (const auto& provider : catalog->providers()) {
      if (provider->name == name) return std::string(name_of(provider->state));
    }
    return "absent";
  }
  // Returns the memory of the only provider in `directory`, or null if there is no provider.
  [[nodiscard]] static std::shared_ptr<const MappedSegment> memory_of(
      const std::string& directory) {
    const auto catalog = Catalog::open({.directory = directory});
    if (!catalog || catalog->providers().empty()) return nullptr;
    return catalog->providers().front()->segment;
  }
  // Waits for ten more ticks of the keeper: at each it checks its record.
  [[nodiscard]] static bool ticks_on(const MappedSegment& memory) {
    const auto heartbeat = [&memory] {
      return memory.header().heartbeat_ns.load(std::memory_order_relaxed);  // a clock, no more
    };
    for (int tick = 0; tick < 10; ++tick) {
      const std::uint64_t seen = heartbeat();
      if (!comes_true([&] { return heartbeat() != seen; })) return false;
    }
    return true;
  }
  // A process that creates a provider and ends without closing it.
  [[nodiscard]] bool crash(const std::string& name) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto provider = create(name);
      ::_exit(provider.is_disabled() ? 1 : 0);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(RecordLife, IsWrittenAgainWhenItVanished) {
  const Provider provider = create("orders");
  const std::string text = text_of(provider.record());
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(::unlink(provider.record().c_str()), 0);
    ASSERT_TRUE(comes_true([&] { return exists(provider.record()); }));
  }
  EXPECT_EQ(text_of(provider.record()), text);
  EXPECT_EQ(state_of("orders"), "live");
}

TEST_F(RecordLife, IsWrittenAgainOverAFileOfItsOwnUser) {
  const Provider provider = create("orders");
  const std::string text = text_of(provider.record());
  std::ofstream(directory_.path() + "/other") << "something else";
  std::filesystem::rename(directory_.path() + "/other", provider.record());
  EXPECT_TRUE(comes_true([&] { return text_of(provider.record()) == text; }));
}

TEST_F(RecordLife, IsNotWrittenAgainAfterClose) {
  for (int round = 0; round < 100; ++round) {
    const Provider provider = create("orders", 1ms);
    ::unlink(provider.record().c_str());
    if (round % 2 == 1) std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(directory_.files(), 0U);
}

TEST_F(RecordLife, IsNotWrittenByAChild) {
  const Provider provider = create("orders", 5ms);
  const pid_t child = ::fork();
  if (child == 0) {
    ::kill(::getppid(), SIGSTOP);  // so that its keeper does not write the record
    if (!comes_true([] { return is_stopped(::getppid()); })) ::_exit(2);
    ::unlink(provider.record().c_str());
    std::this_thread::sleep_for(100ms);
    const bool is_written = exists(provider.record());
    ::kill(::getppid(), SIGCONT);
    ::_exit(is_written ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(comes_true([&] { return exists(provider.record()); }));
}

TEST_F(RecordLife, LeavesAFileOfAnotherUserAloneAndSaysSoOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  const std::string said = said_by([this] {
    const Provider provider = create("orders");
    const auto memory = memory_of(directory_.path());
    ASSERT_NE(memory, nullptr);
    const std::string other = directory_.path() + "/other";
    std::ofstream(other) << "mine";
    ASSERT_EQ(::chown(other.c_str(), kStranger, kStranger), 0);
    std::filesystem::rename(other, provider.record());
    ASSERT_TRUE(ticks_on(*memory));
    EXPECT_EQ(text_of(provider.record()), "mine");
  });
  EXPECT_EQ(occurrences(said, "another file has taken its name"), 1U) << said;
}

TEST_F(RecordLife, MakesNoDirectoryAndSaysSoOnce) {
  const std::string inner = directory_.path() + "/inner";
  const std::string said = said_by([&] {
    const Provider provider =
        Provider::create_or_disabled({.name = "orders", .directory = inner, .heartbeat = 5ms});
    const auto memory = memory_of(inner);
    ASSERT_NE(memory, nullptr);
    // In one step, or the keeper may write its record again before the directory is removed.
    std::filesystem::rename(inner, directory_.path() + "/gone");
    ASSERT_TRUE(ticks_on(*memory));
    EXPECT_FALSE(exists(inner));
    // It comes back, as after the service that owns it was started again.
    ASSERT_EQ(::mkdir(inner.c_str(), 0755), 0);
    EXPECT_TRUE(comes_true([&] { return exists(provider.record()); }));
  });
  EXPECT_EQ(occurrences(said, "its directory is gone"), 1U) << said;
}

TEST_F(RecordLife, SaysOnceThatAProcessThatIsNotDumpableCannotBeReadWithoutADoor) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  for (const bool has_door : {false, true}) {
    const auto heartbeat = has_door ? 20ms : 0ms;  // a provider without a keeper has no door
    const std::string said = said_by([&] {
      const pid_t child = ::fork();
      if (child == 0) {
        if (::setresuid(kStranger, kStranger, kStranger) != 0) ::_exit(1);
        ::prctl(PR_SET_DUMPABLE, 0);
        const Provider provider = create("orders", heartbeat);
        const Provider second = create("second", heartbeat);
        std::this_thread::sleep_for(100ms);
        ::_exit(0);
      }
      int status = -1;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    });
    EXPECT_EQ(occurrences(said, "not dumpable"), has_door ? 0U : 1U) << said;
  }
}

// ---- Lives before ----

TEST_F(RecordLife, CrashLoopsLeaveABoundedDirectoryAndHideNoNeighbour) {
  const auto deaths = test::depth(300, 10'000);
  const Provider neighbour = create("healthy", 1000ms);
  std::size_t files_max = 0;
  for (std::uint64_t death = 0; death < deaths; ++death) {
    ASSERT_TRUE(crash("phoenix")) << death;
    files_max = std::max(files_max, directory_.files());
    if (death % 50 == 0) {
      ASSERT_EQ(state_of("healthy"), "live") << death;
    }
  }
  EXPECT_LE(files_max, 4U);  // two records, each with its door
  EXPECT_EQ(state_of("healthy"), "live");
  EXPECT_EQ(state_of("phoenix"), "dead");
}

TEST_F(RecordLife, ASuccessorRemovesAThousandPredecessorsAtOnce) {
  PointerRecord record = test::BareProvider("phoenix").record();
  record.pid = 0x7fffffff;
  for (int i = 0; i < 1000; ++i) {
    record.inode = static_cast<std::uint64_t>(i) + 1;
    record.socket = socket_name(record.pid, record.inode);
    ASSERT_TRUE(write_record(directory_.path(), record));
    std::ofstream(directory_.path() + "/" + record.socket) << "";
  }
  const Provider provider = create("phoenix");
  EXPECT_EQ(directory_.files(), 2U);
}

TEST_F(RecordLife, ASuccessorRemovesThoseOfOtherNamespacesAtWhoseDoorNoProcessListens) {
  const auto leave = [this](std::uint64_t inode, bool listens, std::uint64_t boot_change) {
    PointerRecord record = test::BareProvider("phoenix").record();
    record.pid_namespace += 1;
    record.inode = inode;
    record.boot_id[0] += boot_change;
    record.door = door_name(record.pid, inode);
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{AF_UNIX, {}};
    const std::string path = directory_.path() + "/" + record.door;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (listens) static_cast<void>(::listen(socket.get(), 4));
    EXPECT_TRUE(write_record(directory_.path(), record));
    return std::pair{std::move(socket), path};
  };
  leave(1, false, 0);
  const auto living = leave(2, true, 0);
  leave(3, false, 1);                           // has another boot id
  ::unlink(leave(4, false, 0).second.c_str());  // without its door
  ASSERT_EQ(directory_.files(), 7U);
  {
    const Provider other = create("phoenix2");
    EXPECT_EQ(directory_.files(), 9U) << "of another name";
  }

  const Provider provider = create("phoenix");

  EXPECT_EQ(directory_.files(), 7U);
  for (const char* inode : {"2", "3", "4"}) {
    EXPECT_TRUE(exists(directory_.path() + "/phoenix@" + std::to_string(::getpid()) + "-" + inode +
                       ".provider"))
        << inode;
  }
}

TEST_F(RecordLife, ASuccessorRemovesNothingThatItCannotProve) {
  const test::BareProvider living("phoenix");
  PointerRecord record = living.record();
  ASSERT_TRUE(write_record(directory_.path(), record));  // of this process
  record.pid = 0x7fffffff;
  record.pid_namespace += 1;
  record.inode += 1;
  ASSERT_TRUE(write_record(directory_.path(), record));  // of another pid namespace
  record.pid_namespace = 0;
  record.inode += 1;
  ASSERT_TRUE(write_record(directory_.path(), record));  // of version 0.1
  record = living.record();
  record.pid = 0x7fffffff;
  record.name = "phoenix2";
  ASSERT_TRUE(write_record(directory_.path(), record));
  record.name = "phoenix!";
  ASSERT_TRUE(write_record(directory_.path(), record));
  // Called like one of its own, and of another name.
  std::ofstream(directory_.path() + "/phoenix@2147483647-0.provider") << record.text();
  std::ofstream(directory_.path() + "/phoenix@2147483647-1.provider") << "no record";
  std::size_t expected = 7;
  if (::geteuid() == 0) {
    record.name = "phoenix";
    const auto others = write_record(directory_.path(), record);
    ASSERT_TRUE(others);
    ASSERT_EQ(::chown(others->c_str(), kStranger, kStranger), 0);
    ++expected;
  }
  ASSERT_EQ(directory_.files(), expected);

  const Provider provider = create("phoenix");

  EXPECT_EQ(directory_.files(), expected + 2);
}

TEST_F(RecordLife, ThatWasKeptIsTakenByASuccessorWhileItsProviderEnds) {
  const auto live_once = [this] {
    const auto provider = Provider::create(
        {.name = "phoenix", .directory = directory_.path(), .heartbeat = 1ms, .keep_record = true});
    ASSERT_TRUE(provider) << provider.error().what;
  };
  const auto live_often = [&live_once] {
    for (int life = 0; life < 100; ++life) live_once();
  };
  std::thread other(live_often);
  live_often();
  other.join();
  EXPECT_TRUE(comes_true([&] {
    std::this_thread::sleep_for(10ms);  // the thread of a provider ends at its next beat
    live_once();
    return test::records_in(directory_.path()).size() == 1;
  }));
}

}  // namespace
}  // namespace meterbank
