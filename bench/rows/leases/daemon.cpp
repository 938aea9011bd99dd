// SPDX-License-Identifier: Apache-2.0
//
// Question: what does the arbiter cost, from the request to the counter and back?
// Limit: a packet there and one back over a bare socket pair, and the system calls without which no
// counter is had. Counters are breakpoints: the only ones that a machine without a PMU runs out of.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arbiter/backend/perf/perf_calls.hpp"
#include "meterbank/pmu/connection.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"
#include "other_process.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using pmu::Connection;
using pmu::Lease;
using pmu::Request;

constexpr std::uint32_t kSlots = 4;  // of a CPU of this architecture
// What an Allocate with one group and one item takes, and what is answered with one counter.
constexpr std::size_t kRequestBytes = sizeof(pmu::LeaseHeader) + sizeof(pmu::AllocateHead) +
                                      sizeof(pmu::CpuGroup) + sizeof(pmu::Item);
constexpr std::size_t kAnswerBytes =
    sizeof(pmu::LeaseHeader) + sizeof(pmu::GrantedHead) + sizeof(pmu::GrantedCounter);

// No program accesses this word.
alignas(8) std::uint64_t watched_word = 0;

int open_breakpoint(int cpu) noexcept {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = HW_BREAKPOINT_W;
  attributes.bp_addr = reinterpret_cast<std::uint64_t>(&watched_word);
  attributes.bp_len = HW_BREAKPOINT_LEN_8;
  attributes.pinned = 1;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

void open_and_close(int cpu) {
  const int descriptor = open_breakpoint(cpu);
  if (descriptor < 0) give_up("a breakpoint could not be opened");
  ::close(descriptor);
}

Request one_on(std::uint32_t cpu) {
  return Request()
      .breakpoint(reinterpret_cast<std::uint64_t>(&watched_word), 8, pmu::Watch::kWrite)
      .cpus({cpu});
}

Request all_alone() { return Request().on_pmu(pmu::kBreakpointPmu); }

template <typename T>
T granted(pmu::Asked<T> asked) {
  if (!asked) give_up("the arbiter said: " + asked.error().message());
  return std::move(*asked);
}

// Breakpoints are taken from all tests of this machine that run meanwhile.
class BreakpointLock {
 public:
  BreakpointLock()
      : file_(::open("/tmp/meterbank-breakpoints.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ >= 0) static_cast<void>(::flock(file_, LOCK_EX));
  }
  BreakpointLock(const BreakpointLock&) = delete;
  BreakpointLock& operator=(const BreakpointLock&) = delete;
  ~BreakpointLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_ = -1;
};

// An arbiter in a directory of its own, on the processor of this thread.
class Daemon {
 public:
  explicit Daemon(const std::string& program) {
    child_ = ::fork();
    if (child_ < 0) give_up("fork");
    if (child_ == 0) {
      // give_up() runs no destructors.
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDERR_FILENO);
      ::execl(program.c_str(), program.c_str(), "--dir", directory_.path().c_str(), nullptr);
      ::_exit(127);
    }
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const noexcept { return child_; }
  [[nodiscard]] Connection connect(bool has_keeper = false) const {
    pmu::ConnectionOptions options;
    options.socket = directory_.path() + "/pmud.sock";
    options.has_keeper = has_keeper;
    // It listens when it is ready, which takes milliseconds.
    for (int attempt = 0; attempt < 500; ++attempt) {
      auto connection = Connection::connect(options);
      if (connection) return std::move(*connection);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    give_up("the arbiter does not listen");
  }
  // Processor time of all its threads so far.
  [[nodiscard]] double processor_ns() const {
    double sum = 0;
    for (const auto& task :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", child_))) {
      double spent = 0;
      std::ifstream(task.path() / "schedstat") >> spent;
      sum += spent;
    }
    return sum;
  }

 private:
  test::TemporaryDirectory directory_;
  pid_t child_ = -1;
};

// A packet there and back, the other end on this processor as well, as the arbiter is.
class RoundTrip {
 public:
  RoundTrip()
      : bare_(kRequestBytes, kAnswerBytes), echo_(0, [this](const auto& ready) {
          ready();
          bare_.answer_for_ever();
        }) {}
  void run() { bare_.round_trip(); }

 private:
  BareSocket bare_;
  OtherProcess echo_;
};

// Medians and tails of single operations, a round of them at a time, against their limit.
struct Tails {
  Rounds median, tail;
};

// `undo` runs between the operations and is not timed.
template <typename F, typename G, typename H>
Tails compare_singly(const Effort& effort, unsigned operations, F&& work, G&& undo, H&& limit) {
  const auto timed = [](auto&& each) {
    const double begin = now_ns(Clock::kWall);
    each();
    return now_ns(Clock::kWall) - begin;
  };
  work();
  undo();
  limit();
  Tails tails;
  const unsigned rounds = std::min(effort.rounds, 11U);
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<double> measured, limits;
    for (unsigned operation = 0; operation < operations; ++operation) {
      measured.push_back(timed(work));
      undo();
      limits.push_back(timed(limit));
    }
    std::sort(measured.begin(), measured.end());
    std::sort(limits.begin(), limits.end());
    tails.median.add(quantile(measured, 0.5), quantile(limits, 0.5));
    tails.tail.add(quantile(measured, 0.99), quantile(limits, 0.99));
  }
  return tails;
}

unsigned operations_of(const Effort& effort, unsigned most) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(effort.operations / 500, 5, most));
}

