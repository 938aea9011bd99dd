// SPDX-License-Identifier: Apache-2.0
//
// Prometheus' protobuf format, the only one of its formats that carries native histograms.
#pragma once

#include <memory>

#include "exposition/page/page_writer.hpp"

namespace meterbank::exposition {

[[nodiscard]] std::unique_ptr<PageWriter> make_protobuf_page(
    std::shared_ptr<const Snapshot> snapshot, PageOptions options);

}  // namespace meterbank::exposition
