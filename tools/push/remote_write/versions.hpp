// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "push/remote_write/write_request.hpp"

namespace meterbank::push::remote_write {

[[nodiscard]] std::unique_ptr<WriteRequest> make_write_request_1();
[[nodiscard]] std::unique_ptr<WriteRequest> make_write_request_2();

// Sorted by name, as `labels` are; in place of one of the same name.
[[nodiscard]] std::vector<LabelView> with_label(std::span<const LabelView> labels,
                                                const LabelView& more);

}  // namespace meterbank::push::remote_write
