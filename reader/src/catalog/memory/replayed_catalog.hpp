// SPDX-License-Identifier: Apache-2.0
//
// A catalog whose providers are put into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/reader/catalog.hpp"

namespace meterbank {

struct ReplayedCatalog {
  using View = std::shared_ptr<const ProviderView>;

  // Of no providers; refresh() of it does nothing.
  [[nodiscard]] static Catalog with(CatalogOptions options);
  // All providers, in any order. `unchosen` do not match CatalogOptions::where, `skipped` are of
  // users that are left out.
  static void list(Catalog& catalog, std::vector<View> providers, std::uint64_t unchosen,
                   std::uint64_t skipped);
  // Number `index` of Catalog::providers(), which has the same name and pid.
  static void replace(Catalog& catalog, std::size_t index, View provider);
  // What was listed or replaced is to be seen.
  static void changed(Catalog& catalog) noexcept { ++catalog.version_; }
};

}  // namespace meterbank
