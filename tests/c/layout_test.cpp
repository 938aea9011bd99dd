// SPDX-License-Identifier: Apache-2.0
//
// The structs of the C interface, to the byte: programs are compiled with them, and their inline
// functions write through some of them. What stands here may grow at the end, where a struct begins
// with its size, and must not change otherwise.
#include <gtest/gtest.h>

#include <cstddef>

#include "meterbank/c/callback.h"
#include "meterbank/c/latency.h"
#include "meterbank/c/publisher.h"
#include "meterbank/c/sharded.h"
#include "meterbank/publisher/instance.hpp"

namespace meterbank {
namespace {

TEST(LayoutOfC, IsThatOfTheCppObjectsThatItMirrors) {
  EXPECT_EQ(sizeof(mb_block), sizeof(BlockWriter<StdAtomics>));
  EXPECT_EQ(sizeof(mb_update), sizeof(BlockWriter<StdAtomics>::Update));
  EXPECT_EQ(sizeof(mb_instance), sizeof(Instance));
  EXPECT_EQ(sizeof(mb_guid), sizeof(Guid));
  EXPECT_EQ(offsetof(mb_guid, part2), offsetof(Guid, part2));
  EXPECT_EQ(offsetof(mb_guid, part3), offsetof(Guid, part3));
  EXPECT_EQ(offsetof(mb_guid, part4), offsetof(Guid, part4));
  EXPECT_EQ(sizeof(mb_bucket_boundaries), sizeof(detail::kBoundaries));
}

TEST(LayoutOfC, HasTheSizesThatProgramsAreCompiledWith) {
  EXPECT_EQ(sizeof(mb_error), 512U);
  EXPECT_EQ(sizeof(mb_counter), 32U);
  EXPECT_EQ(sizeof(mb_gauge), 40U);
  EXPECT_EQ(sizeof(mb_recorder), 48U);
  EXPECT_EQ(sizeof(mb_text), 40U);
  EXPECT_EQ(sizeof(mb_tick_clock), 16U);
  EXPECT_EQ(sizeof(mb_sharded), 16U);
  EXPECT_EQ(sizeof(mb_sharded_change), 24U);
  EXPECT_EQ(sizeof(mb_link), 8U);
  EXPECT_EQ(sizeof(mb_provider_options), 72U);
  EXPECT_EQ(sizeof(mb_instance_options), 12U);
  EXPECT_EQ(sizeof(mb_callback_options), 8U);
  EXPECT_EQ(sizeof(mb_counterset_spec), 96U);
  EXPECT_EQ(sizeof(mb_counter_spec), 128U);
}

TEST(LayoutOfC, HasItsMembersWhereProgramsLookForThem) {
  EXPECT_EQ(offsetof(mb_error, system_error), 4U);
  EXPECT_EQ(offsetof(mb_error, what), 8U);
  EXPECT_EQ(offsetof(mb_error, remedy), 384U);
  EXPECT_EQ(offsetof(mb_block, copy1), 8U);
  EXPECT_EQ(offsetof(mb_block, checkpoint), 12U);
  EXPECT_EQ(offsetof(mb_block, copy0), 16U);
  EXPECT_EQ(offsetof(mb_block, words), 18U);
  EXPECT_EQ(offsetof(mb_block, words_in_place), 20U);
  EXPECT_EQ(offsetof(mb_block, words_plain), 22U);
  EXPECT_EQ(offsetof(mb_instance, number), 24U);
  EXPECT_EQ(offsetof(mb_counter, word), 24U);
  EXPECT_EQ(offsetof(mb_update, first), 24U);
  EXPECT_EQ(offsetof(mb_update, last), 28U);
  EXPECT_EQ(offsetof(mb_gauge, time_word), 32U);
  EXPECT_EQ(offsetof(mb_recorder, buckets), 40U);
  EXPECT_EQ(offsetof(mb_text, time_word), 36U);
  EXPECT_EQ(offsetof(mb_bucket_boundaries, below), 2064U);
  EXPECT_EQ(offsetof(mb_provider_options, name), 8U);
  EXPECT_EQ(offsetof(mb_provider_options, quarantine_ms), 48U);
  EXPECT_EQ(offsetof(mb_provider_options, readers), 64U);  // the size of its first version
  EXPECT_EQ(offsetof(mb_counterset_spec, guid), 40U);
  EXPECT_EQ(offsetof(mb_counterset_spec, counters), 88U);
  EXPECT_EQ(offsetof(mb_counter_spec, base), 40U);
  EXPECT_EQ(offsetof(mb_counter_spec, attributes), 96U);
  EXPECT_EQ(offsetof(mb_counter_spec, bucket_scale), 120U);
}

}  // namespace
}  // namespace meterbank
