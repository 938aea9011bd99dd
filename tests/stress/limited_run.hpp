// SPDX-License-Identifier: Apache-2.0
//
// The program under a limit of 1,024 open files that it cannot raise.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace meterbank::test {

constexpr std::size_t kFewFiles = 1024;

struct Outcome {
  int code = -1;
  std::size_t lines = 0;
  std::string head, errors;  // first bytes of what was printed
  double seconds = 0;
  long mebibytes = 0;  // largest resident size, shared pages included
};

// Counts the lines that it prints.
inline Outcome run_with_few_files(const std::string& directory, std::vector<std::string> words) {
  words.insert(words.begin(), METERBANK_PROGRAM);
  words.insert(words.end(), {"--dir", directory});
  std::array<int, 2> out{};
  FILE* const errors = ::tmpfile();
  if (errors == nullptr || ::pipe2(out.data(), O_CLOEXEC) != 0) return {};
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit files{kFewFiles, kFewFiles};
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(::fileno(errors), STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(99);
  }
  ::close(out[1]);
  Outcome outcome;
  std::array<char, 65536> part;
  for (;;) {
    const auto count = ::read(out[0], part.data(), part.size());
    if (count <= 0) break;
    outcome.lines += static_cast<std::size_t>(std::count(part.data(), part.data() + count, '\n'));
    if (outcome.head.size() < 4096)
      outcome.head.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(out[0]);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.mebibytes = used.ru_maxrss / 1024;
  ::rewind(errors);
  const auto count = ::fread(part.data(), 1, part.size(), errors);
  outcome.errors.assign(part.data(), count);
  ::fclose(errors);
  std::cout << "  " << words[1] << ": code " << outcome.code << ", " << outcome.lines << " lines, "
            << outcome.seconds << " s, " << outcome.mebibytes << " MiB\n";
  return outcome;
}

}  // namespace meterbank::test
