// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

namespace meterbank::border {

constinit HandleTable<HeldCatalog> catalogs("catalog");

namespace {

static_assert(MB_USERS_OWN == static_cast<int>(UserPolicy::kOwn));
static_assert(MB_USERS_OWN_AND_ROOT == static_cast<int>(UserPolicy::kOwnAndRoot));
static_assert(MB_USERS_EVERYONE == static_cast<int>(UserPolicy::kEveryone));
static_assert(MB_PROVIDER_LIVE == static_cast<int>(ProviderState::kLive));
static_assert(MB_PROVIDER_HUNG == static_cast<int>(ProviderState::kHung));
static_assert(MB_PROVIDER_DEAD == static_cast<int>(ProviderState::kDead));
static_assert(MB_PROVIDER_CLOSED == static_cast<int>(ProviderState::kClosed));
static_assert(MB_PROVIDER_UNREADABLE == static_cast<int>(ProviderState::kUnreadable));
static_assert(MB_PROVIDER_FOREIGN == static_cast<int>(ProviderState::kForeign));

mb_catalog_summary summary_of(const Catalog& catalog) noexcept {
  mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
  summary.is_stale = catalog.stale() ? 1 : 0;
  summary.version = catalog.version();
  summary.providers = catalog.providers().size();
  for (const LeftOut& left_out : catalog.left_out()) {
    if (hides_providers(left_out.reason)) summary.left_out += left_out.count;
  }
  return summary;
}

mb_listed_provider listed(const ProviderView& view, const std::string& label) noexcept {
  mb_listed_provider provider = MB_LISTED_PROVIDER_INIT;
  provider.state = static_cast<std::uint32_t>(view.state);
  provider.pid = view.named_pid();
  provider.uid = view.uid;
  provider.is_trusted = view.trusted ? 1 : 0;
  provider.sets = static_cast<std::uint32_t>(view.sets.size());
  provider.bytes = view.bytes;
  provider.name = view.name.c_str();
  provider.label = label.c_str();
  provider.why = view.error.what.c_str();
  provider.remedy = view.error.remedy.c_str();
  return provider;
}

void make_labels(HeldCatalog& held) {
  std::vector<std::string> labels;
  for (const auto& provider : held.catalog().providers()) labels.push_back(provider->label());
  held.labels = std::move(labels);
}

}  // namespace

Outcome<CatalogOptions> read_options(const mb_catalog_options* given) {
  constexpr mb_catalog_options kDefaults = MB_CATALOG_OPTIONS_INIT;
  auto taken = take_versioned(given, kDefaults, sizeof(mb_catalog_options), "mb_catalog_options");
  if (!taken) return tl::make_unexpected(taken.error());
  if (taken->users > MB_USERS_EVERYONE || taken->trust > MB_USERS_EVERYONE) {
    return refuse(MB_INVALID_ARGUMENT, "mb_catalog_options: users and trust must be of mb_users");
  }
  if (taken->reserved != 0) {
    return refuse(MB_INVALID_ARGUMENT, "mb_catalog_options: reserved is not zero",
                  "begin with MB_CATALOG_OPTIONS_INIT");
  }
  CatalogOptions options;
  options.users = static_cast<UserPolicy>(taken->users);
  options.trust = static_cast<UserPolicy>(taken->trust);
  if (taken->directory != nullptr) options.directory = taken->directory;
  return options;
}

}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_catalog_open(const mb_catalog_options* options, mb_catalog** catalog,
                          mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear_handle(catalog, "catalog"); !good) return good;
    auto read = read_options(options);
    if (!read) return tl::make_unexpected(read.error());
    auto opened = Catalog::open(std::move(*read));
    if (!opened) return tl::make_unexpected(opened.error());
    *catalog =
        handle_of<mb_catalog>(catalogs.insert(std::make_shared<HeldCatalog>(std::move(*opened))));
    return {};
  });
}

void mb_catalog_close(mb_catalog* catalog) { close_handle(catalogs, catalog); }

mb_status mb_catalog_refresh(mb_catalog* catalog, mb_error* error) {
  return cross(error, [&] {
    return with(catalogs, catalog, [](HeldCatalog& held) -> Outcome<void> {
      held.labels.clear();
      auto refreshed = held.catalog().refresh();
      if (!refreshed) return tl::make_unexpected(refreshed.error());
      return {};
    });
  });
}

mb_status mb_catalog_summarize(mb_catalog* catalog, mb_catalog_summary* summary, mb_error* error) {
  return cross(error, [&] {
    return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
      if (auto good = can_fill(summary, "mb_catalog_summary"); !good) return good;
      fill_struct(summary, summary_of(held.catalog()));
      return {};
    });
  });
}

mb_status mb_catalog_provider(mb_catalog* catalog, size_t index, mb_listed_provider* provider,
                              mb_error* error) {
  return cross(error, [&] {
    return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
      if (auto good = can_fill(provider, "mb_listed_provider"); !good) return good;
      const auto& providers = held.catalog().providers();
      if (index >= providers.size()) {
        return refuse(MB_NOT_FOUND, "the catalog lists " + std::to_string(providers.size()) +
                                        " providers, and none at " + std::to_string(index));
      }
      if (held.labels.empty()) make_labels(held);
      fill_struct(provider, listed(*providers[index], held.labels[index]));
      return {};
    });
  });
}

mb_status mb_catalog_left_out(mb_catalog* catalog, size_t index, mb_left_out* left_out,
                              mb_error* error) {
  return cross(error, [&] {
    return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
      if (auto good = can_fill(left_out, "mb_left_out"); !good) return good;
      const auto& all = held.catalog().left_out();
      if (index >= all.size()) return refuse(MB_NOT_FOUND, "nothing more was left out");
      mb_left_out filled = MB_LEFT_OUT_INIT;
      filled.uid = all[index].uid;
      filled.hides_providers = hides_providers(all[index].reason) ? 1 : 0;
      filled.count = all[index].count;
      filled.reason = name_of(all[index].reason).data();
      fill_struct(left_out, filled);
      return {};
    });
  });
}

const char* mb_provider_state_text(uint32_t state) {
  return state <= MB_PROVIDER_FOREIGN ? name_of(static_cast<ProviderState>(state)).data()
                                      : "unknown";
}
