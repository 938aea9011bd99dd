// SPDX-License-Identifier: Apache-2.0
#include "other_bakery_file.hpp"

#include "bakery_counters.h"

const void* handle_of_the_other_file() noexcept { return &MyBakeryProvider; }
