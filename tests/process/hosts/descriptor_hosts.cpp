// SPDX-License-Identifier: Apache-2.0
//
// Hosts that close every descriptor but the standard ones, as a daemon does, and take the numbers
// for files of their own.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../../channel/asking_reader.hpp"
#include "../../support/patience.hpp"
#include "../../support/wave_schema.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

constexpr int kFirst = 3;
constexpr int kDescriptors = 64;  // more than a provider has

std::uint32_t answer_one(CallbackRequest& request) {
  request.add("red", 3, std::array<std::uint64_t, 4>{1, 2, 3, 4});
  return 0;
}

struct AskedProvider {
  explicit AskedProvider(const std::string& directory)
      : provider(orders_provider(directory)),
        orders(*provider.add(orders_with_cuts())),
        waves(*provider.add(kWaves, answer_one, CallbackOptions{.serial = true})),
        instance(*orders.create_instance("eu")) {}
  Provider provider;
  Registration orders, waves;
  Instance instance;
};

void close_range_of_kernel() {
  if (::syscall(SYS_close_range, kFirst, ~0U, 0) == 0) return;
  for (int descriptor = kFirst; descriptor < 1024; ++descriptor) ::close(descriptor);
}
void close_in_a_loop() {
  for (int descriptor = kFirst; descriptor < 1024; ++descriptor) ::close(descriptor);
}
void close_in_a_loop_downwards() {
  for (int descriptor = 1023; descriptor >= kFirst; --descriptor) ::close(descriptor);
}

// A thread that spins is never seen asleep.
bool others_sleep() {
  const std::string own = std::to_string(::syscall(SYS_gettid));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::ifstream stat(task.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;  // it has just ended
    if (text.compare(name_end, 3, ") S") != 0) return false;
  }
  return true;
}

// Files of the program's own at every number from kFirst on, and whether they are as it made them.
class OwnFiles {
 public:
  enum class Sort { kSockets, kEventCounters, kEpollSets };
  explicit OwnFiles(Sort sort) : sort_(sort) {
    for (int descriptor = kFirst; descriptor < kFirst + kDescriptors; ++descriptor) {
      put(make(), descriptor);
    }
  }
  [[nodiscard]] bool are_untouched() {
    for (int descriptor = kFirst; descriptor < kFirst + kDescriptors; ++descriptor) {
      struct stat facts {};
      if (::fstat(descriptor, &facts) != 0) return is_wrong(descriptor, "closed");
      if (facts.st_ino != inodes_[static_cast<std::size_t>(descriptor)]) {
        return is_wrong(descriptor, "another file");
      }
      if (!is_as_made(descriptor)) return false;
    }
    return true;
  }

 private:
  static constexpr int kFar = 500;  // of other ends
  static bool is_wrong(int descriptor, const char* what) {
    std::fprintf(stderr, "descriptor %d of the program: %s\n", descriptor, what);
    return false;
  }
  void put(int made, int descriptor) {
    if (made != descriptor) {
      ::dup2(made, descriptor);
      ::close(made);
    }
    struct stat facts {};
    ::fstat(descriptor, &facts);
    inodes_.resize(static_cast<std::size_t>(descriptor) + 1);
    inodes_.back() = facts.st_ino;
    if (sort_ != Sort::kEpollSets) return;
    // Something is ready in each set, for the program to find.
    const int ready = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    const int far = ::fcntl(ready, F_DUPFD_CLOEXEC, kFar);
    ::close(ready);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = 1;
    ::epoll_ctl(descriptor, EPOLL_CTL_ADD, far, &event);
  }
  int make() {
    if (sort_ == Sort::kEventCounters) return ::eventfd(0, EFD_NONBLOCK);
    if (sort_ == Sort::kEpollSets) return ::epoll_create1(0);
    std::array<int, 2> ends{};
    static_cast<void>(!::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends.data()));
    peers_.push_back(::fcntl(ends[1], F_DUPFD, kFar));
    ::close(ends[1]);
    return ends[0];
  }
  bool is_as_made(int descriptor) {
    if (sort_ == Sort::kSockets) {
      pollfd peer{peers_.at(static_cast<std::size_t>(descriptor - kFirst)), POLLIN, 0};
      if (::poll(&peer, 1, 0) != 0) return is_wrong(descriptor, "written to, or hung up");
    } else if (sort_ == Sort::kEventCounters) {
      std::uint64_t count = 0;
      if (::read(descriptor, &count, sizeof count) > 0) return is_wrong(descriptor, "written to");
    } else {
      epoll_event event{};
      if (::epoll_wait(descriptor, &event, 1, 0) != 1) return is_wrong(descriptor, "event taken");
    }
    return true;
  }

  Sort sort_;
  std::vector<ino_t> inodes_;
  std::vector<int> peers_;
};

