// SPDX-License-Identifier: Apache-2.0
//
// A provider, and what C code needs to read it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <utility>

#include "../support/temporary_directory.hpp"
#include "meterbank/c/reader.h"
#include "meterbank/publisher.hpp"

namespace meterbank::test {

class CReader : public testing::Test {
 protected:
  enum Stage : std::uint32_t { kServed, kLatency, kState };
  static constexpr std::array kCounters{
      CounterSpec{.id = 1,
                  .name = "Served/sec",
                  .symbol = "served",
                  .unit = "{order}",
                  .help = "Orders served."},
      CounterSpec{.id = 2,
                  .name = "Latency",
                  .symbol = "latency",
                  .unit = "s",
                  .form = ValueForm::kDistribution,
                  .buckets = {.scale = 4, .least = 1e-6, .most = 10}},
      CounterSpec{.id = 3,
                  .name = "State",
                  .symbol = "state",
                  .type = CounterType::kText,
                  .form = ValueForm::kText,
                  .timed = true,
                  .text_bytes = 64}};

  CReader() {
    mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
    options.directory = directory_.path().c_str();
    EXPECT_EQ(mb_catalog_open(&options, &catalog_, nullptr), MB_OK);
    const char* const path = "stages/*/*";
    EXPECT_EQ(mb_query_compile(catalog_, &path, 1, nullptr, 0, &query_, nullptr), MB_OK);
    EXPECT_EQ(mb_sample_create(&older_, nullptr), MB_OK);
    EXPECT_EQ(mb_sample_create(&newer_, nullptr), MB_OK);
    EXPECT_EQ(mb_cursor_create(&cursor_, nullptr), MB_OK);
  }
  ~CReader() override {
    mb_cursor_close(cursor_);
    mb_sample_close(older_);
    mb_sample_close(newer_);
    mb_query_close(query_);
    mb_catalog_close(catalog_);
  }

  void refresh() {
    EXPECT_EQ(mb_catalog_refresh(catalog_, nullptr), MB_OK);
    EXPECT_EQ(mb_query_update(query_, catalog_, nullptr, nullptr), MB_OK);
  }
  // Ten orders are served at the end, of which five in between.
  void collect_twice() {
    soup_.counter(kServed).set(5);
    soup_.recorder(kLatency).record(0.125);
    soup_.text(kState).set("hot");
    EXPECT_EQ(mb_query_collect(query_, older_, MB_CUT_NONE, nullptr, nullptr), MB_OK);
    soup_.add(kServed, 5);
    soup_.recorder(kLatency).record(0.25);
    soup_.recorder(kLatency).record(0.5);
    EXPECT_EQ(mb_query_collect(query_, newer_, MB_CUT_NONE, nullptr, nullptr), MB_OK);
  }

  TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "kitchen", .directory = directory_.path()});
  Registration set_ = *provider_.add(
      {.name = "Stages", .symbol = "stages", .label = "stage", .counters = kCounters});
  Instance soup_ = *set_.create_instance("soup");
  mb_catalog* catalog_ = nullptr;
  mb_query* query_ = nullptr;
  mb_sample* older_ = nullptr;
  mb_sample* newer_ = nullptr;
  mb_cursor* cursor_ = nullptr;
};

}  // namespace meterbank::test
