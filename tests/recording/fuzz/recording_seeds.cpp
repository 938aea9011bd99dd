// SPDX-License-Identifier: Apache-2.0
//
//   recording_seeds DIRECTORY
//
// Writes small recordings as inputs to begin with: each kind of frame, of event in a directory and
// of word in a row, in files of at most 2 KiB.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../reader/replay/hand_made.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/summary.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::recording {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// A provider with one row of two counters, and the file that a recorder writes of it.
class SmallFile {
 public:
  explicit SmallFile(std::vector<Rate> rates = {{kSecond, ""}}) {
    Head head;
    head.recorder.part1 = 7;
    head.sequence = 1;
    head.uid = 1000;  // that of the providers, so they are trusted
    head.rates = std::move(rates);
    append_head(head, bytes_);
    begin(set_, 0, "a");
  }

  ReplayRowId begin(ReplaySetId set, std::uint32_t slot, std::string_view name) {
    const auto row =
        *replay_.begin_instance(set, {.slot = slot, .name = name, .generation = ++generation_});
    if (set == set_) rows_.push_back(row);
    return row;
  }
  void end_first_row() {
    replay_.end_instance(set_, rows_.front());
    rows_.erase(rows_.begin());
  }
  void begin_chunk() { writer_.begin_chunk(); }
  void set_clock_back(std::uint64_t ns) { now_.realtime_ns -= ns; }
  void append(std::string_view frames) { bytes_ += frames; }

  // Each rate has its query. Those that are not due have no sample.
  void tick(const std::vector<std::vector<std::string>>& patterns = {{}}, unsigned due = ~0U) {
    for (const ReplayRowId row : rows_) {
      replay_.words(set_, row)[0] += 3 + now_.monotonic_ns / kSecond % 2;
      replay_.words(set_, row)[1] = generation_;
    }
    now_.monotonic_ns += kSecond;
    now_.realtime_ns += kSecond;
    replay_.show(now_);
    std::vector<Query> queries;
    std::vector<Sample> samples(patterns.size());
    std::vector<RateInput> rates;
    for (const auto& one : patterns) queries.push_back(*Query::compile(replay_.catalog(), one));
    for (std::size_t rate = 0; rate < queries.size(); ++rate) {
      queries[rate].collect(samples[rate], now_);
      const bool is_due = (due >> rate & 1U) != 0;
      rates.push_back({&queries[rate], is_due ? &samples[rate] : nullptr});
    }
    writer_.tick({replay_.catalog(), rates, now_, 1000}, schemas_, bytes_);
  }

  [[nodiscard]] const std::string& killed() const noexcept { return bytes_; }
  [[nodiscard]] std::string ended() const {
    MemoryBytes source(std::as_bytes(std::span(bytes_)));
    FrameWalk walk(source);
    ChunkIndex index;
    while (const auto frame = walk.next()) index.take(*frame);
    std::string all = bytes_;
    index.append_to(all, all.size());
    return all;
  }
  [[nodiscard]] Replay& replay() noexcept { return replay_; }
  [[nodiscard]] ReplayProviderId provider() const noexcept { return provider_; }
  [[nodiscard]] ReplaySetId set() const noexcept { return set_; }
  [[nodiscard]] Timestamp now() const noexcept { return now_; }

