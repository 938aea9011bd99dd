// SPDX-License-Identifier: Apache-2.0
//
// Answers about names and instances, in memory that libpcp frees. All return what the
// functions of pmdaInterface of the same name do: a count, or a negative error.
#pragma once

#include <pcp/pmapi.h>

#include "pcp/layout/layout.hpp"

namespace meterbank::pcp {

[[nodiscard]] int answer_id(const Layout& layout, const char* name, pmID* id);
[[nodiscard]] int answer_names(const Layout& layout, pmID id, char*** names);
// `traverses`: all metrics below the name, with full names. Otherwise its children: the next part
// of their names, and whether they are metrics.
[[nodiscard]] int answer_children(const Layout& layout, const char* name, bool traverses,
                                  char*** children, int** statuses);
// Of one instance, by number or name, or of all.
[[nodiscard]] int answer_instances(const Layout& layout, pmInDom domain, int instance,
                                   const char* name, pmInResult** result);

}  // namespace meterbank::pcp
