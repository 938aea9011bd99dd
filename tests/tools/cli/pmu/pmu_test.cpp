// SPDX-License-Identifier: Apache-2.0
//
// `meterbank pmu` beside the real arbiter, which lends the counters of a machine that is only
// described: two CPUs with four general counters and a fixed one each.
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "../cli_fixture.hpp"
#include "../cli_json.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/pmu/connection.hpp"
#include "pmud_process.hpp"

namespace meterbank::cli {
namespace {

using test::PmudProcess;

// ---- The grammar ----

class PmuWords : public CliTest {};

TEST_F(PmuWords, EachFaultOfACommandLineIsAUsageErrorThatSaysWhatToTry) {
  const std::vector<std::vector<std::string>> faulty{
      {"pmu"},
      {"pmu", "leasse"},
      {"pmu", "hold"},
      {"pmu", "hold", "2", "-e", "cycles"},
      {"pmu", "hold", "2", "3"},
      {"pmu", "hold", "2", "--priority", "kernel"},
      {"pmu", "hold", "2", "--duty", "0"},
      {"pmu", "hold", "2", "--duty", "half"},
      {"pmu", "hold", "2", "--wait", "soon"},
      {"pmu", "hold", "2", "--", "true"},
      {"pmu", "run", "-e", "cycles"},
      {"pmu", "run", "--", "true"},
      {"pmu", "run", "-e", "2", "--", "true"},
      {"pmu", "run", "-e", "cycles", "-i", "1ms", "--", "true"},
      {"pmu", "run", "-e", "cycles", "true", "-x"},
      {"pmu", "probe", "-e", "cycles,instructions"},
      {"pmu", "revoke"},
      {"pmu", "revoke", "nonsense"},
      {"pmu", "reserve"},
      {"pmu", "reserve", "-1"},
      {"pmu", "leases", "-f", "pdh-csv"},
      {"--color", "never", "pmu", "leases"}};
  for (const auto& arguments : faulty) {
    const auto outcome = run_plainly(arguments);
    std::string line = "meterbank";
    for (const auto& word : arguments) line += " " + word;
    EXPECT_EQ(outcome.code, kExitUsage) << line << '\n' << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << line << '\n' << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
  }
}

TEST_F(PmuWords, EveryActionHasHelpWithExamples) {
  for (const char* const action :
       {"list", "leases", "who", "run", "hold", "wait", "probe", "revoke", "release", "reserve"}) {
    const auto outcome = run_plainly({"pmu", action, "--help"});
    EXPECT_EQ(outcome.code, kExitDone) << action;
    EXPECT_NE(outcome.out.find("usage: meterbank pmu " + std::string(action)), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("Examples:"), std::string::npos) << action;
    for (const auto& line : outcome.lines()) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(PmuWords, WithoutAnArbiterEveryActionSaysHowToStartOne) {
  const std::vector<std::vector<std::string>> actions{
      {"list"},
      {"leases"},
      {"who", "0"},
      {"hold", "1"},
      {"wait", "1"},
      {"probe", "1"},
      {"revoke", "1"},
      {"reserve", "1"},
      {"run", "-e", "cycles", "true"},
      {"run", "-e", "cycles", "--cpus", "0", "true"}};
  for (auto action : actions) {
    action.insert(action.begin(), {"pmu", "--dir", directory_});
    const auto outcome = run_plainly(action);
    EXPECT_EQ(outcome.code, kExitEnvironment) << action[3];
    EXPECT_NE(outcome.err.find("systemctl start meterbank-pmud.socket"), std::string::npos)
        << outcome.err;
  }
}

// ---- With an arbiter ----

class Pmu : public CliTest {
 protected:
  [[nodiscard]] Outcome pmu(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"pmu", "--dir", arbiter_.directory()});
    return run_plainly(arguments);
  }
  // Takes general counters on CPU 0.
  void hold(std::uint32_t count, const std::string& label) {
    auto connected = pmu::Connection::connect({.socket = arbiter_.socket()});
    ASSERT_TRUE(connected) << connected.error().message();
    connection_.emplace(std::move(*connected));
    pmu::Request request;
    request.cpus("0").label(label);
    for (std::uint32_t i = 0; i < count; ++i) request.event_code(0x3c);
    auto lease = connection_->acquire(request);
    ASSERT_TRUE(lease) << lease.error().message();
    lease_.emplace(std::move(*lease));
  }
  [[nodiscard]] std::string token() const { return token_text(lease_->token()); }
  // Rows of leases follow the arbiter's clock, not its answers.
  [[nodiscard]] Json leases_when(std::size_t count) const {
    Json rows;
    static_cast<void>(test::comes_true([&] {
      rows = parse_json(pmu({"leases", "-q", "-f", "json"}).out);
      return rows.size() == count;
    }));
    return rows;
  }

  PmudProcess arbiter_;
  std::optional<pmu::Connection> connection_;
  std::optional<pmu::Lease> lease_;
};

TEST_F(Pmu, ListSaysWhatThereIsAndHowMuchOfItIsFree) {
  hold(3, "test");

  const auto table = pmu({"list", "-f", "table"});
  const auto rows = parse_json(pmu({"list", "-f", "json"}).out);

  EXPECT_EQ(table.code, kExitDone) << table.err;
  EXPECT_NE(table.out.find("4 + 1 fixed"), std::string::npos) << table.out;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["pmu"], "cpu_core");
  EXPECT_EQ(rows[0]["cpus"], "0-1");
  EXPECT_EQ(rows[0]["counters"], 10);
  EXPECT_EQ(rows[0]["leased"], 3);
  EXPECT_EQ(rows[0]["free"], 7);
}

// A program that watches memory has opened events without asking. How many slots it has, the
// kernel alone knows.
class PmuBreakpoints : public ::testing::Test {
 protected:
  static UniqueFd watch(const std::uint64_t& word) {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.size = sizeof attributes;
    attributes.bp_type = HW_BREAKPOINT_W;
    attributes.bp_addr = reinterpret_cast<std::uint64_t>(&word);
    attributes.bp_len = sizeof word;
    return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0)));
  }
  [[nodiscard]] Outcome list(const PmudProcess& arbiter, const std::string& format) const {
    const std::vector<std::string> words{"pmu",        "list", "--dir", arbiter.directory(),
                                         "breakpoint", "-f",   format};
    std::ostringstream out, err;
    Outcome outcome;
    outcome.code = run(words, out, err);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }

  test::BreakpointLock lock_;
};

