// SPDX-License-Identifier: Apache-2.0
#include "golden_recording.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/file_frames.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::test {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kTicks = 90;

// Not those of <random>, whose distributions differ between libraries.
class Numbers {
 public:
  std::uint64_t next(std::uint64_t below) noexcept {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return (state_ >> 33U) % below;
  }

 private:
  std::uint64_t state_ = 20'261'127;
};

// A set whose words are laid out as a provider would.
class SetMaker {
 public:
  SetMaker(std::uint32_t number, const std::string& symbol, InstanceKind instances) {
    set_.guid.part1 = number;
    set_.name = "Golden " + symbol;
    set_.symbol = symbol;
    set_.label = "thing";
    set_.instances = instances;
  }
  SetMaker& add(const std::string& symbol, CounterType type, ValueForm form,
                std::uint32_t more_words = 0, bool timed = false) {
    CounterView counter;
    counter.word = static_cast<std::uint32_t>(set_.counters.size());
    counter.id = counter.word + 1;
    counter.name = "The " + symbol;
    counter.symbol = symbol;
    counter.type = type;
    counter.form = form;
    counter.timed = timed;
    counter.more_words = more_words + (timed ? 1 : 0);
    if (form == ValueForm::kDistribution) {
      counter.shape = {
          .scale = 1, .first = -4, .buckets = more_words - DistributionShape::kBuckets};
    }
    set_.counters.push_back(std::move(counter));
    return *this;
  }
  [[nodiscard]] std::shared_ptr<const Counterset> make(bool stamped = false) {
    auto words = static_cast<std::uint32_t>(set_.counters.size());
    for (CounterView& counter : set_.counters) {
      counter.more = words;
      words += counter.more_words;
    }
    if (stamped) set_.stamp_word = words++;
    set_.form.words = words;
    return std::make_shared<const Counterset>(std::move(set_));
  }

 private:
  Counterset set_;
};

std::uint64_t bits_of(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }

void put_text(std::span<std::uint64_t> words, const CounterView& counter, std::string_view text) {
  words[counter.word] = text.size();
  std::memcpy(&words[counter.more], text.data(), text.size());
}

// What happens in the providers, tick by tick.
class Story {
 public:
  Story() {
    orders_ = *replay_.add_provider(facts_of("orders", 1));
    counts_ = *replay_.add_set(orders_, registered(counts_set(), 1));
    states_ = *replay_.add_set(orders_, registered(states_schema_, 2));
    ReplayedSet asked = registered(one_count_set(4, "golden_asked"), 3);
    asked.flags = kRegistrationCallback;
    asked_ = *replay_.add_set(orders_, std::move(asked));
    begin(counts_, 0, "eu", 1);
    begin(counts_, 1, "us", 2);
    begin(states_, 0, "", 0);
  }

  void tick(std::uint64_t number, Timestamp time) {
    change_directory(number);
    change_answers(number);
    for (auto& row : count_rows_) count(row, time);
    set_states(number, time);
    if (late_) count_late(number);
    replay_.show(time);
  }
  [[nodiscard]] Replay& replay() noexcept { return replay_; }

 private:
  struct Row {
    ReplaySetId set;
    ReplayRowId id;
  };

