// SPDX-License-Identifier: Apache-2.0
//
// Hosts that have no memory, no descriptors, no threads, no files, or no peace.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>

#include "../../../support/cooked_values.hpp"
#include "../../../support/sanitizers.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::hostile {
namespace {

void limit(int what, rlim_t to) {
  const rlimit both{to, to};
  ::setrlimit(static_cast<__rlimit_resource>(what), &both);
}

rlim_t mapped_now() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// A collector's day. Where memory ends, an error or bad_alloc at the call is what may come.
void read_all() {
  try {
    auto catalog = Catalog::open({});
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

// Runs what is given in children with ever more memory than they have. Returns 0 if each ended
// well.
int with_more_memory(rlim_t first, rlim_t last, void (*run)()) {
  for (rlim_t more = first; more <= last; more = more * 3 / 2) {
    const int code = in_forked_child([more, run] {
      limit(RLIMIT_AS, mapped_now() + more);
      run();
      return 0;
    });
    if (code != 0) {
      std::printf("with %lu KiB more it ended with %d\n", static_cast<unsigned long>(more >> 10),
                  code);
      return 1;
    }
  }
  return 0;
}

int collector_without_memory() {
  if (test::kHasSanitizer) return kSkipped;  // which needs all addresses there are
  Provider provider = *Provider::create({.name = "host"});
  const Registration set = *provider.add(kHosted);
  std::vector<Instance> rows;
  for (int i = 0; i < 8000; ++i) {
    auto row = set.create_instance("row" + std::to_string(i));
    if (row) rows.push_back(*std::move(row));
  }
  return with_more_memory(64 << 10, 32 << 20, read_all);
}

int provider_without_memory() {
  if (test::kHasSanitizer) return kSkipped;
  return with_more_memory(16 << 10, 128 << 20, [] {
    try {
      HostedProvider hosted;
      hosted.count();
    } catch (const std::bad_alloc&) {
    }
  });
}

int without_descriptors() {
  if (test::kHasSanitizer) return kSkipped;  // which looks at memory through pipes
  for (rlim_t count = 3; count < 40; ++count) {
    const int code = in_forked_child([count] {
      limit(RLIMIT_NOFILE, count);
      HostedProvider hosted;
      hosted.count();
      read_all();
      return 0;
    });
    if (code != 0) {
      std::printf("with %lu descriptors it ended with %d\n", static_cast<unsigned long>(count),
                  code);
      return 1;
    }
  }
  return 0;
}

int without_threads() {
  // The limit does not count for root; another user needs a directory to write to.
  const std::string directory = provider_directory();
  if (::geteuid() == 0 &&
      (::chmod(directory.c_str(), 01777) != 0 || ::setgid(65533) != 0 || ::setuid(65533) != 0)) {
    return kSkipped;
  }
  limit(RLIMIT_NPROC, 0);
  HostedProvider hosted;
  hosted.count();
  return 0;
}

int without_file_size() {
  limit(RLIMIT_FSIZE, 0);  // beyond it SIGXFSZ kills
  HostedProvider hosted;
  hosted.count();
  return 0;
}

int without_standard_streams() {
  for (int i = 0; i < 3; ++i) ::close(i);
  HostedProvider hosted;
  hosted.count();
  const HostedProvider disabled({.name = "host", .directory = "/nowhere"});  // says so nowhere
  return 0;
}

int with_a_storm_of_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);  // calls are interrupted, not restarted
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 200;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int round = 0; round < 20; ++round) {
    HostedProvider hosted;
    hosted.count();
    if (hosted.provider.is_disabled()) return fault("no provider among signals");
    read_all();
  }
  return 0;
}

thread_local volatile std::sig_atomic_t entered = 0;
HostedProvider* counted_by_handler = nullptr;

int with_handlers_that_count() {
  HostedProvider hosted;
  counted_by_handler = &hosted;
  struct sigaction action {};
  action.sa_handler = [](int) {
    entered = 1;
    // What a handler may write to: independent and sharded rows.
    counted_by_handler->independent.add(Level::kCount, 1);
    counted_by_handler->sharded.add(Level::kCount, 1);
    counted_by_handler->by_processor.add(Level::kCount, 1);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 100;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 300'000 || entered == 0; ++i) hosted.count();
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  return 0;
}

int on_stacks_of_16_kib() {
  if (test::kHasSanitizer) return kSkipped;  // whose frames are larger
  HostedProvider hosted;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 16 * 1024);
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    const int failed = ::pthread_create(
        &thread, &attributes,
        [](void* argument) -> void* {
          for (int count = 0; count < 3000; ++count) {
            static_cast<HostedProvider*>(argument)->count();
          }
          return nullptr;
        },
        &hosted);
    if (failed != 0) return kSkipped;
    ::pthread_join(thread, nullptr);
  }
  return 0;
}

int with_hostile_options() {
  const std::vector<ProviderOptions> all{
      {.name = ""},
      {.name = std::string(10 << 20, 'x')},
      {.name = "\x1b[2J"},
      {.name = "host", .directory = "/proc/self/mem"},
      {.name = "host", .directory = std::string(9000, '/')},
      {.name = "host", .bytes_max = 0},
      {.name = "host", .bytes_max = ~std::uint64_t{0}, .instances_max = 0xffffffff},
      {.name = "host", .instances_max = 0, .registrations_max = 0},
      {.name = "host", .registrations_max = 0xffffffff, .mode = 0xffffffff},
      {.name = "host", .heartbeat = std::chrono::milliseconds::min()},
      {.name = "host", .heartbeat = std::chrono::milliseconds::max()},
      {.name = "host", .quarantine = std::chrono::milliseconds::max()},
      {.name = "host", .quarantine = std::chrono::milliseconds::min()},
      {.name = "host", .callbacks_max = 0, .cut_period = std::chrono::microseconds::min()},
      {.name = "host", .callbacks_max = 0xffffffff, .cut_period = std::chrono::microseconds::max()},
      {.name = "host", .cut_period = std::chrono::microseconds(1)}};
  for (const ProviderOptions& options : all) {
    HostedProvider hosted(options);
    hosted.count();
    auto spec = kHosted;
    spec.shards = 0xffffffff;
    spec.name = "Too Many";
    spec.symbol = "too_many";
    static_cast<void>(hosted.provider.add(spec));
  }
  return 0;
}

constexpr std::array kHosts{
    Host{"collector_without_memory", "Reads under RLIMIT_AS, at 16 limits.",
         collector_without_memory},
    Host{"provider_without_memory", "Sets up and counts under RLIMIT_AS, at 23 limits.",
         provider_without_memory},
    Host{"without_descriptors", "Sets up, counts and reads with 3 to 39 descriptors.",
         without_descriptors},
    Host{"without_threads", "Sets up where no thread can be started.", without_threads},
    Host{"without_file_size", "Sets up where no file may grow.", without_file_size},
    Host{"without_standard_streams", "Closes descriptors 0 to 2 first.", without_standard_streams},
    Host{"with_a_storm_of_signals", "Sets up and reads while each call is interrupted.",
         with_a_storm_of_signals},
    Host{"with_handlers_that_count", "Signal handlers count in what they interrupted.",
         with_handlers_that_count},
    Host{"on_stacks_of_16_kib", "Counts on the smallest stacks there are.", on_stacks_of_16_kib},
    Host{"with_hostile_options", "Options at both ends of their types.", with_hostile_options},
};

}  // namespace

std::span<const Host> limit_hosts() { return kHosts; }

}  // namespace meterbank::hostile
