// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <protozero/pbf_message.hpp>

#include "../exposition/exposition_fixture.hpp"
#include "push/remote_write/remote_write_encoder.hpp"
#include "push/remote_write/versions.hpp"
#include "push/remote_write/write_fields.hpp"

namespace meterbank::push::remote_write {
namespace {

using exposition::kShop;
using exposition::Shop;

constexpr std::uint64_t kStaleBits = 0x7ff0'0000'0000'0002;

struct Series {
  std::vector<std::uint64_t> values;  // bits of doubles
  std::uint64_t count = 0;            // number of values in a histogram
  std::int64_t time_ms = 0, start_ms = 0;
  std::int32_t type = 0;  // 2.0
  std::string help, unit;

  [[nodiscard]] double value() const {
    return values.size() == 1 ? std::bit_cast<double>(values[0]) : -1;
  }
};

// The series of requests, by their labels as they stand in the message.
class Decoded {
 public:
  explicit Decoded(Version version) : version_(version) {}

  void add(const Batch& batch) {
    symbols_.clear();
    protozero::pbf_reader symbols(batch.body);
    while (symbols.next(static_cast<Tag>(Request2::kSymbols))) {
      symbols_.push_back(symbols.get_string());
    }
    if (version_ == Version::k2) {
      EXPECT_EQ(symbols_.at(0), "");
      auto sorted = symbols_;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    }
    std::size_t points = 0;
    protozero::pbf_reader request(batch.body);
    const Tag tag = version_ == Version::k1 ? static_cast<Tag>(Request1::kTimeSeries)
                                            : static_cast<Tag>(Request2::kTimeSeries);
    while (request.next(tag)) {
      add_series(request.get_view());
      ++points;
    }
    EXPECT_EQ(points, batch.points);
    if (version_ == Version::k1) read_metadata(batch.body);
  }
  [[nodiscard]] const Series& at(const std::string& labels) const {
    const auto found = series.find(labels);
    EXPECT_NE(found, series.end()) << labels;
    static const Series kNone;
    return found == series.end() ? kNone : found->second;
  }
  std::map<std::string, Series> series;
  std::map<std::string, std::int32_t> types;  // 1.0, by family

 private:
  void add_series(protozero::data_view bytes) {
    std::vector<std::pair<std::string, std::string>> labels;
    Series one;
    protozero::pbf_reader message(bytes);
    const bool is_1 = version_ == Version::k1;
    while (message.next()) {
      const Tag tag = message.tag();
      if (tag == static_cast<Tag>(TimeSeries1::kLabels)) {  // and kLabelRefs
        if (is_1) {
          labels.push_back(label_of(message.get_view()));
        } else {
          const auto refs = message.get_packed_uint32();
          const std::vector<std::uint32_t> all(refs.begin(), refs.end());
          EXPECT_EQ(all.size() % 2, 0U);
          for (std::size_t ref = 0; ref + 1 < all.size(); ref += 2) {
            labels.emplace_back(symbols_.at(all[ref]), symbols_.at(all[ref + 1]));
          }
        }
      } else if (tag == static_cast<Tag>(TimeSeries1::kSamples)) {
        read_sample(one, message.get_view());
      } else if (!is_1 && tag == static_cast<Tag>(TimeSeries2::kMetadata)) {
        read_metadata_2(one, message.get_view());
      } else {
        read_histogram(one, message.get_view());
      }
    }
    EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end()));
    std::string key;
    for (const auto& [name, value] : labels) {
      EXPECT_FALSE(value.empty());
      key += name + "=" + value + ";";
    }
    EXPECT_TRUE(series.emplace(key, one).second) << key;
  }
  static std::pair<std::string, std::string> label_of(protozero::data_view bytes) {
    std::pair<std::string, std::string> label;
    protozero::pbf_message<Label> message(bytes);
    while (message.next()) {
      const bool is_name = message.tag() == Label::kName;
      (is_name ? label.first : label.second) = message.get_string();
    }
    return label;
  }
  static void read_sample(Series& one, protozero::data_view bytes) {
    protozero::pbf_message<Sample> sample(bytes);
    while (sample.next()) {
      if (sample.tag() == Sample::kValue) {
        one.values.push_back(std::bit_cast<std::uint64_t>(sample.get_double()));
      } else {
        (sample.tag() == Sample::kTimestamp ? one.time_ms : one.start_ms) = sample.get_int64();
      }
    }
  }
  static void read_histogram(Series& one, protozero::data_view bytes) {
    protozero::pbf_message<Histogram> histogram(bytes);
    while (histogram.next()) {
      if (histogram.tag() == Histogram::kCount) {
        one.count = histogram.get_uint64();
      } else if (histogram.tag() == Histogram::kTimestamp) {
        one.time_ms = histogram.get_int64();
      } else if (histogram.tag() == Histogram::kStart) {
        one.start_ms = histogram.get_int64();
      } else {
        histogram.skip();
      }
    }
  }
  void read_metadata_2(Series& one, protozero::data_view bytes) {
    protozero::pbf_message<Metadata2> metadata(bytes);
    while (metadata.next()) {
      if (metadata.tag() == Metadata2::kType) {
        one.type = metadata.get_enum();
      } else {
        const bool is_help = metadata.tag() == Metadata2::kHelpRef;
        (is_help ? one.help : one.unit) = symbols_.at(metadata.get_uint32());
      }
    }
  }
  void read_metadata(const std::string& body) {
    protozero::pbf_message<Request1> request(body);
    while (request.next(Request1::kMetadata)) {
      std::string name;
      std::int32_t type = 0;
      protozero::pbf_message<Metadata1> metadata(request.get_view());
      while (metadata.next()) {
        if (metadata.tag() == Metadata1::kFamilyName) {
          name = metadata.get_string();
        } else if (metadata.tag() == Metadata1::kType) {
          type = metadata.get_enum();
        } else {
          metadata.skip();
        }
      }
      types[name] = type;
    }
  }

