// SPDX-License-Identifier: Apache-2.0
//
// Forged recordings whose parts refer to each other as often as they can: reading takes time in
// proportion to their bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "../../../reader/recording/src/frames/bytes.hpp"
#include "../../../reader/recording/src/ticks/packed.hpp"
#include "../../../reader/recording/src/ticks/schema_bytes.hpp"
#include "../../reader/replay/hand_made.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void append_provider(std::uint64_t index, ByteWriter& out) {
  std::string facts;
  ByteWriter fact(facts);
  fact.text("p");
  for (int zero = 0; zero < 4; ++zero) fact.number(0);  // pid, the same here, uid, start time
  fact.number(index + 1);                               // segment
  fact.number(0);                                       // state
  fact.number(1);                                       // it has memory
  for (int zero = 0; zero < 20; ++zero) fact.number(0);
  out.number(1);
  out.number(index);
  out.text(facts);
}

// `rate`: 1 more than the number of the rate that samples it, 0 for none.
void append_set(std::uint64_t index, std::uint64_t provider, ByteWriter& out,
                std::uint64_t rate = 0) {
  out.number(3);
  out.number(index);
  out.number(provider);
  out.number(1);                                       // schema
  out.number(index % kRegistrationsMax);               // registration
  for (int zero = 0; zero < 3; ++zero) out.number(0);  // generation, position, flags
  out.number(static_cast<std::uint64_t>(RegistrationState::kInserted));
  out.number(rate);
}

// A file that a test writes field by field. Its moments are a second apart, and have no rows.
class ForgedFile {
 public:
  ForgedFile() {
    Head head;
    head.rates.push_back({kSecond, ""});
    append_head(head, bytes_);
  }

