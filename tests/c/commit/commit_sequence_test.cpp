// SPDX-License-Identifier: Apache-2.0
//
// The writer's half of the block protocol stands in block.hpp and, for C, in block.h and the
// headers on top of it. Here both run on the same memory with accesses that are recorded. What they
// do must be the same, access by access: kind, order, word and value.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "../../../publisher/c/src/slow_commit.hpp"
#include "faults.hpp"
#include "meterbank/publisher/value_handles.hpp"
#include "meterbank/shm/segment_layout.hpp"
#include "recording.hpp"

namespace {
constexpr std::uint64_t kNow = 777;
}

extern "C" void record_access(access_kind kind, const uint64_t* word, uint64_t value) {
  using meterbank::test::recording;
  const std::ptrdiff_t offset = word == nullptr ? -1 : word - recording.memory;
  recording.accesses.push_back({kind, offset, value});
}

// What publisher/c/src/slow_commit.cpp is to the library.
using meterbank::test::RecordingAtomics;
void mb_block_set_slow(const mb_block* block, uint32_t word, uint64_t value) {
  meterbank::border::set_slowly<RecordingAtomics>(*block, word, value);
}
void mb_block_add_slow(const mb_block* block, uint32_t word, uint64_t delta) {
  meterbank::border::add_slowly<RecordingAtomics>(*block, word, delta);
}
void mb_update_commit_slow(uint64_t* seq_word, uint32_t copy1, uint32_t checkpoint, uint32_t copy0,
                           uint32_t words, uint32_t changed) {
  meterbank::border::commit_slowly<RecordingAtomics>(
      meterbank::border::block_of(seq_word, copy1, checkpoint, copy0, words), changed);
}
void mb_block_write_checkpoint(uint64_t* seq_word, uint32_t checkpoint, uint32_t copy0,
                               uint32_t words, uint64_t seq) {
  meterbank::border::write_checkpoint<RecordingAtomics>(
      meterbank::border::block_of(seq_word, 0, checkpoint, copy0, words), seq);
}
void mb_recorder_record_slow(const mb_recorder* recorder, double value) {
  meterbank::border::record_slowly<RecordingAtomics>(*recorder, value);
}
void mb_gauge_set_timed(const mb_gauge* gauge, uint64_t bits) {
  meterbank::border::set_timed<RecordingAtomics>(*gauge, bits, kNow);
}
uint64_t mb_coarse_clock_ns(void) { return kNow; }

namespace meterbank::test {
namespace {

using Writer = BlockWriter<RecordingAtomics>;
using Word = RecordingAtomics::Word;

constexpr BlockForm kLineOf1{.words = 1};
constexpr BlockForm kLineOf3{.words = 3, .checkpoint = 1};
constexpr BlockForm kLineOf8{.words = 8, .checkpoint = 1};
constexpr BlockForm kTileOf8{.words = 8, .lanes = 8, .checkpoint = 1};
constexpr BlockForm kLineOf40{.words = 40};
constexpr BlockForm kLineOf200{.words = 200, .checkpoint = 1};
constexpr BlockForm kTileOf3{.words = 3, .lanes = 8};
constexpr BlockForm kCuts{.words = 8, .checkpoint = 1, .cut_pair = 1};
constexpr BlockForm kWideCuts{.words = 60, .lanes = 8, .checkpoint = 1, .cut_pair = 1};
constexpr BlockForm kInPlace{.words = 8, .consistency = Consistency::kIndependent};
constexpr BlockForm kInPlaceTile{.words = 5, .lanes = 8, .consistency = Consistency::kIndependent};

constexpr BlockForm kForms[] = {kLineOf1, kLineOf3, kLineOf8,  kTileOf8, kLineOf40,   kLineOf200,
                                kTileOf3, kCuts,    kWideCuts, kInPlace, kInPlaceTile};

// One block of a group, at commit `seq / 2`.
class Memory {
 public:
  Memory(const BlockForm& form, std::uint64_t seq)
      : layout_(GroupLayout::of(form, 8)), words_(layout_.bytes / 8) {
    const auto lines = reinterpret_cast<std::byte*>(words_.data());
    const auto parts = block_parts(lines, form, layout_, 5);
    const auto at = [&](const SharedWord* word) {
      return word == nullptr ? nullptr : reinterpret_cast<Word*>(const_cast<SharedWord*>(word));
    };
    parts_ = {.seq = at(parts.seq),
              .slot = at(parts.slot),
              .copy0 = at(parts.copy0),
              .copy1 = at(parts.copy1),
              .checkpoint = at(parts.checkpoint),
              .words = parts.words,
              .cut = at(parts.cut)};
    for (std::uint32_t word = 0; word < parts.words; ++word) {
      parts_.copy0[word].value = parts_.copy1[word].value = 100 + word;
    }
    parts_.seq->value = seq;
  }
  [[nodiscard]] Writer writer() const { return Writer(parts_); }
  [[nodiscard]] mb_instance instance() const { return {std::bit_cast<mb_block>(writer()), 0}; }
  template <typename Change>
  Accesses record(Change change) {
    recording = {reinterpret_cast<const std::uint64_t*>(words_.data()), {}};
    change();
    return std::move(recording.accesses);
  }

