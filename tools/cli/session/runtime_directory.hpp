// SPDX-License-Identifier: Apache-2.0
//
// A closer look at a runtime directory than a reader takes: what is wrong with it, and what lies in
// it that no provider of this library has put there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

// Why readers do not look into the directory. A missing one is no fault: the first provider makes
// it.
[[nodiscard]] std::optional<Error> directory_fault(const std::string& path);

struct OddObject {
  Error error;                   // names the object
  bool poses_as_record = false;  // by its name; then a provider may be missing from all lists
};
// Objects that are no records, or that may not be believed. Hidden ones are left out: records are
// written under such names.
[[nodiscard]] std::vector<OddObject> odd_objects(const std::string& directory);

}  // namespace meterbank::cli
