// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/page_writer.hpp"

#include <utility>

#include "exposition/protobuf/protobuf_page.hpp"
#include "exposition/text/text_page.hpp"

namespace meterbank::exposition {

std::string_view content_type_of(PageFormat format) noexcept {
  switch (format) {
    case PageFormat::kText:
      break;
    case PageFormat::kOpenMetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case PageFormat::kOpenMetrics2:
      return "application/openmetrics-text; version=2.0.0; charset=utf-8";
    case PageFormat::kProtobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
             "encoding=delimited";
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

std::unique_ptr<PageWriter> make_page_writer(PageFormat format,
                                             std::shared_ptr<const Snapshot> snapshot,
                                             PageOptions options) {
  TextFormat text = TextFormat::kPrometheus;
  switch (format) {
    case PageFormat::kText:
      break;
    case PageFormat::kOpenMetrics:
      text = TextFormat::kOpenMetrics1;
      break;
    case PageFormat::kOpenMetrics2:
      text = TextFormat::kOpenMetrics2;
      break;
    case PageFormat::kProtobuf:
      return make_protobuf_page(std::move(snapshot), std::move(options));
  }
  return make_text_page(text, std::move(snapshot), std::move(options));
}

}  // namespace meterbank::exposition
