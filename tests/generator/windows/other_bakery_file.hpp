// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where another file of this program finds the provider's handle.
[[nodiscard]] const void* handle_of_the_other_file() noexcept;
