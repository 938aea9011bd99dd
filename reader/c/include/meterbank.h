// SPDX-License-Identifier: Apache-2.0
//
// The whole C interface of meterbank: counting and reading.
#ifndef METERBANK_H
#define METERBANK_H

#include "meterbank/c/base.h"
#include "meterbank/c/callback.h"
#include "meterbank/c/counting.h"
#include "meterbank/c/latency.h"
#include "meterbank/c/publisher.h"
#include "meterbank/c/reader.h"
#include "meterbank/c/recording.h"
#include "meterbank/c/sharded.h"
#include "meterbank/c/values.h"

#endif
