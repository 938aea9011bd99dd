// SPDX-License-Identifier: Apache-2.0
//
// main for a driver's sources: loads it, waits to be told to end, unloads it. What happens in
// between happens in callbacks.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "meterbank/pcw/provider_options.hpp"
#include "meterbank/shm/utf8.hpp"
#include "wdm.h"

int main() {
  // Blocked before any thread is started, so that the wait below gets them.
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  DRIVER_OBJECT driver{};
  driver.Size = sizeof driver;
  driver.DriverInit = DriverEntry;
  UNICODE_STRING registry{};
  const NTSTATUS status = DriverEntry(&driver, &registry);
  if (!NT_SUCCESS(status)) {
    const auto why =
        meterbank::escape_composed(meterbank::pcw::last_refusal(), meterbank::Composed::kLine,
                                   meterbank::charset_of(STDERR_FILENO));
    ::fprintf(stderr, "DriverEntry: status 0x%08x: %s\n", static_cast<unsigned>(status),
              why.c_str());
    return 1;
  }
  ::printf("loaded\n");
  ::fflush(stdout);
  int signal = 0;
  ::sigwait(&ends, &signal);
  if (driver.DriverUnload != nullptr) driver.DriverUnload(&driver);
  return 0;
}
