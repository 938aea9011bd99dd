// SPDX-License-Identifier: Apache-2.0
//
// What is printed of a recording is what would have been printed when it was made, byte for byte.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../../reader/replay/changing_providers.hpp"
#include "../../../support/depth.hpp"
#include "../../../support/temporary_directory.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/session/left_out.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::cli {
namespace {

// The length and the hash of the text in each format: texts of thousands of moments are too much.
struct Text {
  std::size_t bytes = 0;
  std::size_t hash = 0;
  friend bool operator==(const Text&, const Text&) = default;
};
using Printed = std::map<std::string, Text>;

// Prints the samples of one query in all formats, stored and cooked.
class AllFormats {
 public:
  AllFormats(const Catalog& catalog, const std::vector<std::string>& patterns)
      : query_(*Query::compile(catalog, patterns)) {
    for (const std::string& name : format_names()) {
      const auto format = parse_format(name);
      if (!format || *format == Format::kAuto) continue;
      for (const bool raw : {false, true}) {
        if (is_page(*format) && !raw) continue;
        RowStyle style;
        style.format = *format;
        style.raw = raw;
        style.host = "here";
        writers_.emplace(name + (raw ? " raw" : ""), make_row_writer(style));
      }
    }
  }

  // The output of each format for the sample of this moment.
  Printed print(const Catalog& catalog, Timestamp time) {
    query_.update(catalog);
    newest_ = 1 - newest_;
    query_.collect(samples_[newest_], time);
    const Sample& newer = samples_[newest_];
    const Sample& older = samples_[1 - newest_];
    const double interval =
        older.empty() ? 0 : static_cast<double>(time.monotonic_ns - older.time.monotonic_ns) / 1e9;
    const auto left_out = left_out_of(catalog);
    const RowWalk rows = [&](ValueSink take) {
      for (const Row& row : newer.since(older)) {
        for (const Value& value : row) {
          if (!take(value)) return;
        }
      }
    };
    Printed texts;
    for (auto& [name, writer] : writers_) {
      std::string text;
      writer->write({newer, rows, interval, left_out}, [&text](std::string_view more) {
        text += more;
        return true;
      });
      texts[name] = {text.size(), std::hash<std::string>{}(text)};
    }
    return texts;
  }
  [[nodiscard]] const Query& query() const noexcept { return query_; }
  [[nodiscard]] const Sample& sample() const noexcept { return samples_[newest_]; }

 private:
  Query query_;
  std::array<Sample, 2> samples_;
  std::size_t newest_ = 1;
  std::map<std::string, std::unique_ptr<RowWriter>> writers_;
};

class ReplayedOutput : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  [[nodiscard]] std::string path() const { return directory_.path() + "/recording.mbr"; }

  // Prints and records some hundred moments of providers that change all the time.
  std::vector<Printed> record(std::size_t moments) {
    test::ChangingProviders providers(directory_.path(), 7);
    auto catalog = *Catalog::open({.directory = directory_.path()});
    AllFormats formats(catalog, GetParam());
    // What is recorded is more than what is printed.
    Query everything = *Query::compile(catalog, {});
    Sample sample;
    recording::TickWriter writer;
    recording::SchemaNumbers schemas;
    std::string bytes;
    recording::Head head;
    head.rates.push_back({std::uint64_t{1000000000}, {}});
    append_head(head, bytes);
    std::vector<Printed> printed;
    printed.reserve(moments);
    for (std::size_t moment = 0; moment < moments; ++moment) {
      if (moment % 3 == 0) providers.change();
      providers.count();
      static_cast<void>(catalog.refresh());
      everything.update(catalog);
      const Timestamp time = Timestamp::now();
      printed.push_back(formats.print(catalog, time));
      everything.collect(sample, time);
      const recording::RateInput rate{&everything, &sample};
      // Chunks are longer than this test.
      if (moment % 50 == 49) writer.begin_chunk();
      writer.tick({catalog, {&rate, 1}, time, 1000}, schemas, bytes);
    }
    std::ofstream(path(), std::ios::binary) << bytes;
    return printed;
  }

  test::TemporaryDirectory directory_;
};

TEST_P(ReplayedOutput, EqualsWhatWasPrintedLive) {
  const std::size_t moments = test::depth(120, 250);
  const auto printed = record(moments);
  auto recording = recording::Recording::open(path());
  ASSERT_TRUE(recording) << recording.error().what;
  ASSERT_TRUE(recording->next());
  AllFormats formats(recording->catalog(), GetParam());
  std::size_t bytes = 0;
  for (std::size_t moment = 0; moment < moments; ++moment) {
    const auto replayed = formats.print(recording->catalog(), recording->time());
    for (const auto& [format, text] : printed[moment]) {
      ASSERT_TRUE(replayed.at(format) == text) << format << ", moment " << moment;
      bytes += text.bytes;
    }
    ASSERT_EQ(recording->next(), moment + 1 < moments);
  }
  EXPECT_GT(bytes, moments * 1000);
  EXPECT_TRUE(recording->damages().empty());
}

INSTANTIATE_TEST_SUITE_P(Patterns, ReplayedOutput,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"*/*/*", "*/_Total/*"}));

}  // namespace
}  // namespace meterbank::cli
