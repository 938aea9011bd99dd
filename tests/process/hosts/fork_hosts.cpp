// SPDX-License-Identifier: Apache-2.0
//
// Hosts that fork, in every order of provider, registration, instance and end.
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "host.hpp"

extern "C" pid_t _Fork() __attribute__((weak));  // glibc 2.34

namespace meterbank::test {
namespace {

constexpr int kCounts = 10'000;

CallbackOptions serial() { return {.serial = true}; }
void counts_alone(Instance& instance) {
  for (int i = 0; i < kCounts; ++i) instance.add(Venue::kAccepted, 1);
  instance.update([](Values& values) { values.add(Venue::kBytes, 1); });
}
void counts_alone(EveryThing& all) {
  counts_alone(all.instance);
  all.rows.count();
}

// ---- daemon() ----

METERBANK_HOST(daemon_before_create) {
  if (::daemon(1, 1) != 0) return wrong("daemon");
  begin_deadline();
  EveryThing all(directory);
  all.instance.add(Venue::kAccepted, 1);
  return all.instance.value(Venue::kAccepted) == 1 ? 0 : wrong("it does not count");
}

METERBANK_HOST(daemon_after_create_without_registrations) {
  Provider provider = orders_provider(directory);
  if (::daemon(1, 1) != 0) return wrong("daemon");
  begin_deadline();
  return 0;
}

METERBANK_HOST(daemon_after_create_with_everything) {
  EveryThing all(directory);
  if (::daemon(1, 1) != 0) return wrong("daemon");
  begin_deadline();
  counts_alone(all);
  return 0;
}

// ---- fork(), and exit() with static objects ----

std::optional<Provider> static_provider;
std::optional<Registration> static_registration;
std::optional<Instance> static_instance;

METERBANK_HOST(child_exits_with_static_objects) {
  static_provider = orders_provider(directory);
  static_registration = *static_provider->add(kWaves, answer_nothing, serial());
  static_instance = *static_provider->add(orders_with_cuts())->create_instance("eu");
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    std::exit(0);
  }
  return ended_well(child) ? 0 : 1;
}

METERBANK_HOST(child_destroys_in_any_order) {
  for (unsigned order = 0; order < 6; ++order) {
    auto provider = std::make_unique<Provider>(
        *Provider::create({.name = "o" + std::to_string(order), .directory = directory}));
    auto registration = std::make_unique<Registration>(*provider->add(orders_with_cuts()));
    auto waves = std::make_unique<Registration>(*provider->add(kWaves, answer_nothing, serial()));
    auto instance = std::make_unique<Instance>(*registration->create_instance("eu"));
    const bool is_well = in_forked_child([&] {
      const auto end = [&](unsigned which) {
        if (which == 0) provider.reset();
        if (which == 1) {
          registration->close();
          registration.reset();
          waves.reset();
        }
        if (which == 2) instance.reset();
      };
      constexpr std::array<std::array<unsigned, 3>, 6> kOrders{
          {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
      for (const unsigned which : kOrders.at(order)) end(which);
      return 0;
    });
    if (!is_well) return 1;
  }
  return 0;
}

METERBANK_HOST(child_forks_again) {
  EveryThing all(directory);
  return in_forked_child([&] {
    counts_alone(all);
    return in_forked_child([&] {
      counts_alone(all);
      all.provider = Provider::create_or_disabled({.name = "grandchild", .directory = directory});
      return all.provider.is_disabled() ? wrong("no provider of its own") : 0;
    })
               ? 0
               : 1;
  })
             ? 0
             : 1;
}

METERBANK_HOST(child_creates_its_own_and_forks) {
  EveryThing all(directory);
  return in_forked_child([&] {
    EveryThing own(directory);
    own.instance.add(Venue::kAccepted, 1);
    if (own.instance.value(Venue::kAccepted) != 1) return wrong("its own does not count");
    return in_forked_child([&] {
      counts_alone(own);
      counts_alone(all);
      return 0;
    })
               ? 0
               : 1;
  })
             ? 0
             : 1;
}

METERBANK_HOST(forks_beside_threads_that_count) {
  EveryThing all(directory);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      // relaxed: nothing else is ordered by it.
      while (!stop.load(std::memory_order_relaxed)) all.rows.sharded.add(Venue::kAccepted, 1);
    });
  }
  bool is_well = true;
  for (int i = 0; i < 20 && is_well; ++i) {
    is_well = in_forked_child([&] {
      all.rows.sharded.add(Venue::kAccepted, 1);
      EveryThing own(directory);
      own.rows.count();
      return 0;
    });
  }
  stop.store(true, std::memory_order_relaxed);  // relaxed: as above
  return is_well ? 0 : 1;
}

