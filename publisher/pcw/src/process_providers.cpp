// SPDX-License-Identifier: Apache-2.0
#include "process_providers.hpp"

#include <errno.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "meterbank/pcw/provider_options.hpp"
#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::pcw {
namespace {

struct ProcessProviders {
  std::mutex mutex;
  ProviderOptions options = default_provider_options();
  std::vector<std::weak_ptr<Provider>> known;       // oldest first
  std::vector<std::shared_ptr<Provider>> unwanted;  // let go of inside a callback
};

// Never destroyed: registrations may outlive static objects.
ProcessProviders& providers() {
  static auto* const kept = new ProcessProviders;
  return *kept;
}

ProviderOptions with_name(ProviderOptions options) {
  if (options.name.empty()) {
    const std::string_view program = program_invocation_short_name;
    options.name = repair_utf8(program, kProviderNameBytesMax).text;
  }
  if (options.name.empty()) options.name = "driver";
  return options;
}

// A name or GUID that is taken, and a provider that a parent of this process left it, are no reason
// to give up.
bool calls_for_another(ErrorCode code) noexcept {
  return code == ErrorCode::kExists || code == ErrorCode::kForked;
}

// With no lock held: the callbacks of a provider that ends are waited for.
void end_unwanted(ProcessProviders& all) noexcept {
  if (is_inside_callback()) return;
  std::vector<std::shared_ptr<Provider>> unwanted;
  const std::lock_guard lock(all.mutex);
  unwanted.swap(all.unwanted);
}

}  // namespace

ProviderOptions default_provider_options() {
  ProviderOptions options;
  options.registrations_max = kRegistrationsMax;
  return options;
}

void set_provider_options(ProviderOptions options) {
  ProcessProviders& all = providers();
  const std::lock_guard lock(all.mutex);
  all.options = std::move(options);
}

std::string provider_record() {
  ProcessProviders& all = providers();
  const std::lock_guard lock(all.mutex);
  for (const auto& known : all.known) {
    if (const auto provider = known.lock()) return provider->record();
  }
  return {};
}

Result<Published> publish(const CountersetSpec& spec, const Callback& callback) {
  ProcessProviders& all = providers();
  end_unwanted(all);
  std::vector<std::shared_ptr<Provider>> held;  // so that none ends under the lock
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.known, [](const auto& known) { return known.expired(); });
  for (const auto& known : all.known) {
    auto provider = known.lock();
    if (provider == nullptr) continue;
    held.push_back(provider);
    auto registration = provider->add(spec, callback);
    if (registration) return Published{std::move(provider), std::move(*registration)};
    if (!calls_for_another(registration.error().code)) {
      return tl::make_unexpected(registration.error());
    }
  }
  auto made = Provider::create(with_name(all.options));
  if (!made) return tl::make_unexpected(made.error());
  auto provider = std::make_shared<Provider>(std::move(*made));
  auto registration = provider->add(spec, callback);
  if (!registration) return tl::make_unexpected(registration.error());
  all.known.push_back(provider);
  return Published{std::move(provider), std::move(*registration)};
}

Result<Provider> make_own_provider() {
  ProcessProviders& all = providers();
  const std::lock_guard lock(all.mutex);
  return Provider::create(with_name(all.options));
}

void let_go(std::shared_ptr<Provider> provider) noexcept {
  ProcessProviders& all = providers();
  {
    const std::lock_guard lock(all.mutex);
    all.unwanted.push_back(std::move(provider));
  }
  end_unwanted(all);
}

}  // namespace meterbank::pcw
