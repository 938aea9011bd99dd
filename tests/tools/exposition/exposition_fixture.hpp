// SPDX-License-Identifier: Apache-2.0
//
// A provider in a directory of its own, and pages made of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../support/temporary_directory.hpp"
#include "exposition/page/page_writer.hpp"
#include "exposition/snapshot/snapshots.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::exposition {

enum class Shop : std::uint32_t { kSold, kStock, kWeight, kPause, kTime, kState };

inline constexpr std::array kShopCounters{
    CounterSpec{.id = 1, .name = "Sold/sec", .symbol = "sold", .help = "Items sold."},
    CounterSpec{.id = 2,
                .name = "Stock",
                .symbol = "stock",
                .type = CounterType::kLargeRawCount,
                .unit = "{item}",
                .help = "Items in the shop."},
    CounterSpec{.id = 3,
                .name = "Bytes of Labels",
                .symbol = "bytes_of_labels",
                .type = CounterType::kLargeRawCount,
                .unit = "KiBy",
                .help = "Size of the labels."},
    CounterSpec{.id = 4,
                .name = "Pause",
                .symbol = "pause_ms",
                .type = CounterType::kLargeRawCount,
                .unit = "ms",
                .help = "Length of a pause."},
    CounterSpec{.id = 5,
                .name = "Serving Time",
                .symbol = "serving_time",
                .unit = "s",
                .help = "Time of one customer.",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 0, .least = 1, .most = 100}},
    CounterSpec{.id = 6,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .help = "Open or closed.",
                .form = ValueForm::kText,
                .text_bytes = 32}};
inline constexpr CountersetSpec kShop{.name = "Shop",
                                      .symbol = "shop",
                                      .help = "A shop.",
                                      .label = "aisle",
                                      .counters = kShopCounters};

class PageTest : public ::testing::Test {
 protected:
  PageTest() {
    provider_.emplace(*Provider::create({.name = "corner", .directory = directory_.path()}));
  }

  [[nodiscard]] Snapshots snapshots() const {
    return *Snapshots::open({.catalog = {.directory = directory_.path()}});
  }
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const { return snapshots().take(); }

  [[nodiscard]] static std::string page_of(const std::shared_ptr<const Snapshot>& snapshot,
                                           PageFormat format, PageOptions options = {},
                                           std::size_t piece = 4096) {
    const auto writer = make_page_writer(format, snapshot, std::move(options));
    std::string page;
    while (writer->write(page, piece)) {
    }
    return page;
  }
  [[nodiscard]] std::string page(PageFormat format, PageOptions options = {}) const {
    return page_of(snapshot(), format, std::move(options));
  }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
};

// What the counters of the page say: no lines about providers and the snapshot.
[[nodiscard]] inline std::string counters_of(std::string_view page) {
  const std::size_t about =
      std::min(page.find("# HELP meterbank_provider_up"), page.find("# HELP meterbank_snapshot"));
  return std::string(page.substr(0, about));
}

[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Lines with values.
[[nodiscard]] inline std::vector<std::string> series_of(const std::string& text) {
  std::vector<std::string> series;
  for (std::string& line : lines_of(text)) {
    if (!line.starts_with("#")) series.push_back(std::move(line));
  }
  return series;
}

}  // namespace meterbank::exposition
