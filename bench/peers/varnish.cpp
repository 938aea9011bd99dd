// SPDX-License-Identifier: Apache-2.0
//
// Varnish, shared counters: what its library asks for a look at all of them.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

// Written for C: a parameter there is called class.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define class class_
extern "C" {
#include <vapi/vsc.h>
#include <vapi/vsm.h>
}
#undef class

#include <fmt/format.h>

#include "meterbank/reader/query.hpp"
#include "rows.hpp"
#include "workplace.hpp"

extern char** environ;

namespace meterbank::bench {
namespace {

// A private varnishd with one backend, which gets no requests.
class Varnish {
 public:
  explicit Varnish(std::string directory) : directory_(std::move(directory)) {
    std::vector<std::string> words{"varnishd", "-F",          "-n", directory_,
                                   "-a",       "127.0.0.1:0", "-b", "127.0.0.1:9"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t silent;
    ::posix_spawn_file_actions_init(&silent);
    ::posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", 1, 0);
    ::posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", 1, 0);
    if (::posix_spawn(&pid_, "/usr/sbin/varnishd", &silent, nullptr, arguments.data(), environ) !=
        0) {
      pid_ = -1;
    }
    ::posix_spawn_file_actions_destroy(&silent);
  }
  Varnish(const Varnish&) = delete;
  Varnish& operator=(const Varnish&) = delete;
  ~Varnish() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  std::string directory_;
  pid_t pid_ = -1;
};

struct Poll {
  std::vector<std::uint64_t> values;
  std::size_t count = 0;
};

int copy_point(void* context, const VSC_point* point) {
  auto& poll = *static_cast<Poll*>(context);
  if (point == nullptr) return 0;
  if (poll.count == poll.values.size()) poll.values.push_back(0);
  poll.values[poll.count++] = *point->ptr;
  return 0;
}

void poll_all(vsc* counters, vsm* memory, Poll& poll) {
  poll.count = 0;
  ::VSC_Iter(counters, memory, copy_point, &poll);
}

// As many counters of ours, in blocks of eight.
void measure(const Effort& effort, Table& table, vsc* counters, vsm* memory, Poll& poll) {
  const SetShape shape{.many = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, (poll.count + 7) / 8);
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {}));
  Sample sample;
  query.prepare(sample);
  const Timestamp time = Timestamp::now();
  const std::uint64_t turns = effort.operations / 100;
  const auto repeat = [turns](auto&& work) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) work();
  };
  const auto ours = [&] { repeat([&] { keep(query.collect(sample, time).stale); }); };
  const std::string counters_text = fmt::format("{} counters", poll.count);
  table.time_row(
      "Varnish VSC: look at " + counters_text + " (limit: Query::collect of as many)",
      compare(
          effort.rounds, turns, [&] { repeat([&] { poll_all(counters, memory, poll); }); }, ours),
      {});
  table.time_row("Varnish VSC: the same, and ask what changed (limit: as above, which asks)",
                 compare(
                     effort.rounds, turns / 10,
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns / 10; ++turn) {
                         keep(::VSM_Status(memory));
                         poll_all(counters, memory, poll);
                       }
                     },
                     [&] {
                       for (std::uint64_t turn = 0; turn < turns / 10; ++turn) {
                         keep(query.collect(sample, time).stale);
                       }
                     }),
                 {});
}

}  // namespace

void varnish_rows(const Effort& effort, Table& table) {
  const Workplace workplace;
  const std::string directory = workplace.directory() + "/varnish";
  const Varnish varnish(directory);
  vsm* memory = ::VSM_New();
  vsc* counters = ::VSC_New();
  ::VSM_Arg(memory, 'n', directory.c_str());
  ::VSM_Arg(memory, 't', "20");  // seconds to wait for it to start
  Poll poll;
  // The counters of its worker process appear some time after those of its master.
  if (::VSM_Attach(memory, -1) == 0) {
    constexpr std::size_t kOfAWorker = 100;
    for (int turn = 0; turn < 100 && poll.count < kOfAWorker; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      static_cast<void>(::VSM_Status(memory));
      poll_all(counters, memory, poll);
    }
  }
  if (poll.count != 0) {
    measure(effort, table, counters, memory, poll);
  } else {
    table.note_row("Varnish VSC", "varnishd did not start");
  }
  ::VSC_Destroy(&counters, memory);
  ::VSM_Destroy(&memory);
}

}  // namespace meterbank::bench
