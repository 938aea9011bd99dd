// SPDX-License-Identifier: Apache-2.0
//
// Host programs: what a service does around its provider. Each is one function of the program
// meterbank_process_host, which tests/process/host_programs_test.cpp runs.
//
// A host prints kDone as its last word. A descendant that has to end well, too, says so to it: by
// its exit status, or by printing the last word itself.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "../../support/orders_schema.hpp"
#include "../../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {

inline constexpr std::string_view kDone = "done\n";
// A process that takes longer hangs. It ends by the signal, in descendants too.
inline constexpr unsigned kDeadlineSeconds = 60;

using Host = int (*)(const std::string& directory);

// Makes a host known by its name, before main().
struct NamedHost {
  NamedHost(const char* host_name, Host host_function) noexcept
      : name(host_name), function(host_function), next(first) {
    first = this;
  }
  const char* name;
  Host function;
  NamedHost* next;
  static inline constinit NamedHost* first = nullptr;
};
#define METERBANK_HOST(name)                                           \
  static int name(const std::string& directory);                       \
  static const ::meterbank::test::NamedHost named_##name{#name, name}; \
  static int name([[maybe_unused]] const std::string& directory)

inline void begin_deadline() noexcept { ::alarm(kDeadlineSeconds); }

// The exit status of a host that found something wrong.
inline int wrong(const char* what) noexcept {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

// Whether the child ended with status 0; says how it ended otherwise.
inline bool ended_well(pid_t child) noexcept {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "the child ended by signal %d%s\n", WTERMSIG(status),
                 WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
  } else {
    std::fprintf(stderr, "the child exited with %d\n", WEXITSTATUS(status));
  }
  return false;
}

// Runs `child` in a forked process, which exits with what it returns; see ended_well().
template <typename F>
[[nodiscard]] bool in_forked_child(F&& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    begin_deadline();
    ::_exit(child());
  }
  return ended_well(pid);
}

inline std::uint32_t answer_nothing(CallbackRequest&) { return 0; }

inline Provider orders_provider(const std::string& directory) {
  return *Provider::create({.name = "orders", .directory = directory});
}

// A row of each kind there is, in sets of their own. A row that is refused counts into nothing.
struct AllRows {
  explicit AllRows(Provider& provider);
  // Counts once in each row, and once more in an update.
  void count() noexcept;

  Instance block, independent, cut;
  ShardedInstance sharded, by_processor;
};

// What a provider may have running: keeper, cuts and callbacks.
struct EveryThing {
  explicit EveryThing(const std::string& directory)
      : EveryThing(ProviderOptions{.name = "orders", .directory = directory}) {}
  explicit EveryThing(const ProviderOptions& options)
      : provider(*Provider::create(options)),
        orders(*provider.add(orders_with_cuts())),
        waves(*provider.add(kWaves, answer_nothing, CallbackOptions{.serial = true})),
        instance(*orders.create_instance("eu")),
        rows(provider) {}
  Provider provider;
  Registration orders, waves;
  Instance instance;
  AllRows rows;
};

}  // namespace meterbank::test
