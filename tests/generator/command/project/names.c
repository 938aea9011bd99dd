// SPDX-License-Identifier: Apache-2.0
#include "orders_names.h"

const char* const counters[] = {COUNTERS 0};
