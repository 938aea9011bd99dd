// SPDX-License-Identifier: Apache-2.0
//
// Where the program was built without the headers that an archive takes.
#include "cli/convert/conversions.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli {

int convert_to_pcp(const Invocation& /*invocation*/, Console& console) {
  complain(console,
           "this meterbank was built without the headers of PCP, which -f pcp takes; try: "
           "apt-get install libpcp3-dev, and build it again");
  return kExitEnvironment;
}

}  // namespace meterbank::cli
