// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "handles.hpp"
#include "meterbank/border/versioned.hpp"

namespace meterbank::border {

constinit HandleTable<Provider> providers("provider");
constinit HandleTable<Registration> sets("set");

namespace {

template <typename Duration>
Duration duration_of(std::uint64_t count) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return Duration(static_cast<std::int64_t>(std::min(count, kMost)));
}

Outcome<ProviderOptions> read_options(const mb_provider_options* given) {
  constexpr mb_provider_options kDefaults = MB_PROVIDER_OPTIONS_INIT;
  constexpr std::size_t kFirstBytes = 64;
  auto taken = take_versioned(given, kDefaults, kFirstBytes, "mb_provider_options");
  if (!taken) return tl::make_unexpected(taken.error());
  if (taken->keep_record > 1) {
    return refuse(MB_INVALID_ARGUMENT,
                  "mb_provider_options: keep_record is " + std::to_string(taken->keep_record) +
                      ", not 0 or 1",
                  "begin with MB_PROVIDER_OPTIONS_INIT");
  }
  ProviderOptions options;
  options.name = text_of(taken->name);
  options.directory = text_of(taken->directory);
  options.bytes_max = taken->bytes_max;
  options.instances_max = taken->instances_max;
  options.registrations_max = taken->registrations_max;
  options.heartbeat = std::chrono::milliseconds(taken->heartbeat_ms);
  options.quarantine = duration_of<std::chrono::milliseconds>(taken->quarantine_ms);
  options.callbacks_max = taken->callbacks_max;
  options.keep_record = taken->keep_record == 1;
  options.cut_period = duration_of<std::chrono::microseconds>(taken->cut_period_us);
  options.readers = text_of(taken->readers);
  return options;
}

Outcome<std::uint64_t> create(const mb_provider_options* given) {
  auto options = read_options(given);
  if (!options) return tl::make_unexpected(options.error());
  auto provider = Provider::create(std::move(*options));
  if (!provider) return tl::make_unexpected(provider.error());
  return providers.insert(std::make_shared<Provider>(std::move(*provider)));
}

// 0: it cannot be created, and the reason was said.
std::uint64_t create_or_say(const mb_provider_options* given) noexcept {
  try {
    const auto number = create(given);
    if (number) return *number;
    detail::say_not_published(number.error().error);
  } catch (...) {
    detail::say_not_published(out_of_memory());
  }
  return 0;
}

}  // namespace

Outcome<std::uint64_t> add_set(mb_provider* provider, const mb_counterset_spec* spec,
                               std::optional<std::pair<Callback, CallbackOptions>> with) {
  if (provider == nullptr) return 0;
  auto found = providers.find(number_of(provider));
  if (!found) return tl::make_unexpected(found.error());
  std::vector<CounterSpec> counters;
  auto read = read_spec(spec, counters);
  if (!read) return tl::make_unexpected(read.error());
  // Its number comes first: a set that is added and has none could not be closed.
  const auto held = std::make_shared<Registration>();
  const std::uint64_t number = sets.insert(held);
  auto added =
      with ? (*found)->add(*read, std::move(with->first), with->second) : (*found)->add(*read);
  if (!added) {
    static_cast<void>(sets.remove(number));
    return tl::make_unexpected(added.error());
  }
  *held = std::move(*added);
  return number;
}

}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_provider_create(const mb_provider_options* options, mb_provider** provider,
                             mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(provider, "provider"); !good) return good;
    auto number = create(options);
    if (!number) return tl::make_unexpected(number.error());
    *provider = handle_of<mb_provider>(*number);
    return {};
  });
}

mb_provider* mb_provider_create_or_disabled(const mb_provider_options* options) {
  const WithoutCancellation whole;
  const int kept = errno;
  const std::uint64_t number = create_or_say(options);
  errno = kept;
  return handle_of<mb_provider>(number);
}

void mb_provider_close(mb_provider* provider) {
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    static_cast<void>(providers.remove(number_of(provider)));
    return {};
  }));
}

mb_status mb_provider_record(mb_provider* provider, char* path, size_t bytes, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (path == nullptr || bytes == 0) {
      return refuse(MB_INVALID_ARGUMENT, "no room for the path of the record");
    }
    path[0] = '\0';
    if (provider == nullptr) return {};
    auto found = providers.find(number_of(provider));
    if (!found) return tl::make_unexpected(found.error());
    const std::string record = (*found)->record();
    if (record.size() >= bytes) {
      return refuse(MB_LIMIT, "the path of the record has " + std::to_string(record.size()) +
                                  " bytes, and there is room for " + std::to_string(bytes - 1));
    }
    std::memcpy(path, record.c_str(), record.size() + 1);
    return {};
  });
}

mb_status mb_provider_add(mb_provider* provider, const mb_counterset_spec* spec, mb_set** set,
                          mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear(set, "set"); !good) return good;
    const auto number = add_set(provider, spec, std::nullopt);
    if (!number) return tl::make_unexpected(number.error());
    *set = handle_of<mb_set>(*number);
    return {};
  });
}

void mb_set_close(mb_set* set) {
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    if (const auto registration = sets.remove(number_of(set))) registration->close();
    return {};
  }));
}
