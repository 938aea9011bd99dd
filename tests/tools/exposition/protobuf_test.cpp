// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <protozero/pbf_message.hpp>
#include <random>

#include "exposition/protobuf/metric_fields.hpp"
#include "exposition/histogram/native_histogram.hpp"
#include "exposition_fixture.hpp"

namespace meterbank::exposition {
namespace {

// What Prometheus makes of a histogram: counts by bucket index.
std::map<std::int32_t, std::int64_t> buckets_of(const NativeHistogram& histogram) {
  std::map<std::int32_t, std::int64_t> buckets;
  std::int32_t index = 0;
  std::int64_t count = 0;
  std::size_t delta = 0;
  for (const NativeHistogram::Span& span : histogram.spans) {
    index += span.offset;
    for (std::uint32_t number = 0; number < span.length; ++number) {
      count += histogram.deltas.at(delta++);
      if (count != 0) buckets[index] = count;
      ++index;
    }
  }
  EXPECT_EQ(delta, histogram.deltas.size());
  return buckets;
}

Distribution distribution_of(const DistributionShape& shape) {
  Distribution distribution;
  distribution.shape = shape;
  distribution.buckets.resize(shape.buckets);
  return distribution;
}

TEST(NativeHistogram, PutsEachValueIntoTheBucketThatContainsIt) {
  for (const std::int32_t scale : {-4, -1, 0, 3, 8}) {
    const auto shape = DistributionShape::of(scale, 1e-3, 1e3, 100'000);
    ASSERT_TRUE(shape);
    for (const double value : {0.0011, 0.5, 1.0, 1.0001, 2.0, 999.0}) {
      Distribution distribution = distribution_of(*shape);
      const std::uint32_t word = shape->word_of(value) - DistributionShape::kBuckets;
      distribution.buckets[word] = 3;
      distribution.count = 3;
      NativeHistogram histogram;
      histogram.assign(distribution);
      const auto buckets = buckets_of(histogram);
      ASSERT_EQ(buckets.size(), 1U);
      // Prometheus: bucket i is (base^(i-1), base^i].
      const double base = std::exp2(std::exp2(-scale));
      const auto [index, count] = *buckets.begin();
      EXPECT_EQ(count, 3);
      EXPECT_LT(std::pow(base, index - 1), value * (1 + 1e-9));
      EXPECT_GE(std::pow(base, index), value * (1 - 1e-9));
    }
  }
}

TEST(NativeHistogram, KeepsAllCountsWhateverTheGaps) {
  std::mt19937_64 random(7);
  const auto shape = DistributionShape::of(3, 1e-6, 10, 1000);
  NativeHistogram histogram;
  for (int round = 0; round < 200; ++round) {
    Distribution distribution = distribution_of(*shape);
    std::map<std::int32_t, std::int64_t> expected;
    for (std::size_t bucket = 0; bucket < distribution.buckets.size(); ++bucket) {
      if (random() % 5 != 0) continue;
      distribution.buckets[bucket] = random() % 100 + 1;
      expected[shape->first + static_cast<std::int32_t>(bucket) + 1] =
          static_cast<std::int64_t>(distribution.buckets[bucket]);
    }
    histogram.assign(distribution);
    EXPECT_EQ(buckets_of(histogram), expected);
  }
}

TEST(NativeHistogram, HasWhatLiesBelowTheRangeAtZeroAndWhatLiesAboveAtInfinity) {
  Distribution distribution = distribution_of(*DistributionShape::of(0, 1, 100, 100));
  distribution.below = 4;
  distribution.above = 2;
  distribution.count = 6;
  NativeHistogram histogram;
  histogram.assign(distribution);
  EXPECT_EQ(histogram.zero_count, 4U);
  EXPECT_EQ(histogram.zero_threshold, 0.5);
  // The largest double is in bucket 1024 at scale 0.
  EXPECT_EQ(buckets_of(histogram), (std::map<std::int32_t, std::int64_t>{{1025, 2}}));
}

// "name{labels} value" of each number on a page, as the text format has it.
class DecodedPage {
 public:
  explicit DecodedPage(const std::string& page) {
    const char* at = page.data();
    const char* const end = at + page.size();
    while (at != end) {
      const std::uint64_t bytes = protozero::decode_varint(&at, end);
      read_family(protozero::data_view(at, bytes));
      at += bytes;
    }
  }
  std::map<std::string, double> values;
  std::map<std::string, std::string> types;
  std::size_t starts = 0;

 private:
  void read_family(protozero::data_view bytes) {
    std::string name;
    protozero::pbf_message<field::MetricFamily> family(bytes);
    while (family.next()) {
      switch (family.tag()) {
        case field::MetricFamily::kName:
          name = family.get_string();
          break;
        case field::MetricFamily::kType:
          types[name] = std::to_string(family.get_enum());
          break;
        case field::MetricFamily::kMetric:
          read_metric(name, family.get_view());
          break;
        default:
          family.skip();
      }
    }
  }
  void read_metric(const std::string& name, protozero::data_view bytes) {
    std::string labels;
    protozero::pbf_message<field::Metric> metric(bytes);
    while (metric.next()) {
      if (metric.tag() == field::Metric::kLabel) {
        protozero::pbf_message<field::LabelPair> pair(metric.get_view());
        std::string label, value;
        while (pair.next()) {
          // Reading the string ends the tag.
          const bool is_name = pair.tag() == field::LabelPair::kName;
          (is_name ? label : value) = pair.get_string();
        }
        append_label(labels, label, value);
        continue;
      }
      const bool is_histogram = metric.tag() == field::Metric::kHistogram;
      protozero::pbf_reader value(metric.get_view());
      while (value.next()) {
        // Value of a gauge or counter; the count and sum of a histogram.
        if (value.tag() == 1 && !is_histogram) {
          values[name + "{" + labels + "}"] = value.get_double();
        } else if (value.tag() == 1) {
          values[name + "_count{" + labels + "}"] = static_cast<double>(value.get_uint64());
        } else if (value.tag() == 2 && is_histogram) {
          values[name + "_sum{" + labels + "}"] = value.get_double();
        } else {
          if (value.tag() == 3 || value.tag() == 15) ++starts;
          value.skip();
        }
      }
    }
  }
};

class Protobuf : public PageTest {};

TEST_F(Protobuf, SaysTheSameAsTheText) {
  const Registration shop = *provider_->add(kShop);
  std::vector<Instance> aisles;
  for (int number = 0; number < 20; ++number) {
    Instance& aisle = aisles.emplace_back(*shop.create_instance("aisle " + std::to_string(number)));
    aisle.add(Shop::kSold, static_cast<std::uint32_t>(number));
    aisle.set(Shop::kPause, 7U);
    aisle.recorder(Shop::kTime).record(number);
    aisle.text(Shop::kState).set("\"open\"");
  }
  const auto taken = snapshot();
  const DecodedPage decoded(page_of(taken, PageFormat::kProtobuf));
  std::size_t compared = 0;
  for (const std::string& line : series_of(page_of(taken, PageFormat::kText))) {
    if (line.find("_bucket{") != std::string::npos) continue;
    const std::size_t blank = line.rfind(' ');
    std::string series = line.substr(0, blank);
    if (series.find('{') == std::string::npos) series += "{}";
    ASSERT_TRUE(decoded.values.contains(series)) << series;
    EXPECT_DOUBLE_EQ(decoded.values.at(series), std::stod(line.substr(blank)));
    ++compared;
  }
  EXPECT_EQ(compared, decoded.values.size());
  EXPECT_GT(compared, 140U);
  EXPECT_EQ(decoded.starts, 40U);  // of each counter and histogram
  EXPECT_EQ(decoded.types.at("meterbank_shop_serving_time_seconds"), "4");
}

}  // namespace
}  // namespace meterbank::exposition
