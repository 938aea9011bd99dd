// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/machine_name.hpp"

#include <unistd.h>

#include <array>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {

std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool names_this_machine(std::string_view machine) {
  while (machine.starts_with('\\')) machine.remove_prefix(1);
  return machine.empty() || machine == "." || equal_folded(machine, "localhost") ||
         equal_folded(machine, machine_name());
}

}  // namespace meterbank
