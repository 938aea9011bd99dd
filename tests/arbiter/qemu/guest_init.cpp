// SPDX-License-Identifier: Apache-2.0
//
// The first process of the emulated machine (boot.py): makes a usable system of it, runs what
// /commands lists, a line each, and switches the machine off. What it prints itself begins with @@.
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct FileSystem {
  const char* type;
  const char* path;
};

void mount_all() {
  constexpr std::array<FileSystem, 7> kFileSystems = {{{"proc", "/proc"},
                                                       {"sysfs", "/sys"},
                                                       {"devtmpfs", "/dev"},
                                                       {"tmpfs", "/dev/shm"},
                                                       {"tmpfs", "/tmp"},
                                                       {"tmpfs", "/run"},
                                                       {"tracefs", "/sys/kernel/tracing"}}};
  for (const FileSystem& each : kFileSystems) {
    mkdir(each.path, 0755);
    if (mount(each.type, each.path, each.type, 0, "") != 0 && errno != EBUSY) {
      std::printf("@@ mount %s: %s\n", each.path, std::strerror(errno));
    }
  }
}

void set(const char* path, const char* value) { std::ofstream(path) << value; }

// The exit status; 256 + the signal's number, if one ended it.
int run(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    std::printf("@@ %s: %s\n", arguments[0], std::strerror(errno));
    std::fflush(stdout);
    _exit(127);
  }
  for (;;) {
    int status = 0;
    // The first process is also the parent of all orphans.
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended != child) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  }
}

}  // namespace

int main() {
  mount_all();
  set("/proc/sys/kernel/perf_event_paranoid", "2");
  set("/proc/sys/kernel/perf_user_access", "1");
  setenv("HOME", "/tmp", 1);
  setenv("GTEST_COLOR", "no", 1);
  setenv("PATH", "/bin", 1);
  std::ifstream commands("/commands");
  std::string line;
  for (int number = 0; std::getline(commands, line); ++number) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) continue;
    std::printf("@@ begins %d %s\n", number, line.c_str());
    std::fflush(stdout);
    const int status = run(words);
    std::printf("@@ ended %d %d %s\n", number, status, line.c_str());
  }
  std::printf("@@ off\n");
  std::fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
}
