// SPDX-License-Identifier: Apache-2.0
#include "agent/http/negotiation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace meterbank::agent {
namespace {

using exposition::PageFormat;

TEST(Negotiation, GivesPrometheusWhatItAsksFor) {
  // The headers of 2.42, and of 2.42 with native histograms.
  EXPECT_EQ(choose_format("application/openmetrics-text;version=1.0.0,"
                          "application/openmetrics-text;version=0.0.1;q=0.75,"
                          "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            PageFormat::kOpenMetrics);
  EXPECT_EQ(choose_format("application/vnd.google.protobuf;"
                          "proto=io.prometheus.client.MetricFamily;encoding=delimited,"
                          "application/openmetrics-text;version=1.0.0;q=0.8,"
                          "application/openmetrics-text;version=0.0.1;q=0.75,"
                          "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            PageFormat::kProtobuf);
}

TEST(Negotiation, TakesTheFormatOfTheHighestQuality) {
  EXPECT_EQ(choose_format("text/plain;q=0.9, application/openmetrics-text;version=1.0.0;q=0.8"),
            PageFormat::kText);
  EXPECT_EQ(choose_format("application/openmetrics-text; version=\"1.0.0\" ; q=0.4, text/*;q=0.3"),
            PageFormat::kOpenMetrics);
  EXPECT_EQ(choose_format("application/openmetrics-text;q=0, text/plain;q=0.001"),
            PageFormat::kText);
}

TEST(Negotiation, GivesTheSecondOpenMetricsToThoseWhoNameIt) {
  EXPECT_EQ(choose_format("application/openmetrics-text;version=2.0.0,"
                          "application/openmetrics-text;version=1.0.0;q=0.9"),
            PageFormat::kOpenMetrics2);
  EXPECT_EQ(choose_format("application/openmetrics-text"), PageFormat::kOpenMetrics);
}

TEST(Negotiation, AnswersInTextWhereNothingElseIsUnderstood) {
  for (const std::string accept :
       {"", "*/*", "image/png", ";;;", ",,", "a;q=x", "application/openmetrics-text;version=3.0.0",
        "application/vnd.google.protobuf", "application/vnd.google.protobuf;proto=other;encoding=x",
        "\"unterminated", "text/plain;version=9"}) {
    EXPECT_EQ(choose_format(accept), PageFormat::kText) << accept;
  }
}

TEST(Negotiation, PrefersTheEncodingThatIsCheapest) {
  EXPECT_EQ(choose_encoding("gzip, zstd"), Encoding::kZstd);
  EXPECT_EQ(choose_encoding("gzip"), Encoding::kGzip);
  EXPECT_EQ(choose_encoding("GZIP;q=0.5, zstd;q=0.4"), Encoding::kGzip);
  EXPECT_EQ(choose_encoding("x-gzip"), Encoding::kGzip);
}

TEST(Negotiation, SendsPlainBytesWhereNoEncodingIsAccepted) {
  for (const std::string accept : {"", "identity", "br", "gzip;q=0", "deflate, br", "zstd;q=0"}) {
    EXPECT_EQ(choose_encoding(accept), Encoding::kIdentity) << accept;
  }
}

TEST(Negotiation, EndsWithAnyHeader) {
  std::string header;
  for (int part = 0; part < 100'000; ++part) header += "a/b;q=0.1,";
  EXPECT_EQ(choose_format(header), PageFormat::kText);
  EXPECT_EQ(choose_encoding(std::string(100'000, ';')), Encoding::kIdentity);
}

}  // namespace
}  // namespace meterbank::agent
