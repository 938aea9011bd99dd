// SPDX-License-Identifier: Apache-2.0
//
// Readers and providers of different versions: docs/versions.md promises that they understand each
// other.
#include "recorded_segment.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "../support/temporary_directory.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using test::RecordedProvider;
using test::SegmentWords;
using Numbers = std::map<std::string, double>;

SegmentWords words_of(const std::string& layout) {
  std::ifstream file(METERBANK_ABI_FOLDER "/segment_" + layout + ".txt");
  return test::read_words(file);
}
SegmentWords words_of_layout_1_0() { return words_of("1_0"); }

// What a reader sees of the provider: its numbers by short path, and its text.
struct Seen {
  ErrorCode error = ErrorCode::kNotFound;
  Numbers values;
  std::string text;
};

Seen read(const RecordedProvider& provider) {
  Seen seen;
  const test::TemporaryDirectory directory;
  EXPECT_TRUE(write_record(directory.path(), provider.record()).has_value());
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  if (catalog.providers().size() != 1) return seen;
  seen.error = catalog.providers().front()->error.code;
  auto query = Query::compile(catalog, {"*/*/*"});
  if (!query) return seen;
  Sample sample;
  query->collect(sample);
  for (const Row& row : sample) {
    for (const Value& value : row) {
      if (value.text) {
        if (!value.text->empty()) seen.text = *value.text;
      } else {
        seen.values[value.short_path()] = value.cooked.value;
      }
    }
  }
  return seen;
}

void expect_recorded_values(const Seen& seen, int minor = 0) {
  Numbers values(test::kRecordedValues.begin(), test::kRecordedValues.end());
  if (minor >= 1) values.insert(test::kRecordedSince1_1.begin(), test::kRecordedSince1_1.end());
  EXPECT_EQ(seen.values, values);
  EXPECT_EQ(seen.text, test::kRecordedText);
}

TEST(RecordedSegment, OfTheFirstReleaseIsReadAsEverAfter) {
  const SegmentWords words = words_of_layout_1_0();
  ASSERT_FALSE(words.empty());
  expect_recorded_values(read(RecordedProvider(words, 0)));
}

TEST(RecordedSegment, OfTheNextLayoutIsReadAsEverAfter) {
  const SegmentWords words = words_of("1_1");
  ASSERT_FALSE(words.empty());
  expect_recorded_values(read(RecordedProvider(words, 1)), 1);
}

TEST(RecordedSegment, OfTheLayoutWithALogOfChangesIsReadAsEverAfter) {
  const SegmentWords words = words_of("1_2");
  ASSERT_FALSE(words.empty());
  expect_recorded_values(read(RecordedProvider(words, 2)), 2);
}

// What tells that the recording is of a provider, not of what readers of today expect.
TEST(RecordedSegment, OfTodayIsReadAlike) {
  expect_recorded_values(read(RecordedProvider(test::record_provider(), kLayoutMinor)),
                         kLayoutMinor);
}

TEST(RecordedSegment, OfANewerMinorVersionIsRead) {
  const SegmentWords words = words_of_layout_1_0();
  for (const int minor : {kLayoutMinor + 1, 7, 0xffff}) {
    SCOPED_TRACE(minor);
    expect_recorded_values(read(RecordedProvider(words, static_cast<std::uint16_t>(minor))));
  }
}

// Fields that a newer version has behind the last one of this reader.
TEST(RecordedSegment, WithALongerHeaderIsRead) {
  expect_recorded_values(
      read(RecordedProvider(words_of_layout_1_0(), kLayoutMinor + 1, sizeof(SegmentHeader) + 512)));
}

TEST(RecordedSegment, WithReservedWordsInUseIsRead) {
  SegmentWords words = words_of_layout_1_0();
  for (const std::size_t reserved :
       {offsetof(SegmentHeader, reserved0), offsetof(SegmentHeader, reserved2),
        offsetof(SegmentHeader, reserved3)}) {
    words.at(reserved / sizeof(std::uint64_t)) = 0x0123456789abcdef;
  }
  expect_recorded_values(read(RecordedProvider(words, kLayoutMinor + 1)));
}

// The negative control: another major version is refused, so what is read above is read on purpose.
TEST(RecordedSegment, OfAnotherMajorVersionIsRefused) {
  SegmentWords words = words_of_layout_1_0();
  constexpr std::size_t kVersionsWord = offsetof(SegmentHeader, layout_major) / 8;
  words.at(kVersionsWord) = (words.at(kVersionsWord) & ~std::uint64_t{0xffff}) | (kLayoutMajor + 1);
  const Seen seen = read(RecordedProvider(words, 0));
  EXPECT_EQ(seen.error, ErrorCode::kNewerLayout);
  EXPECT_TRUE(seen.values.empty());
}

}  // namespace
}  // namespace meterbank
