// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcp/pmapi.h>

#include <string>

#include "pcp/layout/layout.hpp"

namespace meterbank::pcp {

// A JSON object: provider, pid, uid; container, pod and unit where they are known; and what the set
// calls an instance, with the name that the provider gave it.
[[nodiscard]] std::string labels_of(const Layout& layout, const Domain& domain,
                                    const ShownInstance& instance);

// Sets of labels, in memory that libpcp frees. Both return how many, or a negative error.
[[nodiscard]] int answer_instance_labels(const Layout& layout, pmInDom domain, pmLabelSet** labels);
// The code of a unit that PCP lacks.
[[nodiscard]] int answer_metric_labels(const Layout& layout, pmID id, pmLabelSet** labels);

}  // namespace meterbank::pcp
