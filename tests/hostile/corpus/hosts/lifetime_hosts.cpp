// SPDX-License-Identifier: Apache-2.0
//
// Hosts whose objects end in the wrong order, twice, or while they are used.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "../../../support/sample_words.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::hostile {
namespace {

// Threads of a host wait for each other; nothing here is fast.
constexpr auto kOrder = std::memory_order_seq_cst;

// An independent set of 200 counters, read before main() begins and before anything of the
// libraries could be initialised. Only in the program that asks for it.
struct ReadsBeforeMain {
  ReadsBeforeMain() {
    if (std::getenv("METERBANK_READ_BEFORE_MAIN") == nullptr) return;
    std::vector<std::string> names;
    for (int i = 0; i < 200; ++i) names.push_back("c" + std::to_string(i));
    std::vector<CounterSpec> counters;
    for (const std::string& name : names) {
      counters.push_back({.id = static_cast<std::uint32_t>(counters.size()),
                          .name = name,
                          .symbol = name,
                          .type = CounterType::kLargeRawCount});
    }
    CountersetSpec spec = kHosted;
    spec.consistency = Consistency::kIndependent;
    spec.counters = counters;
    Provider provider = Provider::create_or_disabled({.name = "host"});
    const auto set = provider.add(spec);
    Instance row = *set->create_instance("row");
    row.set(199U, 42);
    auto catalog = Catalog::open({});
    auto query = Query::compile(*catalog, {});
    Sample sample;
    query->collect(sample, Timestamp{});
    is_right = content_of(sample).values.size() >= 200 && content_of(sample).values[199] == 42;
  }
  bool is_right = false;
};
[[gnu::init_priority(101)]] const ReadsBeforeMain reads_before_main;

int read_before_main() {
  if (reads_before_main.is_right) return 0;
  if (std::getenv("METERBANK_READ_BEFORE_MAIN") != nullptr) return fault("the row is not right");
  ::setenv("METERBANK_READ_BEFORE_MAIN", "1", 1);
  ::execl("/proc/self/exe", "hostile_host", "read_before_main", nullptr);
  return fault("exec failed");
}

int provider_ends_first() {
  auto hosted = std::make_unique<HostedProvider>();
  HostedProvider rows = std::move(*hosted);
  { const Provider ended = std::move(rows.provider); }
  rows.count();  // into memory that is not read
  const Counter counter = rows.block.counter(Level::kCount);
  hosted.reset();
  Counter late = counter;
  late.add(1);
  return 0;
}

int closed_twice() {
  HostedProvider hosted;
  const auto set =
      hosted.provider.add({.name = "Twice", .symbol = "twice", .counters = kLevelCounters});
  Instance row = *set->create_instance("row");
  for (int i = 0; i < 3; ++i) row.close();
  for (int i = 0; i < 3; ++i) set->close();
  row.add(Level::kCount, 1);
  if (set->create_instance("late")) return fault("a closed registration takes rows");
  return 0;
}

int used_after_a_move() {
  HostedProvider hosted;
  HostedProvider taken = std::move(hosted);
  hosted.count();  // NOLINT: that is what this host does
  taken.count();
  Instance& self = taken.block;
  taken.block = std::move(self);
  taken.count();
  hosted = std::move(taken);
  hosted.count();
  const Registration nowhere;  // its rows count into nothing
  if (auto row = nowhere.create_instance("row")) row->add(Level::kCount, 1);
  nowhere.close();
  Instance nothing;
  nothing.add(Level::kCount, 1);
  nothing.close();
  return 0;
}

thread_local std::optional<Instance> kept_by_thread;
thread_local std::optional<ShardedInstance> shards_kept_by_thread;

int rows_of_threads_that_end_last() {
  std::atomic<bool> ended{false}, ready{false};
  std::thread thread;
  {
    HostedProvider hosted;
    const auto set =
        hosted.provider.add({.name = "Late", .symbol = "late", .counters = kLevelCounters});
    thread = std::thread([&] {
      kept_by_thread = *set->create_instance("row");
      shards_kept_by_thread = std::move(hosted.sharded);
      kept_by_thread->add(Level::kCount, 1);
      ready.store(true, kOrder);
      while (!ended.load(kOrder)) std::this_thread::yield();
      kept_by_thread->add(Level::kCount, 1);
      shards_kept_by_thread->add(Level::kCount, 1);
    });
    while (!ready.load(kOrder)) std::this_thread::yield();
  }
  ended.store(true, kOrder);
  thread.join();
  return 0;
}

// Static, and so destroyed while threads count.
std::optional<HostedProvider> static_provider;

int exit_while_threads_count() {
  static_provider.emplace();
  std::atomic<int> counting{0};
  for (int i = 0; i < 4; ++i) {
    std::thread([&counting] {
      counting.fetch_add(1, kOrder);
      for (;;) {
        static_provider->sharded.add(Level::kCount, 1);
        static_provider->by_processor.add(Level::kCount, 1);
        static_provider->independent.add(Level::kCount, 1);
      }
    }).detach();
  }
  while (counting.load(kOrder) < 4) std::this_thread::yield();
  std::exit(0);
}

int count_at_exit() {
  std::atexit([] {
    for (int i = 0; i < 1000; ++i) static_provider->count();
  });
  static_provider.emplace();
  return 0;
}

int left_in_a_hurry() {
  static_provider.emplace();
  std::quick_exit(0);
}

int destroyed_inside_its_callback() {
  auto provider = std::make_unique<Provider>(Provider::create_or_disabled({.name = "host"}));
  std::atomic<bool> destroyed{false};
  const auto set = provider->add(kHosted, [&](CallbackRequest& request) -> std::uint32_t {
    if (request.reason() != CallbackReason::kCollect) return 0;
    provider.reset();
    destroyed.store(true, kOrder);
    return 0;
  });
  if (!set) return fault("no callback");
  auto catalog = Catalog::open({});
  auto query = Query::compile(*catalog, {});
  Sample sample;
  while (!destroyed.load(kOrder)) query->collect(sample, std::chrono::milliseconds(100));
  return 0;
}

int destroyed_while_callbacks_run() {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> running{0};
    auto provider = std::make_unique<Provider>(Provider::create_or_disabled({.name = "host"}));
    const auto set = provider->add(kHosted, [&](CallbackRequest& request) -> std::uint32_t {
      running.fetch_add(1, kOrder);
      while (request.reason() == CallbackReason::kCollect && !request.is_cancelled()) {
        std::this_thread::yield();
      }
      return 0;
    });
    if (!set) return fault("no callback");
    std::atomic<bool> asked{false};
    std::jthread reader([&](const std::stop_token& stop) {
      auto catalog = Catalog::open({});
      auto query = Query::compile(*catalog, {});
      Sample sample;
      while (!stop.stop_requested()) {
        query->collect(sample, std::chrono::milliseconds(50));
        asked.store(true, kOrder);
      }
    });
    while (running.load(kOrder) < 2) std::this_thread::yield();
    provider.reset();
  }
  return 0;
}