  void frame(FrameKind kind, std::string_view payload) {
    const std::size_t begin = begin_frame(bytes_);
    bytes_ += payload;
    end_frame(bytes_, begin, kind);
  }
  // Number 1: two counters.
  void schema() {
    schema_at_ = bytes_.size();
    const SchemaBytes schema = schema_bytes_of(test::two_counters("s"));
    std::string payload;
    ByteWriter out(payload);
    out.number(1);
    out.raw(hash_of(schema.bytes, schema.consistency, schema.words));
    out.number(static_cast<std::uint64_t>(schema.consistency));
    out.number(schema.words);
    append_packed(schema.bytes, payload);
    frame(FrameKind::kSchema, payload);
  }
  void key(std::string_view directory) { key(directory, 0, no_rows()); }
  // A provider with a set that has one row.
  void key_with_row() {
    std::string directory;
    ByteWriter all(directory);
    all.number(3);
    append_provider(0, all);
    append_set(0, 0, all, 1);
    // Of set 0 a row began: slot 0, generation 1, id 0, not closed.
    for (const unsigned number : {5U, 0U, 0U, 1U, 0U, 1U, 0U, 0U}) all.number(number);
    all.text("a");
    RowEncoder encoder;
    encoder.begin_tick();
    encoder.flag(false, 0);  // the status is as before
    const std::vector<Column> columns(2, Column::kInteger);
    RowHistory history(columns.size());
    encoder.row(columns, std::vector<std::uint64_t>{5, 7}, history);
    std::string rows;
    encoder.finish_tick(rows);
    key(directory, 1, rows);
  }
  void key(std::string_view directory, std::uint64_t due, std::string_view rows) {
    std::string payload(kKeyMarker.data(), kKeyMarker.size());
    ByteWriter out(payload);
    out.number(++moment_ * kSecond);
    out.number(moment_ * kSecond);
    out.number(0);  // window
    out.number(due);
    out.number(0);  // ticks before
    out.text("");   // changes
    append_packed(directory, payload);
    payload += rows;
    frame(FrameKind::kKey, payload);
  }
  void tick(std::string_view changes) {
    std::string payload;
    ByteWriter out(payload);
    out.signed_number(kSecond);
    for (int zero = 0; zero < 3; ++zero) out.number(0);  // clock, window, due
    out.text(changes);
    frame(FrameKind::kTick, payload + no_rows());
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t schema_at() const noexcept { return schema_at_; }

 private:
  static std::string no_rows() {
    RowEncoder encoder;
    encoder.begin_tick();
    std::string bytes;
    encoder.finish_tick(bytes);
    return bytes;
  }

  std::string bytes_;
  std::uint64_t moment_ = 0, schema_at_ = 0;
};

void append_gone(std::uint64_t event, std::uint64_t count, ByteWriter& out) {
  for (std::uint64_t index = 0; index < count; ++index) {
    out.number(event);
    out.number(index);
  }
}

using Forge = std::function<std::string(std::uint64_t size)>;
enum class Reads { kThrough, kSeek, kPlot };

void plot(const std::string& path, const Recording& recording) {
  EnvelopeRequest request{.patterns = {"s/a/depth"}, .cap_percent = false};
  request.from_ns = recording.first().realtime_ns;
  request.to_ns = recording.last().realtime_ns + 1;
  request.blur_ns = request.to_ns;
  const auto made = envelope(path, request);
  EXPECT_TRUE(made && made->series.size() == 1);
}

double seconds_to_read(const std::string& path, Reads reads) {
  double least = 1e9;
  for (int again = 0; again < 3; ++again) {
    const std::clock_t begin = std::clock();
    auto recording = Recording::open(path);
    EXPECT_TRUE(recording) << recording.error().what;
    if (!recording) return least;
    // An index that claims too much may hide the moments that there are from seek().
    if (reads == Reads::kSeek && !recording->seek(~std::uint64_t{0})) {
      EXPECT_TRUE(recording->next());
    }
    if (reads == Reads::kPlot) plot(path, *recording);
    while (reads == Reads::kThrough && recording->next()) {
    }
    EXPECT_TRUE(recording->is_somewhere() || reads == Reads::kPlot);
    const auto ticks = static_cast<double>(std::clock() - begin);
    least = std::min(least, ticks / static_cast<double>(CLOCKS_PER_SEC));
  }
  return least;
}

// One that grows with the square of the size takes 64 times as long.
void expect_linear(const Forge& forge, std::uint64_t size, Reads reads) {
  const test::TemporaryDirectory directory;
  const auto write = [&directory](const char* name, const std::string& bytes) {
    const std::string path = directory.path() + '/' + name;
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  };
  const double small = seconds_to_read(write("small.mbr", forge(size)), reads);
  const double large = seconds_to_read(write("large.mbr", forge(8 * size)), reads);
  std::cout << small * 1000 << " ms, and " << large * 1000 << " ms for 8 times as much\n";
  EXPECT_LE(large, 24 * std::max(small, 0.001));
}

TEST(RecordingTime, IsLinearInSetsThatEnd) {
  const Forge forge = [](std::uint64_t sets) {
    std::string directory, changes;
    ByteWriter all(directory), change(changes);
    const std::uint64_t providers = sets / kRegistrationsMax + 1;
    all.number(providers + sets);
    for (std::uint64_t index = 0; index < providers; ++index) append_provider(index, all);
    for (std::uint64_t index = 0; index < sets; ++index) {
      append_set(index, index / kRegistrationsMax, all);
    }
    change.number(sets);
    append_gone(4, sets, change);
    ForgedFile file;
    file.schema();
    file.key(directory);
    file.tick(changes);
    return file.bytes();
  };
  expect_linear(forge, 3000, Reads::kThrough);
}

TEST(RecordingTime, IsLinearInProvidersThatEnd) {
  const Forge forge = [](std::uint64_t providers) {
    std::string directory;
    ByteWriter all(directory);
    all.number(2 * providers);
    for (std::uint64_t index = 0; index < providers; ++index) append_provider(index, all);
    append_gone(2, providers, all);
    ForgedFile file;
    file.key(directory);
    return file.bytes();
  };
  expect_linear(forge, 2000, Reads::kThrough);
}

// Heads of frames that claim half of what follows them, where the index says that frames begin.
struct Claims {
  std::string payload;
  std::uint64_t offset = 0, count = 0;

