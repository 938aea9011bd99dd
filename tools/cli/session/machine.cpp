// SPDX-License-Identifier: Apache-2.0
#include "cli/session/machine.hpp"

#include <unistd.h>

#include <array>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {

std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool is_this_machine(std::string_view host) {
  while (host.starts_with('\\')) host.remove_prefix(1);
  return host == "." || equal_folded(host, "localhost") || equal_folded(host, machine_name());
}

}  // namespace meterbank::cli
