// SPDX-License-Identifier: Apache-2.0
//
// Counters of a recording as a plot shows them: in each of so many equal parts of a range, the
// least, the greatest and the last value.
//
//   auto day = recording::envelope("/var/log/meterbank", {.patterns = {"orders/*/latency"},
//                                                         .from_ns = begin, .to_ns = end,
//                                                         .buckets = 1000});
//   for (const EnvelopeSeries& series : day->series) {
//     for (const EnvelopeBucket& bucket : series.buckets) if (bucket.count != 0) draw(bucket);
//   }
//
// Every recorded value is looked at, so a spike of one tick is in the bucket of its moment however
// long the range is. Cooked values are those between a moment and the one before it at which the
// set was sampled, also where that one is before the range: what `get --log` prints of all moments.
//
// Thread safety  Any number of calls at a time: each opens the recording for itself, or has it
//                alone.
// Errors         kInvalidArgument: a range or a number of buckets that is out of range. kLimit: the
//                answer would take more than bytes_max. Else those of Recording::open() and of
//                Query::compile(). A part of the recording that cannot be read is not an error: see
//                Envelope::damages. Lack of memory is kNoSpace.
// Progress       Reads files and waits for nothing else; `stop` ends it within a tick.
// Cost           Decodes every chunk that overlaps the range, all counters of it: 10 to 80 ns a
//                value on one processor, shared by `threads`. Chunks of which a summary is read
//                instead take some tenths of a millisecond, see `blur_ns`. Each thread holds one
//                moment of the recording in memory, and 32 bytes for each bucket of each series.
// Lifetime       Results keep nothing of the recording.
// Units          Times are nanoseconds of CLOCK_REALTIME. Cooked values are in the units of
//                meterbank::cook(), stored ones as CounterView::unit says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {

struct EnvelopeRequest {
  // As Query::compile() takes them.
  std::vector<std::string> patterns = {};
  std::vector<std::string> excluded = {};
  std::uint64_t from_ns = 0, to_ns = 0;  // from <= time < to
  std::size_t buckets = 1000;            // 1 to kEnvelopeBucketsMax
  bool stored = false;                   // values as they are stored: a count that grows, no rate
  // 0..100. Each adds a series to every distribution: this percentile of the values that were
  // recorded between two moments.
  std::vector<double> percentiles = {};
  bool cap_percent = true;  // CookOptions::cap_percent
  // How far from its moment the bucket may lie in which a value counts. Chunks whose summaries have
  // parts of at most this length (summary.hpp) are not decoded then: least and greatest values are
  // those of all values, rounded outward by one part in 32,768, and `count` and `last` are close.
  // Only for paths without wildcards that name a counter, with cap_percent off.
  std::uint64_t blur_ns = 0;
  std::size_t bytes_max = std::size_t{1} << 30U;  // limit for the buckets of each thread
  unsigned threads = 1;  // at most; a recording whose clock was set back takes one
  std::stop_token stop = {};
};
inline constexpr std::size_t kEnvelopeBucketsMax = 1 << 20U;

struct EnvelopeBucket {
  std::uint64_t count = 0;               // values in the bucket; with 0, the next line is unset
  double least = 0, most = 0, last = 0;  // last: of the latest moment
};

// One counter of all rows that have the same name. After a restart, a service continues its series.
// If several providers of one name have the row at the same time, each has its own series.
struct EnvelopeSeries {
  std::string provider;  // "orders"; "orders@48213" with namesakes; empty: of a total
  std::string host;      // in a recording of several machines
  std::string set;       // its symbol, or its name without one
  std::string instance;  // Row::instance_label(), or kTotalName
  std::string path;      // Value::short_path()
  CounterView counter;   // without its help
  std::optional<double> percentile;
  std::vector<EnvelopeBucket> buckets;  // all of the request
};

struct Envelope {
  std::uint64_t from_ns = 0, bucket_ns = 0;  // bucket n begins at from_ns + n * bucket_ns
  std::vector<EnvelopeSeries> series;        // by path, then by provider
  std::uint64_t moments = 0;                 // in the range
  std::vector<Unmatched> unmatched;          // patterns that selected nothing in all of it
  bool was_stopped = false;                  // `stop`: moments are missing
  // What could not be read or was not recorded of the chunks that were read; partly beyond the
  // range. Empty: the answer is whole.
  std::vector<Damage> damages;
  std::vector<Gap> gaps;
};

[[nodiscard]] Result<Envelope> envelope(const std::string& path, const EnvelopeRequest& request,
                                        const CatalogOptions& options = {});
// The same for a recording that is already open. This thread decodes all samples, whatever
// `threads` and `blur_ns` say. Afterwards the recording shows another moment.
[[nodiscard]] Result<Envelope> envelope(Recording& recording, const EnvelopeRequest& request);

}  // namespace meterbank::recording
