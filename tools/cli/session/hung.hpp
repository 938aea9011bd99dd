// SPDX-License-Identifier: Apache-2.0
//
// Why a provider that lives is silent, and what helps.
#pragma once

#include <string>

#include "meterbank/reader/catalog.hpp"

namespace meterbank::cli {

struct HungCause {
  std::string what;  // "stopped (SIGSTOP or a debugger), silent for 5 s"
  std::string remedy;
};
// Precondition: the provider is hung. Looks at its process.
[[nodiscard]] HungCause cause_of_hang(const ProviderView& provider);

}  // namespace meterbank::cli
