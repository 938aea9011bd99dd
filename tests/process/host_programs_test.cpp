// SPDX-License-Identifier: Apache-2.0
//
// What a service does around its provider must not end it, hang it, or touch what is its own. Each
// test runs one function of hosts/ in a program of its own.
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
#include <filesystem>
#include <string>

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

// True: it ended well and said so, perhaps before what a sanitizer says of its end.
testing::AssertionResult runs_well(std::string host, std::string name = "meterbank_process_host") {
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
  return testing::AssertionSuccess() << said;
}

// ---- Controls: what the tests below look for is found ----

TEST(HostPrograms, ControlAHangIsFound) { EXPECT_FALSE(runs_well("control_hangs_in_a_child")); }
TEST(HostPrograms, ControlACrashIsFound) { EXPECT_FALSE(runs_well("control_crashes")); }

// ---- fork ----

TEST(HostPrograms, DaemonBeforeCreate) { EXPECT_TRUE(runs_well("daemon_before_create")); }
TEST(HostPrograms, DaemonAfterCreateWithoutRegistrations) {
  EXPECT_TRUE(runs_well("daemon_after_create_without_registrations"));
}
TEST(HostPrograms, DaemonAfterCreateWithEverything) {
  EXPECT_TRUE(runs_well("daemon_after_create_with_everything"));
}
TEST(HostPrograms, ChildExitsWithStaticObjects) {
  EXPECT_TRUE(runs_well("child_exits_with_static_objects"));
}
TEST(HostPrograms, ChildDestroysInAnyOrder) {
  EXPECT_TRUE(runs_well("child_destroys_in_any_order"));
}
TEST(HostPrograms, ChildForksAgain) {
  // It may be in the middle of an allocation of another thread when it is copied.
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer starts no threads in a forked child";
  EXPECT_TRUE(runs_well("child_forks_again"));
}
TEST(HostPrograms, ChildCreatesItsOwnAndForks) {
  // It may be in the middle of an allocation of another thread when it is copied.
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer starts no threads in a forked child";

  EXPECT_TRUE(runs_well("child_creates_its_own_and_forks"));
}
TEST(HostPrograms, ForksBesideThreadsThatCount) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "a sanitizer starts no threads in a forked child";
  EXPECT_TRUE(runs_well("forks_beside_threads_that_count"));
}
TEST(HostPrograms, ChildCountsByAHandleThatOutlivedItsProvider) {
  EXPECT_TRUE(runs_well("child_counts_by_a_handle_that_outlived_its_provider"));
}
TEST(HostPrograms, ChildOfAProcessThatIsClosingAProvider) {
  EXPECT_TRUE(runs_well("child_of_a_process_that_waits_for_a_callback"));
}
TEST(HostPrograms, ChildOfForkWithoutHandlersCounts) {
  EXPECT_TRUE(runs_well("child_of_Fork_counts"));
}
TEST(HostPrograms, ChildOfRawCloneCounts) { EXPECT_TRUE(runs_well("child_of_raw_clone_counts")); }
TEST(HostPrograms, ChildOfRawCloneKeepsItsOwnMemory) {
  EXPECT_TRUE(runs_well("child_of_raw_clone_maps_memory_and_counts"));
}
TEST(HostPrograms, ChildOfRawCloneEndsWithoutHarmToTheParent) {
  EXPECT_TRUE(runs_well("child_of_raw_clone_ends_orderly"));
}
TEST(HostPrograms, SpawnedProgramsLeaveTheProviderAlone) {
  EXPECT_TRUE(runs_well("spawned_programs_leave_the_provider_alone"));
}

// ---- Descriptors ----

