// SPDX-License-Identifier: Apache-2.0
#include "slow_commit.hpp"

#include "meterbank/base/clock.hpp"

using namespace meterbank::border;
using meterbank::StdAtomics;

void mb_block_set_slow(const mb_block* block, uint32_t word, uint64_t value) {
  set_slowly<StdAtomics>(*block, word, value);
}
void mb_block_add_slow(const mb_block* block, uint32_t word, uint64_t delta) {
  add_slowly<StdAtomics>(*block, word, delta);
}
void mb_update_commit_slow(mb_update update) { commit_slowly<StdAtomics>(update); }
void mb_block_write_checkpoint(mb_block block, uint64_t seq) {
  write_checkpoint<StdAtomics>(block, seq);
}
void mb_recorder_record_slow(const mb_recorder* recorder, double value) {
  record_slowly<StdAtomics>(*recorder, value);
}
void mb_gauge_set_timed(const mb_gauge* gauge, uint64_t bits) {
  set_timed<StdAtomics>(*gauge, bits, mb_coarse_clock_ns());
}
uint64_t mb_coarse_clock_ns(void) { return meterbank::clock_ns(CLOCK_MONOTONIC_COARSE); }
