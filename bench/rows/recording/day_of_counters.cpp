// SPDX-License-Identifier: Apache-2.0
//
// Question: what do opening a day of many counters and looking at one of them cost?
// Budget: open 5 ms, one counter over 24 hours 50 ms (10,000 counters each second).
//
// meterbank_day_of_counters FILE [COUNTERS [TICKS [THREADS [INTERVAL_MS]]]]
//
// Makes the recording, with a summary of each chunk that gets one from a recorder, if the file does
// not exist. At each tick, 10 % of the rows change all their counters, 20 % change one counter, and
// 70 % change nothing, as on an ordinary host. In one tick, counter_8 of the first row has a value
// like no other. Not part of `./run bench`: a day takes some minutes to make.
#include <sys/stat.h>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/summary.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "record/appender.hpp"
#include "record/summary_runs.hpp"

namespace meterbank::bench {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 1'700'000'000 * kSecond;
constexpr std::uint32_t kCountersOfRow = 10, kReal = 9, kGauges = 6;
constexpr std::uint64_t kSpike = 90'000;

std::string counter_name(std::uint32_t number) { return "counter_" + std::to_string(number); }

Counterset ten_counters() {
  Counterset set;
  set.guid.part1 = 1;
  set.name = set.symbol = "day";
  set.instances = InstanceKind::kMultiple;
  set.form.words = kCountersOfRow;
  set.counters.resize(kCountersOfRow);
  for (std::uint32_t number = 0; number < kCountersOfRow; ++number) {
    CounterView& counter = set.counters[number];
    counter.id = number + 1;
    counter.word = number;
    counter.more = kCountersOfRow;
    counter.type = number < kGauges ? CounterType::kBulkCount : CounterType::kLargeRawCount;
    counter.form = number == kReal ? ValueForm::kReal : ValueForm::kUnsigned;
    counter.name = counter.symbol = counter_name(number);
  }
  return set;
}

template <typename Work>
double milliseconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

class Day {
 public:
  explicit Day(std::uint32_t rows) {
    ReplayedProvider facts;
    facts.name = "day";
    facts.pid = 1;
    facts.segment_id = {1, 0};
    set_ = *replay_.add_set(*replay_.add_provider(facts),
                            {.set = std::make_shared<const Counterset>(ten_counters()),
                             .generation = 1,
                             .registration = 1});
    for (std::uint32_t slot = 0; slot < rows; ++slot) {
      const std::string name = std::to_string(slot);
      rows_.push_back(*replay_.begin_instance(set_, {.slot = slot, .name = name, .generation = 1}));
    }
  }

  void write(const std::string& path, std::uint64_t ticks, std::uint64_t interval_ns) {
    std::ofstream file(path, std::ios::binary);
    recording::Head head;
    head.host = "bench";
    head.rates.push_back({interval_ns, ""});
    recording::append_head(head, bytes_);
    recording::ChunkIndex index;
    std::uint64_t offset = 0;
    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
      change();
      if (tick == ticks * 5 / 8) replay_.words(set_, rows_[0])[8] = kSpike;
      now_.monotonic_ns += interval_ns;
      now_.realtime_ns += interval_ns + noise_() % 1000;
      replay_.show(now_);
      if (!query_) query_ = std::make_unique<Query>(*Query::compile(replay_.catalog(), {}));
      query_->collect(sample_, now_);
      const recording::RateInput rate{query_.get(), &sample_};
      writer_.tick({replay_.catalog(), {&rate, 1}, now_, 1000}, schemas_, bytes_);
      recording::MemoryBytes source(std::as_bytes(std::span(bytes_)));
      recording::FrameWalk walk(source);
      while (auto frame = walk.next()) {
        frame->offset += offset;
        index.take(*frame);
      }
      offset += bytes_.size();
      file << bytes_;
      bytes_.clear();
    }
    file.close();
    summarize(path, head, index, offset);
    index.append_to(bytes_, offset);
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes_;
  }

