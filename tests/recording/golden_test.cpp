// SPDX-License-Identifier: Apache-2.0
//
// Recordings that earlier versions made stay readable. golden/v1.mbr is golden_recording() as it
// was when format 1.0 was settled, and golden/v1.tsv what docs/examples/read_recording.py printed
// of it. golden/v1_b.mbr is what writers make now: they no longer repeat the facts of a provider
// at each change of its directory.
//
// If IsWrittenTheSameWay fails and the change is meant:
//   the coder or a frame changed     the format has another major version: keep v1.mbr and v1.tsv,
//                                    add v2, and say in docs/recording.md which versions are read
//   a frame has fields at its end    another minor version: keep v1.mbr, add v1_1
//   chunks are cut elsewhere, ...    the format is the same: keep v1.mbr as it was, write v1_c
// `meterbank_write_golden_recording FILE` writes the file, read_recording.py the lines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "golden_recording.hpp"

namespace meterbank {
namespace {

const std::string kFolder = METERBANK_GOLDEN_FOLDER;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of golden/v1.tsv. The lines of one moment come in the order of a file, which is not that of a
// query.
std::vector<std::string> stored_lines() {
  std::vector<std::string> lines;
  std::ifstream file(kFolder + "/v1.tsv");
  std::ptrdiff_t first = 0;
  for (std::string line; std::getline(file, line);) {
    const auto time = [](const std::string& one) { return one.substr(0, one.find('\t')); };
    if (!lines.empty() && time(lines.back()) != time(line)) {
      std::sort(lines.begin() + first, lines.end());
      first = static_cast<std::ptrdiff_t>(lines.size());
    }
    lines.push_back(line);
  }
  std::sort(lines.begin() + first, lines.end());
  return lines;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  auto recording = recording::Recording::open(path);
  if (!recording) return {recording.error().message()};
  auto lines = test::lines_of(*recording);
  EXPECT_TRUE(recording->damages().empty());
  return lines;
}

// Each moment with its sets and instances, and how many rows of it hold values.
struct Directory {
  std::vector<std::string> moments;
  std::size_t rows_with_values = 0;
};
Directory directory_of(recording::Recording& recording) {
  Directory directory;
  Query query = *Query::compile(recording.catalog(), {});
  Sample sample;
  while (recording.next()) {
    static_cast<void>(query.update(recording.catalog()));
    query.collect(sample, recording.time());
    std::string moment = std::to_string(recording.time().realtime_ns);
    for (const SelectedSet& set : sample.selected()) {
      moment += '\n' + set.provider().label() + ' ' + set.set().name;
      for (std::size_t number = 0; number < set.instances(); ++number) {
        moment += ' ' + std::string(set.instance(number).name);
      }
    }
    directory.moments.push_back(std::move(moment));
    const auto statuses = sample.statuses();
    directory.rows_with_values +=
        static_cast<std::size_t>(std::count_if(statuses.begin(), statuses.end(), holds_values));
  }
  return directory;
}

TEST(GoldenRecording, HasTheSameSetsAndInstancesWithoutItsValues) {
  auto whole = recording::Recording::open(kFolder + "/v1.mbr");
  auto without = recording::Recording::open(kFolder + "/v1.mbr");
  without->leave_values_out();
  const Directory expected = directory_of(*whole), found = directory_of(*without);
  EXPECT_GT(expected.moments.size(), 10U);
  EXPECT_EQ(found.moments, expected.moments);
  EXPECT_GT(expected.rows_with_values, 100U);
  EXPECT_EQ(found.rows_with_values, 0U);
  EXPECT_TRUE(without->damages().empty());
}

TEST(GoldenRecording, OfFormat1IsReadAsItWas) {
  const auto expected = stored_lines();
  const auto lines = lines_of_file(kFolder + "/v1.mbr");
  ASSERT_GT(expected.size(), 1000U);
  ASSERT_EQ(expected.size(), lines.size());
  for (std::size_t line = 0; line < lines.size(); ++line) ASSERT_EQ(expected[line], lines[line]);
}

TEST(GoldenRecording, OfLaterWritersOfFormat1IsReadTheSame) {
  const auto expected = stored_lines();
  EXPECT_EQ(expected, lines_of_file(kFolder + "/v1_b.mbr"));
}

TEST(GoldenRecording, IsWrittenTheSameWay) {
  const std::string stored = bytes_of(kFolder + "/v1_b.mbr");
  const std::string written = test::golden_recording();
  EXPECT_LT(stored.size(), 20'000U);
  ASSERT_EQ(stored.size(), written.size());
  const auto place = std::mismatch(stored.begin(), stored.end(), written.begin()).first;
  EXPECT_EQ(stored.size(), static_cast<std::size_t>(place - stored.begin()))
      << "the first that differs";
}

// With another value in one row, the comparison above fails.
TEST(GoldenRecordingControl, AChangedLineIsFound) {
  auto changed = stored_lines();
  ASSERT_FALSE(changed.empty());
  changed.back().back() = changed.back().back() == '1' ? '2' : '1';
  EXPECT_NE(changed, lines_of_file(kFolder + "/v1.mbr"));
}

}  // namespace
}  // namespace meterbank
