// SPDX-License-Identifier: Apache-2.0
//
// Hosts whose set-up meets signals, limits and another place than before.
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "../../support/cooked_values.hpp"
#include "../../support/forbidden_calls.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

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
  AllRows(provider).count();
}

// A collector's day. Where memory ends, an error or bad_alloc at the call is what may come.
void read_all(const std::string& directory) {
  try {
    auto catalog = Catalog::open({.directory = directory});
    if (!catalog) return;
    auto query = Query::compile(*catalog, {});
    if (!query) return;
    Sample sample, older;
    for (int round = 0; round < 3; ++round) {
      catalog->refresh();
      query->update(*catalog);
      query->collect(sample);
      static_cast<void>(test::cooked_values(&older, sample));
      std::swap(sample, older);
    }
  } catch (const std::bad_alloc&) {
  }
}

// While it lives, the process gets signals as from a profiler in a hurry, and every system call
// that can be interrupted is: there is no SA_RESTART.
class ManySignals {
 public:
  explicit ManySignals(void (*handler)(int) = note_signal) {
    struct sigaction action {};
    action.sa_handler = handler;
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
  static void note_signal(int) { count.fetch_add(1, std::memory_order_seq_cst); }

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
    AllRows(*provider).count();
    read_all(directory);
  }
  return 0;
}

AllRows* counted_by_handler = nullptr;

METERBANK_HOST(counts_in_signal_handlers) {
  EveryThing all(directory);
  counted_by_handler = &all.rows;
  const ManySignals signals([](int) {
    ManySignals::count.fetch_add(1, std::memory_order_seq_cst);
    // What a handler may write to: independent and sharded rows.
    counted_by_handler->independent.add(Venue::kAccepted, 1);
    counted_by_handler->sharded.add(Venue::kAccepted, 1);
    counted_by_handler->by_processor.add(Venue::kAccepted, 1);
  });
  for (int i = 0; i < 300'000 || ManySignals::count.load(std::memory_order_seq_cst) == 0; ++i) {
    all.rows.count();
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
      read_all(directory);
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

// Runs `use` in children with ever more memory than they have: from nothing in small steps, then in
// larger ones.
int with_little_memory(rlim_t least, const std::function<void()>& use) {
  const rlim_t now = address_space();
  rlim_t step = 16 << 10;
  for (rlim_t more = least; more < rlim_t{128} << 20; more += step) {
    if (more >= 2 << 20) step = 512 << 10;
    if (more >= 24 << 20) step = 8 << 20;
    const bool is_well = in_forked_child([&] {
      const rlimit little{now + more, now + more};
      ::setrlimit(RLIMIT_AS, &little);
      use();
      return 0;
    });
    if (!is_well) {
      std::fprintf(stderr, "%zu bytes more\n", static_cast<std::size_t>(more));
      return 1;
    }
  }
  return 0;
}

METERBANK_HOST(sets_up_with_little_memory) {
  return with_little_memory(0, [&] { set_up_and_count(directory); });
}

METERBANK_HOST(reads_with_little_memory) {
  Provider provider = orders_provider(directory);
  const Registration orders = *provider.add(kOrders);
  std::vector<Instance> rows;
  while (rows.size() < 8000) {
    rows.push_back(*orders.create_instance(std::to_string(rows.size())));
  }
  return with_little_memory(64 << 10, [&] { read_all(directory); });
}

METERBANK_HOST(sets_up_where_no_file_may_grow) {
  const rlimit nothing{0, 0};
  ::setrlimit(RLIMIT_FSIZE, &nothing);  // beyond it SIGXFSZ kills
  set_up_and_count(directory);
  return 0;
}

METERBANK_HOST(sets_up_without_standard_streams) {
  return in_forked_child([&] {
    for (int i = 0; i < 3; ++i) ::close(i);
    set_up_and_count(directory);
    set_up_and_count("/proc/nowhere");  // says so nowhere
    return 0;
  })
             ? 0
             : 1;
}

METERBANK_HOST(sets_up_with_options_at_both_ends_of_their_types) {
  const std::vector<ProviderOptions> all{
      {.name = ""},
      {.name = std::string(10 << 20, 'x')},
      {.name = "\x1b[2J"},
      {.name = "host", .directory = "/proc/self/mem"},
      {.name = "host", .directory = std::string(9000, '/')},
      {.name = "host", .bytes_max = 0},
      {.name = "host", .bytes_max = ~std::uint64_t{0}, .instances_max = 0xffffffff},
      {.name = "host", .instances_max = 0, .registrations_max = 0},
      {.name = "host", .registrations_max = 0xffffffff},
      {.name = "host", .readers = std::string(5000, 'x')},
      {.name = "host", .heartbeat = std::chrono::milliseconds::min()},
      {.name = "host", .heartbeat = std::chrono::milliseconds::max()},
      {.name = "host", .quarantine = std::chrono::milliseconds::max()},
      {.name = "host", .quarantine = std::chrono::milliseconds::min()},
      {.name = "host", .callbacks_max = 0, .cut_period = std::chrono::microseconds::min()},
      {.name = "host", .callbacks_max = 0xffffffff, .cut_period = std::chrono::microseconds::max()},
      {.name = "host", .cut_period = std::chrono::microseconds(1)}};
  for (ProviderOptions options : all) {
    if (options.directory.empty()) options.directory = directory;
    Provider provider = Provider::create_or_disabled(options);
    static_cast<void>(provider.add(kWaves, answer_nothing, {.serial = true}));
    AllRows(provider).count();
    CountersetSpec spec = kOrders;
    spec.shards = 0xffffffff;
    static_cast<void>(provider.add(spec));
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
#ifdef SYS_mkdir
  constexpr std::array kOfFiles{SYS_renameat, SYS_mkdir};
#else  // machines newer than this call
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

// A provider that has lost the directory of its record counts on, and so does one that has none.
int count_elsewhere(const std::string& directory, const std::function<bool()>& go_elsewhere) {
  return in_forked_child([&] {
    EveryThing all(directory);
    if (!go_elsewhere()) return 0;
    all.rows.count();
    all.instance.add(Venue::kAccepted, 1);
    static_cast<void>(all.provider.add(kTide, answer_nothing, {.serial = true}));
    set_up_and_count(directory);
    return all.instance.value(Venue::kAccepted) == 1 ? 0 : wrong("it does not count");
  })
             ? 0
             : 1;
}

bool give_up_root() { return ::setgid(65534) == 0 && ::setuid(65534) == 0; }

METERBANK_HOST(changes_user_after_create) {
  if (::geteuid() != 0) return 0;
  return count_elsewhere(directory, give_up_root);
}
METERBANK_HOST(changes_root_after_create) {
  if (::geteuid() != 0) return 0;
  return count_elsewhere(directory,
                         [] { return ::chroot("/proc/self/fdinfo") == 0 && ::chdir("/") == 0; });
}
METERBANK_HOST(changes_root_and_user_after_create) {
  if (::geteuid() != 0) return 0;
  return count_elsewhere(directory, [&] {
    return ::chroot(directory.c_str()) == 0 && ::chdir("/") == 0 && give_up_root();
  });
}
METERBANK_HOST(removes_the_directory_after_create) {
  return count_elsewhere(directory, [&] { return std::filesystem::remove_all(directory) > 0; });
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
