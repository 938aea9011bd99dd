// SPDX-License-Identifier: Apache-2.0
//
// `meterbank pmu` in processes of their own, each in the foreground of a terminal: who holds, who
// waits, and what Ctrl-C does to them.
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <list>

#include "../cli_fixture.hpp"
#include "../cli_json.hpp"
#include "cli/session/exit_code.hpp"
#include "pmud_process.hpp"

namespace meterbank::cli {
namespace {

// The program in a forked process that leads the foreground of a terminal. Make it while this
// process has one thread.
class TerminalProcess {
 public:
  TerminalProcess(const std::vector<std::string>& arguments, const std::string& out,
                  const std::string& err) {
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      test::die_with_parent();
      std::ofstream results(out);
      std::ofstream words(err);
      const int code = run(arguments, results, words);
      results.flush();
      words.flush();
      ::_exit(code);
    }
    ::tcgetattr(terminal_, &before_);
  }
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  ~TerminalProcess() {
    if (pid_ > 0 && !ended_) ::kill(pid_, SIGKILL);
    if (pid_ > 0 && !ended_) finish();
    if (terminal_ >= 0) ::close(terminal_);
  }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // As a person does it: whatever is in the foreground gets SIGINT.
  void press_ctrl_c() const { ASSERT_EQ(::write(terminal_, "\x03", 1), 1); }
  // Its exit code, or minus the signal that killed it.
  int finish() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] bool left_the_terminal_as_it_was() const {
    termios now{};
    ::tcgetattr(terminal_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           now.c_oflag == before_.c_oflag && std::memcmp(now.c_cc, before_.c_cc, NCCS) == 0;
  }

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
  termios before_{};
  bool ended_ = false;
};

class PmuHolders : public CliTest {
 protected:
  [[nodiscard]] std::vector<std::string> beside(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"pmu", "--dir", arbiter_.directory()});
    return arguments;
  }
  [[nodiscard]] Outcome pmu(const std::vector<std::string>& arguments) const {
    return run_plainly(beside(arguments));
  }
  TerminalProcess& start(const std::vector<std::string>& arguments) {
    const auto number = std::to_string(processes_.size());
    return processes_.emplace_back(beside(arguments), file("out" + number), file("err" + number));
  }
  // Rows of leases and waiters, once there are so many in this state.
  [[nodiscard]] Json rows_when(const std::string& state, std::size_t count) const {
    Json found;
    EXPECT_TRUE(test::comes_true([&] {
      found = Json::array();
      for (const auto& row : parse_json(pmu({"leases", "-q", "-f", "json"}).out)) {
        if (row["state"] == state) found.push_back(row);
      }
      return found.size() == count;
    })) << found;
    return found;
  }
  [[nodiscard]] bool is_all_free() const {
    return test::comes_true([&] {
      return parse_json(pmu({"list", "-f", "json"}).out)[0]["leased"] == 0;
    });
  }

  test::PmudProcess arbiter_;
  std::list<TerminalProcess> processes_;
};

TEST_F(PmuHolders, CtrlCEndsAHoldInOrderAndFreesItsCounters) {
  auto& holder = start({"hold", "-e", "r80,r81", "--cpus", "0", "--for", "10m"});
  const auto rows = rows_when("active", 1);
  EXPECT_EQ(rows[0]["pid"], holder.pid());
  ASSERT_TRUE(test::comes_true([this] { return read(file("out0")).ends_with('\n'); }));

  holder.press_ctrl_c();

  EXPECT_EQ(holder.finish(), kExitDone);
  EXPECT_TRUE(is_all_free());
  EXPECT_TRUE(holder.left_the_terminal_as_it_was());
  EXPECT_EQ(read(file("out0")).substr(0, 16), rows[0]["token"]) << "its token came first";
}

TEST_F(PmuHolders, CtrlCDuringRunIsAnsweredByTheCommand) {
  for (const bool is_of_cpus : {true, false}) {
    const auto mark = file(is_of_cpus ? "mark0" : "mark1");
    std::vector<std::string> arguments{"run",
                                       "-e",
                                       "r3c",
                                       "-f",
                                       "json",
                                       "-o",
                                       mark + ".json",
                                       "--",
                                       "sh",
                                       "-c",
                                       "trap 'exit 7' INT; touch " + mark +
                                           "; "
                                           "while :; do sleep 0.01; done"};
    if (is_of_cpus) arguments.insert(arguments.begin() + 1, {"--cpus", "0"});
    auto& runner = start(arguments);
    ASSERT_TRUE(test::comes_true([&] { return std::ifstream(mark).good(); }));

    runner.press_ctrl_c();

    EXPECT_EQ(runner.finish(), 7);
    EXPECT_TRUE(is_all_free());
    EXPECT_TRUE(runner.left_the_terminal_as_it_was());
    EXPECT_TRUE(is_json(read(mark + ".json"))) << "what was counted until then";
  }
}

TEST_F(PmuHolders, ACommandThatDiesOfCtrlCHasTheCodeOfShells) {
  auto& runner = start({"run", "-e", "r3c", "--cpus", "0", "--", "sleep", "600"});
  static_cast<void>(rows_when("active", 1));

  runner.press_ctrl_c();

  EXPECT_EQ(runner.finish(), 128 + SIGINT);
  EXPECT_TRUE(is_all_free());
}

