// SPDX-License-Identifier: Apache-2.0
//
// Hosts that become two processes, or another one.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "host.hpp"

namespace meterbank::hostile {
namespace {

// Threads of a host wait for each other; nothing here is fast.
constexpr auto kOrder = std::memory_order_seq_cst;

constexpr const char* kSecondLife = "METERBANK_SECOND_LIFE";

int fork_without_registrations() {
  std::optional<Provider> provider = *Provider::create({.name = "host"});
  return in_forked_child([&] {
    provider.reset();  // as when main() returns
    return 0;
  });
}

int daemon_after_create() {
  return in_forked_child([] {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t first = ::fork();
    if (first == 0) {
      ::close(ends[0]);
      HostedProvider hosted;
      if (::daemon(1, 1) != 0) ::_exit(1);
      hosted.count();
      hosted.~HostedProvider();
      const bool told = ::write(ends[1], "k", 1) == 1;
      ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    char word = 0;
    return ::read(ends[0], &word, 1) == 1 && word == 'k' ? 0 : fault("the daemon did not end");
  });
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int descriptors_closed() {
  HostedProvider hosted;
  hosted.count();
  if (::syscall(SYS_close_range, 3, ~0U, 0) != 0) return kSkipped;
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  if (processor_seconds() - before > 0.2) return fault("a thread of the library spins");
  hosted.count();
  return 0;
}

int descriptors_closed_and_reused() {
  HostedProvider hosted;
  if (::syscall(SYS_close_range, 3, ~0U, 0) != 0) return kSkipped;
  int ends[2];
  for (int i = 0; i < 20; ++i) {
    if (::pipe(ends) != 0) return 1;
  }
  hosted.count();
  hosted = HostedProvider({.name = "again"});
  // Whatever closed the old provider must not have closed what is the host's now.
  return ::fcntl(ends[0], F_GETFD) >= 0 && ::fcntl(ends[1], F_GETFD) >= 0
             ? 0
             : fault("a descriptor of the host was closed");
}

int fork_child_counts() {
  HostedProvider hosted;
  hosted.count();
  return in_forked_child([&] {
    hosted.count();
    return 0;
  });
}

int bare_fork_child_counts() {
  HostedProvider hosted;
  hosted.count();
  const pid_t child = ::_Fork();
  if (child == 0) {
    hosted.count();
    ::_exit(0);
  }
  return status_of(child);
}

int cloned_child_counts() {
  HostedProvider hosted;
  hosted.count();
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, 0, 0, 0));
  if (child == 0) {
    hosted.count();
    ::_exit(0);
  }
  return status_of(child);
}

int forks_beside_counting_threads() {
  HostedProvider hosted;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    // relaxed, both: nothing else is ordered by it.
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) hosted.sharded.add(Level::kCount, 1);
    });
  }
  int worst = 0;
  for (int i = 0; i < 20 && worst == 0; ++i) {
    worst = in_forked_child([&] {
      hosted.sharded.add(Level::kCount, 1);
      HostedProvider own({.name = "child"});
      own.count();
      return 0;
    });
  }
  stop.store(true, std::memory_order_relaxed);
  return worst;
}

int exec_of_itself() {
  if (std::getenv(kSecondLife) != nullptr) {
    HostedProvider again;
    again.count();
    return again.provider.is_disabled() ? fault("no provider after exec") : 0;
  }
  HostedProvider hosted;
  hosted.count();
  ::setenv(kSecondLife, "1", 1);
  ::execl("/proc/self/exe", "hostile_host", "exec_of_itself", nullptr);
  return fault("exec failed");
}

int became_another_user() {
  if (::geteuid() != 0) return kSkipped;
  HostedProvider hosted;
  if (::setgid(65534) != 0 || ::setuid(65534) != 0) return kSkipped;
  hosted.count();
  const auto more = hosted.provider.add({.name = "More", .symbol = "more"});
  static_cast<void>(more);
  return 0;
}