  static ReplayedProvider facts_of(const std::string& name, std::uint32_t number) {
    ReplayedProvider facts;
    facts.name = name;
    facts.pid = 100 + number;
    facts.uid = 1000;
    facts.segment_id = {number, 0};
    facts.record = "/run/meterbank/" + name;
    facts.created_realtime_ns = 1'764'213'000'000'000'000;
    return facts;
  }
  static ReplayedSet registered(std::shared_ptr<const Counterset> set, Ref registration) {
    ReplayedSet facts;
    facts.set = std::move(set);
    facts.generation = registration;
    facts.registration = registration;
    return facts;
  }
  static std::shared_ptr<const Counterset> counts_set() {
    SetMaker maker(1, "golden_counts", InstanceKind::kMultiple);
    for (const char* symbol : {"orders", "bytes", "nanoseconds"}) {
      maker.add(symbol, CounterType::kBulkCount, ValueForm::kUnsigned);
    }
    maker.add("narrow", CounterType::kRawCount, ValueForm::kUnsigned);
    maker.add("balance", CounterType::kLargeRawCount, ValueForm::kSigned);
    maker.add("load", CounterType::kLargeRawCount, ValueForm::kReal);
    maker.add("any", CounterType::kLargeRawCount, ValueForm::kReal);
    for (const char* symbol : {"idle_1", "idle_2", "idle_3", "idle_4", "large"}) {
      maker.add(symbol, CounterType::kLargeRawCount, ValueForm::kUnsigned);
    }
    return maker.make(true);
  }
  static std::shared_ptr<const Counterset> states_set() {
    constexpr std::uint32_t kBuckets = 8;
    SetMaker maker(2, "golden_states", InstanceKind::kSingle);
    maker.add("state", CounterType::kText, ValueForm::kText, 3, true);
    maker.add("latency", CounterType::kBulkCount, ValueForm::kDistribution,
              DistributionShape::kBuckets + kBuckets);
    maker.add("ratio", CounterType::kLargeRawCount, ValueForm::kReal, 0, true);
    return maker.make();
  }
  static std::shared_ptr<const Counterset> one_count_set(std::uint32_t number,
                                                         const std::string& symbol) {
    SetMaker maker(number, symbol, InstanceKind::kMultiple);
    maker.add("seen", CounterType::kBulkCount, ValueForm::kUnsigned);
    return maker.make();
  }

  ReplayRowId begin(ReplaySetId set, std::uint32_t slot, const std::string& name,
                    std::uint64_t generation) {
    const auto id = *replay_.begin_instance(
        set, {.slot = slot, .name = name, .id = slot + 7, .generation = generation});
    if (set == counts_) count_rows_.push_back({set, id});
    if (set == states_) state_row_ = id;
    return id;
  }

  // What a callback answered, once with one row and once with another one.
  void change_answers(std::uint64_t number) {
    if (number == 35 || number == 60) {
      const auto set = one_count_set(4, "golden_asked");
      answered_ = replay_.add_answered(asked_, set, number).value();
      const auto row = begin(*answered_, 2, number == 35 ? "one" : "other", number);
      replay_.words(*answered_, row)[0] = number * 1'000'003;
    }
    if (number == 55) replay_.remove_set(*answered_);
  }

  void change_directory(std::uint64_t number) {
    // A row that begins and ends, another one in its slot.
    if (number == 12) begin(counts_, 5, "asia", 3);
    if (number == 31) {
      replay_.end_instance(counts_, count_rows_.back().id);
      count_rows_.pop_back();
      begin(counts_, 5, "africa", 4);
    }
    if (number == 20) {
      late_ = replay_.add_provider(facts_of("late", 2)).value();
      late_set_ = *replay_.add_set(*late_, registered(one_count_set(3, "golden_late"), 1));
      late_row_ = begin(late_set_, 3, "a/b", 1);
    }
    if (number == 44) {
      replay_.remove_set(late_set_);
      late_set_ = *replay_.add_set(*late_, registered(one_count_set(3, "golden_late"), 2));
      late_row_ = begin(late_set_, 0, "c", 1);
    }
    if (number == 70) {
      replay_.remove_provider(*late_);
      late_.reset();
    }
    // The provider died: its last values.
    if (number == 80) {
      for (const Row& row : count_rows_) {
        replay_.set_row(row.set, row.id, RowStatus::kDead, RowConsistency::kBlock);
      }
    }
  }

