// SPDX-License-Identifier: Apache-2.0
#include "instructions/under_callgrind.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "../tests/support/temporary_directory.hpp"
#include "report/results_file.hpp"

namespace meterbank::bench {
namespace {

constexpr std::array<std::string_view, 12> kGroups{
    "publish", "c",   "c-reader", "snapshot", "bulk",         "perflib",
    "pdh",     "cut", "shards",   "ledger",   "distribution", "recording"};

std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
    if (!is_digit) text += letter;
    if (is_digit && !text.ends_with('#')) text += '#';
  }
  return text;
}

// Exit status of the command, whose output is dropped; nothing: it could not be started.
std::optional<int> status_of(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_WRONLY, 0);
  }
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, words.front(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || ::waitpid(process, &status, 0) != process) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

bool is_counted_under_callgrind(std::string_view group) noexcept {
  return std::find(kGroups.begin(), kGroups.end(), group) != kGroups.end();
}

CallgrindCounts::CallgrindCounts(const std::vector<std::string>& groups) {
  if (groups.empty()) return;
  const test::TemporaryDirectory folder;
  const std::string counts = folder.path() + "/counts", file = folder.path() + "/results";
  std::vector<std::string> command = {"valgrind",
                                      "--quiet",
                                      "--tool=callgrind",
                                      "--instr-atstart=no",
                                      "--callgrind-out-file=" + counts,
                                      std::filesystem::read_symlink("/proc/self/exe"),
                                      "--quick",
                                      "--json",
                                      file};
  command.insert(command.end(), groups.begin(), groups.end());
  ::setenv("METERBANK_BENCH_CALLGRIND", counts.c_str(), 1);
  const std::optional<int> status = status_of(command);
  ::unsetenv("METERBANK_BENCH_CALLGRIND");
  const auto results = read_results(file);
  if (status != 0 || !results) {
    fmt::print(stderr,
               "meterbank_bench: instructions are not counted: {}; try: apt-get install valgrind\n",
               status ? fmt::format("valgrind ended with exit status {}", *status)
                      : "valgrind could not be started");
    return;
  }
  for (const ResultRow& row : results->rows) {
    if (!row.instructions) continue;
    by_name_.emplace(Key{row.group, row.name}, *row.instructions);
    const auto [known, is_new] = by_name_without_numbers_.emplace(
        Key{row.group, without_numbers(row.name)}, row.instructions);
    if (!is_new) known->second.reset();
  }
}

std::optional<double> CallgrindCounts::of(std::string_view group, std::string_view name) const {
  const auto same = by_name_.find({std::string(group), std::string(name)});
  if (same != by_name_.end()) return same->second;
  const auto alike = by_name_without_numbers_.find({std::string(group), without_numbers(name)});
  return alike == by_name_without_numbers_.end() ? std::nullopt : alike->second;
}

}  // namespace meterbank::bench
