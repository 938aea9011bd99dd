// SPDX-License-Identifier: Apache-2.0
//
// How many words the copy loops of the reader load at once on this processor: widest_sweep().
#pragma once

#include "../../reader/src/collect/sweep.hpp"
