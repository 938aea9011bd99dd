// SPDX-License-Identifier: Apache-2.0
//
// What a service does around its provider must not end it, hang it, or touch what is its own. Each
// function of hosts/ runs in a program of its own; its name says what it does.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "../support/sanitizers.hpp"
#include "../support/temporary_directory.hpp"
#include "hosts/host.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

// All that was printed, until the last descendant has closed the pipe. Each ends itself at its
// deadline, so a descendant that hangs does not say its last word.
std::string all_said(int pipe) {
  const auto end = std::chrono::steady_clock::now() + 2 * std::chrono::seconds(kDeadlineSeconds);
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting{pipe, POLLIN, 0};
    if (left <= 0ms || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
      return text + "(hangs)";
    }
    const auto count = ::read(pipe, part.data(), part.size());
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::string program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// True: it ended well and said so, perhaps before what a sanitizer says of its end. `says_once`: on
// stderr.
testing::AssertionResult runs_well(std::string host, std::string name = "meterbank_process_host",
                                   const char* says_once = nullptr) {
  TemporaryDirectory directory;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return testing::AssertionFailure() << "pipe2";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::string path = program(name), place = directory.path();
  std::array<char*, 4> arguments{path.data(), host.data(), place.data(), nullptr};
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return testing::AssertionFailure() << "cannot start " << path << ": " << failed;
  }
  const std::string said = all_said(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    return testing::AssertionFailure()
           << "signal " << WTERMSIG(status) << (WTERMSIG(status) == SIGALRM ? ": it hangs; " : "; ")
           << said;
  }
  const auto is_control = [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; };
  if (std::ranges::any_of(said, [&](char c) { return c != '\n' && is_control(c); })) {
    return testing::AssertionFailure() << "a terminal is sent a control character; " << said;
  }
  if (said.find(kDone) == std::string::npos) {
    return testing::AssertionFailure() << "status " << WEXITSTATUS(status) << "; " << said;
  }
  if (says_once != nullptr && occurrences(said, says_once) != 1) {
    return testing::AssertionFailure() << "it does not say once '" << says_once << "'; " << said;
  }
  return testing::AssertionSuccess() << said;
}

// ---- Controls: what the tests below look for is found ----

TEST(HostPrograms, ControlAHangIsFound) { EXPECT_FALSE(runs_well("control_hangs_in_a_child")); }
TEST(HostPrograms, ControlACrashIsFound) { EXPECT_FALSE(runs_well("control_crashes")); }

// ---- The hosts ----

// Why a host cannot run in this build; null: it can.
constexpr const char* kNeedsWhatIsRefused =
    kHasSanitizer ? "a sanitizer needs what is refused" : nullptr;
constexpr const char* kNoExitInAHandler =
    kHasThreadSanitizer ? "exit() in a handler is what it reports" : nullptr;
constexpr const char* kNoUseWhileDestroyed =
    kHasThreadSanitizer ? "a handle that is destroyed while it is used is what it reports"
                        : nullptr;
// Cancellation leaves frames without their epilogues, which would have told it that the stack of
// the thread is free again.
constexpr const char* kNoCancellation =
    kHasAddressSanitizer ? "it takes the frames of a cancelled thread for live ones" : nullptr;
// It may be in the middle of an allocation of another thread when it is copied.
constexpr const char* kNoThreadsInAChild =
    kHasSanitizer ? "a sanitizer starts no threads in a forked child" : nullptr;

struct HostProgram {
  std::string name;
  const char* cannot_run = nullptr;
  const char* says_once = nullptr;  // on stderr, of the program and its children
};

