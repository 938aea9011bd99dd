// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <fstream>

#include "../../support/bare_provider.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank::cli {
namespace {

class Doctor : public CliTest {};

TEST_F(Doctor, FindsNothingInTheWayOfALiveProvider) {
  open_shop();

  const auto outcome = meterbank({"doctor"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.out;
  for (const char* subject : {"directory", "provider", "layout", "clock", "limits", "pmu"}) {
    EXPECT_NE(outcome.out.find(subject), std::string::npos) << subject;
  }
  EXPECT_NE(outcome.out.find("shop@"), std::string::npos);
}

TEST_F(Doctor, WarnsOfADirectoryThatOthersMayWriteTo) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);

  const auto outcome = meterbank({"doctor"});

  EXPECT_EQ(outcome.code, kExitNo) << outcome.out;
  EXPECT_NE(outcome.out.find("PROBLEM"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, TakesASilentArbiterForAProblem) {
  const auto listener = PacketListener::listen(directory_ + "/pmud.sock", 4);
  ASSERT_TRUE(listener);

  const auto outcome = meterbank({"doctor"});

  EXPECT_EQ(outcome.code, kExitNo) << outcome.out;
  EXPECT_NE(outcome.out.find("does not answer"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, CleansNoRecordThatItCannotProveDead) {
  const test::BareProvider provider("elsewhere");
  PointerRecord record = provider.record();
  record.pid_namespace += 1;
  const auto foreign = write_record(directory_, record);
  record.pid_namespace = record.time_namespace = 0;
  record.pid = 0x7fffffff;
  record.inode += 1;
  const auto old = write_record(directory_, record);
  record = provider.record();
  record.name = "gone";
  record.pid = 0x7fffffff;
  const auto dead = write_record(directory_, record);
  ASSERT_TRUE(foreign && old && dead);

  const auto before = meterbank({"doctor"});
  const auto outcome = meterbank({"doctor", "--clean"});

  EXPECT_NE(before.out.find("elsewhere"), std::string::npos) << before.out;
  EXPECT_NE(before.out.find("foreign"), std::string::npos) << before.out;
  EXPECT_EQ(::access(foreign->c_str(), F_OK), 0);
  EXPECT_EQ(::access(old->c_str(), F_OK), 0);
  EXPECT_NE(::access(dead->c_str(), F_OK), 0);
  EXPECT_NE(outcome.out.find("removed 1 record"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("--clean"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, CleansARecordOnlyIfItIsTheFileThatWasJudged) {
  PointerRecord record = test::BareProvider("gone").record();
  record.pid = 0x7fffffff;
  const auto path = write_record(directory_, record);
  ASSERT_TRUE(path);
  const auto catalog = Catalog::open({.directory = directory_});
  ASSERT_TRUE(catalog);
  const auto& view = *catalog->providers().front();
  ASSERT_EQ(view.state, ProviderState::kDead);
  // A successor takes the same name.
  const test::BareProvider provider("gone");
  const std::string next = directory_ + "/.next";
  std::ofstream(next) << provider.record().text();
  ASSERT_EQ(::rename(next.c_str(), path->c_str()), 0);
  EXPECT_EQ(remove_record(view), RecordRemoval::kChanged);
  EXPECT_EQ(::access(path->c_str(), F_OK), 0);
  const auto fresh = Catalog::open({.directory = directory_});
  EXPECT_EQ(remove_record(*fresh->providers().front()), RecordRemoval::kNotDead);
  EXPECT_EQ(::access(path->c_str(), F_OK), 0);
}

TEST_F(Doctor, CleansAllDeadRecordsHoweverMany) {
  PointerRecord record = test::BareProvider("gone").record();
  record.pid = 0x7fffffff;
  for (int i = 0; i < 2100; ++i) {
    record.inode = static_cast<std::uint64_t>(i) + 1;
    ASSERT_TRUE(write_record(directory_, record));
  }
  const test::BareProvider successor("gone");
  const auto living = write_record(directory_, successor.record());
  ASSERT_TRUE(living);

  const auto outcome = meterbank({"doctor", "--clean"});

  EXPECT_NE(outcome.out.find("removed 2100 records"), std::string::npos) << outcome.out;
  EXPECT_EQ(::access(living->c_str(), F_OK), 0);
}

TEST_F(Doctor, CleansNoSocketOfAnotherProvider) {
  const std::string socket = directory_ + "/living.ask";
  std::ofstream(socket) << "";
  const std::string path = directory_ + "/forged.provider";
  PointerRecord record = test::BareProvider("gone").record();
  record.pid = 0x7fffffff;
  record.socket = "living.ask";
  std::ofstream(path) << record.text();

  static_cast<void>(meterbank({"doctor", "--clean"}));

  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_EQ(::access(socket.c_str(), F_OK), 0);
}

TEST_F(Doctor, FindsAMissingDirectory) {
  const std::string missing = directory_ + "/missing";

  const auto outcome = run_plainly({"doctor", "--dir", missing});

  EXPECT_EQ(outcome.code, kExitNo) << outcome.out;
  const std::string problem = "PROBLEM  open directory " + missing + ": No such file or directory";
  EXPECT_NE(outcome.out.find(problem), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace meterbank::cli
