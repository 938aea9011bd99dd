// SPDX-License-Identifier: Apache-2.0
//
// Results of samples that no reader can be made to take at will.
#include "query/result_plan.hpp"
#include "../support/sample_words.hpp"

#include <gtest/gtest.h>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

class ResultPlanTest : public PerfTest {
 protected:
  static CountersetSpec aggregated() {
    CountersetSpec spec = kGeometric;
    spec.instances = InstanceKind::kMultipleAggregate;
    return spec;
  }
  [[nodiscard]] static std::vector<SeenBlock> result_of(const ItemQuery& query,
                                                        const Sample& sample) {
    const ResultPlan plan(query, CharacterWidth::kFour);
    Bytes bytes(plan.measure(sample));
    plan.write(sample, bytes.size(), bytes.data());
    return seen(bytes, CharacterWidth::kFour);
  }

  Provider provider_ = provider("waves");
  Registration set_ = *provider_.add(aggregated());
  Instance one_ = *set_.create_instance("one"), two_ = *set_.create_instance("two");
};

TEST_F(ResultPlanTest, GivesNoSumWithoutAllItsShares) {
  one_.set(0, 5);
  two_.set(0, 6);
  const Catalog catalog = *Catalog::open({});
  ItemQuery query = ItemQuery::compile(catalog, {{kGeometric.guid, "_Total", kAnyInstanceId, 1},
                                                 {kGeometric.guid, "*", kAnyInstanceId, 1}});
  Sample sample;
  query.collect(sample);
  EXPECT_EQ(result_of(query, sample)[0].rows, (Rows{{"", {{0, 11}}}}));
  EXPECT_EQ(result_of(query, sample)[1].rows,
            (Rows{{"_Total", {{0, 11}}}, {"one", {{0, 5}}}, {"two", {{0, 6}}}}));

  SampleAccess::of(sample).status[1] = RowStatus::kBusy;

  EXPECT_EQ(result_of(query, sample)[0].status, static_cast<ULONG>(ERROR_RETRY));
  EXPECT_EQ(result_of(query, sample)[1].rows, (Rows{{"one", {{0, 5}}}}));
}

}  // namespace
}  // namespace meterbank::test