  void count(const Row& row, Timestamp time) {
    constexpr std::uint64_t kWord = std::uint64_t{1} << 31U;
    const auto words = replay_.words(row.set, row.id);
    words[0] += numbers_.next(40);
    words[1] += numbers_.next(9) * 4096;
    words[2] += 50 * kMillisecond - numbers_.next(1000);
    words[3] += numbers_.next(1'000'000'000);
    words[4] += numbers_.next(200) - 100;
    words[5] = bits_of(static_cast<double>(numbers_.next(1000)) / 100);
    if (numbers_.next(20) == 0) words[6] = numbers_.next(kWord) << 33U ^ numbers_.next(kWord);
    words[11] = numbers_.next(10) == 0 ? ~words[11] : words[11];
    words[12] = time.monotonic_ns - numbers_.next(500);
  }

  void set_states(std::uint64_t number, Timestamp time) {
    static constexpr std::array<std::string_view, 3> kStates{"open", "closing \"soon\"", ""};
    const bool is_busy = number % 17 == 16;
    replay_.set_row(states_, state_row_, is_busy ? RowStatus::kBusy : RowStatus::kFresh,
                    number % 30 > 25 ? RowConsistency::kIndependent : RowConsistency::kBlock);
    if (is_busy) return;
    const auto words = replay_.words(states_, state_row_);
    const Counterset& set = *states_schema_;
    if (number % 11 == 0) {
      put_text(words, set.counters[0], kStates[numbers_.next(kStates.size())]);
      words[set.counters[0].more + 3] = time.monotonic_ns;
    }
    record(words, set.counters[1]);
    if (number % 4 == 0) {
      words[set.counters[2].word] = bits_of(1.0 / static_cast<double>(number + 3));
      words[set.counters[2].more] = time.monotonic_ns;
    }
  }

  // Some values: buckets and `below` together are the count.
  void record(std::span<std::uint64_t> words, const CounterView& counter) {
    const auto more = words.subspan(counter.more, counter.more_words);
    for (std::uint64_t values = numbers_.next(4); values > 0; --values) {
      const std::uint64_t bucket = numbers_.next(counter.shape.buckets);
      ++words[counter.word];
      ++more[numbers_.next(9) == 0 ? std::uint64_t{DistributionShape::kBelow}
                                   : DistributionShape::kBuckets + bucket];
      sum_ += 0.25 * static_cast<double>(bucket + 1);
      more[DistributionShape::kSum] = bits_of(sum_);
    }
  }

  void count_late(std::uint64_t number) { replay_.words(late_set_, late_row_)[0] += number % 3; }

  Replay replay_{CatalogOptions{}, 1000};
  Numbers numbers_;
  std::shared_ptr<const Counterset> states_schema_ = states_set();
  ReplayProviderId orders_{};
  ReplaySetId counts_{}, states_{}, late_set_{};
  std::vector<Row> count_rows_;
  ReplayRowId state_row_{}, late_row_{};
  std::optional<ReplayProviderId> late_;
  ReplaySetId asked_{};
  std::optional<ReplaySetId> answered_;
  double sum_ = 0;
};

Timestamp time_of(std::uint64_t tick) noexcept {
  const std::uint64_t since = tick * 50 * kMillisecond + tick % 7 * 12'345;
  constexpr std::uint64_t kBack = 3'600'000 * kMillisecond;  // the clock is set
  return {.monotonic_ns = 5'000'000 * kMillisecond + since,
          .realtime_ns = 1'764'213'120'000 * kMillisecond + since - (tick > 60 ? kBack : 0)};
}

recording::Head golden_head() {
  recording::Head head;
  head.recorder.part1 = 0x01020304;
  head.sequence = 1;
  head.created = time_of(0);
  head.boot_id = "boot";
  head.host = "golden";
  head.uid = 1000;
  head.program = "meterbank golden";
  head.rates = {{100 * kMillisecond, "golden_counts"}, {50 * kMillisecond, ""}};
  return head;
}

// ---- Lines --------------------------------------------------------------------------------------

std::string seconds_of(Timestamp time) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::string fraction = std::to_string(kSecond + time.realtime_ns % kSecond);
  return std::to_string(time.realtime_ns / kSecond) + '.' + fraction.substr(1);
}

std::string real_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char character : text) {
    if (character == '"') all += '\\';
    all += character;
  }
  return all + '"';
}

std::string distribution_text(const StoredRow& row, const CounterView& counter) {
  std::string text = std::to_string(row[counter.word]);
  for (std::uint32_t bucket = 0; bucket < counter.shape.buckets; ++bucket) {
    const std::uint64_t count = row[counter.more + DistributionShape::kBuckets + bucket];
    if (count == 0) continue;
    text += ' ' + std::to_string(counter.shape.first + static_cast<std::int32_t>(bucket)) + ':' +
            std::to_string(count);
  }
  return text;
}

