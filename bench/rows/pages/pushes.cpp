// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a point cost that is sent to a receiver, the snapshot included?
// Limit: copying the bytes of the requests.
#include "pushes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "push/delivery/pusher.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

using push::Batch;
using push::Coding;
using push::Protocol;

struct PushRow {
  std::string_view what;
  Protocol protocol;
  bool is_compressed;
  std::optional<double> hold_ns;
};

}  // namespace

void push_rows(exposition::Snapshots& snapshots, std::string_view of, bool are_histograms,
               const Effort& effort, Table& table) {
  // Held: OpenTelemetry's protocol, 60 ns a number and 1 us a histogram of 40 buckets.
  for (const PushRow& row :
       {PushRow{"OTLP", Protocol::kOtlp, false, are_histograms ? 1'000 : 60},
        PushRow{"OTLP, gzip", Protocol::kOtlp, true, std::nullopt},
        PushRow{"remote write 2.0, snappy", Protocol::kRemoteWrite, true, std::nullopt},
        PushRow{"remote write 1.0, snappy", Protocol::kRemoteWrite1, true, std::nullopt}}) {
    push::ReceiverOptions options;
    options.labels = {{"instance", "bench"}, {"job", "meterbank"}};
    const auto encoder = make_encoder(options, row.protocol);
    const Coding coding = row.is_compressed ? coding_of(options, row.protocol) : Coding::kIdentity;
    push::Compressor compressor;
    std::size_t points = 0, bytes = 0;
    const auto encode = [&] {
      points = bytes = 0;
      encoder->encode(*snapshots.take(), [&](Batch batch) {
        points += batch.points;
        bytes += compressor.compress(std::move(batch.body), coding).size();
      });
    };
    encode();
    std::string from(bytes, '\1'), to(bytes, '\0');
    constexpr unsigned kRoundsMax = 9;
    const auto measured = compare(std::min(effort.rounds, kRoundsMax), points, encode, [&] {
      std::memcpy(to.data(), from.data(), to.size());
      keep(to.data());
    });
    table.time_row(fmt::format("{} of {}, {:.1f} B each (limit: copy)", row.what, of,
                               static_cast<double>(bytes) / static_cast<double>(points)),
                   measured, row.hold_ns);
  }
}

}  // namespace meterbank::bench