// Each sort of file in turn takes the numbers.
int lose_descriptors(const std::string& directory, const std::function<void()>& close_all) {
  for (const auto sort :
       {OwnFiles::Sort::kSockets, OwnFiles::Sort::kEventCounters, OwnFiles::Sort::kEpollSets}) {
    auto asked = std::make_unique<AskedProvider>(directory);
    const std::string record = asked->provider.record();
    std::optional<AskingReader> reader(record);
    if (!reader->is_connected()) return wrong("no connection");
    close_all();
    OwnFiles files(sort);
    reader.reset();
    for (int i = 0; i < 1000; ++i) asked->instance.add(Venue::kAccepted, 1);
    if (asked->instance.value(Venue::kAccepted) != 1000) return wrong("it does not count");
    if (!comes_true(others_sleep)) return wrong("a thread spins");
    // Growth takes descriptors anew; it may fail, not harm.
    static_cast<void>(asked->orders.create_instance("us"));
    if (!in_forked_child([&] {
          asked->instance.add(Venue::kAccepted, 1);
          return files.are_untouched() ? 0 : 1;
        })) {
      return wrong("in a child");
    }
    if (sort == OwnFiles::Sort::kEpollSets) files = OwnFiles(sort);  // the child took the events
    asked.reset();
    if (::access(record.c_str(), F_OK) == 0) return wrong("the record is still there");
    if (!files.are_untouched()) return 1;
    close_all();
  }
  return 0;
}

METERBANK_HOST(loses_descriptors_by_close_range) {
  return lose_descriptors(directory, close_range_of_kernel);
}
METERBANK_HOST(loses_descriptors_in_a_loop) { return lose_descriptors(directory, close_in_a_loop); }
METERBANK_HOST(loses_descriptors_in_a_loop_downwards) {
  return lose_descriptors(directory, close_in_a_loop_downwards);
}

// An answer that is ready after the descriptors are gone goes nowhere.
int lose_in_callback(const std::string& directory, bool takes_numbers) {
  std::atomic<bool> runs{false}, may_end{false};
  auto provider = std::make_unique<Provider>(orders_provider(directory));
  const auto slow = [&](CallbackRequest& request) {
    if (request.reason() == CallbackReason::kCollect) {
      runs.store(true, std::memory_order_seq_cst);
      static_cast<void>(comes_true([&] { return may_end.load(std::memory_order_seq_cst); }));
    }
    return answer_one(request);
  };
  const auto waves = *provider->add(kWaves, slow, CallbackOptions{.serial = true});
  // In another process, whose descriptors are not closed.
  const std::string record = provider->record();
  const pid_t reader = ::fork();
  if (reader == 0) {
    begin_deadline();
    Catalog catalog = *Catalog::open({.directory = directory});
    Query query = *Query::compile(catalog, {"waves/*/height"});
    Sample sample;
    static_cast<void>(query.collect(sample, 10s));
    ::_exit(0);
  }
  if (!comes_true([&] { return runs.load(std::memory_order_seq_cst); })) return wrong("not asked");
  close_range_of_kernel();
  std::optional<OwnFiles> files;
  if (takes_numbers) files.emplace(OwnFiles::Sort::kSockets);
  may_end.store(true, std::memory_order_seq_cst);
  if (!comes_true(others_sleep)) return wrong("a thread spins");
  provider.reset();
  if (files && !files->are_untouched()) return 1;
  return ended_well(reader) ? 0 : 1;
}

METERBANK_HOST(loses_descriptors_during_a_callback) { return lose_in_callback(directory, false); }
METERBANK_HOST(loses_descriptors_to_its_program_during_a_callback) {
  return lose_in_callback(directory, true);
}

}  // namespace
}  // namespace meterbank::test
