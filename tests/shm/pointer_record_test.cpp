// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/pointer_record.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../support/changed_child.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/base/process_facts.hpp"

namespace meterbank {
namespace {

constexpr uid_t kStranger = 65534;

PointerRecord example() {
  PointerRecord record;
  record.name = "orders";
  record.pid = 48213;
  record.start_time = 8123456;
  record.boot_id = {0x0123456789abcdef, 0xfedcba9876543210};
  record.descriptor = 5;
  record.inode = 1044;
  record.bytes = 65536;
  record.layout_major = 1;
  return record;
}

TEST(PointerRecord, RoundTripsThroughItsText) {
  const auto parsed = PointerRecord::parse(example().text());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->text(), example().text());
}

TEST(PointerRecord, SkipsLinesOfANewerMinorVersion) {
  EXPECT_TRUE(PointerRecord::parse(example().text() + "colour green\nflag\n"));
}

TEST(PointerRecord, RefusesEveryTruncationAndNeverReadsBeyondIt) {
  const std::string text = example().text();
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut(text.data(), size);  // exact size, so that an overread is seen
    EXPECT_FALSE(PointerRecord::parse(cut)) << size;
  }
}

TEST(PointerRecord, RefusesALineThatIsThereTwice) {
  const std::string text = example().text();
  for (std::size_t begin = text.find('\n') + 1; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    EXPECT_FALSE(PointerRecord::parse(text + line)) << line;
    begin = end;
  }
}

TEST(PointerRecord, RefusesMalformedValues) {
  for (const auto& [from, to] : {std::pair{"pid 48213", "pid 0"},
                                 {"pid 48213", "pid -1"},
                                 {"pid 48213", "pid 4294967296"},
                                 {"boot 01", "boot 0"},
                                 {"inode 1044", "inode x"},
                                 {"layout 1.0", "layout 1"},
                                 {"name orders", "name "},
                                 {"meterbank 1", "meterbank 2"}}) {
    std::string text = example().text();
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(PointerRecord::parse(text)) << to;
  }
}

class RuntimeDirectory : public testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  const std::string path_ = directory_.path();
};

TEST_F(RuntimeDirectory, IsCreatedPrivateForWriting) {
  const std::string directory = path_ + "/new";
  ASSERT_TRUE(prepare_directory(directory));
  struct stat facts {};
  ASSERT_EQ(::stat(directory.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0022, 0U);
}

TEST_F(RuntimeDirectory, IsRefusedIfItIsALinkAFileOrOpenToOthers) {
  std::filesystem::create_directory_symlink(path_, path_ + "/link");
  std::ofstream(path_ + "/file") << "x";
  ASSERT_EQ(::mkdir((path_ + "/open").c_str(), 0777), 0);
  ASSERT_EQ(::chmod((path_ + "/open").c_str(), 0777), 0);
  for (const char* name : {"/link", "/file", "/open", "/missing/below"}) {
    const auto refused = prepare_directory(path_ + name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::kNoDirectory) << name;
    EXPECT_FALSE(refused.error().remedy.empty());
  }
}

TEST_F(RuntimeDirectory, OpenToOthersIsSafeWithTheStickyBitThatTheRemedyNames) {
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  const auto refused = prepare_directory(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().remedy.find("chmod +t " + path_), 0U) << refused.error().remedy;
  ASSERT_EQ(::chmod(path_.c_str(), 01777), 0);
  EXPECT_TRUE(prepare_directory(path_));
}

TEST_F(RuntimeDirectory, IsJudgedByTheEffectiveUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto outcome = test::run_in_changed_child(
      [] { return ::setresuid(kStranger, 0, 0) == 0; },
      [this] {
        const auto prepared = prepare_directory(path_);
        return test::ChildOutcome{0, prepared ? "prepared" : prepared.error().message()};
      });
  EXPECT_EQ(outcome.text, "prepared");
}

TEST_F(RuntimeDirectory, OfAUserWhomAUserNamespaceDoesNotHaveIsRefusedForThat) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(path_.c_str(), kStranger, kStranger), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 01777), 0);
  EXPECT_FALSE(is_in_user_namespace());
  const auto outcome = test::run_in_changed_child(
      [] {
        if (::unshare(CLONE_NEWUSER) != 0) return false;
        return static_cast<bool>(std::ofstream("/proc/self/uid_map") << "1000 0 1" << std::flush);
      },
      [this] {
        const auto prepared = prepare_directory(path_);
        return test::ChildOutcome{is_in_user_namespace() ? 0 : 1,
                                  prepared ? "prepared" : prepared.error().message()};
      });
  if (outcome.code == -1) GTEST_SKIP() << "no user namespace may be made here";
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.text.find("whom this user namespace does not have"), std::string::npos)
      << outcome.text;
}

TEST_F(RuntimeDirectory, ReceivesARecordInOneStep) {
  const auto written = write_record(path_, example());
  ASSERT_TRUE(written) << written.error().message();
  std::size_t files = 0;
  for (const auto& item : std::filesystem::directory_iterator(path_)) {
    EXPECT_EQ(item.path().string(), *written);
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

TEST(Process, StartTimeIsKnownForThisOneAndZeroForNone) {
  EXPECT_NE(process_start_time(static_cast<std::uint32_t>(::getpid())), 0U);
  EXPECT_EQ(process_start_time(0x7fffffff), 0U);
}

}  // namespace
}  // namespace meterbank
