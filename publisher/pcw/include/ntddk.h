// SPDX-License-Identifier: Apache-2.0
//
// Sources that include <ntddk.h> find the same words as with <wdm.h>.
#pragma once

#include "wdm.h"