void grants(const Effort& effort, Table& table, const Daemon& daemon) {
  RoundTrip trip;
  const auto rows = [&](Connection& connection, std::uint32_t cpu, std::string_view what,
                        std::optional<double> p50, std::optional<double> p99) {
    std::optional<Lease> lease;
    const Tails tails = compare_singly(
        effort, operations_of(effort, 300),
        [&] { lease.emplace(granted(connection.acquire(one_on(cpu)))); }, [&] { lease.reset(); },
        [&] {
          trip.run();
          open_and_close(static_cast<int>(cpu));
        });
    const std::string row = fmt::format("grant, 1 breakpoint of {}", what);
    constexpr std::string_view kLimit = "(limit: packets, open, close)";
    table.time_row(fmt::format("{}, p50 {}", row, kLimit), tails.median.comparison(), p50);
    table.time_row(fmt::format("{}, p99 {}", row, kLimit), tails.tail.comparison(), p99);
  };
  Connection plain = daemon.connect();
  rows(plain, 0, "this CPU", 40e3, 300e3);
  rows(plain, 1, "another CPU", {}, {});
  Connection kept = daemon.connect(true);
  rows(kept, 0, "this CPU, with a keeper", {}, {});
}

void refusals(const Effort& effort, Table& table, const Daemon& daemon) {
  RoundTrip trip;
  Connection connection = daemon.connect();
  std::vector<Lease> held;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    held.push_back(granted(connection.acquire(one_on(0))));
  }
  const Tails tails = compare_singly(
      effort, operations_of(effort, 300),
      [&] {
        if (connection.acquire(one_on(0))) give_up("more breakpoints than there are");
      },
      [] {}, [&] { trip.run(); });
  table.time_row("refusal with the names of 4 holders (limit: packets)", tails.median.comparison(),
                 20e3);
}

void exclusives(const Effort& effort, Table& table, const Daemon& daemon) {
  RoundTrip trip;
  Connection connection = daemon.connect();
  std::optional<Lease> lease;
  const Tails tails = compare_singly(
      effort, operations_of(effort, 100),
      [&] { lease.emplace(granted(connection.acquire(all_alone()))); }, [&] { lease.reset(); },
      [&] {
        trip.run();
        std::vector<int> opened;
        for (int cpu = 0; cpu < 2; ++cpu) {
          for (std::uint32_t slot = 0; slot < kSlots; ++slot)
            opened.push_back(open_breakpoint(cpu));
        }
        for (const int descriptor : opened) ::close(descriptor);
      });
  table.time_row("all breakpoints of 2 CPUs, alone (limit: packets, 8 opens, closes)",
                 tails.median.comparison(), 300e3);
}

void revocations(const Effort& effort, Table& table, const Daemon& daemon) {
  RoundTrip trip;
  Connection holder = daemon.connect();
  Connection administrator = daemon.connect();
  std::optional<Lease> lease;
  const auto renew = [&] {
    lease.reset();
    holder.dispatch();
    lease.emplace(granted(holder.acquire(one_on(0))));
  };
  renew();
  const Tails tails = compare_singly(
      effort, operations_of(effort, 100),
      [&] {
        const auto revoked = administrator.revoke(lease->token(), std::chrono::nanoseconds(0));
        if (!revoked) give_up("not revoked: " + revoked.error().message());
        if (lease->is_in_force()) give_up("in force though revoked");
      },
      renew, [&] { trip.run(); });
  table.time_row("revoke to fenced, without time to drain (limit: packets)",
                 tails.median.comparison(), 100e3);
}

