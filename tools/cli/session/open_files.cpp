// SPDX-License-Identifier: Apache-2.0
#include "cli/session/open_files.hpp"

#include <sys/resource.h>

namespace meterbank::cli {
namespace {

rlimit before;
bool is_raised = false;

}  // namespace

void raise_open_files_limit() noexcept {
  if (is_raised || ::getrlimit(RLIMIT_NOFILE, &before) != 0) return;
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  is_raised = ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

void restore_open_files_limit() noexcept {
  if (is_raised) ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace meterbank::cli
