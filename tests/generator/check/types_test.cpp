// SPDX-License-Identifier: Apache-2.0
//
// Each of the 38 types of a manifest, with and without the counters that it needs beside it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "parsed.hpp"

namespace meterbank::generator {
namespace {

struct Type {
  std::string_view name;
  std::string_view base = {};  // the type that its base has to have
  bool has_clock = false;      // of the object
  bool has_components = false;
};

constexpr std::array<Type, 38> kTypes{{
    {"perf_counter_rawcount"},
    {"perf_counter_large_rawcount"},
    {"perf_counter_rawcount_hex"},
    {"perf_counter_large_rawcount_hex"},
    {"perf_counter_delta"},
    {"perf_counter_large_delta"},
    {"perf_counter_counter"},
    {"perf_counter_bulk_count"},
    {"perf_sample_counter"},
    {"perf_counter_queuelen_type"},
    {"perf_counter_large_queuelen_type"},
    {"perf_counter_100ns_queuelen_type"},
    {"perf_counter_obj_time_queuelen_type", "", true},
    {"perf_counter_timer"},
    {"perf_counter_timer_inv"},
    {"perf_100nsec_timer"},
    {"perf_100nsec_timer_inv"},
    {"perf_obj_time_timer", "", true},
    {"perf_precision_system_timer", "perf_large_raw_base"},
    {"perf_precision_100ns_timer", "perf_large_raw_base"},
    {"perf_precision_object_timer", "perf_large_raw_base"},
    {"perf_counter_multi_timer", "", false, true},
    {"perf_counter_multi_timer_inv", "", false, true},
    {"perf_100nsec_multi_timer", "", false, true},
    {"perf_100nsec_multi_timer_inv", "", false, true},
    {"perf_sample_fraction", "perf_sample_base"},
    {"perf_raw_fraction", "perf_raw_base"},
    {"perf_large_raw_fraction", "perf_large_raw_base"},
    {"perf_average_timer", "perf_average_base"},
    {"perf_average_bulk", "perf_average_base"},
    {"perf_elapsed_time", "", true},
    {"perf_counter_text"},
    {"perf_counter_composite"},
    {"perf_sample_base"},
    {"perf_average_base"},
    {"perf_raw_base"},
    {"perf_large_raw_base"},
    {"perf_counter_multi_base"},
}};

constexpr std::array<std::string_view, 5> kBases{"perf_sample_base", "perf_average_base",
                                                 "perf_raw_base", "perf_large_raw_base",
                                                 "perf_counter_multi_base"};

std::string counter(std::uint32_t id, std::string_view type, const std::string& more = {}) {
  return fmt::format(
      R"(<counter id="{}" name="Counter {}" uri="T.{}" type="{}" detailLevel="standard" {}/>)", id,
      id, id, type, more);
}

std::string faults_of_counters(const std::string& counters) {
  const std::string text = fmt::format(
      R"(<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation>
<counters xmlns="http://schemas.microsoft.com/win/2005/12/counters" schemaVersion="1.1">
<provider providerGuid="{{92a43b33-5cfd-4842-8d49-37d98cf2716e}}" applicationIdentity="a"
 symbol="T"><counterSet name="Types" symbol="Types" uri="T" description="Of types."
 guid="{{0b1d9f44-7c5e-4f0a-9a3d-5a3c1f0e6d21}}">{}</counterSet></provider></counters>
</instrumentation></instrumentationManifest>)",
      counters);
  return faults_of(parsed(text, "types.man"));
}

// The counter of that type and all that it may refer to, in one set.
std::string with_neighbours(std::string_view type, const std::string& links,
                            std::string_view base) {
  return counter(1, type, links) + counter(2, base.empty() ? kBases[0] : base) +
         counter(3, "perf_counter_large_rawcount") + counter(4, "perf_counter_large_rawcount") +
         counter(5, "perf_counter_multi_base");
}

std::string links_of(const Type& type) {
  std::string links;
  if (!type.base.empty()) links += R"( baseID="2")";
  if (type.has_clock) links += R"( perfTimeID="3" perfFreqID="4")";
  if (type.has_components) links += R"( multiCounterID="5")";
  return links;
}

// M83.
TEST(Types, AreAllAcceptedWithWhatTheyNeed) {
  for (const Type& type : kTypes) {
    EXPECT_EQ(faults_of_counters(with_neighbours(type.name, links_of(type), type.base)), "")
        << type.name;
  }
}

// M84.
TEST(Types, AreRefusedWithoutWhatTheyNeed) {
  for (const Type& type : kTypes) {
    const std::string faults = faults_of_counters(with_neighbours(type.name, "", type.base));
    EXPECT_EQ(faults.find("needs a baseID") != std::string::npos, !type.base.empty()) << faults;
    EXPECT_EQ(faults.find("needs a perfTimeID") != std::string::npos, type.has_clock) << faults;
    EXPECT_EQ(faults.find("needs a perfFreqID") != std::string::npos, type.has_clock) << faults;
    EXPECT_EQ(faults.find("needs a multiCounterID") != std::string::npos, type.has_components)
        << faults;
  }
}

// M84.
TEST(Types, AreRefusedWithABaseOfAnotherType) {
  for (const Type& type : kTypes) {
    if (type.base.empty()) continue;
    for (const std::string_view base : kBases) {
      const std::string faults =
          faults_of_counters(with_neighbours(type.name, links_of(type), base));
      EXPECT_EQ(faults.empty(), base == type.base) << type.name << " with " << base;
    }
  }
}

// M84. Windows documents both links, each for a type of its own.
TEST(Types, OfSeveralComponentsTakeTheirNumberByEitherLink) {
  const auto faults = [](std::string_view type, const std::string& links) {
    return faults_of_counters(with_neighbours(type, links, "perf_counter_rawcount"));
  };
  for (const Type& type : kTypes) {
    if (!type.has_components) continue;
    EXPECT_EQ(faults(type.name, R"(baseID="5")"), "") << type.name;
    EXPECT_EQ(faults(type.name, R"(multiCounterID="2")"), "") << type.name;
    EXPECT_EQ(faults(type.name, R"(baseID="5" multiCounterID="2")"), "") << type.name;
    EXPECT_NE(faults(type.name, R"(baseID="2")")
                  .find("has the type perf_counter_rawcount, and not "
                        "perf_counter_multi_base"),
              std::string::npos)
        << type.name;
  }
}

TEST(Types, WithoutUseForALinkRefuseIt) {
  for (const Type& type : kTypes) {
    const std::string links = links_of(type) + R"( multiCounterID="5")";
    if (type.has_components) continue;
    EXPECT_NE(faults_of_counters(with_neighbours(type.name, links, type.base))
                  .find("has no use for a multiCounterID"),
              std::string::npos)
        << type.name;
  }
}

}  // namespace
}  // namespace meterbank::generator
