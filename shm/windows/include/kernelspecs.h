// SPDX-License-Identifier: Apache-2.0
//
// Annotations of drivers; here driverspecs.h has all of them.
#pragma once

#include "driverspecs.h"
