// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a recording: opened, read through and looked into. frame_mutator.hpp makes them.
// Whatever they say, memory and time are bounded by what they declare, and by what the options
// allow.
//
// Every input is decoded to its end. What takes longer is done with a part of them, told by the
// bytes, so the same input is always read alike: in one of four the values of each moment are read
// and not only those of the last; in one of sixteen moments are sought, in one counters are
// plotted, and in one names are printed. Every second one with a summary is plotted.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: it believes that a file is
// larger than it is, and the fuzzer must find where it reads outside.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "declared.hpp"
#include "frame_mutator.hpp"
#include "heap_meter.hpp"
#include "meterbank/base/crc32.hpp"
#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {
namespace {

constexpr std::uint64_t kReplayBytes = std::uint64_t{1} << 20U;
// What reading takes at most: a coder of 340 KiB, of which a plot has two more, and buffers; and so
// much for each byte that is declared. Each of four seeks decodes a chunk up to twice, and a plot
// opens the recording once more and decodes it.
constexpr std::uint64_t kCoderBytes = 400 << 10U, kBufferBytes = 64 << 10U, kMemoryFactor = 4;
constexpr std::uint64_t kTimeFixedNs = 20'000'000, kTimeFactorNs = 20;

void demand(bool kept) {
  if (!kept) ::abort();
}

// A file without a name, the same one for all inputs.
class FileInMemory {
 public:
  FileInMemory()
      : file_(::memfd_create("recording", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(file_)) {}
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  ~FileInMemory() { ::close(file_); }

  void write(std::string_view bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    demand(::ftruncate(file_, size) == 0 && ::pwrite(file_, bytes.data(), bytes.size(), 0) == size);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  int file_;
  std::string path_;
};

std::uint64_t cpu_ns() {
  timespec now{};
  demand(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Reads all values that the query selects.
void look_at_rows(Recording& recording, Query& query) {
  Sample sample;
  query.collect(sample, recording.time());
  std::uint64_t sum = 0;
  for (const Row& row : sample.rows()) {
    for (const Value& value : row) sum += value.raw.value;
  }
  static_cast<void>(recording.coverage_of(query));
  // So that the values are read.
  static std::atomic<std::uint64_t> total;
  total.store(sum, std::memory_order_relaxed);  // relaxed: one thread
}

void look_at_rows(Recording& recording) {
  auto query = Query::compile(recording.catalog(), {});
  demand(static_cast<bool>(query));
  look_at_rows(recording, *query);
}

// What rows and values are called.
void look_at_names(const Recording& recording) {
  auto query = Query::compile(recording.catalog(), {});
  demand(static_cast<bool>(query));
  Sample sample;
  query->collect(sample, recording.time());
  for (const Row& row : sample.rows()) {
    for (const Value& value : row) demand(!value.path().empty());
  }
}

void look_for(Recording& recording, std::uint64_t time) {
  if (!recording.seek(time)) return;
  demand(recording.is_somewhere() && recording.time().realtime_ns <= time);
  look_at_rows(recording);
  if (recording.next()) look_at_rows(recording);
}

// A plot of counters of the seeds, from summaries where there are some that fit.
void plot(const std::string& file, const Recording& recording, const CatalogOptions& options) {
  EnvelopeRequest request{.patterns = {"q/a/count", "kinds/x/latency"},
                          .from_ns = recording.first().realtime_ns,
                          .to_ns = recording.last().realtime_ns + 1,
                          .buckets = 16,
                          .percentiles = {50},
                          .cap_percent = false};
  if (request.from_ns >= request.to_ns) return;
  request.blur_ns = request.to_ns - request.from_ns;
  const auto made = envelope(file, request, options);
  if (!made) return;
  for (const EnvelopeSeries& series : made->series) {
    for (const EnvelopeBucket& bucket : series.buckets) {
      demand(bucket.count == 0 || bucket.least <= bucket.most);
    }
  }
}

// What is done with an input beside decoding it to its end.
enum class Part : std::uint8_t { kSeek, kPlot, kNames, kNone };

Part part_of(const Recording& recording, std::uint32_t turn) noexcept {
  const bool has_summary = !recording.files().front().index.summaries().empty();
  if (has_summary && turn / 4 % 2 == 0) return Part::kPlot;
  return static_cast<Part>(std::min(turn / 4 % 16, std::uint32_t{3}));
}

enum class Looks : std::uint8_t { kAtLast, kAtEach };

// To the end. The times of the moments.
std::vector<std::uint64_t> read_through(Recording& recording, Looks looks) {
  std::vector<std::uint64_t> times;
  auto query = Query::compile(recording.catalog(), {});
  demand(static_cast<bool>(query));
  const auto look = [&] {
    query->update(recording.catalog());
    look_at_rows(recording, *query);
  };
  while (recording.next()) {
    if (looks == Looks::kAtEach) look();
    times.push_back(recording.time().realtime_ns);
  }
  if (looks == Looks::kAtLast) look();
  return times;
}

void seek_everywhere(Recording& recording, const std::vector<std::uint64_t>& times) {
  look_for(recording, recording.last().realtime_ns);
  look_for(recording, recording.first().realtime_ns);
  if (!times.empty()) look_for(recording, times[times.size() / 2]);
  look_for(recording, ~std::uint64_t{0});
}

Part read(std::string_view bytes, std::uint32_t turn) {
  static FileInMemory file;
  file.write(bytes);
  CatalogOptions options;
  options.segment_bytes_max = kReplayBytes;
  options.user_bytes_max = 4 * kReplayBytes;
  options.providers_per_user_max = 64;
  options.outside_labels = true;
  auto recording = Recording::open(file.path(), options);
  if (!recording) return Part::kNone;
  const auto times = read_through(*recording, turn % 4 == 0 ? Looks::kAtEach : Looks::kAtLast);
  demand(times.size() <= bytes.size());
  const Part part = part_of(*recording, turn);
  if (part == Part::kSeek) seek_everywhere(*recording, times);
  if (part == Part::kPlot) plot(file.path(), *recording, options);
  if (part == Part::kNames) look_at_names(*recording);
  return part;
}

struct Cost {
  Part part = Part::kNone;
  std::uint64_t bytes = 0, ns = 0;  // of memory at a time, and of a processor
};

Cost cost_of_reading(std::string_view bytes, std::uint32_t turn) {
  const test::HeapMeter heap;
  const std::uint64_t begin = cpu_ns();
  const Part part = read(bytes, turn);
  return {part, heap.most(), cpu_ns() - begin};
}

// Whether memory and time are bounded by what the recording declares.
void read_in_bounds(std::string_view bytes) {
  const std::uint32_t turn = crc32(std::as_bytes(std::span(bytes)));
  Cost cost = cost_of_reading(bytes, turn);
  const std::uint64_t coders = cost.part == Part::kPlot ? 3 : 1;
  const std::uint64_t passes = cost.part == Part::kSeek ? 9 : coders;
  std::uint64_t bytes_max = coders * kCoderBytes + kBufferBytes, ns_max = kTimeFixedNs;
  if (cost.bytes <= bytes_max && cost.ns <= ns_max) return;
  const test::DeclaredByRecording declared(std::as_bytes(std::span(bytes)));
  bytes_max += kMemoryFactor * declared.bytes();
  ns_max += kTimeFactorNs * passes * declared.work();
  // A machine that does something else may slow one reading down.
  for (int again = 0; again < 2 && cost.ns > ns_max; ++again) {
    cost.ns = std::min(cost.ns, cost_of_reading(bytes, turn).ns);
  }
  if (cost.bytes <= bytes_max && cost.ns <= ns_max) return;
  std::cerr << "reading " << bytes.size() << " bytes took " << cost.bytes << " bytes of memory and "
            << cost.ns << " ns; at most " << bytes_max << " and " << ns_max << " are right\n";
  ::abort();
}

#ifdef METERBANK_FUZZ_CONTROL
// The fault: the size of the file is not what is there.
class BelievingBytes : public ByteSource {
 public:
  explicit BelievingBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size() + 100; }
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes) override {
    return {bytes_.data() + offset, bytes};
  }

 private:
  std::span<const std::byte> bytes_;
};

void walk_believing(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto all = std::as_bytes(std::span(bytes));
  const std::vector<std::byte> copy(all.begin(), all.end());
  BelievingBytes source(copy);
  FrameWalk walk(source);
  while (walk.next()) {
  }
}
#endif

std::size_t copy_of(const std::string& made, std::uint8_t* out, std::size_t bytes_max) {
  const std::size_t size = std::min(made.size(), bytes_max);
  std::memcpy(out, made.data(), size);
  return size;
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace
}  // namespace meterbank::recording

using namespace meterbank;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  test::FrameMutator mutator(seed, max_size);
  return recording::copy_of(mutator.mutate(recording::text_of(data, size)), data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* left, std::size_t left_size,
                                                 const std::uint8_t* right, std::size_t right_size,
                                                 std::uint8_t* out, std::size_t out_size,
                                                 unsigned seed) {
  test::FrameMutator mutator(seed, out_size);
  const auto made =
      mutator.cross(recording::text_of(left, left_size), recording::text_of(right, right_size));
  return recording::copy_of(made, out, out_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = recording::text_of(data, size);
#ifdef METERBANK_FUZZ_CONTROL
  recording::walk_believing(bytes);
#endif
  recording::read_in_bounds(bytes);
  return 0;
}
