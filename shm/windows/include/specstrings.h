// SPDX-License-Identifier: Apache-2.0
//
// Every annotation there is.
#pragma once

#include "driverspecs.h"
#include "sal.h"
