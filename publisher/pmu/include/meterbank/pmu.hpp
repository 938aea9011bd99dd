// SPDX-License-Identifier: Apache-2.0
//
// Counters of processors, leased: everything a client of the arbiter needs.
#pragma once

#include "meterbank/pmu/connection.hpp"
#include "meterbank/pmu/lease.hpp"
#include "meterbank/pmu/local_counter.hpp"
#include "meterbank/pmu/refusal.hpp"
#include "meterbank/pmu/request.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"
