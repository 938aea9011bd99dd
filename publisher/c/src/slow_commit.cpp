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
void mb_update_commit_slow(uint64_t* seq_word, uint32_t copy1, uint32_t checkpoint, uint32_t copy0,
                           uint32_t words, uint32_t changed) {
  commit_slowly<StdAtomics>(block_of(seq_word, copy1, checkpoint, copy0, words), changed);
}
void mb_block_write_checkpoint(uint64_t* seq_word, uint32_t checkpoint, uint32_t copy0,
                               uint32_t words, uint64_t seq) {
  write_checkpoint<StdAtomics>(block_of(seq_word, 0, checkpoint, copy0, words), seq);
}
void mb_recorder_record_slow(const mb_recorder* recorder, double value) {
  record_slowly<StdAtomics>(*recorder, value);
}
void mb_gauge_set_timed(const mb_gauge* gauge, uint64_t bits) {
  set_timed<StdAtomics>(*gauge, bits, mb_coarse_clock_ns());
}
uint64_t mb_coarse_clock_ns(void) { return meterbank::clock_ns(CLOCK_MONOTONIC_COARSE); }