TEST(HostPrograms, LosesDescriptorsByCloseRange) {
  EXPECT_TRUE(runs_well("loses_descriptors_by_close_range"));
}
TEST(HostPrograms, LosesDescriptorsInALoop) {
  EXPECT_TRUE(runs_well("loses_descriptors_in_a_loop"));
}
TEST(HostPrograms, LosesDescriptorsInALoopDownwards) {
  EXPECT_TRUE(runs_well("loses_descriptors_in_a_loop_downwards"));
}
TEST(HostPrograms, LosesDescriptorsDuringACallback) {
  EXPECT_TRUE(runs_well("loses_descriptors_during_a_callback"));
}
TEST(HostPrograms, LosesDescriptorsToItsProgramDuringACallback) {
  EXPECT_TRUE(runs_well("loses_descriptors_to_its_program_during_a_callback"));
}

// ---- Plugins ----

TEST(HostPrograms, ControlAPluginThatDidNothingIsUnloaded) {
  EXPECT_TRUE(runs_well("control_unloads_a_plugin_that_did_nothing"));
}
TEST(HostPrograms, UnloadsAPluginThatStopped) {
  EXPECT_TRUE(runs_well("unloads_a_plugin_that_stopped"));
}
TEST(HostPrograms, UnloadsAPluginThatPublishes) {
  EXPECT_TRUE(runs_well("unloads_a_plugin_that_publishes"));
}
TEST(HostPrograms, UnloadsAPluginWhoseFileIsGone) {
  EXPECT_TRUE(runs_well("unloads_a_plugin_whose_file_is_gone"));
}

TEST(HostPrograms, UnloadsAPluginThatOnlyCounts) {
  EXPECT_TRUE(runs_well("unloads_a_plugin_that_only_counts"));
}

TEST(HostPrograms, AStaticProgramPublishesAndForks) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs a dynamic linker";
  for (const char* const host :
       {"daemon_after_create_with_everything", "child_of_raw_clone_counts"}) {
    EXPECT_TRUE(runs_well(host, "meterbank_static_host")) << host;
  }
}

// ---- Ends ----

TEST(HostPrograms, ExitsWhileAThreadCounts) {
  EXPECT_TRUE(runs_well("exits_while_a_thread_counts"));
}
TEST(HostPrograms, ExitsOnAnotherThread) { EXPECT_TRUE(runs_well("exits_on_another_thread")); }
TEST(HostPrograms, ExitsInASignalHandler) {
  if (test::kHasThreadSanitizer) GTEST_SKIP() << "exit() in a handler is what it reports";
  EXPECT_TRUE(runs_well("exits_in_a_signal_handler"));
}
TEST(HostPrograms, ExitsQuickly) { EXPECT_TRUE(runs_well("exits_quickly")); }
TEST(HostPrograms, Aborts) { EXPECT_TRUE(runs_well("aborts")); }
TEST(HostPrograms, DestroysStaticObjectsInAnyOrder) {
  EXPECT_TRUE(runs_well("destroys_static_objects_in_any_order"));
}
TEST(HostPrograms, HasAProviderForEachThread) {
  EXPECT_TRUE(runs_well("has_a_provider_for_each_thread"));
}
TEST(HostPrograms, CancelsThreadsThatCount) {
  EXPECT_TRUE(runs_well("cancels_threads_that_count"));
}
TEST(HostPrograms, CancelsThreadsThatCreateAndCloseInstances) {
  EXPECT_TRUE(runs_well("cancels_threads_that_create_and_close_instances"));
}
TEST(HostPrograms, CancelsThreadsThatCreateAndCloseProviders) {
  EXPECT_TRUE(runs_well("cancels_threads_that_create_and_close_providers"));
}
TEST(HostPrograms, CountsOnASmallStack) { EXPECT_TRUE(runs_well("counts_on_a_small_stack")); }

// ---- Objects that end in the wrong order, twice, or while they are used ----

