// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "host.hpp"

namespace meterbank::hostile {
namespace {

CountersetSpec named(std::string_view name, std::string_view symbol) {
  CountersetSpec spec = kHosted;
  spec.name = name;
  spec.symbol = symbol;
  return spec;
}

template <typename Row, typename Make>
void take(Row& row, const Result<Registration>& set, Make make) {
  if (!set) return;
  auto made = make(*set);
  if (made) row = *std::move(made);
}

}  // namespace

HostedProvider::HostedProvider(ProviderOptions options, bool with_callback)
    : provider(Provider::create_or_disabled(std::move(options))) {
  const auto plain = [](const Registration& set) { return set.create_instance("row"); };
  const auto shared = [](const Registration& set) { return set.create_sharded_instance("row"); };
  take(block, provider.add(kHosted), plain);
  CountersetSpec spec = named("Hosted Independent", "hosted_independent");
  spec.consistency = Consistency::kIndependent;
  take(independent, provider.add(spec), plain);
  spec = named("Hosted Cuts", "hosted_cuts");
  spec.cuts = true;
  take(cut, provider.add(spec), plain);
  spec = named("Hosted Shards", "hosted_shards");
  spec.sharded = true;
  take(sharded, provider.add(spec), shared);
  spec = named("Hosted Processors", "hosted_processors");
  spec.sharded = true;
  spec.by_processor = true;
  take(by_processor, provider.add(spec), shared);
  if (!with_callback) return;
  spec = named("Hosted Callback", "hosted_callback");
  const auto set = provider.add(spec, [](CallbackRequest& request) {
    request.add("row", 1, std::array<std::uint64_t, 2>{1, 2});
    return 0U;
  });
  static_cast<void>(set);
}

void HostedProvider::count() noexcept {
  for (Instance* const row : {&block, &independent, &cut}) {
    row->add(Level::kCount, 1);
    row->update([](Values& values) noexcept { values.add(Level::kCount, 1); });
  }
  for (ShardedInstance* const row : {&sharded, &by_processor}) {
    row->add(Level::kCount, 1);
    row->update([](ShardValues& values) { values.add(Level::kCount, 1); });
  }
}

int fault(const char* what) {
  std::printf("%s\n", what);
  return 1;
}

int status_of(int child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int in_forked_child(const std::function<int()>& body) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = body();
    std::fflush(stdout);
    ::_exit(code);
  }
  return status_of(child);
}

std::vector<Host> all_hosts() {
  std::vector<Host> all;
  for (const auto hosts : {process_hosts, limit_hosts, lifetime_hosts, value_hosts}) {
    all.insert(all.end(), hosts().begin(), hosts().end());
  }
  return all;
}

}  // namespace meterbank::hostile