std::string value_text(const StoredRow& row, const CounterView& counter) {
  const std::uint64_t word = row[counter.word];
  switch (counter.form) {
    case ValueForm::kSigned:
      return std::to_string(static_cast<std::int64_t>(word));
    case ValueForm::kReal:
      return real_text(std::bit_cast<double>(word));
    case ValueForm::kText: {
      std::string_view text(reinterpret_cast<const char*>(&row.words()[counter.more]), word);
      return quoted(text);
    }
    case ValueForm::kDistribution:
      return distribution_text(row, counter);
    case ValueForm::kUnsigned:
      break;
  }
  const bool is_narrow = counter.type == CounterType::kRawCount;
  return std::to_string(is_narrow ? word & 0xffffffff : word);
}

void append_lines(const recording::Recording& recording, const Query& query, const Sample& sample,
                  std::vector<std::string>& lines) {
  std::size_t number = 0;
  for (const SelectedSet& one : query.selected()) {
    for (std::size_t instance = 0; instance < one.instances(); ++instance, ++number) {
      if (!holds_values(sample.statuses()[number])) continue;
      const std::string name(one.instance(instance).name);
      for (const CounterView& counter : one.set().counters) {
        lines.push_back(seconds_of(recording.time()) + '\t' + one.provider().name + '@' +
                        std::to_string(one.provider().pid) + '\t' + one.set().symbol + '/' +
                        (name.empty() ? "" : name + '/') + counter.symbol + '\t' +
                        value_text(sample.stored(number), counter));
      }
    }
  }
}

}  // namespace

std::string golden_recording() {
  Story story;
  std::string bytes;
  append_head(golden_head(), bytes);
  auto counts = *Query::compile(story.replay().catalog(), {"golden_counts"});
  auto all = *Query::compile(story.replay().catalog(), {});
  Sample of_counts, of_all;
  recording::TickWriter writer;
  recording::SchemaNumbers schemas;
  for (std::uint64_t tick = 0; tick < kTicks; ++tick) {
    const Timestamp time = time_of(tick);
    story.tick(tick, time);
    for (Query* query : {&counts, &all}) query->update(story.replay().catalog());
    if (tick == 50) {
      recording::append_gap({recording::GapReason::kLate, 3, time_of(49), time}, bytes);
      recording::append_mark({time, "half of it"}, bytes);
      writer.begin_chunk();
    }
    counts.collect(of_counts, time);
    all.collect(of_all, time);
    const bool is_due = tick % 2 == 0 || writer.wants_everything();
    const std::array<recording::RateInput, 2> rates{
        {{&counts, is_due ? &of_counts : nullptr}, {&all, &of_all}}};
    writer.tick({story.replay().catalog(), rates, time, 1000 + tick}, schemas, bytes);
  }
  recording::ChunkIndex index;
  recording::MemoryBytes source(std::as_bytes(std::span(bytes)));
  recording::FrameWalk walk(source);
  while (const auto frame = walk.next()) index.take(*frame);
  index.append_to(bytes, bytes.size());
  return bytes;
}

std::vector<std::string> lines_of(recording::Recording& recording) {
  std::vector<std::string> lines;
  auto counts = *Query::compile(recording.catalog(), {"golden_counts"});
  auto others = *Query::compile(recording.catalog(), {}, {"golden_counts/*"});
  Sample sample;
  while (recording.next()) {
    const auto first = static_cast<std::ptrdiff_t>(lines.size());
    std::uint64_t rate = 1;
    for (Query* query : {&counts, &others}) {
      query->update(recording.catalog());
      query->collect(sample, recording.time());
      if ((recording.due() & rate) != 0) append_lines(recording, *query, sample, lines);
      rate <<= 1U;
    }
    std::sort(lines.begin() + first, lines.end());
  }
  return lines;
}

}  // namespace meterbank::test
