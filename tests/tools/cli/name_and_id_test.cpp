// SPDX-License-Identifier: Apache-2.0
//
// Rows that share their name or their id, in every format.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

class CliNameAndId : public CliTest {
 protected:
  CliNameAndId() {
    provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
    CountersetSpec spec = kSales;
    spec.identity = InstanceIdentity::kNameAndId;
    sales_ = *provider_->add(spec);
    create("fruit", 1, 10);
    create("fruit", 2, 20);
    create("bread", 1, 30);
  }
  Instance& create(const std::string& aisle, std::uint32_t id, std::uint64_t stock) {
    aisles_.push_back(*sales_.create_instance(aisle, {.id = id}));
    aisles_.back().set(Sales::kStock, stock);
    return aisles_.back();
  }
  // The field of each line of tab separated values, without the line of keys.
  [[nodiscard]] std::vector<std::string> fields(const std::vector<std::string>& arguments,
                                                std::size_t field) const {
    const Outcome outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    std::vector<std::string> found;
    for (const std::string& line : outcome.lines()) {
      std::size_t begin = 0;
      for (std::size_t skipped = 0; skipped < field; ++skipped) begin = line.find('\t', begin) + 1;
      found.push_back(line.substr(begin, line.find('\t', begin) - begin));
    }
    return found;
  }
};

using Texts = std::vector<std::string>;

TEST_F(CliNameAndId, RowsAreToldApartInEveryFormat) {
  for (const char* const format : {"table", "plain", "tsv", "csv", "json", "jsonl", "pdh-csv"}) {
    const Outcome outcome = meterbank({"get", "shop_sales/*/stock", "-f", format});
    ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
    for (const char* const name : {"fruit#1", "fruit#2", "bread"}) {
      const auto found = outcome.out.find(name);
      EXPECT_NE(found, std::string::npos) << format << " " << name << "\n" << outcome.out;
      EXPECT_EQ(outcome.out.find("bread#"), std::string::npos) << format;
    }
  }
}

TEST_F(CliNameAndId, PrintedPathsSelectTheirRow) {
  const auto paths = fields({"get", "shop_sales", "--raw", "-f", "plain"}, 1);
  ASSERT_EQ(paths.size(), 9U);
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), 9U);
  for (const std::string& path : paths) {
    EXPECT_EQ(fields({"get", path, "--raw", "-f", "plain"}, 1), Texts{path});
  }
}

TEST_F(CliNameAndId, FieldsOfARowMakeItsPath) {
  const auto sets = fields({"get", "shop_sales/stock", "-f", "tsv"}, 2);
  const auto instances = fields({"get", "shop_sales/stock", "-f", "tsv"}, 3);
  const auto counters = fields({"get", "shop_sales/stock", "-f", "tsv"}, 4);
  const auto values = fields({"get", "shop_sales/stock", "-f", "tsv"}, 5);
  ASSERT_EQ(values.size(), 4U);
  for (std::size_t row = 1; row < values.size(); ++row) {
    const std::string path = sets[row] + "/" + instances[row] + "/" + counters[row];
    EXPECT_EQ(fields({"get", path, "-f", "plain"}, 2), Texts{values[row]}) << path;
  }
}

TEST_F(CliNameAndId, ANumberMeansTheIdOfThatName) {
  EXPECT_EQ(fields({"get", "shop_sales/fruit#2/stock"}, 2), Texts{"20"});
  EXPECT_EQ(fields({"get", "shop_sales/bread#1/stock"}, 2), Texts{"30"});
  EXPECT_EQ(fields({"get", "shop_sales/*#1/stock"}, 2), (Texts{"10", "30"}));
  EXPECT_EQ(fields({"get", "shop_sales/fruit/stock"}, 2), Texts{"10"});
  EXPECT_EQ(fields({"get", "shop_sales/fruit#*/stock"}, 2), (Texts{"10", "20"}));
}

TEST_F(CliNameAndId, JsonKeepsNameAndIdApart) {
  const Json document = parse_json(meterbank({"get", "shop_sales/stock", "-f", "json"}).out);
  std::vector<std::pair<std::string, int>> rows;
  for (const auto& row : document["samples"]) {
    rows.emplace_back(row["instance"].get<std::string>(), row["instance_id"].get<int>());
  }
  EXPECT_EQ(rows,
            (std::vector<std::pair<std::string, int>>{{"fruit", 1}, {"fruit", 2}, {"bread", 1}}));
}

TEST_F(CliNameAndId, ListsSayWhichRuleASetHas) {
  open_bakery();
  const Json sets = parse_json(meterbank({"list", "-f", "json"}).out);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0]["set"], "bakery");
  EXPECT_EQ(sets[0]["identity"], "unique");
  EXPECT_EQ(sets[1]["identity"], "name-and-id");
  const Outcome details = meterbank({"list", "-l", "shop_sales/stock"});
  EXPECT_NE(details.out.find("fruit#1  fruit#2  bread"), std::string::npos) << details.out;
}

TEST_F(CliNameAndId, ExpressionsHaveARowForEachNameAndId) {
  EXPECT_EQ(fields({"get", "-e", "twice = 2 * {shop_sales/*/stock}", "-f", "plain"}, 1),
            (Texts{"expr/fruit#1/twice", "expr/fruit#2/twice", "expr/bread/twice"}));
  EXPECT_EQ(fields({"get", "-e", "twice = 2 * {shop_sales/*/stock}", "-f", "plain"}, 2),
            (Texts{"20", "40", "60"}));
}

}  // namespace
}  // namespace meterbank::cli
