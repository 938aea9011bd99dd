// SPDX-License-Identifier: Apache-2.0
//
// Hosts that end in unusual ways, or end threads so.
#include <pthread.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "../../support/sanitizers.hpp"
#include "host.hpp"

namespace meterbank::test {
namespace {

// Runs `end` in a child that has everything and a thread that counts all the while.
template <typename End>
int ends_while_counting(const std::string& directory, int expected_signal, const End& end) {
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    static std::optional<EveryThing> all;  // destroyed by exit(), under the thread
    all.emplace(directory);
    static std::atomic<bool> counts{false};
    std::thread([] {
      Instance own = *all->orders.create_instance("counted all the while");
      for (;;) {
        own.add(Venue::kAccepted, 1);
        counts.store(true, std::memory_order_seq_cst);
      }
    }).detach();
    while (!counts.load(std::memory_order_seq_cst)) std::this_thread::yield();
    end();
    ::_exit(3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (expected_signal != 0) {
    const bool is_it = WIFSIGNALED(status) && WTERMSIG(status) == expected_signal;
    return is_it ? 0 : wrong("it ended in another way");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : wrong("it did not exit with 0");
}

METERBANK_HOST(exits_while_a_thread_counts) {
  return ends_while_counting(directory, 0, [] { std::exit(0); });
}
METERBANK_HOST(exits_on_another_thread) {
  return ends_while_counting(directory, 0, [] {
    std::thread([] { std::exit(0); }).detach();
    for (;;) ::pause();
  });
}
METERBANK_HOST(exits_in_a_signal_handler) {
  return ends_while_counting(directory, 0, [] {
    ::signal(SIGUSR1, [](int) { std::exit(0); });
    ::raise(SIGUSR1);
  });
}
METERBANK_HOST(exits_quickly) {
  return ends_while_counting(directory, 0, [] { std::quick_exit(0); });
}
METERBANK_HOST(aborts) {
  return ends_while_counting(directory, SIGABRT, [] { std::abort(); });
}

// Instances, registrations and providers in every order of destruction.
std::optional<Instance> first_instance;
std::optional<Provider> middle_provider;
std::optional<Instance> last_instance;
METERBANK_HOST(destroys_static_objects_in_any_order) {
  middle_provider = orders_provider(directory);
  const Registration orders = *middle_provider->add(orders_with_cuts());
  first_instance = *orders.create_instance("destroyed last");
  last_instance = *orders.create_instance("destroyed first");
  static const auto counts_at_the_end = std::shared_ptr<void>(nullptr, [](void*) {
    if (first_instance) first_instance->add(Venue::kAccepted, 1);
  });
  return 0;
}

METERBANK_HOST(has_a_provider_for_each_thread) {
  const auto use = [&directory](int number) {
    thread_local std::optional<EveryThing> own;
    if (!own) own.emplace(directory);
    own->instance.add(Venue::kAccepted, static_cast<std::uint64_t>(number));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(use, i);
  use(1);
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// ---- Threads that are cancelled ----

// Cancels threads that run `work` until one was cancelled in the middle of it, several times over.
template <typename Work>
int cancel(const Work& work) {
  struct Shared {
    const Work& work;
    std::atomic<int> rounds{0};
  } shared{work};
  for (int i = 0; i < 100; ++i) {
    shared.rounds.store(0, std::memory_order_seq_cst);
    pthread_t thread{};
    const auto run = [](void* state) -> void* {
      auto& own = *static_cast<Shared*>(state);
      for (;;) {
        own.work();
        own.rounds.fetch_add(1, std::memory_order_seq_cst);
        ::pthread_testcancel();
      }
    };
    if (::pthread_create(&thread, nullptr, run, &shared) != 0) return wrong("no thread");
    while (shared.rounds.load(std::memory_order_seq_cst) == 0) std::this_thread::yield();
    ::pthread_cancel(thread);
    ::pthread_join(thread, nullptr);
  }
  return 0;
}

METERBANK_HOST(cancels_threads_that_count) {
  EveryThing all(directory);
  return cancel([&] { all.instance.add(Venue::kAccepted, 1); });
}
METERBANK_HOST(cancels_threads_that_create_and_close_instances) {
  EveryThing all(directory);
  if (const int failed = cancel([&] { static_cast<void>(all.orders.create_instance("us")); })) {
    return failed;
  }
  return all.orders.create_instance("us") ? 0 : wrong("an instance was left");
}
METERBANK_HOST(cancels_threads_that_create_and_close_providers) {
  return cancel([&] {
    auto provider = Provider::create_or_disabled({.name = "short", .directory = directory});
    static_cast<void>(provider.add(kWaves, answer_nothing, {.serial = true}));
    static_cast<void>(provider.add(orders_with_cuts()));
  });
}

// ---- Threads with little room ----

METERBANK_HOST(counts_on_a_small_stack) {
  EveryThing all(directory);
  const auto count = [](void* state) -> void* {
    auto& use = *static_cast<EveryThing*>(state);
    use.instance.add(Venue::kAccepted, 1);
    use.instance.update([](Values& values) { values.add(Venue::kBytes, 1); });
    use.rows.sharded.add(Venue::kAccepted, 1);
    if (kHasSanitizer) return nullptr;  // whose frames are larger
    for (int i = 0; i < 3000; ++i) use.rows.count();
    return nullptr;
  };
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  if (::pthread_attr_setstacksize(&attributes, 16 * 1024) != 0) return wrong("no such stack");
  pthread_t thread{};
  if (::pthread_create(&thread, &attributes, count, &all) != 0) return wrong("no thread");
  ::pthread_join(thread, nullptr);
  return all.instance.value(Venue::kAccepted) == 1 ? 0 : wrong("it did not count");
}

}  // namespace
}  // namespace meterbank::test
