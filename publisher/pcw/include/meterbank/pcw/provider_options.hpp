// SPDX-License-Identifier: Apache-2.0
//
// What the Windows functions have no word for: under which name and where they publish.
//
// All registrations of a process share one provider. It comes with the first registration and ends
// with the last. A set that is registered twice at a time needs a second provider of the same name:
// readers show the rows of both.
#pragma once

#include <string>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::pcw {

// Room for as many registrations as there can be; an empty name stands for the program's short
// name.
[[nodiscard]] ProviderOptions default_provider_options();

// For providers that come from now on. Those of PerfStartProvider, one a call, take them, too.
void set_provider_options(ProviderOptions options);

// Path of the first provider's pointer record; empty while there is none.
[[nodiscard]] std::string provider_record();

// Why the last call of this thread that failed did so: one line. Statuses are coarse.
[[nodiscard]] std::string last_refusal();

}  // namespace meterbank::pcw
