// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/observer.hpp"

#include <new>
#include <utility>

namespace meterbank::pcp {

Result<Observer> Observer::open(ObserverOptions options) {
  options.catalog.outside_labels = true;
  auto catalog = Catalog::open(options.catalog);
  if (!catalog) return tl::make_unexpected(catalog.error());
  auto query = Query::compile(*catalog, options.patterns);
  if (!query) return tl::make_unexpected(query.error());
  return Observer(std::move(options), std::move(*catalog), std::move(*query));
}

Observer::Observer(ObserverOptions options, Catalog catalog, Query query)
    : options_(std::move(options)),
      catalog_(std::move(catalog)),
      query_(std::move(query)),
      maker_(options_.domain) {}

bool Observer::look() {
  // A refresh that failed goes on with what the catalog lists; the next one tries again.
  static_cast<void>(catalog_.refresh());
  const bool has_changed = query_.update(catalog_);
  const bool asks = query_.asks();
  const CollectSummary summary =
      asks ? query_.collect(sample_, options_.timeout) : query_.collect(sample_, Timestamp::now());
  if (summary.no_memory) throw std::bad_alloc();
  // Asking may bring other rows each time.
  const bool is_new = has_changed || asks || last_look_ns_ == 0;
  if (is_new) {
    last_look_ns_ = 0;  // if this throws, the layout is not that of the sample
    layout_ = maker_.make(sample_.selected());
  }
  last_look_ns_ = Timestamp::now().monotonic_ns;
  return is_new;
}

bool Observer::look_for_names() {
  const bool is_fresh =
      last_look_ns_ != 0 && Timestamp::now().monotonic_ns - last_look_ns_ < kFreshNs;
  return !is_fresh && look();
}

}  // namespace meterbank::pcp