int closed_inside_its_callback() {
  Provider provider = Provider::create_or_disabled({.name = "host"});
  std::atomic<bool> closed{false};
  Registration self;
  const auto set = provider.add(kHosted, [&](CallbackRequest& request) -> std::uint32_t {
    if (request.reason() != CallbackReason::kCollect) return 0;
    self.close();
    closed.store(true, kOrder);
    throw std::string("closed");
  });
  self = *set;
  auto catalog = Catalog::open({});
  auto query = Query::compile(*catalog, {});
  Sample sample;
  while (!closed.load(kOrder)) query->collect(sample, std::chrono::milliseconds(100));
  return 0;
}

constexpr std::array kHosts{
    Host{"read_before_main", "Publishes and reads a wide independent set before main().",
         read_before_main},
    Host{"provider_ends_first", "Rows and counters outlive their provider, and count on.",
         provider_ends_first},
    Host{"closed_twice", "Closes rows and registrations three times.", closed_twice},
    Host{"used_after_a_move", "Uses what it has moved from, and moves onto itself.",
         used_after_a_move},
    Host{"rows_of_threads_that_end_last", "thread_local rows end with a thread after the provider.",
         rows_of_threads_that_end_last},
    Host{"exit_while_threads_count", "exit() destroys a static provider while threads count.",
         exit_while_threads_count},
    Host{"count_at_exit", "Counts in atexit(), after the provider has ended.", count_at_exit},
    Host{"left_in_a_hurry", "quick_exit() with everything open.", left_in_a_hurry},
    Host{"destroyed_inside_its_callback", "A callback destroys its provider.",
         destroyed_inside_its_callback},
    Host{"destroyed_while_callbacks_run", "A provider is destroyed while readers wait for it.",
         destroyed_while_callbacks_run},
    Host{"closed_inside_its_callback", "A callback closes its registration, and throws.",
         closed_inside_its_callback},
};

}  // namespace

std::span<const Host> lifetime_hosts() { return kHosts; }

}  // namespace meterbank::hostile
