// SPDX-License-Identifier: Apache-2.0
//
// Questions: what does a reader pay for attaching at the door of a provider instead of through
// procfs? What do hostile callers cost a provider that counts? Figures: twice as much; 1 % of a
// processor, and nothing for an increment. The callers connect 1,000 times a second, send a request
// or rubbish, and keep their connections.
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <vector>

#include "../../tests/support/outside_record.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/shm/door.hpp"
#include "other_process.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::uint64_t kAttaches = 4;  // a round; a door takes 400 requests of a user at once
constexpr unsigned kConnectionsASecond = 1000;
constexpr std::size_t kKept = 200;

std::filesystem::path file_in(const std::string& directory, std::string_view extension) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  give_up("no file " + std::string(extension) + " in " + directory);
}

std::string door_of(const std::string& record_path) {
  std::ifstream file(record_path);
  std::stringstream text;
  text << file.rdbuf();
  return std::filesystem::path(record_path).parent_path() /
         must(PointerRecord::parse(text.str())).door;
}

void attach_all(const std::string& directory, const std::string& how) {
  for (std::uint64_t count = 0; count < kAttaches; ++count) {
    const Catalog catalog = must(Catalog::open({.directory = directory}));
    if (catalog.providers().size() != 1 || catalog.providers().front()->sets.empty()) {
      give_up("attaching " + how + ": " +
              (catalog.providers().empty() ? "no provider"
                                           : catalog.providers().front()->error.message()));
    }
  }
}

void attach(const Effort& effort, Table& table) {
  const SetShape shape{};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, 100);
  const test::TemporaryDirectory outside;
  const std::string record = file_in(workplace.directory(), kPointerRecordSuffix);
  if (!test::show_outside(record, outside.path())) give_up("cannot show " + record + " outside");
  table.ratio_row("attach to a provider of 100 instances at its door (limit: through procfs)",
                  compare(
                      effort.rounds, kAttaches, [&] { attach_all(outside.path(), "at the door"); },
                      [&] { attach_all(workplace.directory(), "through procfs"); }, Clock::kWall),
                  2.0);
}

// Runs until it is killed.
template <typename F>
void call_without_end(const std::string& door, const F& ready) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (door.size() >= sizeof address.sun_path) give_up("too long: " + door);
  door.copy(address.sun_path, door.size());
  const DoorRequest request;
  constexpr std::array<char, 100> kRubbish{};
  std::vector<UniqueFd> kept(kKept);
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  for (std::size_t call = 0;; ++call) {
    UniqueFd& caller = kept[call % kKept];
    caller = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    // It is refused while too many wait to be accepted, and comes again.
    const bool connected =
        ::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (connected && call % 3 == 0) ::send(caller.get(), &request, sizeof request, MSG_NOSIGNAL);
    if (connected && call % 3 == 1) {
      ::send(caller.get(), kRubbish.data(), kRubbish.size(), MSG_NOSIGNAL);
    }
    if (call == kConnectionsASecond / 2) ready();
    next.tv_nsec += 1'000'000'000 / kConnectionsASecond;
    if (next.tv_nsec >= 1'000'000'000) {
      next.tv_nsec -= 1'000'000'000;
      ++next.tv_sec;
    }
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}

double others_of_this_process_ns() {
  timespec all{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  return static_cast<double>(all.tv_sec) * 1e9 + static_cast<double>(all.tv_nsec) -
         now_ns(Clock::kProcessor);
}

void hostile_callers(const Effort& effort, Table& table) {
  const SetShape shape{.consistency = Consistency::kIndependent, .many = false};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, 1);
  Counter counter = live.front().counter(0);
  const std::string door = door_of(file_in(workplace.directory(), kPointerRecordSuffix));
  const OtherProcess callers(1, [&](const auto& ready) { call_without_end(door, ready); });

  Rounds increments;
  std::vector<double> shares;
  const auto count = [&] {
    return nanoseconds_each(effort.operations * 100, [&] {
      for (std::uint64_t turn = 0; turn < effort.operations * 100; ++turn) counter.increment();
    });
  };
  for (unsigned round = 0; round < effort.rounds; ++round) {
    const double began = now_ns(Clock::kWall), others = others_of_this_process_ns();
    const double disturbed = count();
    shares.push_back((others_of_this_process_ns() - others) / (now_ns(Clock::kWall) - began));
    ::kill(callers.pid(), SIGSTOP);
    ::waitpid(callers.pid(), nullptr, WUNTRACED);
    increments.add(disturbed, count());
    ::kill(callers.pid(), SIGCONT);
  }
  const std::string calls = fmt::format("while {} callers a second come", kConnectionsASecond);
  table.ratio_row("an increment " + calls + " (limit: none come)", increments.comparison(), 1.02);
  table.plain_row("the library's thread, a second, " + calls, 1e6 * Spread::of(shares).median, "us",
                  10'000.0);
}

}  // namespace

void door_rows(const Effort& effort, Table& table) {
  attach(effort, table);
  hostile_callers(effort, table);
}

}  // namespace meterbank::bench