TEST_F(PmuBreakpoints, ListDoesNotCallFreeWhatANamedOutsiderMayHave) {
  if (!test::breakpoints_count()) GTEST_SKIP() << "breakpoints never count here";
  std::uint64_t watched = 0;
  const UniqueFd outsider = watch(watched);
  if (!outsider) GTEST_SKIP() << "no breakpoints here: " << std::strerror(errno);
  const PmudProcess arbiter("");
  const auto own = "@" + std::to_string(::getpid());

  Outcome table;
  EXPECT_TRUE(test::comes_true([&] {
    table = list(arbiter, "table");
    return table.err.find(own) != std::string::npos;
  })) << table.err;

  EXPECT_NE(table.out.find("<="), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("which has no lease; try: meterbank pmu probe"), std::string::npos);
  EXPECT_GE(parse_json(list(arbiter, "json").out)[0]["unknown_outsiders"], 1);
}

TEST_F(Pmu, ListOfAPmuThatIsNotThereNamesTheNearest) {
  const auto outcome = pmu({"list", "cpu_cor"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("try: cpu_core"), std::string::npos) << outcome.err;
}

TEST_F(Pmu, LeasesSayWhoHasWhatAndWhatFor) {
  hold(2, "nightly bench");

  const auto rows = leases_when(1);
  const auto table = pmu({"leases", "-f", "table"});

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["cpus"], "0");
  EXPECT_EQ(rows[0]["pid"], ::getpid());
  EXPECT_EQ(rows[0]["state"], "active");
  EXPECT_EQ(rows[0]["tag"], "nightly bench");
  EXPECT_EQ(rows[0]["token"], token());
  EXPECT_NE(table.out.find("@" + std::to_string(::getpid())), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("nightly bench"), std::string::npos) << table.out;
}

TEST_F(Pmu, EveryFormatOfLeasesHasTheSameRows) {
  hold(1, "a, \"b\"");
  ASSERT_EQ(leases_when(1).size(), 1U);

  EXPECT_EQ(pmu({"leases", "-f", "csv"}).lines().size(), 2U);
  EXPECT_NE(pmu({"leases", "-f", "csv"}).out.find("\"a, \"\"b\"\"\""), std::string::npos);
  EXPECT_EQ(pmu({"leases", "-f", "tsv"}).lines().size(), 2U);
  EXPECT_EQ(pmu({"leases", "-f", "plain"}).lines().size(), 1U);
  EXPECT_EQ(pmu({"leases", "-f", "table"}).lines().size(), 2U);
}

