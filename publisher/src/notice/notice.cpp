// SPDX-License-Identifier: Apache-2.0
#include "notice.hpp"

#include <unistd.h>

#include <cstdio>

#include "meterbank/shm/utf8.hpp"
#include "standard_error.hpp"

namespace meterbank::detail {

void notice(const std::string& text) {
  const auto line = escape_composed(text, Composed::kLine, charset_of(STDERR_FILENO));
  const WithoutPipeSignal quiet;
  std::fprintf(stderr, "meterbank: %s\n", line.c_str());
}

}  // namespace meterbank::detail
