// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <map>
#include <protozero/pbf_message.hpp>
#include <random>
#include <set>

#include "../exposition/exposition_fixture.hpp"
#include "push/otlp/number_point.hpp"
#include "push/otlp/otlp_answer.hpp"
#include "push/otlp/otlp_encoder.hpp"

namespace meterbank::push::otlp {
namespace {

using exposition::kShop;
using exposition::Shop;

// One point as this test reads it.
struct Point {
  std::string kind;  // "sum", "gauge", "histogram", "summary"
  std::string unit, resource, attributes;
  bool is_cumulative = false, is_monotonic = false;
  std::uint64_t start = 0, time = 0, count = 0, zero_count = 0;
  std::optional<std::int64_t> integer;
  double real = 0, zero_threshold = 0;
  std::int32_t scale = 0, offset = 0;
  std::vector<std::uint64_t> buckets;
};

std::string attribute_of(protozero::data_view bytes) {
  std::string key, value;
  protozero::pbf_message<KeyValue> pair(bytes);
  while (pair.next()) {
    if (pair.tag() == KeyValue::kKey) {
      key = pair.get_string();
      continue;
    }
    protozero::pbf_message<AnyValue> any(pair.get_view());
    while (any.next()) {
      value = any.tag() == AnyValue::kString ? any.get_string() : std::to_string(any.get_int64());
    }
  }
  return key + "=" + value + ";";
}

// The points of requests, by the name of their metric and their attributes.
class Decoded {
 public:
  void add(const Batch& batch) {
    std::size_t count = 0;
    protozero::pbf_message<Request> request(batch.body);
    while (request.next(Request::kResourceMetrics)) count += add_resource(request.get_view());
    EXPECT_EQ(count, batch.points);
  }
  [[nodiscard]] const Point& at(const std::string& name) const {
    const auto found = points.find(name);
    EXPECT_NE(found, points.end()) << name;
    static const Point kNone;
    return found == points.end() ? kNone : found->second;
  }
  std::map<std::string, Point> points;
  std::set<std::string> resources;

 private:
  std::size_t add_resource(protozero::data_view bytes) {
    std::size_t count = 0;
    std::string attributes;
    protozero::pbf_message<ResourceMetrics> message(bytes);
    while (message.next()) {
      const ResourceMetrics tag = message.tag();
      protozero::pbf_reader part(message.get_view());
      if (tag == ResourceMetrics::kResource) {
        while (part.next()) attributes += attribute_of(part.get_view());
        resources.insert(attributes);
        continue;
      }
      while (part.next()) {
        if (static_cast<ScopeMetrics>(part.tag()) == ScopeMetrics::kMetrics) {
          count += add_metric(attributes, part.get_view());
        } else {
          part.skip();
        }
      }
    }
    return count;
  }

  std::size_t add_metric(const std::string& resource, protozero::data_view bytes) {
    std::string name, unit;
    std::size_t count = 0;
    protozero::pbf_message<Metric> metric(bytes);
    while (metric.next()) {
      switch (metric.tag()) {
        case Metric::kName:
          name = metric.get_string();
          break;
        case Metric::kUnit:
          unit = metric.get_string();
          break;
        case Metric::kDescription:
          metric.skip();
          break;
        default: {
          const Metric data = metric.tag();
          Point point;
          point.kind = kind_of(data);
          point.unit = unit;
          point.resource = resource;
          count += add_points(name, point, data, metric.get_view());
        }
      }
    }
    return count;
  }
  static std::string kind_of(Metric data) {
    if (data == Metric::kSum) return "sum";
    if (data == Metric::kGauge) return "gauge";
    return data == Metric::kSummary ? "summary" : "histogram";
  }

  std::size_t add_points(const std::string& name, Point point, Metric data,
                         protozero::data_view bytes) {
    // What holds for all of them may stand behind them.
    protozero::pbf_message<Data> facts(bytes);
    while (facts.next()) {
      if (facts.tag() == Data::kTemporality) {
        point.is_cumulative = facts.get_enum() == kCumulative;
      } else if (facts.tag() == Data::kIsMonotonic) {
        point.is_monotonic = facts.get_bool();
      } else {
        facts.skip();
      }
    }
    std::size_t count = 0;
    protozero::pbf_message<Data> message(bytes);
    while (message.next(Data::kPoints)) {
      Point one = point;
      if (data == Metric::kExponentialHistogram) {
        read_histogram(one, message.get_view());
      } else {
        read_number(one, message.get_view(), data == Metric::kSummary);
      }
      EXPECT_TRUE(points.emplace(name + "{" + one.attributes + "}", one).second) << name;
      ++count;
    }
    return count;
  }

