// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a series of a page for Prometheus cost, the snapshot included?
// Limit: copying the bytes of the page.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/http/body.hpp"
#include "blocks.hpp"
#include "exposition/snapshot/snapshots.hpp"
#include "pushes.hpp"
#include "rows.hpp"
#include "scraped.hpp"
#include "scrapers.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using agent::Encoding;
using exposition::PageFormat;
using exposition::Snapshots;

constexpr std::size_t kCounters = 8;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

// Bytes that went out. One piece of them is in memory, as in a server.
std::size_t write_page(Snapshots& snapshots, PageFormat format, Encoding encoding,
                       std::string& piece) {
  const auto body =
      agent::make_body(exposition::make_page_writer(format, snapshots.take(), {}), encoding);
  std::size_t bytes = 0;
  while (const std::size_t read = body->read(piece.data(), piece.size())) bytes += read;
  return bytes;
}

// In pieces, because the page leaves in pieces.
void copy_bytes(std::size_t bytes, const std::string& from, std::string& to) noexcept {
  for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
    std::memcpy(to.data(), from.data(), kPieceBytes);
    keep(to.data());
  }
}

struct PageRow {
  std::string_view what;
  PageFormat format;
  Encoding encoding;
  std::optional<double> hold_ns;
};

void page_row(const PageRow& row, std::size_t series, std::string_view of, Snapshots& snapshots,
              const Effort& effort, Table& table) {
  std::string piece(kPieceBytes, '\0'), other(kPieceBytes, '\1');
  const std::size_t bytes = write_page(snapshots, row.format, Encoding::kIdentity, piece);
  constexpr unsigned kRoundsMax = 9;
  const auto measured = compare(
      std::min(effort.rounds, kRoundsMax), series,
      [&] { keep(write_page(snapshots, row.format, row.encoding, piece)); },
      [&] { copy_bytes(bytes, other, piece); });
  table.time_row(fmt::format("{} of {}, {} B each (limit: copy)", row.what, of, bytes / series),
                 measured, row.hold_ns);
}

constexpr CounterSpec kLatencyCounter{.id = 1,
                                      .name = "Latency",
                                      .symbol = "latency",
                                      .unit = "s",
                                      .form = ValueForm::kDistribution,
                                      .buckets = {.scale = 3, .least = 1e-6, .most = 1}};
constexpr std::array kLatencyCounters{kLatencyCounter};
constexpr CountersetSpec kLatency{
    .name = "Latency", .symbol = "latency", .label = "route", .counters = kLatencyCounters};

// 160 buckets, 40 of them in use.
void histogram_rows(const Effort& effort, Table& table) {
  const test::TemporaryDirectory directory;
  Provider provider = must(Provider::create(
      {.name = "latency", .directory = directory.path(), .bytes_max = std::uint64_t{1} << 30}));
  const Registration set = must(provider.add(kLatency));
  const std::size_t histograms = effort.live;
  std::vector<Instance> live;
  for (std::size_t number = 0; number < histograms; ++number) {
    live.push_back(must(set.create_instance(fmt::format("route-{}", number))));
    Recorder recorder = live.back().recorder(0U);
    for (unsigned bucket = 0; bucket < 40; ++bucket) {
      recorder.record(1e-4 * std::exp2(bucket / 8.0 + 0.05));
    }
  }
  Snapshots snapshots = must(Snapshots::open({.catalog = {.directory = directory.path()}}));
  page_row({"protobuf", PageFormat::kProtobuf, Encoding::kIdentity, 4'000}, histograms,
           fmt::format("{} native histograms", histograms), snapshots, effort, table);
  push_rows(snapshots, fmt::format("{} histograms", histograms), true, effort, table);
}

}  // namespace

void page_rows(const Effort& effort, Table& table) {
  const SetShape shape{.counters = kCounters, .many = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::size_t instances = effort.many;
  std::vector<Instance> live = workplace.fill(set, shape, instances);
  Snapshots snapshots = must(Snapshots::open({.catalog = {.directory = workplace.directory()}}));
  // Held: a million series in 80, 110, 80, 500 and 220 ms.
  for (const PageRow& row :
       {PageRow{"text", PageFormat::kText, Encoding::kIdentity, 80},
        PageRow{"OpenMetrics", PageFormat::kOpenMetrics, Encoding::kIdentity, 110},
        PageRow{"protobuf", PageFormat::kProtobuf, Encoding::kIdentity, 80},
        PageRow{"text, gzip", PageFormat::kText, Encoding::kGzip, 500},
        PageRow{"text, zstd", PageFormat::kText, Encoding::kZstd, 220}}) {
    page_row(row, instances * kCounters, fmt::format("{} series", instances * kCounters), snapshots,
             effort, table);
  }
  scraper_rows(workplace.directory(), instances * kCounters, effort, table);
  scraped_row(live.front(), snapshots, instances * kCounters, effort, table);
  push_rows(snapshots, fmt::format("{} numbers", instances * kCounters), false, effort, table);
  histogram_rows(effort, table);
}

}  // namespace meterbank::bench
