// SPDX-License-Identifier: Apache-2.0
//
// The parts of the server that can be tried alone.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arbiter/server/client/admission.hpp"
#include "arbiter/server/client/process_table.hpp"
#include "arbiter/server/run.hpp"
#include "arbiter/server/system/journal.hpp"
#include "arbiter/server/upgrade/saved_server.hpp"
#include "meterbank/base/peer_process.hpp"
#include "pmud_process.hpp"
#include "service/supervisor.hpp"

namespace meterbank::arbiter {
namespace {

using test::TemporaryDirectory;
using Kind = JournalRecord::Kind;

JournalRecord record(Kind kind, pmu::Token token, std::uint32_t epoch = 5) {
  JournalRecord made;
  made.kind = kind;
  made.token = token;
  made.epoch = epoch;
  return made;
}

TEST(PmudJournal, GivesTheNextArbiterHeldLeasesAndTheEpoch) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal) << journal.error().message();
    EXPECT_EQ(journal->last_epoch(), 0);
    EXPECT_EQ(Journal::open(path).error().code, ErrorCode::kExists);
    for (const pmu::Token token : {1U, 2U, 3U}) journal->append(record(Kind::kGranted, token));
    journal->append(record(Kind::kFenced, 2));
  }
  auto journal = Journal::open(path);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->last_epoch(), 5);
  EXPECT_EQ(journal->held(), 2U);
  EXPECT_EQ(journal->records().size(), 4U);
  EXPECT_EQ(journal->records()[3].kind, Kind::kFenced);
  JournalRecord again = record(Kind::kReclaimed, 9);
  again.other = 1;
  journal->append(again);
  EXPECT_EQ(journal->held(), 1U);
  journal->forget_before(5);
  EXPECT_EQ(journal->held(), 0U);
}

TEST(PmudJournal, PassesOverDamageAndATornTail) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  {
    auto journal = Journal::open(path);
    for (const pmu::Token token : {1U, 2U, 3U}) journal->append(record(Kind::kGranted, token));
  }
  for (std::uintmax_t bytes = 0; bytes < 3 * sizeof(JournalRecord); ++bytes) {
    const std::string cut = directory.path() + "/apart/journal";
    std::filesystem::create_directory(directory.path() + "/apart");
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, bytes);
    const auto journal = Journal::open(cut);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->held(), bytes / sizeof(JournalRecord));
    EXPECT_EQ(journal->damaged_bytes(), bytes % sizeof(JournalRecord));
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(sizeof(JournalRecord) + 20);
  file.put('x');
  file.close();
  const auto journal = Journal::open(path);
  EXPECT_EQ(journal->held(), 2U);
  EXPECT_EQ(journal->damaged_bytes(), sizeof(JournalRecord));
}

TEST(PmudJournal, StaysInBoundsAndKeepsHeldLeases) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  auto journal = Journal::open(path);
  journal->append(record(Kind::kGranted, 77));
  journal->append(record(Kind::kDelegated, 77));
  journal->append(record(Kind::kDelegated, 78));  // of a lease that has ended
  for (std::size_t i = 0; i < Journal::kRecordsMax + 10; ++i) {
    journal->append(record(Kind::kRefused, 0));
  }
  EXPECT_LE(std::filesystem::file_size(path),
            (Journal::kTailRecords + 100) * sizeof(JournalRecord));
  EXPECT_EQ(journal->held(), 1U);
  const std::vector<JournalRecord> kept = journal->records();
  EXPECT_EQ(kept[0].kind, Kind::kGranted);
  EXPECT_EQ(kept[1].kind, Kind::kDelegated);
  EXPECT_EQ(kept[2].kind, Kind::kRefused);
  journal = Journal::open(directory.path() + "/other");  // lets go of the first
  EXPECT_FALSE(journal) << "one directory, one arbiter";
}