 private:
  Replay replay_{CatalogOptions{.outside_labels = true}, 1000};
  ReplayProviderId provider_ = *replay_.add_provider(test::provider_called("p"));
  ReplaySetId set_ = *replay_.add_set(provider_, test::registered(test::two_counters("q")));
  std::vector<ReplayRowId> rows_;
  std::uint64_t generation_ = 0;
  Timestamp now_{kSecond, 1'700'000'000 * kSecond};
  TickWriter writer_;
  SchemaNumbers schemas_;
  std::string bytes_;
};

// A set with a word of each kind, laid out as a provider would.
std::shared_ptr<const Counterset> set_of_each_kind(InstanceKind instances) {
  struct Kind {
    const char* symbol;
    CounterType type;
    ValueForm form;
    std::uint32_t more_words;
    bool timed;
  };
  constexpr std::uint32_t kBuckets = 3;
  constexpr std::array kKinds{
      Kind{"narrow", CounterType::kRawCount, ValueForm::kUnsigned, 0, false},
      Kind{"balance", CounterType::kLargeRawCount, ValueForm::kSigned, 0, false},
      Kind{"load", CounterType::kLargeRawCount, ValueForm::kReal, 0, true},
      Kind{"state", CounterType::kText, ValueForm::kText, 2, true},
      Kind{"latency", CounterType::kBulkCount, ValueForm::kDistribution,
           DistributionShape::kBuckets + kBuckets, false}};
  Counterset set;
  set.guid.part1 = 9;
  set.name = set.symbol = "kinds";
  set.instances = instances;
  for (const Kind& kind : kKinds) {
    CounterView counter;
    counter.word = static_cast<std::uint32_t>(set.counters.size());
    counter.id = counter.word + 1;
    counter.name = counter.symbol = kind.symbol;
    counter.type = kind.type;
    counter.form = kind.form;
    counter.timed = kind.timed;
    counter.aggregate = kAggregateSum;
    counter.more_words = kind.more_words + (kind.timed ? 1 : 0);
    if (kind.form == ValueForm::kDistribution) {
      counter.shape = {.scale = 1, .first = -1, .buckets = kBuckets};
    }
    set.counters.push_back(std::move(counter));
  }
  auto words = static_cast<std::uint32_t>(set.counters.size());
  for (CounterView& counter : set.counters) {
    counter.more = words;
    words += counter.more_words;
  }
  set.stamp_word = words++;
  set.form.words = words;
  return std::make_shared<const Counterset>(std::move(set));
}

void set_kinds(std::span<std::uint64_t> words, const Counterset& set, std::uint64_t tick) {
  words[0] += 5;
  words[1] -= tick;
  words[2] = std::bit_cast<std::uint64_t>(static_cast<double>(tick) / 4);
  const std::string_view text = tick % 2 == 0 ? "open" : "half closed";
  words[3] = text.size();
  std::memcpy(&words[set.counters[3].more], text.data(), text.size());
  words[4] += 1;
  words[set.counters[4].more] = std::bit_cast<std::uint64_t>(static_cast<double>(tick + 1));
  words[set.counters[4].more + DistributionShape::kBuckets + tick % 3] += 1;
  words[set.stamp_word] = tick * kSecond;
}

// ---- The recordings -----------------------------------------------------------------------------

SmallFile one_tick() {
  SmallFile file;
  file.tick();
  return file;
}

SmallFile two_chunks() {
  SmallFile file;
  file.begin(file.set(), 3, "b");
  for (int tick = 0; tick < 5; ++tick) {
    if (tick == 3) file.begin_chunk();
    file.tick();
  }
  return file;
}

SmallFile each_kind(InstanceKind instances) {
  SmallFile file;
  const auto schema = set_of_each_kind(instances);
  ReplayedSet facts;
  facts.set = schema;
  facts.registration = facts.generation = 2;
  const auto set = *file.replay().add_set(file.provider(), std::move(facts));
  const auto first = file.begin(set, 0, "x"), second = file.begin(set, 1, "x#2");
  for (std::uint64_t tick = 0; tick < 5; ++tick) {
    set_kinds(file.replay().words(set, first), *schema, tick);
    if (tick < 2) set_kinds(file.replay().words(set, second), *schema, tick / 2);
    if (tick == 2) file.replay().end_instance(set, second);
    if (tick == 3) file.begin_chunk();
    file.tick();
  }
  return file;
}

// Two providers of one name, each with the same set and row.
SmallFile namesakes() {
  SmallFile file;
  ReplayedProvider facts = test::provider_called("p", 1);
  facts.pid = 43;
  const auto second = *file.replay().add_provider(std::move(facts));
  const auto set = *file.replay().add_set(second, test::registered(test::two_counters("q")));
  file.begin(set, 0, "a");
  for (int tick = 0; tick < 3; ++tick) file.tick();
  return file;
}

// Rows of many words, of which a key frame takes a few bytes.
SmallFile wide() {
  constexpr std::uint32_t kMoreWords = 250, kRows = 6;
  SmallFile file;
  Counterset counters = test::two_counters("w");
  counters.counters[0].more_words = kMoreWords;
  counters.form.words += kMoreWords;
  const auto set =
      *file.replay().add_set(file.provider(), test::registered(std::move(counters), 5));
  for (std::uint32_t row = 0; row < kRows; ++row) file.begin(set, row, "r");
  for (int tick = 0; tick < 3; ++tick) file.tick();
  return file;
}

// Providers, sets and rows that come and go, and statuses.
SmallFile changes() {
  SmallFile file;
  file.tick();
  file.begin(file.set(), 3, "b");
  const auto second = *file.replay().add_provider(test::provider_called("r", 1));
  const auto set = *file.replay().add_set(second, test::registered(test::two_counters("s"), 4));
  const auto row = file.begin(set, 2, "c");
  file.tick();
  file.replay().set_row(set, row, RowStatus::kBusy, RowConsistency::kBlock);
  file.end_first_row();
  file.begin(file.set(), 0, "d");
  file.tick();
  file.replay().change_set(set, RegistrationState::kClosed, 0);
  file.replay().set_row(set, row, RowStatus::kDead, RowConsistency::kIndependent);
  file.begin_chunk();
  file.tick();
  file.replay().remove_set(set);
  file.tick();
  file.replay().remove_provider(second);
  file.tick();
  return file;
}

// Rows that a callback answered with.
SmallFile answers() {
  SmallFile file;
  ReplayedSet facts = test::registered(test::two_counters("asked"), 3);
  facts.flags = kRegistrationCallback;
  const auto asked = *file.replay().add_set(file.provider(), std::move(facts));
  file.tick();
  const auto schema = std::make_shared<const Counterset>(test::two_counters("asked"));
  const auto answered = *file.replay().add_answered(asked, schema, 5);
  file.replay().words(answered, file.begin(answered, 2, "one"))[0] = 1'000'003;
  file.tick();
  file.replay().remove_set(answered);
  file.tick();
  return file;
}

SmallFile two_rates() {
  SmallFile file({{kSecond, "q"}, {2 * kSecond, ""}});
  const auto set =
      *file.replay().add_set(file.provider(), test::registered(test::two_counters("s"), 4));
  file.begin(set, 0, "c");
  for (unsigned tick = 0; tick < 4; ++tick) file.tick({{"q/*"}, {}}, tick % 2 == 0 ? 3 : 1);
  return file;
}

// A gap, a mark, and a clock that was set back.
SmallFile interrupted() {
  SmallFile file;
  file.tick();
  file.tick();
  std::string frames;
  append_gap({GapReason::kLate, 3, file.now(), file.now()}, frames);
  append_mark({file.now(), "incident"}, frames);
  file.append(frames);
  file.set_clock_back(7 * kSecond);
  file.begin_chunk();
  file.tick();
  file.tick();
  return file;
}

// With the host of another machine and a process in a container.
SmallFile outside() {
  SmallFile file;
  ReplayedProvider facts = test::provider_called("o", 2);
  facts.outside.container = "c0";
  facts.outside.pod = "pod";
  facts.outside.host = "web1";
  facts.state = ProviderState::kUnreadable;
  facts.error = {ErrorCode::kDenied, 13, "what", "remedy"};
  facts.errors.push_back(facts.error);
  static_cast<void>(*file.replay().add_provider(std::move(facts)));
  file.tick();
  file.tick();
  return file;
}

// A byte is wrong in a tick, and a chunk follows.
std::string damaged() {
  std::string bytes = two_chunks().killed();
  const std::size_t second = bytes.rfind(std::string_view(kKeyMarker.data(), kKeyMarker.size()));
  bytes[second - kFrameHead - 2] ^= 0x10;
  return bytes;
}

// Summaries of both chunks stand behind them.
std::string summarized(bool has_index) {
  const test::TemporaryDirectory directory;
  SmallFile file = two_chunks();
  const std::string path = directory.path() + "/one.mbr";
  write_file(path, file.killed());
  auto recording = *Recording::open(path);
  const auto& chunks = recording.files()[0].index.chunks();
  const ChunkRun run{1, chunks.front().offset, chunks.size(), chunks.front().first,
                     chunks.back().last};
  std::string frames;
  if (!*append_summary(recording, run, frames)) std::abort();
  file.append(frames);
  return has_index ? file.ended() : file.killed();
}

}  // namespace
}  // namespace meterbank::recording

int main(int argc, char** argv) {
  using namespace meterbank::recording;
  if (argc != 2) return 2;
  const auto write = [&](const char* name, const std::string& bytes) {
    write_file(std::string(argv[1]) + '/' + name, bytes);
  };
  write("one_tick", one_tick().killed());
  write("two_chunks", two_chunks().ended());
  write("each_kind", each_kind(meterbank::InstanceKind::kMultipleAggregate).killed());
  write("total", each_kind(meterbank::InstanceKind::kGlobalAggregate).killed());
  write("total_with_history", each_kind(meterbank::InstanceKind::kGlobalAggregateHistory).killed());
  write("namesakes", namesakes().killed());
  write("wide", wide().killed());
  write("changes", changes().ended());
  write("answers", answers().killed());
  write("two_rates", two_rates().ended());
  write("interrupted", interrupted().ended());
  write("outside", outside().killed());
  write("damaged", damaged());
  write("summarized", summarized(false));
  write("summarized_ended", summarized(true));
  return 0;
}
