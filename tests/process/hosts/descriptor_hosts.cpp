// SPDX-License-Identifier: Apache-2.0
//
// Hosts that close every descriptor but the standard ones, as a daemon does, and take the numbers
// for files of their own.

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "../../channel/asking_reader.hpp"
#include "../../support/comes_true.hpp"
#include "../../support/taken_descriptors.hpp"
#include "../../support/wave_schema.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

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

// Each sort of file in turn takes the numbers.
int lose_descriptors(const std::string& directory, const std::function<void()>& close_all) {
  for (const auto sort :
       {OwnFiles::Sort::kSockets, OwnFiles::Sort::kEventCounters, OwnFiles::Sort::kEpollSets}) {
    auto asked = std::make_unique<AskedProvider>(directory);
    const std::string record = asked->provider.record();
    std::optional<AskingReader> reader(record);
    ChannelRequest request;
    request.type = MessageType::kCollect;
    // Answered, so the threads are back where they wait.
    if (!reader->ask_and_wait(request)) return wrong("no connection");
    if (!comes_true(others_sleep)) return wrong("a thread does not wait");
    close_all();
    // A thread that was woken by this has looked at its descriptors when it waits again. Between
    // such a look and the wait no program can be told what became of a number.
    if (!comes_true(others_sleep)) return wrong("a thread spins without descriptors");
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
  // As above: threads have looked at their descriptors before others take the numbers.
  if (!comes_true(others_sleep)) return wrong("a thread spins without descriptors");
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
