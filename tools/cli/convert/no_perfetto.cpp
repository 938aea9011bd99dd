// SPDX-License-Identifier: Apache-2.0
//
// Where the program was built without the headers that a trace takes.
#include "cli/convert/conversions.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli {

int convert_to_perfetto(const Invocation& /*invocation*/, Console& console) {
  complain(console,
           "this meterbank was built without protozero, which -f perfetto takes; try: "
           "apt-get install libprotozero-dev, and build it again");
  return kExitEnvironment;
}

}  // namespace meterbank::cli
