// SPDX-License-Identifier: Apache-2.0
#include "host/probe/system.hpp"

#include <array>
#include <optional>

namespace meterbank::host {
namespace {

struct StatKey {
  std::string_view key;
  SystemField field;
};

constexpr std::array<StatKey, 6> kStatKeys = {{
    {"ctxt", SystemField::kContextSwitches},
    {"intr", SystemField::kInterrupts},
    {"softirq", SystemField::kSoftirqs},
    {"processes", SystemField::kForks},
    {"procs_running", SystemField::kRunnable},
    {"procs_blocked", SystemField::kBlocked},
}};

}  // namespace

void parse_stat_line(std::string_view line, SystemValues& target) noexcept {
  FieldScanner fields(line);
  const std::string_view key = fields.next();
  // Only the first number is wanted: after it "intr" lists every interrupt line of the machine.
  if (key == "btime") {
    if (const auto seconds = fields.next_u64()) {
      target.set(SystemField::kBootUnix100ns, multiply_saturated(*seconds, k100nsPerSecond));
    }
    return;
  }
  for (const StatKey& known : kStatKeys) {
    if (key == known.key) {
      target.set(known.field, fields.next_u64());
      return;
    }
  }
}

bool parse_loadavg(std::string_view text, SystemValues& target) noexcept {
  FieldScanner fields(trim(text));
  const auto load1 = parse_fixed(fields.next(), 2);
  const auto load5 = parse_fixed(fields.next(), 2);
  const auto load15 = parse_fixed(fields.next(), 2);
  const std::string_view threads = fields.next();
  if (!load1 || !load5 || !load15) return false;
  const std::size_t slash = threads.find('/');
  if (slash == std::string_view::npos) return false;
  const auto alive = parse_u64(threads.substr(slash + 1));
  if (!alive) return false;
  target.set(SystemField::kLoad1Hundredths, load1);
  target.set(SystemField::kLoad5Hundredths, load5);
  target.set(SystemField::kLoad15Hundredths, load15);
  target.set(SystemField::kThreads, alive);
  return true;
}

bool parse_uptime(std::string_view text, SystemValues& target) noexcept {
  FieldScanner fields(trim(text));
  const auto uptime = parse_fixed(fields.next(), 7);
  if (!uptime) return false;
  target.set(SystemField::kUptime100ns, uptime);
  return true;
}

void read_load_and_uptime(FileReader& files, SystemValues& target) {
  if (const auto text = files.read("proc/loadavg")) parse_loadavg(*text, target);
  if (const auto text = files.read("proc/uptime")) parse_uptime(*text, target);
}

}  // namespace meterbank::host