  Version version_;
  std::vector<std::string> symbols_;
};

class RemoteWriteTest : public exposition::PageTest, public ::testing::WithParamInterface<Version> {
 protected:
  RemoteWriteTest() : encoder_(GetParam(), {{"instance", "here"}, {"job", "meterbank"}}) {}

  [[nodiscard]] Decoded push(const exposition::Snapshot& snapshot) {
    return push_with(encoder_, snapshot);
  }
  [[nodiscard]] static Decoded push_with(RemoteWriteEncoder& encoder,
                                         const exposition::Snapshot& snapshot) {
    Decoded decoded(GetParam());
    encoder.encode(snapshot, [&](const Batch& batch) { decoded.add(batch); });
    return decoded;
  }
  [[nodiscard]] static std::string labels(std::string_view name, std::string_view aisle) {
    return fmt::format("__name__={};aisle={};instance=here;job=meterbank;provider=corner;", name,
                       aisle);
  }

  RemoteWriteEncoder encoder_;
};

INSTANTIATE_TEST_SUITE_P(Of, RemoteWriteTest, ::testing::Values(Version::k1, Version::k2),
                         [](const ::testing::TestParamInfo<Version>& version) {
                           return version.param == Version::k1 ? "Version1" : "Version2";
                         });

TEST_P(RemoteWriteTest, HasTheSeriesOfAPageWithTheLabelsOfAScraper) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  fruit.add(Shop::kSold, 7U);
  fruit.set(Shop::kPause, 1500U);
  fruit.recorder(Shop::kTime).record(3);
  fruit.text(Shop::kState).set("open");
  const auto taken = snapshot();
  const Decoded decoded = push(*taken);
  const Series& sold = decoded.at(labels("meterbank_shop_sold_total", "fruit"));
  EXPECT_EQ(sold.value(), 7);
  EXPECT_EQ(sold.time_ms, static_cast<std::int64_t>(taken->sample.time.realtime_ns / 1'000'000));
  EXPECT_EQ(decoded.at(labels("meterbank_shop_pause_seconds", "fruit")).value(), 1.5);
  EXPECT_EQ(decoded.at(labels("meterbank_shop_serving_time_seconds", "fruit")).count, 1U);
  EXPECT_EQ(decoded
                .at("__name__=meterbank_shop_state_info;aisle=fruit;instance=here;job=meterbank;"
                    "provider=corner;state=open;")
                .value(),
            1);
  EXPECT_EQ(decoded
                .at(fmt::format("__name__=meterbank_provider_up;instance=here;job=meterbank;"
                                "pid={};provider=corner;",
                                ::getpid()))
                .value(),
            1);
  if (GetParam() == Version::k1) {
    EXPECT_EQ(decoded.types.at("meterbank_shop_sold_total"),
              static_cast<std::int32_t>(MetricType::kCounter));
    EXPECT_EQ(decoded.types.at("meterbank_shop_serving_time_seconds"),
              static_cast<std::int32_t>(MetricType::kHistogram));
    return;
  }
  EXPECT_EQ(sold.type, static_cast<std::int32_t>(MetricType::kCounter));
  EXPECT_EQ(sold.help, "Items sold.");
  EXPECT_EQ(decoded.at(labels("meterbank_shop_pause_seconds", "fruit")).unit, "seconds");
  EXPECT_EQ(sold.start_ms,
            static_cast<std::int64_t>(taken->layout->blocks[0].starts_ns[0] / 1'000'000));
  EXPECT_EQ(decoded.at(labels("meterbank_shop_serving_time_seconds", "fruit")).start_ms,
            sold.start_ms);
}

