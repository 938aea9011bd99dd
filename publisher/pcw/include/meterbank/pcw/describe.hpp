// SPDX-License-Identifier: Apache-2.0
//
// What a manifest says of a counterset and a registration does not: names, types, help, units,
// links between counters, whether there are several instances. Generated code calls this before
// PcwRegister or PerfSetCounterSetInfo.
//
// A set without a description is published as well: its counters are called "Counter <id>" and
// are plain numbers, and it has many instances.
#pragma once

#include "meterbank/base/result.hpp"
#include "meterbank/publisher/schema.hpp"

namespace meterbank::pcw {

// Holds for registrations of this name (of this GUID, for PerfSetCounterSetInfo) from now on, in
// this process, and replaces what was said of the name before. Everything is copied. The order of
// the counters is that of the columns; consistency and layout are the library's choice, and the
// identity of instances is InstanceIdentity::kNameAndId.
// Errors: those of Provider::add.
Result<void> describe(const CountersetSpec& spec);

// Sets without a description from now on.
void forget_descriptions() noexcept;

}  // namespace meterbank::pcw