  // `filler`: bytes behind them, which they claim half of too.
  Claims(const ForgedFile& file, std::uint64_t claims, FrameKind kind, std::size_t filler = 0)
      : offset(file.bytes().size() + kFrameHead), count(claims) {
    for (std::uint64_t left = claims; left > 0; --left) {
      const auto length = static_cast<std::uint32_t>(((left - 1) * kFrameHead + filler) / 2);
      payload.append(reinterpret_cast<const char*>(&length), sizeof length);
      payload.append(sizeof(std::uint32_t), '\1');  // not its CRC
      payload += static_cast<char>(kind);
    }
    payload.append(filler, '\2');
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t claim) const noexcept {
    return offset + claim * kFrameHead;
  }
};

constexpr auto kUnknownKind = static_cast<FrameKind>('x');

void end_with(std::string index, ForgedFile& file) {
  const std::uint64_t offset = file.bytes().size();
  index.append(reinterpret_cast<const char*>(&offset), sizeof offset);
  file.frame(FrameKind::kIndex, index + "MBRINDEX");
}

TEST(RecordingTime, IsLinearInSchemasThatAnIndexClaims) {
  const Forge forge = [](std::uint64_t size) {
    ForgedFile file;
    const Claims claims(file, size, FrameKind::kSchema);
    file.frame(kUnknownKind, claims.payload);
    const std::uint64_t chunk = file.bytes().size();
    file.key(std::string(1, '\0'));
    std::string index(kIndexMarker.data(), kIndexMarker.size());
    ByteWriter out(index);
    out.number(0);
    out.number(claims.count);
    out.number(claims.at(0));
    for (std::uint64_t claim = 1; claim < claims.count; ++claim) out.number(kFrameHead);
    out.number(1);
    out.number(chunk);
    out.number(1);
    for (int times = 0; times < 2; ++times) out.number(kSecond);
    for (int zero = 0; zero < 2; ++zero) out.number(0);
    end_with(index, file);
    return file.bytes();
  };
  expect_linear(forge, 2000, Reads::kSeek);
}

// Chunks that are claimed to be behind a true one, each a second later.
struct ClaimedChunks {
  std::uint64_t count = 0;
  std::size_t filler = 0;
  std::int64_t step_ns = 0;     // of the clock from the first moment of a chunk to its last
  bool are_summarized = false;  // each by a frame that is claimed to be where it begins itself
};

std::string file_of(const ClaimedChunks& claimed) {
  ForgedFile file;
  file.schema();
  const std::uint64_t chunk = file.bytes().size();
  file.key_with_row();
  const Claims claims(file, claimed.count, FrameKind::kKey, claimed.filler);
  file.frame(kUnknownKind, claims.payload);
  std::string index(kIndexMarker.data(), kIndexMarker.size());
  ByteWriter out(index);
  out.number(0);
  out.number(1);
  out.number(file.schema_at());
  out.number(claims.count + 1);
  std::uint64_t before = 0;
  for (std::uint64_t one = 0; one <= claims.count; ++one) {
    const std::uint64_t offset = one == 0 ? chunk : claims.at(one - 1);
    out.number(offset - before);
    before = offset;
    out.number(1);
    for (int times = 0; times < 2; ++times) out.number((one + 1) * kSecond);
    out.signed_number(0);
    out.signed_number(one == 0 ? 0 : claimed.step_ns);
  }
  if (claimed.are_summarized) {
    out.number(claims.count);
    before = 0;
    for (std::uint64_t one = 0; one < claims.count; ++one) {
      out.number(claims.at(one) - before);
      before = claims.at(one);
      out.number(0);  // sequence of the file
      out.number(claims.at(one));
      out.number(1);
    }
  }
  end_with(index, file);
  return file.bytes();
}

TEST(RecordingTime, IsLinearInChunksThatAnIndexClaims) {
  // The clock was set back, so a reader looks into each of them.
  const Forge forge = [](std::uint64_t size) { return file_of({.count = size, .step_ns = -1}); };
  expect_linear(forge, 2000, Reads::kSeek);
}

TEST(RecordingTime, IsLinearInPlacesThatASeekTries) {
  constexpr std::size_t kFiller = 4096;  // a claim
  const Forge forge = [](std::uint64_t size) {
    return file_of({.count = size, .filler = size * kFiller});
  };
  expect_linear(forge, 50, Reads::kSeek);
}

TEST(RecordingTime, IsLinearInSummariesThatAnIndexClaims) {
  const Forge forge = [](std::uint64_t size) {
    return file_of({.count = size, .are_summarized = true});
  };
  expect_linear(forge, 50, Reads::kPlot);
}

}  // namespace
}  // namespace meterbank::recording