TEST_F(Pmu, WithoutLeasesTheListIsEmptyInEachFormat) {
  EXPECT_EQ(parse_json(pmu({"leases", "-f", "json"}).out), Json::array());
  EXPECT_NE(pmu({"leases", "-f", "table"}).out.find("no leases"), std::string::npos);
}

TEST_F(Pmu, NamesTheHolderOfEachCounter) {
  hold(2, "test");
  ASSERT_EQ(leases_when(1).size(), 1U);

  const auto rows = parse_json(pmu({"who", "0", "-f", "json"}).out);
  const auto one = parse_json(pmu({"who", "0-1", "c0", "-f", "json"}).out);

  ASSERT_EQ(rows.size(), 5U);
  std::size_t held = 0;
  for (const auto& row : rows) held += row["token"] == token() ? 1U : 0U;
  EXPECT_EQ(held, 2U) << rows.dump(1);
  for (const auto& row : rows) {
    EXPECT_EQ(row["owner"], row["token"] == token() ? "leased" : "free") << rows.dump(1);
  }
  EXPECT_EQ(rows[4]["counter"], "f0");
  EXPECT_EQ(one.size(), 2U);
  EXPECT_EQ(pmu({"who", "x"}).code, kExitUsage);
  EXPECT_EQ(pmu({"who", "c99"}).code, kExitUsage);
  EXPECT_EQ(pmu({"who", "77"}).code, kExitUsage);
}

