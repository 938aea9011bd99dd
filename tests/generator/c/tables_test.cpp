// SPDX-License-Identifier: Apache-2.0
//
// The header for C that meterbank-gen makes, against the one for C++ of the same manifest.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "demo_orders.hpp"
#include "forms.hpp"
#include "generated_tables.h"
#include "generator/input/load.hpp"
#include "generator/manifest/check.hpp"
#include "generator/manifest/vocabulary.hpp"
#include "generator/output/c/spellings.hpp"
#include "generator/output/output.hpp"
#include "handles.hpp"

namespace meterbank::generator {
namespace {

// Readers see the same in memory, and it lies there in the same form.
void expect_same(const mb_counterset_spec& of_c, const CountersetSpec& of_cpp) {
  std::vector<CounterSpec> counters;
  const auto spec = border::read_spec(&of_c, counters);
  ASSERT_TRUE(spec) << spec.error().error.what;
  const auto schema = encode_schema(*spec, "provider");
  ASSERT_TRUE(schema) << schema.error().message();
  EXPECT_EQ(*schema, encode_schema(of_cpp, "provider"));
  EXPECT_EQ(form_of(*spec), form_of(of_cpp));
  EXPECT_EQ(spec->by_processor, of_cpp.by_processor);
}

TEST(TablesOfC, AreTheSchemasOfTheHeaderForCpp) {
  const CountersetSpec of_cpp[] = {orders::kDemoOrdersSet, soup::kPotsSet, soup::kFaultsSet,
                                   soup::kSoupOrdersSet, soup::kTablesSet};
  for (std::size_t i = 0; i < std::size(of_cpp); ++i) expect_same(*generated_sets[i], of_cpp[i]);
}

TEST(TablesOfC, NameThePositionsOfTheHeaderForCpp) {
  const std::uint32_t of_cpp[] = {position_of(orders::DemoOrdersCounter::kAccepted),
                                  position_of(orders::DemoOrdersCounter::kBytesReceived),
                                  position_of(orders::DemoOrdersCounter::kState),
                                  position_of(soup::PotsCounter::kHelpingBase)};
  for (std::size_t i = 0; i < std::size(of_cpp); ++i) {
    EXPECT_EQ(generated_positions[i], of_cpp[i]);
  }
}

TEST(ConstantsOfC, HaveTheValuesOfCpp) {
  std::ifstream file(METERBANK_SCHEMA_HEADER);
  const std::string header{std::istreambuf_iterator<char>(file), {}};
  const auto has = [&](const std::string& name, std::uint64_t value, int digits) {
    std::string number = std::to_string(value);
    if (digits != 0) {
      char text[16];
      std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(value));
      number = text;
    }
    const std::size_t at = header.find("  " + name + " = " + number);
    ASSERT_NE(at, std::string::npos) << name << " = " << number;
    const char next = header[at + name.size() + number.size() + 5];
    EXPECT_TRUE(next == ',' || next == ' ' || next == '\n') << name;
  };
  for (const TypeName& each : kTypes) has(c_constant_of(each.type), bits_of(each.type), 8);
  for (std::uint32_t form = 0; form < 5; ++form) {
    has(c_constant_of(static_cast<ValueForm>(form)), form, 0);
  }
  for (const auto kind :
       {InstanceKind::kSingle, InstanceKind::kMultiple, InstanceKind::kGlobalAggregate,
        InstanceKind::kMultipleAggregate, InstanceKind::kGlobalAggregateHistory}) {
    has(c_constant_of(kind), static_cast<std::uint32_t>(kind), 0);
  }
  for (std::uint32_t aggregate = 0; aggregate < 5; ++aggregate) {
    has(c_aggregate(aggregate), aggregate, 0);
  }
}

// A manifest whose names would be the same in capitals.
TEST(TablesOfC, GiveEachEnumeratorAName) {
  constexpr std::string_view kManifest = R"(
[provider]
name = "p"
[[counterset]]
name = "A"
symbol = "a"
instances = "multiple"
[[counterset.counter]]
id = 1
name = "B C"
symbol = "b_c"
[[counterset]]
name = "A B"
symbol = "a_b"
instances = "multiple"
[[counterset.counter]]
id = 1
name = "C"
symbol = "c"
)";
  Problems problems;
  const auto manifest = parse_manifest(kManifest, "p.toml", problems);
  ASSERT_TRUE(manifest) << problems.text("p.toml");
  const auto header = c_header(*manifest, {});
  ASSERT_TRUE(header);
  EXPECT_NE(header->find("  A_B_C\n"), std::string::npos);
  EXPECT_NE(header->find("  A_B_C_2\n"), std::string::npos);
}

}  // namespace
}  // namespace meterbank::generator