METERBANK_HOST(child_counts_by_a_handle_that_outlived_its_provider) {
  auto provider = std::make_unique<Provider>(orders_provider(directory));
  Instance instance = *provider->add(kOrders)->create_instance("eu");
  provider.reset();
  return in_forked_child([&] {
    counts_alone(instance);
    return 0;
  })
             ? 0
             : 1;
}

// A thread that waits for a callback waits at a condition variable of the registration.
METERBANK_HOST(child_of_a_process_that_waits_for_a_callback) {
  EveryThing all(directory);
  std::vector<std::thread> closing;
  for (int i = 0; i < 50; ++i) {
    auto provider = std::make_unique<Provider>(
        *Provider::create({.name = "w" + std::to_string(i), .directory = directory}));
    static_cast<void>(provider->add(kWaves, answer_nothing, serial()));
    std::thread closer([&] { provider.reset(); });
    const bool is_well = in_forked_child([&] {
      counts_alone(all);
      return 0;
    });
    closer.join();
    if (!is_well) return 1;
  }
  return 0;
}

// ---- Processes that no handler of fork() sees ----

pid_t raw_clone() noexcept {
  return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

template <typename Make>
int count_in_unseen_child(const std::string& directory, const Make& make) {
  EveryThing all(directory);
  all.instance.add(Venue::kAccepted, 5);
  const pid_t child = make();
  if (child == 0) {
    begin_deadline();
    counts_alone(all);
    ::_exit(0);
  }
  if (!ended_well(child)) return 1;
  if (all.instance.value(Venue::kAccepted) != 5) return wrong("it counted into its parent's");
  if (all.instance.value(Venue::kBytes) != 0) return wrong("it committed into its parent's");
  return 0;
}

METERBANK_HOST(child_of_Fork_counts) {
  if (_Fork == nullptr) return 0;
  return count_in_unseen_child(directory, [] { return _Fork(); });
}
METERBANK_HOST(child_of_raw_clone_counts) { return count_in_unseen_child(directory, raw_clone); }

// What it maps itself must not be taken for the memory of its parent's provider.
METERBANK_HOST(child_of_raw_clone_maps_memory_and_counts) {
  EveryThing all(directory);
  std::vector<Instance> many;
  while (many.size() < 4000) {
    many.push_back(*all.orders.create_instance(std::to_string(many.size())));
  }
  const pid_t child = raw_clone();
  if (child == 0) {
    begin_deadline();
    std::vector<unsigned char*> own;
    for (std::size_t bytes = 4096; bytes <= 4 << 20; bytes *= 2) {
      for (int i = 0; i < 20; ++i) {
        void* const memory =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) own.push_back(static_cast<unsigned char*>(memory));
      }
    }
    for (Instance& instance : many) instance.add(Venue::kAccepted, 1);
    for (const unsigned char* memory : own) {
      for (std::size_t at = 0; at < 4096; ++at) {
        if (memory[at] != 0) ::_exit(wrong("it counted into memory of its own"));
      }
    }
    ::_exit(0);
  }
  return ended_well(child) ? 0 : 1;
}

// exit() there runs what was to run at the end of the parent.
METERBANK_HOST(child_of_raw_clone_ends_orderly) {
  std::optional<EveryThing> all(directory);
  const std::string record = all->provider.record();
  const pid_t child = raw_clone();
  if (child == 0) {
    begin_deadline();
    all->orders.close();
    const auto late = all->orders.create_instance("late");
    if (late || late.error().code != ErrorCode::kForked) ::_exit(wrong("it creates instances"));
    all.reset();
    ::_exit(0);
  }
  if (!ended_well(child)) return 1;
  if (::access(record.c_str(), F_OK) != 0) return wrong("the child removed the record");
  if (!all->orders.find("eu")) return wrong("the child closed the instance");
  if (all->orders.state() != RegistrationState::kInserted) return wrong("it closed the set");
  return 0;
}

METERBANK_HOST(spawned_programs_leave_the_provider_alone) {
  EveryThing all(directory);
  for (int i = 0; i < 20; ++i) {
    std::array<char, 5> name{"true"};
    std::array<char*, 2> arguments{name.data(), nullptr};
    pid_t child = 0;
    if (::posix_spawnp(&child, "true", nullptr, nullptr, arguments.data(), environ) != 0) {
      return wrong("posix_spawnp");
    }
    all.instance.add(Venue::kAccepted, 1);
    if (!ended_well(child)) return 1;
  }
  return all.instance.value(Venue::kAccepted) == 20 ? 0 : wrong("counts are lost");
}

}  // namespace
}  // namespace meterbank::test