  static void read_number(Point& point, protozero::data_view bytes, bool is_summary) {
    protozero::pbf_message<NumberPoint> message(bytes);
    while (message.next()) {
      if (message.tag() == NumberPoint::kAttributes) {
        point.attributes += attribute_of(message.get_view());
      } else if (message.tag() == NumberPoint::kStart) {
        point.start = message.get_fixed64();
      } else if (message.tag() == NumberPoint::kTime) {
        point.time = message.get_fixed64();
      } else if (message.tag() == NumberPoint::kAsInt) {
        point.integer = message.get_sfixed64();
      } else if (message.tag() == NumberPoint::kAsDouble && is_summary) {
        point.count = message.get_fixed64();  // SummaryPoint::kCount
      } else {
        point.real = message.get_double();
      }
    }
  }

  static void read_histogram(Point& point, protozero::data_view bytes) {
    protozero::pbf_message<HistogramPoint> message(bytes);
    while (message.next()) {
      switch (message.tag()) {
        case HistogramPoint::kAttributes:
          point.attributes += attribute_of(message.get_view());
          break;
        case HistogramPoint::kStart:
          point.start = message.get_fixed64();
          break;
        case HistogramPoint::kTime:
          point.time = message.get_fixed64();
          break;
        case HistogramPoint::kCount:
          point.count = message.get_fixed64();
          break;
        case HistogramPoint::kSum:
          point.real = message.get_double();
          break;
        case HistogramPoint::kScale:
          point.scale = message.get_sint32();
          break;
        case HistogramPoint::kZeroCount:
          point.zero_count = message.get_fixed64();
          break;
        case HistogramPoint::kZeroThreshold:
          point.zero_threshold = message.get_double();
          break;
        case HistogramPoint::kPositive: {
          protozero::pbf_message<Buckets> buckets(message.get_view());
          while (buckets.next()) {
            if (buckets.tag() == Buckets::kOffset) {
              point.offset = buckets.get_sint32();
            } else {
              for (const std::uint64_t count : buckets.get_packed_uint64()) {
                point.buckets.push_back(count);
              }
            }
          }
          break;
        }
        default:
          message.skip();
      }
    }
  }
};

class OtlpTest : public exposition::PageTest {
 protected:
  [[nodiscard]] static Decoded decode(const exposition::Snapshot& snapshot,
                                      std::size_t batch_bytes = kBatchBytes) {
    OtlpEncoder encoder({{"env", "test"}}, batch_bytes);
    return decode_with(encoder, snapshot);
  }
  [[nodiscard]] static Decoded decode_with(OtlpEncoder& encoder,
                                           const exposition::Snapshot& snapshot) {
    Decoded decoded;
    encoder.encode(snapshot, [&](const Batch& batch) { decoded.add(batch); });
    return decoded;
  }
};

TEST_F(OtlpTest, HasCountersAsCumulativeSumsWithTheirStart) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  fruit.add(Shop::kSold, 7U);
  const auto taken = snapshot();
  const Point sold = decode(*taken).at("meterbank_shop_sold{aisle=fruit;}");
  EXPECT_EQ(sold.kind, "sum");
  EXPECT_TRUE(sold.is_cumulative);
  EXPECT_TRUE(sold.is_monotonic);
  EXPECT_EQ(sold.integer, 7);
  EXPECT_EQ(sold.time, taken->sample.time.realtime_ns);
  EXPECT_EQ(sold.start, taken->layout->blocks[0].starts_ns[0]);
  EXPECT_GT(sold.start, 0U);
}

TEST_F(OtlpTest, HasOtherNumbersAsGaugesInTheirBaseUnit) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  fruit.set(Shop::kStock, 12U);
  fruit.set(Shop::kWeight, 3U);
  fruit.set(Shop::kPause, 1500U);
  const Decoded decoded = decode(*snapshot());
  const Point& stock = decoded.at("meterbank_shop_stock{aisle=fruit;}");
  EXPECT_EQ(stock.kind, "gauge");
  EXPECT_EQ(stock.unit, "{item}");
  EXPECT_EQ(stock.integer, 12);
  EXPECT_EQ(stock.start, 0U);
  const Point& size = decoded.at("meterbank_shop_of_labels_bytes{aisle=fruit;}");
  EXPECT_EQ(size.unit, "By");
  EXPECT_EQ(size.real, 3072);
  const Point& pause = decoded.at("meterbank_shop_pause_seconds{aisle=fruit;}");
  EXPECT_EQ(pause.unit, "s");
  EXPECT_EQ(pause.real, 1.5);
}