int chroot_after_create() {
  if (::geteuid() != 0) return kSkipped;
  HostedProvider hosted;
  if (::chroot("/proc/self/fdinfo") != 0 || ::chdir("/") != 0) return kSkipped;
  hosted.count();
  HostedProvider second({.name = "second"});  // there is no directory for it
  second.count();
  return 0;
}

int directory_removed() {
  HostedProvider hosted;
  const std::string command = "rm -rf \"$METERBANK_DIR\"";
  if (std::system(command.c_str()) != 0) return 1;
  hosted.count();
  HostedProvider second({.name = "second"});
  second.count();
  return 0;
}

// Loads the publisher library as part of a plugin, counts in threads, and unloads it. What a thread
// left behind is looked at when the thread is next taken off its processor, hence many times.
int unload_plugin(bool close_first) {
  void* const plugin = ::dlopen(METERBANK_HOSTILE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return fault(::dlerror());
  const auto function = [plugin](const char* name) {
    void (*found)() = nullptr;
    void* const address = ::dlsym(plugin, name);
    std::memcpy(&found, &address, sizeof found);
    return found;
  };
  void (*const open)() = function("plugin_open");
  void (*const count)() = function("plugin_count");
  void (*const close)() = function("plugin_close");
  open();
  std::thread([&] { count(); }).join();
  // Ends after the plugin has gone, without a call to the kernel since it counted.
  std::atomic<bool> stop{false}, counted{false}, gone{false};
  std::thread late([&] {
    while (!stop.load(kOrder)) count();
    counted.store(true, kOrder);
    while (!gone.load(kOrder)) continue;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
  });
  if (close_first) close();
  stop.store(true, kOrder);
  while (!counted.load(kOrder)) continue;
  count();
  ::dlclose(plugin);
  gone.store(true, kOrder);
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  late.join();
  return in_forked_child([] { return 0; });  // handlers of fork are those of the library, too
}

int unload_often(bool close_first) {
  int worst = 0;
  for (int i = 0; i < 8 && worst == 0; ++i) {
    worst = in_forked_child([close_first] { return unload_plugin(close_first); });
  }
  return worst;
}

int plugin_unloaded() { return unload_often(true); }
int plugin_unloaded_while_open() { return unload_often(false); }

constexpr std::array kHosts{
    Host{"fork_without_registrations",
         "Forks with a provider that declares nothing; the child destroys it and ends.",
         fork_without_registrations},
    Host{"daemon_after_create", "Becomes a daemon with everything set up; the daemon ends.",
         daemon_after_create},
    Host{"descriptors_closed",
         "Closes all descriptors above 2 after set-up: no thread spins, and "
         "destroying ends.",
         descriptors_closed},
    Host{"descriptors_closed_and_reused",
         "The same, and opens others in their place: they stay the host's.",
         descriptors_closed_and_reused},
    Host{"fork_child_counts", "The child of a fork counts in all kinds of rows.",
         fork_child_counts},
    Host{"bare_fork_child_counts", "The child of _Fork(), which runs no handlers, counts.",
         bare_fork_child_counts},
    Host{"cloned_child_counts", "The child of a raw clone counts.", cloned_child_counts},
    Host{"forks_beside_counting_threads",
         "Forks while threads count; each child publishes for itself.",
         forks_beside_counting_threads},
    Host{"exec_of_itself", "Replaces itself by itself, which publishes again.", exec_of_itself},
    Host{"became_another_user", "Gives its user up after set-up.", became_another_user},
    Host{"chroot_after_create", "Changes its root to where nothing is.", chroot_after_create},
    Host{"directory_removed", "Removes the runtime directory under a live provider.",
         directory_removed},
    Host{"plugin_unloaded", "Unloads a plugin that counted, while a thread that counted lives.",
         plugin_unloaded},
    Host{"plugin_unloaded_while_open", "Unloads a plugin whose provider is open.",
         plugin_unloaded_while_open},
};

}  // namespace

std::span<const Host> process_hosts() { return kHosts; }

}  // namespace meterbank::hostile