TEST_P(RemoteWriteTest, HasEachSeriesOnceHoweverSmallTheBatches) {
  const Registration shop = *provider_->add(kShop);
  std::vector<Instance> aisles;
  for (int number = 0; number < 200; ++number) {
    aisles.push_back(*shop.create_instance("aisle " + std::to_string(number)));
    aisles.back().add(Shop::kSold, static_cast<std::uint64_t>(number));
  }
  const auto taken = snapshot();
  const Decoded whole = push(*taken);
  EXPECT_GT(whole.series.size(), 1000U);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}}) {
    RemoteWriteEncoder encoder(GetParam(), {{"instance", "here"}, {"job", "meterbank"}}, bytes);
    const Decoded parts = push_with(encoder, *taken);
    ASSERT_EQ(parts.series.size(), whole.series.size());
    for (const auto& [name, series] : whole.series) {
      EXPECT_EQ(parts.at(name).values, series.values) << name;
    }
  }
}

TEST_P(RemoteWriteTest, EndsTheSeriesOfAnInstanceThatWasClosed) {
  const Registration shop = *provider_->add(kShop);
  Instance fruit = *shop.create_instance("fruit");
  const Instance bread = *shop.create_instance("bread");
  exposition::Snapshots source = snapshots();
  const std::string sold = labels("meterbank_shop_sold_total", "fruit");
  EXPECT_EQ(push(*source.take()).at(sold).value(), 0);
  fruit.close();
  const Decoded ended = push(*source.take());
  EXPECT_EQ(ended.at(sold).values, std::vector<std::uint64_t>{kStaleBits});
  EXPECT_EQ(ended.at(labels("meterbank_shop_serving_time_seconds", "fruit")).values,
            std::vector<std::uint64_t>{kStaleBits});
  EXPECT_EQ(ended.at(labels("meterbank_shop_sold_total", "bread")).value(), 0);
  // Once.
  EXPECT_FALSE(push(*source.take()).series.contains(sold));
}

TEST_P(RemoteWriteTest, EndsTheSeriesOfAProviderThatHasEnded) {
  exposition::Snapshots source = snapshots();
  {
    Provider guest = *Provider::create({.name = "guest", .directory = directory_.path()});
    const Registration shop = *guest.add(kShop);
    Instance fruit = *shop.create_instance("fruit");
    EXPECT_FALSE(push(*source.take()).series.empty());
  }
  const Decoded ended = push(*source.take());
  EXPECT_EQ(ended
                .at("__name__=meterbank_shop_sold_total;aisle=fruit;instance=here;job=meterbank;"
                    "provider=guest;")
                .values,
            std::vector<std::uint64_t>{kStaleBits});
}

TEST_P(RemoteWriteTest, GoesOnWithARowWhosePlaceHasChanged) {
  const Registration shop = *provider_->add(kShop);
  Instance first = *shop.create_instance("first");
  Instance fruit = *shop.create_instance("fruit");
  exposition::Snapshots source = snapshots();
  static_cast<void>(push(*source.take()));
  first.close();
  const Decoded later = push(*source.take());
  EXPECT_EQ(later.at(labels("meterbank_shop_sold_total", "fruit")).value(), 0);
  EXPECT_EQ(later.at(labels("meterbank_shop_sold_total", "first")).values,
            std::vector<std::uint64_t>{kStaleBits});
}

TEST_P(RemoteWriteTest, LeavesOutTheLabelOfAnEmptyText) {
  const Registration shop = *provider_->add(kShop);
  const Instance fruit = *shop.create_instance("fruit");
  EXPECT_EQ(push(*snapshot()).at(labels("meterbank_shop_state_info", "fruit")).value(), 1);
}

TEST(WriteRequestLabels, StaySortedWithOneMore) {
  const std::vector<LabelView> labels = {{"b", "1"}, {"d", "2"}};
  const auto names = [&](std::string_view more) {
    std::string all;
    for (const LabelView& label : with_label(labels, {more, "x"})) {
      all += fmt::format("{}={} ", label.name, label.value);
    }
    return all;
  };
  EXPECT_EQ(names("a"), "a=x b=1 d=2 ");
  EXPECT_EQ(names("c"), "b=1 c=x d=2 ");
  EXPECT_EQ(names("e"), "b=1 d=2 e=x ");
  EXPECT_EQ(names("d"), "b=1 d=x ");
}

}  // namespace
}  // namespace meterbank::push::remote_write