TEST(HostPrograms, EndsItsProviderBeforeItsRows) {
  EXPECT_TRUE(runs_well("ends_its_provider_before_its_rows"));
}
TEST(HostPrograms, EndsItsProviderBeforeTheRowsOfThreads) {
  EXPECT_TRUE(runs_well("ends_its_provider_before_the_rows_of_threads"));
}
TEST(HostPrograms, ClosesTwice) { EXPECT_TRUE(runs_well("closes_twice")); }
TEST(HostPrograms, UsesWhatItHasMovedFrom) {
  EXPECT_TRUE(runs_well("uses_what_it_has_moved_from"));
}
TEST(HostPrograms, ExitsWhileThreadsCountInTheSameRows) {
  EXPECT_TRUE(runs_well("exits_while_threads_count_in_the_same_rows"));
}
TEST(HostPrograms, CountsAtExit) { EXPECT_TRUE(runs_well("counts_at_exit")); }
TEST(HostPrograms, DestroysItsProviderInACallback) {
  EXPECT_TRUE(runs_well("destroys_its_provider_in_a_callback"));
}
TEST(HostPrograms, DestroysItsProviderWhileCallbacksRun) {
  EXPECT_TRUE(runs_well("destroys_its_provider_while_callbacks_run"));
}
TEST(HostPrograms, ClosesItsSetInACallbackAndThrows) {
  EXPECT_TRUE(runs_well("closes_its_set_in_a_callback_and_throws"));
}

// ---- Values ----

TEST(HostPrograms, NamesPositionsOutsideOfItsSets) {
  EXPECT_TRUE(runs_well("names_positions_outside_of_its_sets"));
}
TEST(HostPrograms, ThrowsInUpdates) { EXPECT_TRUE(runs_well("throws_in_updates")); }

// ---- Limits ----

TEST(HostPrograms, SetsUpAmongSignals) { EXPECT_TRUE(runs_well("sets_up_among_signals")); }
TEST(HostPrograms, CountsInSignalHandlers) { EXPECT_TRUE(runs_well("counts_in_signal_handlers")); }
TEST(HostPrograms, GrowsAmongSignals) { EXPECT_TRUE(runs_well("grows_among_signals")); }
TEST(HostPrograms, SetsUpWithFewDescriptors) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs what is refused";

  EXPECT_TRUE(runs_well("sets_up_with_few_descriptors"));
}
TEST(HostPrograms, SetsUpWithLittleMemory) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs what is refused";
  EXPECT_TRUE(runs_well("sets_up_with_little_memory"));
}
TEST(HostPrograms, ReadsWithLittleMemory) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs what is refused";
  EXPECT_TRUE(runs_well("reads_with_little_memory"));
}
TEST(HostPrograms, SetsUpWhereNoFileMayGrow) {
  EXPECT_TRUE(runs_well("sets_up_where_no_file_may_grow"));
}
TEST(HostPrograms, SetsUpWithoutStandardStreams) {
  EXPECT_TRUE(runs_well("sets_up_without_standard_streams"));
}
TEST(HostPrograms, SetsUpWithOptionsAtBothEndsOfTheirTypes) {
  EXPECT_TRUE(runs_well("sets_up_with_options_at_both_ends_of_their_types"));
}
TEST(HostPrograms, SetsUpWithoutThreads) { EXPECT_TRUE(runs_well("sets_up_without_threads")); }
TEST(HostPrograms, SetsUpWhereCallsFail) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer needs what is refused";
  EXPECT_TRUE(runs_well("sets_up_where_calls_fail"));
}
TEST(HostPrograms, ChangesDirectoryAfterCreate) {
  EXPECT_TRUE(runs_well("changes_directory_after_create"));
}
TEST(HostPrograms, ChangesUserAfterCreate) { EXPECT_TRUE(runs_well("changes_user_after_create")); }
TEST(HostPrograms, ChangesRootAfterCreate) { EXPECT_TRUE(runs_well("changes_root_after_create")); }
TEST(HostPrograms, RemovesTheDirectoryAfterCreate) {
  EXPECT_TRUE(runs_well("removes_the_directory_after_create"));
}
TEST(HostPrograms, ChangesRootAndUserAfterCreate) {
  EXPECT_TRUE(runs_well("changes_root_and_user_after_create"));
}
TEST(HostPrograms, ReplacesItself) { EXPECT_TRUE(runs_well("replaces_itself")); }

}  // namespace
}  // namespace meterbank::test
