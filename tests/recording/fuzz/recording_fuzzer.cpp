// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a recording: opened, read through and looked into, as they are and with the CRC of
// each frame made right. Whatever they say, memory is bounded by the bytes and by what the options
// allow.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: it believes that a file is
// larger than it is, and the fuzzer must find where it reads outside.
#include <fcntl.h>
#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {
namespace {

constexpr std::uint64_t kReplayBytes = std::uint64_t{1} << 20U;
// Beside the rows: a set has models and names, and zlib makes much of few bytes.
constexpr std::size_t kMemoryMax = std::size_t{192} << 20U;

void demand(bool kept) {
  if (!kept) ::abort();
}

// A file without a name.
class FileInMemory {
 public:
  explicit FileInMemory(std::string_view bytes) : file_(::memfd_create("recording", MFD_CLOEXEC)) {
    demand(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  ~FileInMemory() { ::close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// Frames of a length that fits, with the right CRC.
std::string with_right_crcs(std::string_view bytes) {
  std::string right;
  right.reserve(bytes.size());
  while (bytes.size() > kFrameHead) {
    std::uint32_t payload = 0;
    std::memcpy(&payload, bytes.data(), sizeof payload);
    const auto kind = static_cast<FrameKind>(bytes[kFrameHead - 1]);
    bytes.remove_prefix(kFrameHead);
    const std::string_view of_frame = bytes.substr(0, payload);
    const std::size_t begin = begin_frame(right);
    right += of_frame;
    end_frame(right, begin, kind);
    bytes.remove_prefix(of_frame.size());
  }
  return right.append(bytes);
}

void look_at_rows(Recording& recording) {
  auto query = Query::compile(recording.catalog(), {});
  demand(static_cast<bool>(query));
  Sample sample;
  query->collect(sample, recording.time());
  std::uint64_t sum = 0;
  for (const Row& row : sample.rows()) {
    for (const Value& value : row) sum += value.raw.value + value.path().size();
  }
  static_cast<void>(recording.coverage_of(*query));
  // So that the values are read.
  static std::atomic<std::uint64_t> total;
  total.store(sum, std::memory_order_relaxed);  // relaxed: one thread
}

void look_for(Recording& recording, std::uint64_t time) {
  if (!recording.seek(time)) return;
  demand(recording.is_somewhere() && recording.time().realtime_ns <= time);
  look_at_rows(recording);
  if (recording.next()) look_at_rows(recording);
}

// A plot of one counter of the seeds, from summaries where there are some that fit.
void plot(const std::string& file, const Recording& recording, const CatalogOptions& options) {
  EnvelopeRequest request{.patterns = {"mixed/thing 8/latency"},
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

void read(std::string_view bytes) {
  const FileInMemory file(bytes);
  const std::size_t before = ::__sanitizer_get_current_allocated_bytes();
  CatalogOptions options;
  options.segment_bytes_max = kReplayBytes;
  options.user_bytes_max = 4 * kReplayBytes;
  options.providers_per_user_max = 64;
  auto recording = Recording::open(file.path(), options);
  if (!recording) return;
  std::vector<std::uint64_t> times;
  while (recording->next()) {
    look_at_rows(*recording);
    times.push_back(recording->time().realtime_ns);
    demand(::__sanitizer_get_current_allocated_bytes() - before <= kMemoryMax);
  }
  demand(times.size() <= bytes.size());
  look_for(*recording, recording->last().realtime_ns);
  look_for(*recording, recording->first().realtime_ns);
  if (!times.empty()) look_for(*recording, times[times.size() / 2]);
  look_for(*recording, ~std::uint64_t{0});
  plot(file.path(), *recording, options);
  demand(::__sanitizer_get_current_allocated_bytes() - before <= kMemoryMax);
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

}  // namespace
}  // namespace meterbank::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank::recording;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
#ifdef METERBANK_FUZZ_CONTROL
  walk_believing(bytes);
#endif
  const std::string right = with_right_crcs(bytes);
  if (right != bytes) read(bytes);
  read(right);
  return 0;
}
