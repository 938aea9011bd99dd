// SPDX-License-Identifier: Apache-2.0
//
// A provider that starts repeatedly, after orderly ends and after kills. Each killed one leaves its
// record, which a successor of the same name removes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <set>

#include "../support/depth.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "numbered_set.hpp"
#include "segment_eye.hpp"

namespace meterbank {
namespace {

using test::SeenSlot;
using test::SegmentEye;

// A provider in a process of its own, which lives until it is told how to end.
class Life {
 public:
  Life(const std::string& name, const std::string& directory, std::uint64_t value) {
    std::array<int, 2> to_us{};
    std::array<int, 2> to_child{};
    if (::pipe(to_us.data()) != 0 || ::pipe(to_child.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(to_us[0]);
      ::close(to_child[1]);
      ::_exit(live(name, directory, value, to_us[1], to_child[0]) ? 0 : 1);
    }
    ::close(to_us[1]);
    ::close(to_child[0]);
    end_.reset(to_child[1]);
    std::array<char, 4096> path{};
    const auto bytes = ::read(to_us[0], path.data(), path.size());
    if (bytes > 0) record_.assign(path.data(), static_cast<std::size_t>(bytes));
    ::close(to_us[0]);
  }
  // Path of its record; empty if it did not start.
  [[nodiscard]] const std::string& record() const noexcept { return record_; }
  // True if it ended as it was told.
  bool end(bool orderly) {
    if (!orderly) ::kill(pid_, SIGKILL);
    end_.reset();
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) return false;
    return orderly ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : WIFSIGNALED(status);
  }

 private:
  static bool live(const std::string& name, const std::string& directory, std::uint64_t value,
                   int to_us, int from_us) {
    auto provider = Provider::create({.name = name, .directory = directory});
    if (!provider) return false;
    const test::NumberedSet set(2);
    auto registration = provider->add(set.spec());
    if (!registration) return false;
    auto instance = registration->create_instance("it");
    if (!instance) return false;
    instance->set(0, value);
    const std::string path = provider->record();
    if (::write(to_us, path.data(), path.size()) != static_cast<ssize_t>(path.size())) return false;
    char byte = 0;
    return ::read(from_us, &byte, 1) == 0;
  }

  pid_t pid_ = -1;
  UniqueFd end_;
  std::string record_;
};

// Empty: the segment holds what the life with `value` published.
std::string judge(Result<SegmentEye> eye, std::uint64_t value) {
  if (!eye) return eye.error().message();
  std::vector<SeenSlot> slots;
  if (std::string fault = eye->walk(slots); !fault.empty()) return fault;
  if (slots.size() != 1 || slots.front().name != "it") return "another directory";
  std::array<std::uint64_t, 2> row{};
  std::uint64_t version = 0;
  if (!try_read<StdAtomics>(slots.front().block, row.data(), version)) return "unreadable";
  return row[0] == value ? "" : "the value of another life";
}

// Lives one after the other. Returns how many of them were killed.
std::size_t live_and_end(const std::string& directory, bool has_one_name) {
  const int lives = test::runs_long() ? 10'000 : 300;
  const int search_every = test::runs_long() ? 500 : 20;  // a search opens every stale record
  std::size_t killed = 0;
  std::size_t searches = 0;
  int failures = 0;
  std::set<std::array<std::uint64_t, 2>> identities;
  for (int round = 0; round < lives; ++round) {
    const auto value = static_cast<std::uint64_t>(round) + 1;
    Life life(has_one_name ? "phoenix" : "phoenix" + std::to_string(round), directory, value);
    EXPECT_NE(life.record(), "");
    auto eye = SegmentEye::of_record(life.record());
    if (eye) identities.insert(eye->header().segment_id);
    std::string fault = judge(std::move(eye), value);
    if (fault.empty() && round % search_every == 0) {
      fault = judge(SegmentEye::of_directory(directory), value);
      ++searches;
    }
    const bool orderly = round % 2 == 1;
    if (!life.end(orderly)) fault += " did not end as told";
    killed += orderly ? 0 : 1;
    EXPECT_EQ(fault, "") << "life " << round;
    failures += fault.empty() ? 0 : 1;
  }
  std::cout << "  " << lives << " lives, " << killed << " killed, " << searches << " searches, "
            << failures << " failures\n";
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(identities.size(), static_cast<std::size_t>(lives));
  return killed;
}

TEST(RestartLoop, FindsEveryLifeDespiteStaleRecords) {
  const test::TemporaryDirectory directory;
  const std::size_t killed = live_and_end(directory.path(), false);
  // A killed one leaves its record and its door, an orderly one nothing, not even a temporary file.
  EXPECT_EQ(directory.files(), 2 * killed);
  EXPECT_EQ(test::records_in(directory.path()).size(), killed);
  EXPECT_EQ(SegmentEye::of_directory(directory.path()).error().code, ErrorCode::kNotFound);
}

TEST(RestartLoop, LeavesNothingOfLivesThatASuccessorFollowed) {
  const test::TemporaryDirectory directory;
  EXPECT_GT(live_and_end(directory.path(), true), 0U);
  EXPECT_EQ(directory.files(), 0U);
}

}  // namespace
}  // namespace meterbank
