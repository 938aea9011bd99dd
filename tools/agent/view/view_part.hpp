// SPDX-License-Identifier: Apache-2.0
//
// The part of the agent that shows counters in browsers, as `meterbank view` does. It has threads,
// a catalog and a query of its own: a picture must not wait for a page of metrics.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/counts/view_counts.hpp"
#include "agent/view/view_settings.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::agent {

class ViewPart {
 public:
  using Report = std::function<void(const std::string& line)>;
  ViewPart(ViewCounts& counts, Report report);
  ~ViewPart();
  ViewPart(const ViewPart&) = delete;
  ViewPart& operator=(const ViewPart&) = delete;

  // Serves as these settings say from now on. `ring` is where the agent records, whose last minutes
  // come first; empty: nowhere. What has not changed goes on, with the same token. Errors: the
  // address, a path, the file of the address; then nothing is served.
  Result<void> use(const ViewSettings& settings, const CatalogOptions& catalog,
                   const std::string& ring);
  void stop();
  // "127.0.0.1:19401"; empty: nothing is served.
  [[nodiscard]] std::string address() const;

 private:
  struct Served;

  ViewCounts& counts_;
  const Report report_;
  ViewSettings settings_;
  std::string directory_;  // of the providers
  bool all_namespaces_ = false;
  std::unique_ptr<Served> served_;  // null: nothing is served
};

}  // namespace meterbank::agent
