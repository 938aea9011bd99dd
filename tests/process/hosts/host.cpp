// SPDX-License-Identifier: Apache-2.0
//
// meterbank_process_host NAME DIRECTORY: runs one host. Without arguments: lists them.
#include "host.hpp"

namespace meterbank::test {
namespace {

METERBANK_HOST(control_hangs_in_a_child) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(1);
    for (;;) ::pause();
  }
  return ended_well(child) ? 0 : 1;
}

METERBANK_HOST(control_crashes) {
  ::raise(SIGSEGV);
  return 0;
}

}  // namespace
}  // namespace meterbank::test

using namespace meterbank::test;

int main(int count, char** arguments) {
  if (count != 3) {
    for (const NamedHost* host = NamedHost::first; host != nullptr; host = host->next) {
      std::printf("%s\n", host->name);
    }
    return count == 1 ? 0 : 2;
  }
  begin_deadline();
  for (const NamedHost* host = NamedHost::first; host != nullptr; host = host->next) {
    if (std::string_view(host->name) != arguments[1]) continue;
    const int status = host->function(arguments[2]);
    if (status == 0) {
      std::fputs(kDone.data(), stdout);
      std::fflush(stdout);
    }
    return status;
  }
  return wrong("no such host");
}
