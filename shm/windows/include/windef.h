// SPDX-License-Identifier: Apache-2.0
//
// minwindef.h, and with it winnt.h: of what else Windows has here, programs that count need
// nothing.
#pragma once

#include "minwindef.h"