const std::vector<HostProgram> kHosts{
    // fork
    {"daemon_before_create"},
    {"daemon_after_create_without_registrations"},
    {"daemon_after_create_with_everything"},
    {"child_exits_with_static_objects"},
    {"child_destroys_in_any_order"},
    {"child_forks_again", kNoThreadsInAChild},
    {"child_creates_its_own_and_forks", kNoThreadsInAChild},
    {"forks_beside_threads_that_count", kNoThreadsInAChild},
    {"child_counts_by_a_handle_that_outlived_its_provider"},
    {"child_of_a_process_that_waits_for_a_callback"},
    {"child_of_Fork_counts"},
    {"child_of_raw_clone_counts"},
    {"child_of_raw_clone_maps_memory_and_counts"},
    {"child_of_raw_clone_ends_orderly"},
    {"spawned_programs_leave_the_provider_alone"},
    {"child_that_counted_says_so", nullptr, "has counted for provider 'orders'"},
    {"child_that_counted_nothing_says_nothing"},
    // Daemons: another user, another root, another program
    {"changes_user_and_says_that_its_record_stays", nullptr, "cannot remove its record"},
    {"keeps_its_record_while_its_root_is_another"},
    {"replaces_itself_and_leaves_one_record"},
    {"upgrades_itself_beside_its_successor"},
    {"exits_under_a_filter_and_keeps_its_record", kNeedsWhatIsRefused},
    {"exits_under_a_filter_of_all_threads", kNeedsWhatIsRefused},
    {"exits_under_a_filter_with_rows_that_outlive_their_provider", kNeedsWhatIsRefused},
    {"exits_under_a_filter_without_a_keeper", kNeedsWhatIsRefused},
    {"control_exits_under_a_filter_and_removes_its_record", kNeedsWhatIsRefused},
    {"removes_its_record_where_its_threads_may_not", kNeedsWhatIsRefused},
    {"frees_its_memory_though_it_keeps_its_record"},
    {"keeps_its_record_because_the_operator_says_so", nullptr, "is not 0 or 1"},
    {"sets_up_while_nothing_reads_standard_error"},
    // Descriptors
    {"loses_descriptors_by_close_range"},
    {"loses_descriptors_in_a_loop"},
    {"loses_descriptors_in_a_loop_downwards"},
    {"loses_descriptors_during_a_callback"},
    {"loses_descriptors_to_its_program_during_a_callback"},
    // Plugins
    {"control_unloads_a_plugin_that_did_nothing"},
    {"unloads_a_plugin_that_stopped"},
    {"unloads_a_plugin_that_publishes"},
    {"unloads_a_plugin_whose_file_is_gone"},
    {"unloads_a_plugin_that_only_counts"},
    // Ends
    {"exits_while_a_thread_counts"},
    {"exits_on_another_thread"},
    {"exits_in_a_signal_handler", kNoExitInAHandler},
    {"exits_in_a_callback"},
    {"exits_quickly"},
    {"aborts"},
    {"destroys_static_objects_in_any_order"},
    {"has_a_provider_for_each_thread"},
    {"cancels_threads_that_count"},
    {"cancels_threads_that_create_and_close_instances", kNoCancellation},
    {"cancels_threads_that_create_and_close_providers", kNoCancellation},
    {"counts_on_a_small_stack"},
    // Objects that end in the wrong order, twice, or while they are used
    {"ends_its_provider_before_its_rows"},
    {"ends_its_provider_before_the_rows_of_threads"},
    {"closes_twice"},
    {"uses_what_it_has_moved_from"},
    {"exits_while_threads_count_in_the_same_rows", kNoUseWhileDestroyed},
    {"counts_at_exit"},
    {"destroys_its_provider_in_a_callback"},
    {"destroys_its_provider_while_callbacks_run"},
    {"closes_its_set_in_a_callback_and_throws"},
    // Values
    {"names_positions_outside_of_its_sets"},
    {"throws_in_updates"},
    // Limits
    {"sets_up_among_signals"},
    {"counts_in_signal_handlers"},
    {"grows_among_signals"},
    {"sets_up_with_few_descriptors", kNeedsWhatIsRefused},
    {"sets_up_with_little_memory", kNeedsWhatIsRefused},
    {"reads_with_little_memory", kNeedsWhatIsRefused},
    {"sets_up_where_no_file_may_grow"},
    {"sets_up_without_standard_streams"},
    {"sets_up_with_options_at_both_ends_of_their_types"},
    {"sets_up_without_threads"},
    {"sets_up_where_calls_fail", kNeedsWhatIsRefused},
    {"changes_directory_after_create"},
    {"changes_user_after_create"},
    {"changes_root_after_create"},
    {"removes_the_directory_after_create"},
    {"changes_root_and_user_after_create"},
    {"replaces_itself"},
};

class HostProgramTest : public testing::TestWithParam<HostProgram> {};

TEST_P(HostProgramTest, EndsWell) {
  if (GetParam().cannot_run != nullptr) GTEST_SKIP() << GetParam().cannot_run;
  EXPECT_TRUE(runs_well(GetParam().name, "meterbank_process_host", GetParam().says_once));
}

INSTANTIATE_TEST_SUITE_P(Each, HostProgramTest, testing::ValuesIn(kHosts),
                         [](const auto& host) { return host.param.name; });

TEST(HostPrograms, AreAllRun) {
  std::set<std::string> listed, run{"control_hangs_in_a_child", "control_crashes"};
  for (const HostProgram& host : kHosts) run.insert(host.name);
  FILE* const list = ::popen(program("meterbank_process_host").c_str(), "r");
  ASSERT_NE(list, nullptr);
  std::array<char, 128> line;
  while (std::fgets(line.data(), line.size(), list) != nullptr) {
    const std::string name(line.data());
    listed.insert(name.substr(0, name.find('\n')));
  }
  EXPECT_EQ(::pclose(list), 0);
  EXPECT_EQ(listed, run);
}

TEST(HostPrograms, PublishAndForkAsStaticPrograms) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs a dynamic linker";
  for (const char* const host :
       {"daemon_after_create_with_everything", "child_of_raw_clone_counts"}) {
    EXPECT_TRUE(runs_well(host, "meterbank_static_host")) << host;
  }
}

}  // namespace
}  // namespace meterbank::test