TEST_F(OtlpTest, HasDistributionsBucketByBucket) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  // Buckets of scale 0 from 1 to 100: (1, 2], (2, 4], ... (64, 128]; the first one is (0.5, 1].
  for (const double value : {0.1, 0.2, 1.5, 3.0, 3.5, 20.0, 1000.0}) {
    fruit.recorder(Shop::kTime).record(value);
  }
  const Decoded decoded = decode(*snapshot());
  const Point& time = decoded.at("meterbank_shop_serving_time_seconds{aisle=fruit;}");
  EXPECT_EQ(time.kind, "histogram");
  EXPECT_TRUE(time.is_cumulative);
  EXPECT_EQ(time.count, 7U);
  EXPECT_DOUBLE_EQ(time.real, 0.1 + 0.2 + 1.5 + 3 + 3.5 + 20 + 1000);
  EXPECT_EQ(time.scale, 0);
  EXPECT_EQ(time.zero_count, 2U);
  EXPECT_EQ(time.zero_threshold, 0.5);
  // OpenTelemetry: bucket i is (2^i, 2^(i+1)]. Behind the last one of the range are those above it.
  EXPECT_EQ(time.offset, 0);
  EXPECT_EQ(time.buckets, (std::vector<std::uint64_t>{1, 2, 0, 0, 1, 0, 0, 1}));
  std::uint64_t sum = time.zero_count;
  for (const std::uint64_t count : time.buckets) sum += count;
  EXPECT_EQ(sum, time.count);
}

TEST_F(OtlpTest, HasAnEmptyDistributionWithoutBuckets) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  const Decoded decoded = decode(*snapshot());
  const Point& time = decoded.at("meterbank_shop_serving_time_seconds{aisle=fruit;}");
  EXPECT_EQ(time.count, 0U);
  EXPECT_TRUE(time.buckets.empty());
}

TEST_F(OtlpTest, HasTextsAsAttributes) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  fruit.text(Shop::kState).set("open\n\xff");
  const Decoded decoded = decode(*snapshot());
  EXPECT_EQ(decoded.at("meterbank_shop_state_info{aisle=fruit;state=open\n\uFFFD;}").integer, 1);
}

TEST_F(OtlpTest, DescribesAProviderByItsResource) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  const Decoded decoded = decode(*snapshot());
  const std::string& resource = decoded.at("meterbank_shop_sold{aisle=fruit;}").resource;
  EXPECT_TRUE(resource.starts_with("service.name=corner;service.instance.id="));
  EXPECT_NE(resource.find(fmt::format("process.pid={};", ::getpid())), std::string::npos);
  EXPECT_TRUE(resource.ends_with(";env=test;"));
  // What is said of the providers comes from the agent itself.
  const Point& up =
      decoded.at(fmt::format("meterbank_provider_up{{provider=corner;pid={};}}", ::getpid()));
  EXPECT_TRUE(up.resource.starts_with("service.name=meterbank-agent;"));
  EXPECT_EQ(up.real, 1);
}

TEST_F(OtlpTest, TellsAProviderThatWasStartedAgainFromTheOneBefore) {
  std::set<std::string> resources;
  for (int life = 0; life < 2; ++life) {
    provider_.reset();
    provider_.emplace(*Provider::create({.name = "corner", .directory = directory_.path()}));
    const Registration shop = *provider_->add(kShop);
    Instance fruit = *shop.create_instance("fruit");
    resources.insert(decode(*snapshot()).at("meterbank_shop_sold{aisle=fruit;}").resource);
  }
  EXPECT_EQ(resources.size(), 2U);
}

TEST_F(OtlpTest, LetsAnAttributeOfTheSettingsReplaceItsOwn) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  OtlpEncoder encoder(std::vector<exposition::Label>{{"host.name", "elsewhere"}});
  const Decoded decoded = decode_with(encoder, *snapshot());
  const std::string& resource = decoded.at("meterbank_shop_sold{aisle=fruit;}").resource;
  EXPECT_EQ(resource.find("host.name="), resource.rfind("host.name="));
  EXPECT_NE(resource.find("host.name=elsewhere;"), std::string::npos);
}

