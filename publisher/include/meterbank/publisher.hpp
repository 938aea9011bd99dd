// SPDX-License-Identifier: Apache-2.0
//
// Everything a service needs to publish counters: Provider -> Registration -> Instance.
#pragma once

#include "meterbank/publisher/callback.hpp"
#include "meterbank/publisher/instance.hpp"
#include "meterbank/publisher/latency.hpp"
#include "meterbank/publisher/provider.hpp"
#include "meterbank/publisher/schema.hpp"
#include "meterbank/publisher/sharded_recorder.hpp"
#include "meterbank/publisher/value_handles.hpp"
