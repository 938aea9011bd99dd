// SPDX-License-Identifier: Apache-2.0
//
// meterbank_process_host NAME DIRECTORY: runs one host. Without arguments: lists them.
#include "host.hpp"

#include <utility>

namespace meterbank::test {
namespace {

// Counters that sharded sets can have, too.
CountersetSpec set_of_rows(std::string_view name, std::string_view symbol) {
  return {.name = name, .symbol = symbol, .counters = std::span(kVenueCounters).first(2)};
}

Instance row_of(Provider& provider, const CountersetSpec& spec) {
  const auto set = provider.add(spec);
  if (!set) return {};
  auto row = set->create_instance("row");
  return row ? *std::move(row) : Instance();
}

ShardedInstance sharded_row_of(Provider& provider, CountersetSpec spec) {
  spec.sharded = true;
  const auto set = provider.add(spec);
  if (!set) return {};
  auto row = set->create_sharded_instance("row");
  return row ? *std::move(row) : ShardedInstance();
}

METERBANK_HOST(control_hangs_in_a_child) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(1);
    for (;;) ::pause();
  }
  return ended_well(child) ? 0 : 1;
}

METERBANK_HOST(control_crashes) {
  ::raise(SIGSEGV);
  return 0;
}

}  // namespace

AllRows::AllRows(Provider& provider) {
  block = row_of(provider, set_of_rows("Blocks", "blocks"));
  CountersetSpec spec = set_of_rows("Independent", "independent");
  spec.consistency = Consistency::kIndependent;
  independent = row_of(provider, spec);
  spec = set_of_rows("Cuts", "cuts");
  spec.cuts = true;
  cut = row_of(provider, spec);
  sharded = sharded_row_of(provider, set_of_rows("Shards", "shards"));
  spec = set_of_rows("Processors", "processors");
  spec.by_processor = true;
  by_processor = sharded_row_of(provider, spec);
}

void AllRows::count() noexcept {
  for (Instance* const row : {&block, &independent, &cut}) {
    row->add(Venue::kAccepted, 1);
    row->update([](Values& values) noexcept { values.add(Venue::kAccepted, 1); });
  }
  for (ShardedInstance* const row : {&sharded, &by_processor}) {
    row->add(Venue::kAccepted, 1);
    row->update([](ShardValues& values) { values.add(Venue::kAccepted, 1); });
  }
}

}  // namespace meterbank::test

using namespace meterbank::test;

#if defined(METERBANK_ADDRESS_SANITIZER)
// Asked when a process exits: a forked child looks for no leaks. It would take the lock of the
// sanitizer's allocator, which a thread of the parent may have held at the fork.
#include <sanitizer/lsan_interface.h>
static const pid_t first_process = ::getpid();
int __lsan_is_turned_off() { return ::getpid() != first_process ? 1 : 0; }
#endif

int main(int count, char** arguments) {
  if (count != 3) {
    for (const NamedHost* host = NamedHost::first; host != nullptr; host = host->next) {
      std::printf("%s\n", host->name);
    }
    return count == 1 ? 0 : 2;
  }
  begin_deadline();
  for (const NamedHost* host = NamedHost::first; host != nullptr; host = host->next) {
    if (std::string_view(host->name) != arguments[1]) continue;
    const int status = host->function(arguments[2]);
    if (status == 0) {
      std::fputs(kDone.data(), stdout);
      std::fflush(stdout);
    }
    return status;
  }
  return wrong("no such host");
}
