// SPDX-License-Identifier: Apache-2.0
//
// Hosts whose objects end in the wrong order, twice, or while they are used.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

// Threads of a host wait for each other; nothing here is fast.
constexpr auto kOrder = std::memory_order_seq_cst;

METERBANK_HOST(ends_its_provider_before_its_rows) {
  EveryThing all(directory);
  { const Provider ended = std::move(all.provider); }
  all.rows.count();  // into memory that is not read
  Counter late = all.rows.block.counter(Venue::kAccepted);
  { const EveryThing gone = std::move(all); }
  late.add(1);
  return 0;
}

METERBANK_HOST(closes_twice) {
  EveryThing all(directory);
  for (int i = 0; i < 3; ++i) all.instance.close();
  for (int i = 0; i < 3; ++i) all.orders.close();
  all.instance.add(Venue::kAccepted, 1);
  return all.orders.create_instance("late") ? wrong("a closed registration takes rows") : 0;
}

METERBANK_HOST(uses_what_it_has_moved_from) {
  EveryThing all(directory);
  EveryThing taken = std::move(all);
  all.rows.count();  // NOLINT: that is what this host does
  taken.rows.count();
  Instance& self = taken.rows.block;
  taken.rows.block = std::move(self);
  taken.rows.count();
  all = std::move(taken);
  all.rows.count();
  const Registration nowhere;  // its rows count into nothing
  if (auto row = nowhere.create_instance("row")) row->add(Venue::kAccepted, 1);
  nowhere.close();
  Instance nothing;
  nothing.add(Venue::kAccepted, 1);
  nothing.close();
  return 0;
}

thread_local std::optional<Instance> kept_by_thread;
thread_local std::optional<ShardedInstance> shards_kept_by_thread;

METERBANK_HOST(ends_its_provider_before_the_rows_of_threads) {
  std::atomic<bool> ended{false}, ready{false};
  std::thread thread;
  {
    EveryThing all(directory);
    thread = std::thread([&] {
      kept_by_thread = *all.orders.create_instance("row");
      shards_kept_by_thread = std::move(all.rows.sharded);
      kept_by_thread->add(Venue::kAccepted, 1);
      ready.store(true, kOrder);
      while (!ended.load(kOrder)) std::this_thread::yield();
      kept_by_thread->add(Venue::kAccepted, 1);
      shards_kept_by_thread->add(Venue::kAccepted, 1);
    });
    while (!ready.load(kOrder)) std::this_thread::yield();
  }
  ended.store(true, kOrder);
  thread.join();
  return 0;
}

// Static, and so destroyed while threads count.
std::optional<EveryThing> static_all;

METERBANK_HOST(exits_while_threads_count_in_the_same_rows) {
  return in_forked_child([&] {
    static_all.emplace(directory);
    static std::atomic<int> counting{0};
    std::thread([] {  // alone in rows of one writer
      counting.fetch_add(1, kOrder);
      for (;;) {
        static_all->rows.block.add(Venue::kAccepted, 1);
        static_all->rows.cut.add(Venue::kAccepted, 1);
        static_all->instance.update([](Values& values) { values.add(Venue::kAccepted, 1); });
      }
    })
        .detach();
    for (int i = 0; i < 4; ++i) {
      std::thread([] {
        counting.fetch_add(1, kOrder);
        for (;;) {
          static_all->rows.sharded.add(Venue::kAccepted, 1);
          static_all->rows.by_processor.add(Venue::kAccepted, 1);
          static_all->rows.independent.add(Venue::kAccepted, 1);
        }
      }).detach();
    }
    while (counting.load(kOrder) < 5) std::this_thread::yield();
    std::exit(0);
    return 1;
  })
             ? 0
             : 1;
}

METERBANK_HOST(counts_at_exit) {
  return in_forked_child([&] {
    std::atexit([] {
      for (int i = 0; i < 1000; ++i) static_all->rows.count();
    });
    static_all.emplace(directory);
    std::exit(0);
    return 1;
  })
             ? 0
             : 1;
}

// Asks for all rows until `done`.
void ask_until(const std::string& directory, const std::atomic<bool>& done) {
  auto catalog = Catalog::open({.directory = directory});
  auto query = Query::compile(*catalog, {});
  Sample sample;
  while (!done.load(kOrder)) query->collect(sample, 100ms);
}

METERBANK_HOST(destroys_its_provider_in_a_callback) {
  auto provider = std::make_unique<Provider>(orders_provider(directory));
  std::atomic<bool> destroyed{false};
  const auto set = provider->add(kOrders, [&](CallbackRequest& request) -> std::uint32_t {
    if (request.reason() != CallbackReason::kCollect) return 0;
    provider.reset();
    destroyed.store(true, kOrder);
    return 0;
  });
  if (!set) return wrong("no callback");
  ask_until(directory, destroyed);
  return 0;
}

METERBANK_HOST(destroys_its_provider_while_callbacks_run) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> running{0};
    auto provider = std::make_unique<Provider>(orders_provider(directory));
    const auto set = provider->add(kOrders, [&](CallbackRequest& request) -> std::uint32_t {
      running.fetch_add(1, kOrder);
      while (request.reason() == CallbackReason::kCollect && !request.is_cancelled()) {
        std::this_thread::yield();
      }
      return 0;
    });
    if (!set) return wrong("no callback");
    std::atomic<bool> done{false};
    std::thread reader([&] { ask_until(directory, done); });
    while (running.load(kOrder) < 2) std::this_thread::yield();
    provider.reset();
    done.store(true, kOrder);
    reader.join();
  }
  return 0;
}

METERBANK_HOST(closes_its_set_in_a_callback_and_throws) {
  Provider provider = orders_provider(directory);
  std::atomic<bool> closed{false};
  Registration self;
  const auto set = provider.add(kOrders, [&](CallbackRequest& request) -> std::uint32_t {
    if (request.reason() != CallbackReason::kCollect) return 0;
    self.close();
    closed.store(true, kOrder);
    throw std::string("closed");
  });
  self = *set;
  ask_until(directory, closed);
  return 0;
}

}  // namespace
}  // namespace meterbank::test