TEST_F(OtlpTest, HasEachPointOnceHoweverSmallTheBatches) {
  const Registration shop = *provider_->add(kShop);
  std::vector<Instance> aisles;
  for (int number = 0; number < 200; ++number) {
    aisles.push_back(*shop.create_instance("aisle " + std::to_string(number)));
    aisles.back().add(Shop::kSold, static_cast<std::uint64_t>(number));
  }
  Provider other = *Provider::create({.name = "other", .directory = directory_.path()});
  const Registration other_shop = *other.add(kShop);
  const Instance other_fruit = *other_shop.create_instance("fruit");
  const auto taken = snapshot();
  const Decoded whole = decode(*taken);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{500}, std::size_t{10'000}}) {
    const Decoded parts = decode(*taken, bytes);
    ASSERT_EQ(parts.points.size(), whole.points.size()) << bytes;
    for (const auto& [name, point] : whole.points) {
      EXPECT_EQ(parts.at(name).integer, point.integer) << name;
      EXPECT_EQ(parts.at(name).resource, point.resource) << name;
    }
  }
}

TEST_F(OtlpTest, FollowsALayoutThatChanges) {
  OtlpEncoder encoder(std::vector<exposition::Label>{});
  exposition::Snapshots source = snapshots();
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  EXPECT_TRUE(
      decode_with(encoder, *source.take()).points.contains("meterbank_shop_sold{aisle=fruit;}"));
  const Instance bread = *shop.create_instance("bread");
  fruit.close();
  const Decoded later = decode_with(encoder, *source.take());
  EXPECT_TRUE(later.points.contains("meterbank_shop_sold{aisle=bread;}"));
  EXPECT_FALSE(later.points.contains("meterbank_shop_sold{aisle=fruit;}"));
}

TEST_F(OtlpTest, LetsNoCountBeginBehindItsEnd) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  auto taken = snapshot();
  exposition::Snapshot early{taken->sample, taken->layout, {}};
  early.sample.time.realtime_ns = 1'000'000'000;  // the clock was set back
  const Decoded decoded = decode(early);
  EXPECT_EQ(decoded.at("meterbank_shop_sold{aisle=fruit;}").start, 1'000'000'000U);
}

TEST(OtlpNumber, KeepsAllDigitsOfWholeNumbersThatFit) {
  using exposition::Number;
  const auto decode = [](const Number& number) {
    std::string points;
    append_number_point(points, {}, 1, 2, number);
    protozero::pbf_message<Data> data(points);
    EXPECT_TRUE(data.next(Data::kPoints));
    protozero::pbf_message<NumberPoint> point(data.get_view());
    std::string text;
    while (point.next()) {
      if (point.tag() == NumberPoint::kAsInt) {
        text = fmt::format("integer {}", point.get_sfixed64());
      } else if (point.tag() == NumberPoint::kAsDouble) {
        text = fmt::format("double {}", point.get_double());
      } else {
        point.skip();
      }
    }
    return text;
  };
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(decode({Number::Kind::kUnsigned, kMost, 0}), "integer 9223372036854775807");
  EXPECT_EQ(decode({Number::Kind::kUnsigned, kMost + 1, 0}), "double 9.223372036854776e+18");
  EXPECT_EQ(decode({Number::Kind::kSigned, static_cast<std::uint64_t>(-5), 0}), "integer -5");
  EXPECT_EQ(decode({Number::Kind::kReal, 0, 0.25}), "double 0.25");
}

TEST(OtlpAnswer, SaysHowManyPointsWereRejected) {
  const std::string rejected("\x0a\x08\x08\x05\x12\x04late", 10);
  const PartialSuccess part = parse_answer(rejected);
  EXPECT_EQ(part.rejected_points, 5U);
  EXPECT_EQ(part.message, "late");
  EXPECT_EQ(parse_answer("").rejected_points, 0U);
}

TEST(OtlpAnswer, TakesAnyBytes) {
  const std::string sound(
      "\x0a\x0a\x08\x05\x12\x06"
      "la\xff\x01te",
      12);
  EXPECT_EQ(parse_answer(sound).message, "la\uFFFD\uFFFDte");
  std::mt19937_64 random(3);
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes = sound;
    for (std::uint64_t change = random() % 4; change != 0; --change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    static_cast<void>(parse_answer(bytes));
  }
  // A negative count means nothing.
  EXPECT_EQ(
      parse_answer({"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13}).rejected_points,
      0U);
}

}  // namespace
}  // namespace meterbank::push::otlp
