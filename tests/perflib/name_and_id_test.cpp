// SPDX-License-Identifier: Apache-2.0
//
// Rows that share their name or their id with others, as consumers written for Windows read them.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

class PerfNameAndId : public PerfTest {
 protected:
  static CountersetSpec spec() {
    CountersetSpec spec = kGeometric;
    spec.identity = InstanceIdentity::kNameAndId;
    return spec;
  }
  void create(const std::string& name, std::uint32_t id, std::uint64_t value) {
    kept_.push_back(*set_.create_instance(name, {.id = id}));
    kept_.back().set(0, value);
  }

  // "name#id" and the value of counter 1 of each row of a wildcard query.
  using Pairs = std::vector<std::pair<std::string, std::uint64_t>>;
  static Pairs rows(const std::u16string& pattern, std::uint32_t id = 0xffffffff) {
    Handle handle;
    EXPECT_EQ(handle.add({.pattern = pattern, .counter = 1, .instance = id}), kSuccess);
    const Bytes bytes = handle.read();
    Pairs pairs;
    ResultWalker walker(bytes, handle.width());
    while (const auto block = walker.next()) {
      RowWalker rows = block->rows();
      while (auto row = rows.next()) {
        pairs.emplace_back(row->name.utf8() + "#" + std::to_string(row->id),
                           *row->values.next()->number());
      }
    }
    return pairs;
  }
  // The value of the one row that an exact name gives.
  static std::uint64_t value(const std::u16string& name, std::uint32_t id = 0xffffffff) {
    Handle handle;
    EXPECT_EQ(handle.add({.pattern = name, .counter = 1, .instance = id}), kSuccess);
    const auto blocks = seen(handle);
    EXPECT_EQ(blocks[0].shape, BlockShape::kSingleCounter);
    return blocks[0].rows.empty() ? 0 : blocks[0].rows.begin()->second.begin()->second;
  }

  Provider provider_ = provider("waves");
  Registration set_ = *provider_.add(spec());
  std::vector<Instance> kept_;
};

TEST_F(PerfNameAndId, ListsThreeNamesOnOneId) {
  create("Small Wave", 0, 1);
  create("Medium Wave", 0, 2);
  create("Large Wave", 0, 3);
  EXPECT_EQ(rows(u"*"), (Pairs{{"Small Wave#0", 1}, {"Medium Wave#0", 2}, {"Large Wave#0", 3}}));
  EXPECT_EQ(rows(u"*", 0).size(), 3U);
  EXPECT_EQ(rows(u"M*", 0), (Pairs{{"Medium Wave#0", 2}}));
  EXPECT_EQ(value(u"Large Wave"), 3U);
  EXPECT_EQ(value(u"Large Wave", 0), 3U);
}

TEST_F(PerfNameAndId, GivesTheRowOfANameWithTheIdThatIsAskedFor) {
  create("Wave", 9, 90);
  create("Wave", 4, 40);
  create("Other", 9, 50);
  EXPECT_EQ(value(u"WAVE", 9), 90U);
  EXPECT_EQ(value(u"Wave", 4), 40U);
  EXPECT_EQ(rows(u"*", 9), (Pairs{{"Wave#9", 90}, {"Other#9", 50}}));
}

TEST_F(PerfNameAndId, GivesTheSmallestIdOfANameThatIsAskedForAlone) {
  create("Wave", 9, 90);
  create("Wave", 4, 40);
  EXPECT_EQ(value(u"Wave"), 40U);
  EXPECT_EQ(rows(u"Wav?"), (Pairs{{"Wave#9", 90}, {"Wave#4", 40}}));
}

}  // namespace
}  // namespace meterbank::test