TEST_F(PmuHolders, WaitersLeaveTheQueueOnCtrlCAndSigterm) {
  start({"hold", "-e", "r80,r81", "--cpus", "0"});
  static_cast<void>(rows_when("active", 1));
  const auto mark = file("mark");
  const std::vector<std::vector<std::string>> waiters{
      {"wait", "-e", "r82", "--cpus", "0"},
      {"hold", "-e", "r82", "--cpus", "0", "--wait", "10m"},
      {"run", "-e", "r82", "--cpus", "0", "--wait", "10m", "--", "touch", mark},
      {"run", "-e", "r82", "--wait", "10m", "--", "touch", mark}};
  for (const auto& waiting : waiters) {
    for (const int number : {SIGINT, SIGTERM}) {
      auto& waiter = start(waiting);
      static_cast<void>(rows_when("queued", 1));

      if (number == SIGINT) {
        waiter.press_ctrl_c();
      } else {
        ::kill(waiter.pid(), number);
      }

      EXPECT_EQ(waiter.finish(), 128 + number) << waiting.front();
      EXPECT_EQ(rows_when("queued", 0).size(), 0U);
      EXPECT_TRUE(waiter.left_the_terminal_as_it_was());
    }
  }
  EXPECT_FALSE(std::ifstream(mark).good()) << "the command was never started";
}

TEST_F(PmuHolders, WaitersAreRowsOfJsonWithTheirPlaceInTheQueue) {
  start({"hold", "-e", "r80,r81", "--cpus", "0", "--label", "first"});
  static_cast<void>(rows_when("active", 1));
  auto& second = start({"wait", "-e", "r82", "--cpus", "0", "--label", "second", "--for", "10m"});
  static_cast<void>(rows_when("queued", 1));
  start({"wait", "-e", "r82", "--cpus", "0", "--label", "third"});

  const auto waiting = rows_when("queued", 2);
  const auto holding = rows_when("active", 1);

  EXPECT_EQ(waiting[0]["tag"], "second");
  EXPECT_EQ(waiting[0]["position"], 1);
  EXPECT_EQ(waiting[0]["pid"], second.pid());
  EXPECT_EQ(waiting[0]["cpus"], "0");
  EXPECT_EQ(waiting[0]["pmu"], "cpu_core");
  EXPECT_EQ(waiting[0]["priority"], "monitoring");
  EXPECT_TRUE(waiting[0]["quality"].is_null());
  EXPECT_GT(waiting[0]["ends_s"], 0);
  EXPECT_EQ(waiting[1]["tag"], "third");
  EXPECT_EQ(waiting[1]["position"], 2);
  EXPECT_TRUE(holding[0]["position"].is_null());
  EXPECT_EQ(parse_json(pmu({"leases", "-f", "json"}).out).size(), 1U) << "only with -q";
}

TEST_F(PmuHolders, EqualRequestsThatAllowItShareCounters) {
  start({"hold", "-e", "r80,r81", "--cpus", "0", "--share"});
  static_cast<void>(rows_when("active", 1));

  const std::vector<std::string> same{"hold", "-e", "r80,r81", "--cpus", "0", "--for", "1ms"};
  auto sharing = same;
  sharing.emplace_back("--share");

  EXPECT_EQ(pmu(sharing).code, kExitDone) << pmu(sharing).err;
  EXPECT_NE(pmu(sharing).out.find("shared"), std::string::npos);
  EXPECT_EQ(pmu(same).code, kExitEnvironment) << "who does not share has none";
  EXPECT_EQ(pmu({"run", "-e", "r80", "--cpus", "0", "--share", "--", "sh", "-c", "exit 5"}).code,
            5);
  EXPECT_EQ(pmu({"run", "-e", "r80", "--cpus", "0", "--", "true"}).code, kExitEnvironment);
}

TEST_F(PmuHolders, LeasesForAPartOfTheTimeTakeTurns) {
  start({"hold", "-e", "r80,r81", "--cpus", "0", "--duty", "50%"});
  static_cast<void>(rows_when("active", 1));

  const auto half = pmu({"hold", "-e", "r82,r83", "--cpus", "0", "--duty", "50", "--for", "1ms"});
  const auto most = pmu({"hold", "-e", "r82,r83", "--cpus", "0", "--duty", "60", "--for", "1ms"});
  const auto run = pmu({"run", "-e", "r82,r83", "--cpus", "0", "--duty", "50", "-f", "json", "-o",
                        file("counts.json"), "--", "sh", "-c", "sleep 0.3; exit 5"});

  EXPECT_EQ(half.code, kExitDone) << half.err;
  EXPECT_NE(half.out.find("sliced"), std::string::npos) << half.out;
  EXPECT_EQ(most.code, kExitEnvironment) << "two have half of the time each";
  EXPECT_EQ(run.code, 5) << run.err;
  const auto counts = parse_json(read(file("counts.json")));
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0]["quality"], "sliced");
}

}  // namespace
}  // namespace meterbank::cli