TEST_F(Pmu, ARefusalNamesTheHolderAndSaysHowToWait) {
  hold(4, "nightly bench");

  const auto outcome = pmu({"hold", "-e", "r80", "--cpus", "0"});

  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_NE(outcome.err.find("nightly bench"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(std::to_string(::getpid())), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("; try: --wait 30s"), std::string::npos) << outcome.err;
}

TEST_F(Pmu, AWaitThatEndsInVainHasTheExitCodeOfATimeOut) {
  hold(4, "test");

  const auto outcome = pmu({"hold", "-e", "r80", "--cpus", "0", "--wait", "20ms"});

  EXPECT_EQ(outcome.code, kExitTimeout) << outcome.err;
  EXPECT_NE(outcome.err.find("waiting"), std::string::npos) << outcome.err;
  EXPECT_EQ(pmu({"--timeout", "20ms", "wait", "-e", "r80", "--cpus", "0"}).code, kExitTimeout);
}

TEST_F(Pmu, AHolderSaysItsTokenAndGivesBackInTheEnd) {
  const auto outcome = pmu({"hold", "2*low2", "--cpus", "1", "--for", "10ms"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("2 counters"), std::string::npos) << outcome.out;
  EXPECT_EQ(pmu({"wait", "2*low2", "--cpus", "1", "--for", "20s"}).code, kExitDone);
}

TEST_F(Pmu, ProbeCountsFreeCounters) {
  hold(3, "test");

  const auto some = pmu({"probe", "-e", "r3c", "--cpus", "1"});
  const auto none = pmu({"probe", "-e", "r3c", "--cpus", "0"});

  EXPECT_EQ(some.code, kExitDone) << some.err;
  EXPECT_EQ(some.out.substr(0, 2), "4 ");
  EXPECT_EQ(none.out.substr(0, 2), "1 ") << none.err;
}

TEST_F(Pmu, AnAdministratorRevokesALease) {
  hold(4, "test");

  const auto outcome = pmu({"release", token()});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_TRUE(test::comes_true([this] { return !lease_->is_in_force(); }));
  const auto missing = pmu({"revoke", "00010fff00000001"});
  EXPECT_EQ(missing.code, kExitNo);
  EXPECT_NE(missing.err.find("no lease 00010fff00000001; try: "), std::string::npos) << missing.err;
}

TEST_F(Pmu, ReservedCountersAreNotLent) {
  ASSERT_EQ(pmu({"reserve", "4", "--cpus", "1"}).code, kExitDone);

  EXPECT_EQ(pmu({"hold", "2*low2", "--cpus", "1", "--for", "1ms"}).code, kExitEnvironment);

  ASSERT_EQ(pmu({"reserve", "0", "--cpus", "1"}).code, kExitDone);
  EXPECT_EQ(pmu({"hold", "2*low2", "--cpus", "1", "--for", "1ms"}).code, kExitDone);
}

TEST_F(Pmu, ListAndWhoShowReservedCounters) {
  ASSERT_EQ(pmu({"reserve", "2", "--cpus", "1"}).code, kExitDone);

  const auto rows = parse_json(pmu({"list", "-f", "json"}).out);
  const auto table = pmu({"list", "-f", "table"}).out;
  const auto owners = parse_json(pmu({"who", "1", "-f", "json"}).out);

  EXPECT_EQ(rows[0]["reserved"], 2);
  EXPECT_EQ(rows[0]["free"], 8);
  EXPECT_EQ(rows[0]["counters"], 10);
  EXPECT_NE(table.find("RESERVED"), std::string::npos) << table;
  std::size_t reserved = 0;
  for (const auto& owner : owners) reserved += owner["owner"] == "reserved" ? 1U : 0U;
  EXPECT_EQ(reserved, 2U) << owners.dump(1);
}

TEST_F(Pmu, NumbersOfCountersAndNamesOfEventsMeanWhatTheMachineHas) {
  EXPECT_EQ(pmu({"hold", "3", "--for", "1ms"}).code, kExitDone);
  EXPECT_EQ(pmu({"hold", "-e", "cycles,instructions,branches", "--for", "1ms"}).code, kExitDone);
  EXPECT_EQ(pmu({"probe", "-e", "cycles"}).code, kExitDone);
}

TEST_F(Pmu, RunPassesTheExitCodeOnAndCountsMeanwhile) {
  const auto result = file("counts.json");

  const auto outcome = pmu({"run", "-e", "r3c,r80", "--cpus", "0-1", "-f", "json", "-o", result,
                            "--", "sh", "-c", "sleep 0.02; exit 7"});

  EXPECT_EQ(outcome.code, 7) << outcome.err;
  const auto rows = parse_json(read(result));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["event"], "r3c");
  EXPECT_GT(rows[0]["value"], 0);
  EXPECT_EQ(rows[0]["quality"], "exact");
}

TEST_F(Pmu, RunShowsEachCpuAndEachIntervalIfAsked) {
  const auto result = file("counts.csv");

  const auto outcome = pmu({"run", "-e", "r3c", "--cpus", "0-1", "-A", "-i", "20ms", "-f", "csv",
                            "-o", result, "--", "sleep", "0.1"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto text = read(result);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(text.find("elapsed_s"), text.rfind("elapsed_s")) << "one line of keys";
}

TEST_F(Pmu, RunCountsTheCommandsOwnThread) {
  const auto result = file("counts.json");

  const auto outcome =
      pmu({"run", "-e", "r3c", "-f", "json", "-o", result, "--", "sh", "-c", "sleep 0.3; exit 5"});

  EXPECT_EQ(outcome.code, 5) << outcome.err;
  const auto rows = parse_json(read(result));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0]["cpu"].is_null());
}

TEST_F(Pmu, RunDoesNotStartTheCommandWithoutCounters) {
  hold(4, "test");
  const auto mark = file("mark");

  for (const bool is_of_cpus : {true, false}) {
    std::vector<std::string> arguments{"run", "-e", "r80", "--", "touch", mark};
    if (is_of_cpus) arguments.insert(arguments.begin() + 1, {"--cpus", "0"});
    const auto outcome = pmu(arguments);
    EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
    EXPECT_FALSE(std::ifstream(mark).good());
  }
}

TEST_F(Pmu, RunOfACommandThatIsNotThereSaysSo) {
  const auto outcome = pmu({"run", "-e", "r3c", "--cpus", "0", "--", "no-such-command"});

  EXPECT_EQ(outcome.code, 127);
  EXPECT_NE(outcome.err.find("cannot run no-such-command"), std::string::npos) << outcome.err;
}

TEST_F(Pmu, DoctorFindsTheArbiter) {
  const auto found = run_plainly({"doctor", "--dir", arbiter_.directory()});
  const auto missing = run_plainly({"doctor", "--dir", directory_});

  EXPECT_NE(found.out.find("arbiter"), std::string::npos) << found.out;
  EXPECT_NE(found.out.find(std::to_string(arbiter_.pid())), std::string::npos) << found.out;
  EXPECT_NE(missing.out.find("not running"), std::string::npos) << missing.out;
}

}  // namespace
}  // namespace meterbank::cli
