// SPDX-License-Identifier: Apache-2.0
//
// `log convert -f perfetto`, decoded by a reader of messages that knows nothing of the writer.
#include <cstring>
#include <filesystem>
#include <map>

#include "../../../support/file_size_limit.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::perfetto_test {
namespace {

using record::MadeRecording;

// The fields of a message, by number: varints and fixed numbers as they are, texts and messages.
struct Fields {
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
  std::map<std::uint32_t, std::vector<std::string>> texts;

  explicit Fields(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t tag = varint(bytes);
      const auto field = static_cast<std::uint32_t>(tag >> 3U);
      if ((tag & 7U) == 0) {
        numbers[field].push_back(varint(bytes));
      } else if ((tag & 7U) == 1) {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof number);
        bytes.remove_prefix(sizeof number);
        numbers[field].push_back(number);
      } else {
        EXPECT_EQ(tag & 7U, 2U);
        const std::uint64_t length = varint(bytes);
        if (length > bytes.size()) {
          ADD_FAILURE() << "a field ends behind its message";
          return;
        }
        texts[field].emplace_back(bytes.substr(0, length));
        bytes.remove_prefix(length);
      }
    }
  }
  static std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      number |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) break;
    }
    return number;
  }
  [[nodiscard]] std::uint64_t number(std::uint32_t field) const {
    const auto known = numbers.find(field);
    return known == numbers.end() ? 0 : known->second.front();
  }
  [[nodiscard]] std::string text(std::uint32_t field) const {
    const auto known = texts.find(field);
    return known == texts.end() ? "" : known->second.front();
  }
};

struct DecodedTrace {
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> values;  // by track
  std::map<std::string, std::pair<std::uint64_t, std::string>> units;  // number and name
  std::vector<std::string> processes;
  std::size_t clocks = 0;
};

DecodedTrace decode(const std::string& bytes) {
  DecodedTrace trace;
  std::map<std::uint64_t, std::string> names;
  const Fields packets(bytes);
  const auto known = packets.texts.find(1);
  if (known == packets.texts.end()) return trace;
  for (const std::string& one : known->second) {
    const Fields packet(one);
    if (packet.texts.contains(6)) ++trace.clocks;
    if (packet.texts.contains(60)) {
      const Fields track(packet.text(60));
      names[track.number(1)] = track.text(2);
      if (track.texts.contains(3)) trace.processes.push_back(Fields(track.text(3)).text(6));
      if (track.texts.contains(8)) {
        const Fields counter(track.text(8));
        trace.units[track.text(2)] = {counter.number(3), counter.text(6)};
      }
    }
    if (packet.texts.contains(11)) {
      const Fields event(packet.text(11));
      EXPECT_TRUE(names.contains(event.number(11)));
      trace.values[names[event.number(11)]].emplace_back(packet.number(8), event.number(30));
    }
  }
  return trace;
}

class CliPerfetto : public CliTest {
 protected:
  [[nodiscard]] Outcome convert() const {
    return run_plainly(
        {"log", "convert", file("made.mbr"), "-f", "perfetto", "-o", file("made.pftrace")});
  }
  [[nodiscard]] DecodedTrace decoded() const { return decode(read(file("made.pftrace"))); }
};

TEST_F(CliPerfetto, HasATrackForEachNumberWithItsTimes) {
  MadeRecording made({});
  made.ticks(0, 30);
  made.write(file("made.mbr"));
  const auto outcome = convert();
  if (outcome.err.find("without protozero") != std::string::npos) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const DecodedTrace trace = decoded();
  EXPECT_EQ(trace.processes, std::vector<std::string>{"shop@42"});
  const auto& counts = trace.values.at("queues/eu/count");
  ASSERT_EQ(counts.size(), 30U);
  for (std::uint64_t second = 0; second < 30; ++second) {
    EXPECT_EQ(counts[second].first, 100'000'000'000 + second * 1'000'000'000);
    EXPECT_EQ(counts[second].second, second);
  }
  // A start does not change, and a track keeps its value.
  EXPECT_EQ(trace.values.at("queues/eu/uptime").size(), 1U);
}

TEST_F(CliPerfetto, TellsTheUnitsOfNumbers) {
  MadeRecording made({.units = {"By", "ns", "", "{order}"}});
  made.ticks(0, 3);
  made.write(file("made.mbr"));
  const auto outcome = convert();
  if (outcome.err.find("without protozero") != std::string::npos) GTEST_SKIP() << outcome.err;
  // Numbers of Perfetto. Times are seconds, for which it has none.
  constexpr std::uint64_t kNone = 0, kCount = 2, kBytes = 3;
  using Units = decltype(DecodedTrace::units);
  EXPECT_EQ(decoded().units, (Units{{"queues/eu/count", {kBytes, "By"}},
                                    {"queues/eu/depth", {kNone, "s"}},
                                    {"queues/eu/uptime", {kNone, "s"}},
                                    {"queues/eu/load", {kCount, "{order}"}}}));
}

TEST_F(CliPerfetto, SaysAgainHowTheClocksAreWhereOneWasSet) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.tick(10, 0, 3'000'000'000);
  made.tick(11, 0, 3'000'000'000);
  made.write(file("made.mbr"));
  const auto outcome = convert();
  if (outcome.err.find("without protozero") != std::string::npos) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(decoded().clocks, 2U);
}

TEST_F(CliPerfetto, HasRowsThatComeLater) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.add_row("late \"one\"\n");
  made.ticks(10, 20);
  made.write(file("made.mbr"));
  const auto outcome = convert();
  if (outcome.err.find("without protozero") != std::string::npos) GTEST_SKIP() << outcome.err;
  std::size_t late = 0;
  for (const auto& [name, values] : decoded().values) {
    if (name.find("late \"one\"") != std::string::npos && name.ends_with("/count")) {
      EXPECT_EQ(values.size(), 10U);
      ++late;
    }
  }
  EXPECT_EQ(late, 1U);
}

TEST_F(CliPerfetto, LeavesNothingOnAFullDiskAndReplacesNothing) {
  MadeRecording made({});
  made.ticks(0, 300);
  made.write(file("made.mbr"));
  {
    const test::FileSizeLimit full(5000);
    const auto outcome = convert();
    if (outcome.err.find("without protozero") != std::string::npos) GTEST_SKIP() << outcome.err;
    EXPECT_EQ(outcome.code, kExitEnvironment);
  }
  std::size_t files = 0;
  for (const auto& one : std::filesystem::directory_iterator(directory_)) {
    files += one.path().string().find("pftrace") == std::string::npos ? 0U : 1U;
  }
  EXPECT_EQ(files, 0U);
  EXPECT_EQ(convert().code, kExitDone);
  EXPECT_EQ(convert().code, kExitEnvironment);
}

}  // namespace
}  // namespace meterbank::cli::perfetto_test
