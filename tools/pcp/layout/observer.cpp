// SPDX-License-Identifier: Apache-2.0
#include "pcp/layout/observer.hpp"

#include <algorithm>
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

void Observer::look(const Timestamp& now) {
  // A refresh that failed goes on with what the catalog lists; the next one tries again.
  static_cast<void>(catalog_.refresh());
  bool has_changed = query_.update(catalog_);
  const bool asks = query_.asks();
  const CollectSummary summary =
      asks ? query_.collect(sample_, options_.timeout) : query_.collect(sample_, now);
  if (summary.no_memory) throw std::bad_alloc();
  // Asking may bring other rows each time; a provider that has ended keeps its rows in the query.
  has_changed = has_changed || asks || version_ != catalog_.version();
  if (has_changed || last_look_ns_ == 0) make_layout();
  last_look_ns_ = now.monotonic_ns;
  window_.advance(layout_, sample_, last_look_ns_);
}

void Observer::make_layout() {
  last_look_ns_ = 0;  // if this throws, the layout is not that of the sample
  Layout made = maker_.make(sample_.selected());
  changes_ |= PMCD_LABEL_CHANGE;
  const bool has_same_names =
      std::equal(made.metrics.begin(), made.metrics.end(), layout_.metrics.begin(),
                 layout_.metrics.end(), [](const Metric& left, const Metric& right) {
                   return left.name == right.name && left.desc.pmid == right.desc.pmid;
                 });
  if (!has_same_names) changes_ |= PMCD_NAMES_CHANGE;
  layout_ = std::move(made);
  version_ = catalog_.version();
}

void Observer::look_for_names() {
  const Timestamp now = Timestamp::now();
  const bool is_fresh = last_look_ns_ != 0 && now.monotonic_ns - last_look_ns_ < kFreshNs;
  if (!is_fresh) look(now);
}

}  // namespace meterbank::pcp