TEST(PmudJournal, IsNotWrittenAnewIfItCannotBeRead) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  std::filesystem::create_directory(path);  // opens, and fails at the first read
  const auto journal = Journal::open(path);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().system_error, EISDIR);
  EXPECT_NE(journal.error().what.find("read the journal"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(directory.files(), 1U);
}

TEST(PmudAdmission, GivesUsersSharesAndRootMore) {
  Admission admission;
  int of_user = 0, of_root = 0;
  while (admission.enter(1000, 1)) ++of_user;
  while (admission.enter(0, 1)) ++of_root;
  EXPECT_EQ(of_user, 32);
  EXPECT_EQ(of_root, 128);
  for (std::uint32_t user = 1; user <= 3; ++user) {
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(admission.enter(user, 1));
  }
  EXPECT_FALSE(admission.enter(4, 1)) << "all places are taken";
  admission.leave(0);
  EXPECT_TRUE(admission.enter(4, 1));
}

TEST(PmudAdmission, LimitsPacketsOfUsersOverTime) {
  Admission admission({.packets = {.per_second = 10, .at_once = 5}});
  ASSERT_TRUE(admission.enter(1000, 1));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(admission.take_packet(1000, 1));
  EXPECT_FALSE(admission.take_packet(1000, 1));
  EXPECT_TRUE(admission.take_packet(1000, 100'000'001));
  EXPECT_FALSE(admission.take_packet(1000, 100'000'001));
  admission.leave(1000);
  ASSERT_TRUE(admission.enter(1000, 100'000'001)) << "coming anew";
  EXPECT_FALSE(admission.take_packet(1000, 100'000'002));
}

TEST(PmudProcessTable, KnowsThePeerFromTheKernel) {
  const auto table = ProcessTable::open();
  ASSERT_TRUE(table);
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const auto peer = table->peer_of(ends[0]);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->identity.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(peer->identity.uid, ::getuid());
  EXPECT_NE(peer->identity.start_time, 0U);
  EXPECT_NE(peer->identity.program, "");
  EXPECT_EQ(peer->identity.executable, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_FALSE(has_ended(peer->process.get()));
  EXPECT_TRUE(table->has_thread(peer->identity.pid, static_cast<std::uint32_t>(::gettid())));
  EXPECT_FALSE(table->has_thread(peer->identity.pid, 1));
  EXPECT_FALSE(table->is_counter(ends[0], 0));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(PmudSupervisor, IsToldWhereItListens) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/notify";
  const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  const service::Supervisor told;
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  told.tell("READY=1");
  std::array<char, 64> text{};
  EXPECT_EQ(::recv(manager.get(), text.data(), text.size(), MSG_DONTWAIT), 7);
  EXPECT_STREQ(text.data(), "READY=1");
  EXPECT_EQ(told.watchdog_ns(), 3'000'000'000U);
  service::Supervisor().tell("READY=1");  // no supervisor listens
}

TEST(PmudSavedServer, IsReadAsItWasWritten) {
  SavedServer saved;
  saved.arbiter = "{}";
  saved.epoch = 7;
  saved.next_client = 99;
  saved.listener = 3;
  SavedClient client;
  client.visitor = {.client = 5, .has_greeted = true, .faults = 1, .heartbeat = 8};
  client.socket = 9;
  client.unsent = {{{1, 2, 3}, 10}};
  saved.clients = {client};
  SavedCarrier carrier;
  carrier.carrier = 4;
  carrier.openings = {{.item = 1, .pmu = 2, .cpu = 3, .event = {.code = 5, .configuration = 6}}};
  carrier.descriptors = {11};
  carrier.before = {{.value = 1, .enabled_ns = 2, .running_ns = 3, .has_counter = false}};
  saved.carriers = {carrier};
  const auto file = store(saved);
  ASSERT_TRUE(file) << file.error().message();
  const auto loaded = load_saved(file->get());
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->arbiter, "{}");
  EXPECT_EQ(loaded->clients.at(0).unsent.at(0).bytes, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(loaded->carriers.at(0).openings, carrier.openings);
  EXPECT_FALSE(loaded->carriers.at(0).before.at(0).has_counter);
  EXPECT_EQ(loaded->descriptors(), (std::vector<int>{3, 9, 8, 10, 11}));
  EXPECT_EQ(::write(file->get(), "x", 1), -1) << "sealed";
}

struct Outcome {
  int code = 0;
  std::string out, err;
};
Outcome run_with(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = run(arguments, out, err);
  return {code, out.str(), err.str()};
}

TEST(PmudOptions, SayHelpVersionAndFaults) {
  const Outcome help = run_with({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("Exit codes"), std::string::npos);
  EXPECT_EQ(run_with({"--version"}).code, 0);
  EXPECT_EQ(run_with({"--nonsense"}).code, 2);
  EXPECT_EQ(run_with({"--socket-mode", "9999"}).code, 2);
  EXPECT_EQ(run_with({"--simulate", "/nonexistent/machine"}).code, 1);
}

TEST(PmudOptions, CheckAPolicyAndNameTheLine) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/policy";
  std::ofstream(path) << "# fine\n[class.interactive]\nhold = \"15m\"\nrenewable = true\n";
  EXPECT_EQ(run_with({"--check-policy", path}).code, 0);
  std::ofstream(path) << "# fine\nallow = [\"nonsense\"]\n";
  const Outcome faulty = run_with({"--check-policy", path});
  EXPECT_EQ(faulty.code, 2);
  EXPECT_NE(faulty.err.find(path + ":2:1: "), std::string::npos) << faulty.err;
  EXPECT_EQ(run_with({"--check-policy", path + ".none"}).code, 1);
}

}  // namespace
}  // namespace meterbank::arbiter