 private:
  GroupLayout layout_;
  std::vector<Word> words_;
  BlockParts<Word> parts_;
};

// What both did, from the same state.
struct Compared {
  Accesses c, cpp;
};
template <typename InC, typename InCpp>
Compared compare(const BlockForm& form, std::uint64_t seq, InC in_c, InCpp in_cpp) {
  Memory first(form, seq), second(form, seq);
  const Writer writer = second.writer();
  return {first.record([&] { in_c(first.instance()); }), second.record([&] { in_cpp(writer); })};
}

constexpr std::uint64_t kSeqs[] = {0, 6, 2 * 1024 - 2, 2 * 1024, 10 * 2 * 1024 - 2};
constexpr std::uint32_t kPositions[] = {0, 1, 2, 7, 8, 39, 40, 4096, 0xffffffff};

// Of InstanceWriter.
void set_in_cpp(const Writer& writer, std::uint32_t word, std::uint64_t value) {
  if (!writer.is_in_place(word)) return writer.set(word, value);
  RecordingAtomics::store_relaxed(writer.word(word), value);
}
void add_in_cpp(const Writer& writer, std::uint32_t word, std::uint64_t delta) {
  if (!writer.is_in_place(word)) return writer.add(word, delta);
  mb_word_add_single_writer(&writer.word(word).value, delta);
}
Writer::Update update_in_cpp(const Writer& writer, std::span<const std::uint32_t> words,
                             std::uint64_t value) {
  Writer::Update update(writer);
  for (std::size_t i = 0; i < words.size(); ++i) update.set(words[i], value + i);
  for (const std::uint32_t word : words) update.set(word, update.value(word) + 1);
  return update;
}

constexpr std::uint32_t kOneWord[] = {2};
constexpr std::uint32_t kFarWords[] = {1, 35};
constexpr std::uint32_t kAllOf8[] = {7, 6, 5, 4, 3, 2, 1, 0};
constexpr std::uint32_t kBeyond[] = {0, 5000};
constexpr std::uint32_t kOnlyBeyond[] = {4095, 0xffffffff};
constexpr std::span<const std::uint32_t> kUpdates[] = {{},      kOneWord, kFarWords,
                                                       kAllOf8, kBeyond,  kOnlyBeyond};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kValues[] = {
    1.0, 0.001, 1e-300,    0.0,        -3.0,
    5e9, 1e300, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};

// A distribution whose count is word 0 and whose other words are the last of the block.
mb_recorder recorder_of(const mb_instance& instance) {
  constexpr std::uint32_t kBuckets = 20;
  mb_recorder recorder{};
  recorder.block = instance.block;
  recorder.more = instance.block.words - (DistributionShape::kBuckets + kBuckets);
  recorder.scale = 3;
  recorder.first_bucket = -10;
  recorder.buckets = kBuckets;
  return recorder;
}
DistributionPlace place_of(const mb_recorder& recorder) {
  return {{recorder.scale, recorder.first_bucket, recorder.buckets}, recorder.count, recorder.more};
}

// Calls `look(what, compared)` for every comparison.
template <typename Look>
void for_each_comparison(const c_commits& c, Look look) {
  for (const BlockForm& form : kForms) {
    for (const std::uint64_t seq : kSeqs) {
      for (const std::uint32_t word : kPositions) {
        look("set", compare(
                        form, seq, [&](const mb_instance& i) { c.set(&i, word, 42); },
                        [&](const Writer& w) { set_in_cpp(w, word, 42); }));
        look("add", compare(
                        form, seq, [&](const mb_instance& i) { c.add(&i, word, 42); },
                        [&](const Writer& w) { add_in_cpp(w, word, 42); }));
      }
      for (const auto words : kUpdates) {
        look("update",
             compare(
                 form, seq,
                 [&](const mb_instance& i) { c.update(&i, words.data(), words.size(), 50); },
                 [&](const Writer& w) {
                   auto update = update_in_cpp(w, words, 50);
                   if (!update.is_in_place()) update.commit();
                 }));
        look("abort",
             compare(
                 form, seq,
                 [&](const mb_instance& i) { c.abort(&i, words.data(), words.size(), 50); },
                 [&](const Writer& w) { update_in_cpp(w, words, 50).abort(); }));
      }
    }
  }
  for (const BlockForm& form : {kLineOf40, kLineOf200, kWideCuts}) {
    for (const std::uint64_t seq : kSeqs) {
      for (const double value : kValues) {
        look("record",
             compare(
                 form, seq,
                 [&](const mb_instance& i) {
                   const mb_recorder recorder = recorder_of(i);
                   c.record(&recorder, value);
                 },
                 [&](const Writer& w) {
                   const auto place = place_of(recorder_of({std::bit_cast<mb_block>(w), 0}));
                   w.commit_words(
                       changes_of(place, value, [&](std::uint32_t word) { return w.value(word); }));
                 }));
        look("record two",
             compare(
                 form, seq,
                 [&](const mb_instance& i) {
                   const mb_recorder recorder = recorder_of(i);
                   c.record_two(&i, &recorder, value, 0.5);
                 },
                 [&](const Writer& w) {
                   const auto place = place_of(recorder_of({std::bit_cast<mb_block>(w), 0}));
                   Writer::Update update(w);
                   for (const double each : {value, 0.5}) {
                     changes_of(place, each, [&](std::uint32_t word) {
                       return update.value(word);
                     }).apply([&](std::uint32_t word, std::uint64_t bits) {
                       update.set(word, bits);
                     });
                   }
                   update.commit();
                 }));
      }
    }
  }
}

TEST(CommitOfC, MakesTheAccessesOfBlockWriterInEveryForm) {
  std::size_t compared = 0, accesses = 0;
  for (const std::uint64_t epoch : {0U, 1U}) {  // of 0, no commit saves; of 1, the first does
    RecordingAtomics::current_epoch = epoch;
    for_each_comparison(commits_of_c, [&](std::string_view what, const Compared& both) {
      ++compared;
      accesses += both.cpp.size();
      ASSERT_EQ(both.c, both.cpp) << what << ", comparison " << compared;
    });
  }
  EXPECT_GT(compared, 2000U);
  EXPECT_GT(accesses, 20'000U);
}

// What shows that the comparison sees: the same headers with one fault each.
TEST(CommitOfC, DiffersFromBlockWriterWhereItHasAFault) {
  for (const c_commits* faulty : kFaultyCommits) {
    std::size_t different = 0;
    for (const std::uint64_t epoch : {0U, 1U}) {
      RecordingAtomics::current_epoch = epoch;
      for_each_comparison(*faulty, [&](std::string_view, const Compared& both) {
        different += both.c == both.cpp ? 0U : 1U;
      });
    }
    EXPECT_GT(different, 0U) << faulty->name;
  }
  EXPECT_GE(std::size(kFaultyCommits), 9U);
}

TEST(CommitOfC, SetsGaugesInOneCommitWithTheirTime) {
  for (const BlockForm& form : {kLineOf8, kTileOf8, kCuts}) {
    for (const std::uint32_t time_word : {0U, 6U}) {
      const auto both = compare(
          form, 6,
          [&](const mb_instance& i) {
            const mb_gauge gauge{i.block, 1, MB_FORM_REAL, time_word};
            commits_of_c.set_gauge(&gauge, 2.5);
          },
          [&](const Writer& w) {
            const auto bits = std::bit_cast<std::uint64_t>(2.5);
            if (time_word == 0) return w.set(1, bits);
            WordList<2> list;
            list.add(1, bits);
            list.add(time_word, kNow);
            w.commit_words(list);
          });
      EXPECT_EQ(both.c, both.cpp);
    }
  }
}

// TextCounter is of StdAtomics, so this is its protocol once more: length, text, time, one commit.
TEST(CommitOfC, SetsTextsInOneCommitWithTheirTime) {
  constexpr std::string_view kText = "draining slowly\xc3\xa4";
  const auto both = compare(
      kLineOf8, 6,
      [&](const mb_instance& i) {
        const mb_text text{i.block, 0, 3, 2, 5};
        commits_of_c.set_text(&text, kText.data(), kText.size());
      },
      [&](const Writer& w) {
        std::uint64_t first = 0, second = 0;
        std::memcpy(&first, kText.data(), 8);
        std::memcpy(&second, kText.data() + 8, 7);  // the last character does not fit as a whole
        Writer::Update update(w);
        update.set(0, 15);
        update.set(3, first);
        update.set(4, second);
        update.set(5, kNow);
        update.commit();
      });
  EXPECT_EQ(both.c, both.cpp);
}

TEST(CommitOfC, CountsIntoNothingWhereTheStructIsZero) {
  Memory memory(kLineOf8, 0);
  const mb_instance nothing{};
  const mb_recorder no_recorder{};
  const mb_gauge no_gauge{};
  const mb_text no_text{};
  const auto accesses = memory.record([&] {
    commits_of_c.set(&nothing, 0, 1);
    commits_of_c.add(&nothing, 0, 1);
    commits_of_c.update(&nothing, kAllOf8, std::size(kAllOf8), 1);
    commits_of_c.abort(&nothing, kAllOf8, std::size(kAllOf8), 1);
    commits_of_c.record(&no_recorder, 1.0);
    commits_of_c.record_two(&nothing, &no_recorder, 1.0, 2.0);
    commits_of_c.set_gauge(&no_gauge, 1.0);
    commits_of_c.set_text(&no_text, "text", 4);
  });
  EXPECT_EQ(accesses, Accesses());
}

TEST(CommitOfC, HasTheMembersOfBlockWriterInItsBlock) {
  for (const BlockForm& form : kForms) {
    const Memory memory(form, 0);
    const auto parts = memory.writer().parts();
    const mb_block block = memory.instance().block;
    const auto distance = [&](const Word* word) { return word - parts.seq; };
    EXPECT_EQ(block.seq, &parts.seq->value);
    EXPECT_EQ(block.copy0, distance(parts.copy0));
    EXPECT_EQ(block.copy1, distance(parts.copy1));
    EXPECT_EQ(block.words, form.words);
    EXPECT_EQ(block.checkpoint, parts.checkpoint == nullptr ? 0 : distance(parts.checkpoint));
    const bool in_place = form.consistency == Consistency::kIndependent;
    EXPECT_EQ(block.words_in_place, in_place ? form.words : 0U);
    EXPECT_EQ(block.words_plain, form.cut_pair != 0 ? 0U : form.words);
  }
}

TEST(RecorderOfC, FindsTheBucketOfEveryValue) {
  std::vector<double> values(std::begin(kValues), std::end(kValues));
  for (int exponent = -1074; exponent <= 1023; exponent += 7) {
    for (int step = 0; step <= 256; ++step) {
      const double boundary = std::ldexp(std::exp2(step / 256.0), exponent);
      values.push_back(boundary);
      values.push_back(std::nextafter(boundary, 0.0));
      values.push_back(std::nextafter(boundary, kInfinity));
    }
  }
  mb_recorder recorder{};
  for (const std::int32_t scale : {-4, 0, 3, 8}) {
    const auto shape = DistributionShape::of(scale, 1e-9, 1e9, 1U << 20);
    ASSERT_TRUE(shape);
    recorder.scale = shape->scale;
    recorder.first_bucket = shape->first;
    recorder.buckets = shape->buckets;
    for (const double value : values) {
      ASSERT_EQ(mb_recorder_word(&recorder, value), shape->word_of(value)) << value;
    }
  }
}

}  // namespace
}  // namespace meterbank::test