 private:
  // Behind the ticks, where a recorder writes them as it goes.
  static void summarize(const std::string& path, const recording::Head& head,
                        recording::ChunkIndex& index, std::uint64_t& offset) {
    std::string frames;
    std::size_t made_of = 0;
    const double taken = milliseconds_of([&] {
      record::SummaryRuns runs(record::AppenderOptions().summary_least);
      for (const auto& chunk : index.chunks()) {
        const auto run = runs.take({0, chunk, false});
        if (!run) continue;
        auto recording = recording::Recording::open({{path, offset, head, index, false, 0}});
        const auto made = recording ? recording::append_summary(*recording, *run, frames) : false;
        if (!made || !*made) std::exit(1);
        ++made_of;
      }
    });
    std::printf("summaries: %.1f %% of the bytes, %.0f ms each\n",
                100 * static_cast<double>(frames.size()) / static_cast<double>(offset),
                made_of == 0 ? 0 : taken / static_cast<double>(made_of));
    recording::MemoryBytes source(std::as_bytes(std::span(frames)));
    recording::FrameWalk walk(source);
    while (auto frame = walk.next()) {
      frame->offset += offset;
      index.take(*frame);
    }
    offset += frames.size();
    std::ofstream(path, std::ios::binary | std::ios::app) << frames;
  }
  void change() {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto words = replay_.words(set_, rows_[row]);
      const std::size_t sort = row % 10;
      if (sort == 0) {
        for (std::uint32_t word = 0; word < kCountersOfRow; ++word) change(words[word], word);
      } else if (sort <= 2) {
        change(words[row % kCountersOfRow], static_cast<std::uint32_t>(row % kCountersOfRow));
      }
    }
  }
  void change(std::uint64_t& word, std::uint32_t number) {
    if (number < kGauges) {
      word += 900 + noise_() % 200;
    } else if (number == kReal) {
      word = std::bit_cast<std::uint64_t>(
          std::round(std::bit_cast<double>(word) * 90 + static_cast<double>(noise_() % 1000)) /
          100);
    } else {
      word = 1000 + noise_() % 64;
    }
  }

  Replay replay_;
  ReplaySetId set_{};
  std::vector<ReplayRowId> rows_;
  std::unique_ptr<Query> query_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_;
  Timestamp now_{kSecond, kStart};
  std::mt19937_64 noise_{1};
};

int measure(const std::string& path, std::uint32_t counters, unsigned threads) {
  std::uint64_t chunks = 0, ticks = 0;
  Timestamp first, last;
  const double opened = milliseconds_of([&] {
    const auto recording = recording::Recording::open(path);
    if (!recording) return;
    for (const auto& chunk : recording->files().front().index.chunks()) {
      ++chunks;
      ticks += chunk.ticks;
    }
    first = recording->first();
    last = recording->last();
  });
  struct stat facts {};
  ::stat(path.c_str(), &facts);
  const double values = static_cast<double>(ticks) * counters;
  std::printf("%.0f values, %.3f bytes a value, %llu chunks\n", values,
              static_cast<double>(facts.st_size) / values, static_cast<unsigned long long>(chunks));
  std::printf("open                                     %9.2f ms\n", opened);
  recording::EnvelopeRequest request{.patterns = {"day/0/counter_0"},
                                     .from_ns = first.realtime_ns,
                                     .to_ns = last.realtime_ns + 1,
                                     .buckets = 1000,
                                     .cap_percent = false};
  const auto read = [&] {
    const auto made = recording::envelope(path, request);
    if (!made || made->series.size() != 1) std::exit(1);
  };
  for (const unsigned one : {1U, threads}) {
    request.threads = one;
    const double taken = milliseconds_of(read);
    std::printf("one counter, 1,000 buckets, %2u thread(s)   %9.2f ms, %.2f ns a value\n", one,
                taken, taken * 1e6 / values);
  }
  request.blur_ns = (request.to_ns - request.from_ns) / request.buckets;
  std::printf("the same from summaries                  %9.2f ms\n", milliseconds_of(read));
  return 0;
}

}  // namespace
}  // namespace meterbank::bench

int main(int count, char** words) {
  using namespace meterbank::bench;
  if (count < 2) return 2;
  const std::string path = words[1];
  const auto number = [&](int word, long standard) {
    return count > word ? std::atol(words[word]) : standard;
  };
  const auto counters = static_cast<std::uint32_t>(number(2, 10'000));
  const auto ticks = static_cast<std::uint64_t>(number(3, 86'400));
  const auto interval_ns = static_cast<std::uint64_t>(number(5, 1000)) * 1'000'000;
  if (!std::ifstream(path)) {
    const double taken =
        milliseconds_of([&] { Day(counters / kCountersOfRow).write(path, ticks, interval_ns); });
    std::printf("made in %.1f s\n", taken / 1000);
  }
  return measure(path, counters, static_cast<unsigned>(number(4, 2)));
}
