// SPDX-License-Identifier: Apache-2.0
//
// Hosts whose set-up meets signals, limits and another place than before.
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <vector>

#include "../../support/forbidden_calls.hpp"
#include "host.hpp"

namespace meterbank::test {
namespace {

// Everything that can be set up; whatever is refused counts into nothing.
void set_up_and_count(const std::string& directory) {
  Provider provider = Provider::create_or_disabled({.name = "limited", .directory = directory});
  const auto use = [](Result<Registration> registration) {
    if (!registration) return;
    for (const char* const name : {"eu", "us"}) {
      if (auto instance = registration->create_instance(name)) instance->add(0U, 1);
    }
  };
  use(provider.add(kWaves, answer_nothing, {.serial = true}));
  use(provider.add(orders_with_cuts()));
  CountersetSpec sharded = kTide;
  sharded.sharded = true;
  if (auto set = provider.add(sharded)) {
    if (auto instance = set->create_sharded_instance("")) instance->add(1U, 1);
  }
}

// While it lives, the process gets signals as from a profiler in a hurry, and every system call
// that can be interrupted is: there is no SA_RESTART.
class ManySignals {
 public:
  ManySignals() {
    struct sigaction action {};
    action.sa_handler = [](int) { count.fetch_add(1, std::memory_order_seq_cst); };
    ::sigaction(SIGUSR1, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const itimerspec often{{0, 200'000}, {0, 200'000}};
    ::timer_settime(timer_, 0, &often, nullptr);
  }
  ManySignals(const ManySignals&) = delete;
  ManySignals& operator=(const ManySignals&) = delete;
  ~ManySignals() { ::timer_delete(timer_); }
  static inline std::atomic<int> count{0};

 private:
  timer_t timer_{};
};

METERBANK_HOST(sets_up_among_signals) {
  const ManySignals signals;
  for (int round = 0; round < 50 || ManySignals::count.load(std::memory_order_seq_cst) < 50;
       ++round) {
    auto provider = Provider::create({.name = "interrupted", .directory = directory});
    if (!provider) return wrong(provider.error().message().c_str());
    if (auto waves = provider->add(kWaves, answer_nothing, {.serial = true}); !waves) {
      return wrong(waves.error().message().c_str());
    }
    if (auto orders = provider->add(orders_with_cuts()); !orders) {
      return wrong(orders.error().message().c_str());
    }
  }
  return 0;
}

// Memory is allocated in one system call for each extent, which takes longer than signals are
// apart.
METERBANK_HOST(grows_among_signals) {
  Provider provider = *Provider::create({.name = "large",
                                         .directory = directory,
                                         .bytes_max = std::uint64_t{256} << 20,
                                         .instances_max = 1'000'000});
  const Registration orders = *provider.add(kOrders);
  std::vector<Instance> many;
  const ManySignals signals;
  while (many.size() < 150'000) {
    auto made = orders.create_instance(std::to_string(many.size()));
    if (!made) return wrong(made.error().message().c_str());
    many.push_back(std::move(*made));
  }
  return 0;
}

METERBANK_HOST(sets_up_with_few_descriptors) {
  for (rlim_t limit = 0; limit < 40; ++limit) {
    const bool is_well = in_forked_child([&] {
      const rlimit few{limit, limit};
      ::setrlimit(RLIMIT_NOFILE, &few);
      set_up_and_count(directory);
      return 0;
    });
    if (!is_well) return 1;
  }
  return 0;
}

// All of this process, as the kernel counts it.
rlim_t address_space() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

METERBANK_HOST(sets_up_with_little_memory) {
  const rlim_t now = address_space();
  for (rlim_t more = 0; more < rlim_t{24} << 20; more += more < 2 << 20 ? 16 * 1024 : 512 * 1024) {
    const bool is_well = in_forked_child([&] {
      const rlimit little{now + more, now + more};
      ::setrlimit(RLIMIT_AS, &little);
      set_up_and_count(directory);
      return 0;
    });
    if (!is_well) {
      std::fprintf(stderr, "%zu bytes more\n", static_cast<std::size_t>(more));
      return 1;
    }
  }
  return 0;
}

METERBANK_HOST(sets_up_without_threads) {
  return in_forked_child([&] {
    if (!forbid({{SYS_clone3, EAGAIN}, {SYS_clone, EAGAIN}})) return 0;
    set_up_and_count(directory);
    return 0;
  })
             ? 0
             : 1;
}

// Each system call that set-up may make fails in turn.
METERBANK_HOST(sets_up_where_calls_fail) {
#ifdef SYS_rename
  constexpr std::array kOfFiles{SYS_rename, SYS_mkdir};
#else  // machines newer than these calls
  constexpr std::array kOfFiles{SYS_renameat, SYS_mkdirat};
#endif
  constexpr std::array kCalls{SYS_memfd_create, SYS_fallocate,     SYS_mmap,      SYS_madvise,
                              SYS_fcntl,        SYS_fchmod,        kOfFiles[0],   kOfFiles[1],
                              SYS_getrandom,    SYS_epoll_create1, SYS_socket,    SYS_socketpair,
                              SYS_bind,         SYS_listen,        SYS_epoll_ctl, SYS_membarrier};
  for (const long call : kCalls) {
    for (const int error : {EPERM, ENOSYS, ENOMEM}) {
      const bool is_well = in_forked_child([&] {
        if (!forbid({{call, error}})) return 0;
        set_up_and_count(directory);
        return 0;
      });
      if (!is_well) {
        std::fprintf(stderr, "system call %ld, error %d\n", call, error);
        return 1;
      }
    }
  }
  return 0;
}

// The record is found again at the end.
METERBANK_HOST(changes_directory_after_create) {
  if (::chdir(directory.c_str()) != 0 || ::mkdir("here", 0755) != 0) return wrong("mkdir");
  std::string record;
  {
    Provider provider = *Provider::create({.name = "orders", .directory = "here"});
    const auto waves = provider.add(kWaves, answer_nothing, {.serial = true});
    if (::chdir("/") != 0) return wrong("chdir");
    if (!provider.add(kOrders)) return wrong("no set");
  }
  const std::string left = "ls -A " + directory + "/here | grep -q .";
  return std::system(left.c_str()) != 0 ? 0 : wrong("something was left");
}

METERBANK_HOST(changes_root_and_user_after_create) {
  if (::geteuid() != 0) return 0;
  return in_forked_child([&] {
    Provider provider = orders_provider(directory);
    Instance instance = *provider.add(orders_with_cuts())->create_instance("eu");
    if (::chroot(directory.c_str()) != 0 || ::chdir("/") != 0) return 0;
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return wrong("setuid");
    instance.add(Venue::kAccepted, 1);
    static_cast<void>(provider.add(kWaves, answer_nothing, {.serial = true}));
    return instance.value(Venue::kAccepted) == 1 ? 0 : wrong("it does not count");
  })
             ? 0
             : 1;
}

METERBANK_HOST(replaces_itself) {
  static constexpr const char* kAgain = "METERBANK_TEST_AGAIN";
  Provider provider = orders_provider(directory);
  Instance instance = *provider.add(orders_with_cuts())->create_instance("eu");
  instance.add(Venue::kAccepted, 1);
  if (std::getenv(kAgain) != nullptr) return 0;
  ::setenv(kAgain, "1", 1);
  ::execl("/proc/self/exe", "meterbank_process_host", "replaces_itself", directory.c_str(),
          static_cast<char*>(nullptr));
  return wrong("execl");
}

}  // namespace
}  // namespace meterbank::test
