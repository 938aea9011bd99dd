// SPDX-License-Identifier: Apache-2.0
//
// Performance Co-Pilot, memory mapped values: what its public increment costs.
#include <pcp/pmapi.h>
#include <stdlib.h>
#include <sys/stat.h>
// after pmapi.h, which it needs
#include <pcp/mmv_stats.h>

#include <array>
#include <cstdio>

#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

[[gnu::noinline]] void add_hot(Counter& counter, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) counter.add(1);
}

}  // namespace

void pcp_mmv_rows(const Effort& effort, Table& table) {
  Workplace workplace;
  ::setenv("PCP_TMP_DIR", workplace.directory().c_str(), 1);
  ::mkdir((workplace.directory() + "/mmv").c_str(), 0700);
  std::array<mmv_metric_t, 1> metrics = {};
  std::snprintf(metrics[0].name, sizeof metrics[0].name, "accepted");
  metrics[0].item = 1;
  metrics[0].type = MMV_TYPE_U64;
  metrics[0].semantics = MMV_SEM_COUNTER;
  metrics[0].dimension = MMV_UNITS(0, 0, 1, 0, 0, PM_COUNT_ONE);
  void* const memory =
      mmv_stats_init("meterbank_bench", 0, MMV_FLAG_PROCESS, metrics.data(), 1, nullptr, 0);
  if (memory == nullptr) {
    table.note_row("PCP MMV", "cannot write its directory");
    return;
  }
  pmAtomValue* const value = mmv_lookup_value_desc(memory, "accepted", "");
  if (value == nullptr) give_up("PCP MMV lost its metric");
  const SetShape shape{.counters = 1, .consistency = Consistency::kIndependent};
  const Registration set = workplace.add(shape);
  const std::vector<Instance> ours = workplace.fill(set, shape, 1);
  Counter counter = ours[0].counter(0);
  table.ratio_row("PCP MMV: mmv_inc_value, handle in hand (limit: Counter::add)",
                  compare(
                      effort.rounds, effort.operations,
                      [&] {
                        for (std::uint64_t turn = 0; turn < effort.operations; ++turn) {
                          mmv_inc_value(memory, value, 1);
                        }
                      },
                      [&] { add_hot(counter, effort.operations); }),
                  {});
  table.ratio_row("PCP MMV: increment by name, the only one (limit: Registration::find, add)",
                  compare(
                      effort.rounds, effort.operations / 10,
                      [&] {
                        for (std::uint64_t turn = 0; turn < effort.operations / 10; ++turn) {
                          mmv_stats_inc(memory, "accepted", "");
                        }
                      },
                      [&] {
                        for (std::uint64_t turn = 0; turn < effort.operations / 10; ++turn) {
                          set.find("i0")->add(0, 1);
                        }
                      }),
                  {});
  mmv_stats_stop("meterbank_bench", memory);
}

}  // namespace meterbank::bench
