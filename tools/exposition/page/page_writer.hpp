// SPDX-License-Identifier: Apache-2.0
//
// Writes a page piece by piece, so that a page of any size takes a buffer of one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "exposition/page/page_options.hpp"
#include "exposition/snapshot/snapshot.hpp"

namespace meterbank::exposition {

enum class PageFormat : std::uint8_t {
  kText,          // Prometheus' text format 0.0.4
  kOpenMetrics,   // OpenMetrics 1.0.0
  kOpenMetrics2,  // OpenMetrics 2.0.0-rc0
  kProtobuf,      // io.prometheus.client.MetricFamily, each behind its length; native histograms
};
// Includes version and character set; Prometheus 3 refuses a page without them.
[[nodiscard]] std::string_view content_type_of(PageFormat format) noexcept;

class PageWriter {
 public:
  virtual ~PageWriter() = default;
  // Appends the next `bytes` of the page, or a little more; the rest of the page if it is less.
  // False: the page was at its end. May throw std::bad_alloc.
  virtual bool write(std::string& out, std::size_t bytes) = 0;
};

// Selects the rows of the page, which may take a while: see RowSelection.
[[nodiscard]] std::unique_ptr<PageWriter> make_page_writer(PageFormat format,
                                                           std::shared_ptr<const Snapshot> snapshot,
                                                           PageOptions options);

}  // namespace meterbank::exposition
