// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "rows.hpp"
#include "workplace.hpp"

namespace {

constexpr const char* kUsage =
    "usage: meterbank_bench [--quick] [--large] [--peers] "
    "[publish|c|c-reader|snapshot|fresh|setup|bulk|perflib|pdh|callback|door|distribution|cut|shards|"
    "server|ledger|books|admission|waits|machine|leases]...\n"
    "  --quick  tiny inputs: shows that every row runs; its figures mean nothing\n"
    "  --large  bulk snapshots of 1,000,000 instances as well\n"
    "  --peers  rows of other systems too, where this program was built with them\n"
    "  words    these groups of rows only\n";

using Rows = void (*)(const meterbank::bench::Effort&, meterbank::bench::Table&);
struct Group {
  std::string_view name;
  Rows rows;
};
constexpr Group kGroups[] = {{"publish", meterbank::bench::publish_rows},
                             {"c", meterbank::bench::c_rows},
                             {"c-reader", meterbank::bench::c_reader_rows},
                             {"shards", meterbank::bench::shard_rows},
                             {"snapshot", meterbank::bench::snapshot_rows},
                             {"fresh", meterbank::bench::fresh_rows},
                             {"setup", meterbank::bench::setup_rows},
                             {"bulk", meterbank::bench::catalog_rows},
                             {"perflib", meterbank::bench::perflib_rows},
                             {"pdh", meterbank::bench::pdh_rows},
                             {"callback", meterbank::bench::callback_rows},
                             {"door", meterbank::bench::door_rows},
                             {"distribution", meterbank::bench::distribution_rows},
                             {"cut", meterbank::bench::cut_rows},
                             {"server", meterbank::bench::server_rows},
                             {"ledger", meterbank::bench::lease_ledger_rows},
                             {"books", meterbank::bench::lease_book_rows},
                             {"admission", meterbank::bench::lease_admission_rows},
                             {"waits", meterbank::bench::lease_wait_rows},
                             {"machine", meterbank::bench::lease_machine_rows},
                             {"leases", meterbank::bench::lease_daemon_rows}};

// One processor for all loops of this thread. Where the machine has only one, nothing is gained.
void stay_here() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(0, &here);
  static_cast<void>(::sched_setaffinity(0, sizeof here, &here));
}

}  // namespace

int main(int count, char** arguments) {
  meterbank::bench::Effort effort;
  std::vector<Group> chosen;
  for (int index = 1; index < count; ++index) {
    const std::string_view argument = arguments[index];
    if (argument == "--quick") {
      effort = {.rounds = 3,
                .operations = 4096,
                .many = 2048,
                .live = 256,
                .bulk = {64, 1000},
                .fresh_reads = 20,
                .fresh_rounds = 2};
    } else if (argument == "--large") {
      effort.bulk.push_back(1'000'000);
    } else if (argument == "--peers") {
      effort.peers = true;
    } else if (const auto* group = std::ranges::find(kGroups, argument, &Group::name);
               group != std::end(kGroups)) {
      chosen.push_back(*group);
    } else {
      std::fputs(kUsage, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    }
  }
  stay_here();
  meterbank::bench::Table table;
  table.head();
  if (chosen.empty()) chosen.assign(std::begin(kGroups), std::end(kGroups));
  for (const Group& group : chosen) group.rows(effort, table);
  if (effort.peers) {
#ifdef METERBANK_BENCH_PCP
    meterbank::bench::pcp_mmv_rows(effort, table);
#else
    table.note_row("PCP MMV", "built without libpcp-mmv1-dev");
#endif
#ifdef METERBANK_BENCH_VARNISH
    meterbank::bench::varnish_rows(effort, table);
#else
    table.note_row("Varnish VSC", "built without libvarnishapi-dev");
#endif
  }
  // A missed figure is a result, not a failure of the benchmark.
  std::printf("%u rows miss their figure\n", table.misses());
  return 0;
}