// A holder that is killed with all breakpoints of a CPU, and a client that waits for one.
void crashes(const Effort& effort, Table& table, const Daemon& daemon) {
  Connection connection = daemon.connect();
  Rounds rounds;
  for (unsigned round = 0; round < std::min(effort.rounds, 11U); ++round) {
    double limit = 0;
    {
      const OtherProcess bare(0, [](const auto& ready) {
        ready();
        for (;;) ::pause();
      });
      const int process = static_cast<int>(::syscall(SYS_pidfd_open, bare.pid(), 0));
      pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
      limit = nanoseconds_each(
          1,
          [&] {
            ::kill(bare.pid(), SIGKILL);
            static_cast<void>(::poll(&ended, 1, 5000));
          },
          Clock::kWall);
      ::close(process);
    }
    const OtherProcess holder(0, [&](const auto& ready) {
      Connection theirs = daemon.connect();
      std::vector<Lease> leases;
      for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
        leases.push_back(granted(theirs.acquire(one_on(0))));
      }
      ready();
      for (;;) ::pause();
    });
    const double freed = nanoseconds_each(
        1,
        [&] {
          ::kill(holder.pid(), SIGKILL);
          const Lease lease = granted(connection.acquire(one_on(0).wait(std::chrono::seconds(5))));
          keep(lease.token());
        },
        Clock::kWall);
    rounds.add(freed, limit);
  }
  table.time_row("crash of a holder to the next holder's grant (limit: pidfd wake-up)",
                 rounds.comparison(), 5e6);
}

void upgrades(const Effort& effort, Table& table, const Daemon& daemon) {
  constexpr std::size_t kLeases = 100;
  Connection connection = daemon.connect();
  std::vector<Lease> leases;
  for (std::size_t index = 0; index < kLeases; ++index) {
    leases.push_back(granted(connection.acquire(one_on(0).shares())));
  }
  Rounds rounds;
  for (unsigned round = 0; round < std::min(effort.rounds, 11U); ++round) {
    const double start = nanoseconds_each(
        1,
        [] {
          pid_t child = 0;
          std::string path = "/bin/true";
          std::array<char*, 2> arguments = {path.data(), nullptr};
          if (::posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments.data(), environ) !=
              0) {
            give_up("cannot start true");
          }
          ::waitpid(child, nullptr, 0);
        },
        Clock::kWall);
    const auto before = connection.ledger();
    const double upgrade = nanoseconds_each(
        1,
        [&] {
          ::kill(daemon.pid(), SIGUSR2);
          while (connection.ledger() == before) {
            pollfd ready = {.fd = connection.descriptor(), .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, 10'000) != 1) give_up("no upgrade");
            connection.dispatch();
          }
        },
        Clock::kWall);
    rounds.add(upgrade, start);
    for (const Lease& lease : leases) {
      if (!lease.is_in_force()) give_up("a lease was lost in an upgrade");
    }
  }
  table.time_row("new image of the arbiter with 100 leases, none lost (limit: start of true)",
                 rounds.comparison(), 50e6);
}

void idle(const Effort& effort, Table& table, const Daemon& daemon) {
  Connection connection = daemon.connect();
  const Lease lease = granted(connection.acquire(one_on(0)));
  const std::chrono::seconds span(effort.operations > 10'000 ? 5 : 1);
  const double spent_before = daemon.processor_ns();
  const double begin = now_ns(Clock::kWall), begin_here = now_ns(Clock::kProcessor);
  // The arbiter says ten times a second that it is alive.
  constexpr std::chrono::milliseconds kTick{100};
  for (auto waited = kTick; waited <= span; waited += kTick) {
    ::poll(nullptr, 0, static_cast<int>(kTick.count()));
  }
  const double part = 1e6 / (now_ns(Clock::kWall) - begin);
  const double spent = daemon.processor_ns() - spent_before;
  table.plain_row("arbiter with one lease and nothing to do, of one processor", spent * part, "ppm",
                  1000.0);
  table.plain_row("  a thread that wakes as often and does nothing",
                  (now_ns(Clock::kProcessor) - begin_here) * part, "ppm", std::nullopt);
}

}  // namespace

void lease_daemon_rows(const Effort& effort, Table& table) {
  const std::string program = program_beside("meterbank-pmud");
  if (program.empty()) {
    table.note_row("leases", "the program is not built");
    return;
  }
  const BreakpointLock lock;
  const int probe = open_breakpoint(1);
  if (probe < 0) {
    table.note_row("leases", "two CPUs with breakpoints are needed");
    return;
  }
  ::close(probe);
  if (!arbiter::PerfCalls().has_counting_breakpoints()) {
    table.note_row("leases", "breakpoints of this machine never count, so none is lent");
    return;
  }
  const Daemon daemon(program);
  grants(effort, table, daemon);
  refusals(effort, table, daemon);
  exclusives(effort, table, daemon);
  revocations(effort, table, daemon);
  crashes(effort, table, daemon);
  upgrades(effort, table, daemon);
  idle(effort, table, daemon);
}

}  // namespace meterbank::bench
