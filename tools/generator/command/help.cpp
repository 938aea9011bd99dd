// SPDX-License-Identifier: Apache-2.0
#include "generator/command/arguments.hpp"

namespace meterbank::generator {

std::string_view help_text() {
  return R"(usage: meterbank-gen MANIFEST OUTPUT... [OPTION...]
       meterbank-gen MANIFEST --check
       meterbank-gen --migrate OUT MANIFEST

Generates code and documents from a manifest: a .man file of Windows' CTRPP, or TOML. A
MANIFEST of - is standard input, a FILE of - standard output. All outputs are written, or none.

Outputs:
  --cpp FILE               Typed C++ header for the publisher library
  --c FILE                 Header with tables and positions for the C interface
  --code FILE, -o          Header with Windows' provider functions, of user or kernel mode
  --symbols FILE, -ch      Header with names, GUIDs and ids, for consumers
  --resources FILE, -rc    Resource script with the names and descriptions
  --man FILE               Manual page, section 7
  --markdown FILE          The same page in Markdown
  --rules FILE             Recording and alert rules for Prometheus
  --dashboard FILE         Dashboard for Grafana
  --migrate OUT, -migrate  The manifest in TOML; excludes all other options

Options:
  --check                  Check the manifest and write nothing
  --against OLD            Refuse changes that break readers of the manifest OLD
  --namespace NAME         Namespace of --cpp, also a::b; default: the provider's symbol
  --prefix TEXT, -prefix   Prefix of the names that --code and --symbols define
  --set GLOB               Counterset of --rules and --dashboard (repeatable); default: all
  --metric-prefix TEXT     Prefix of metrics in --rules and --dashboard; default: meterbank_
  --notification-callback  CounterInitialize takes a callback; user mode only. Also
                           -NotificationCallback and -MemoryRoutines
  --depfile FILE           Write the dependencies of the outputs, in the syntax of make
  --template OUTPUT=FILE   Use FILE instead of the built-in template (repeatable)
  --print-template NAME    Print the built-in template: cpp, c, code_user, code_kernel, symbols,
                           resources, man, markdown
  --version, --help        Print the version, or this text

Options of CTRPP have one dash and may be written in any case. -backcompat has no effect; -legacy,
-sumPath and -summary are refused.

Exit codes:
  0    done
  1    --against: readers of the old manifest would be broken
  2    a bad option or a bad manifest
  3    environment: permission, no directory, disk full

Examples:
  meterbank-gen orders.toml --cpp orders.hpp --depfile orders.d
  meterbank-gen kcs.man -o kcsCounters.h -rc kcsCounters.rc -prefix Kcs
  meterbank-gen orders.toml --rules orders.rules.yml --dashboard orders.json
  meterbank-gen orders.toml --against released/orders.toml
  meterbank-gen -migrate orders.toml orders.man
)";
}

}  // namespace meterbank::generator
