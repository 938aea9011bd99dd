// SPDX-License-Identifier: Apache-2.0
//
//   meterbank_pod [OPTION...] -- PROGRAM [ARGUMENT...]
//
// Runs a program as container runtimes run one: a read-only root, 64 KiB of /dev/shm, no
// capability, no new privileges, a system call filter, and pid, mount, network, IPC and UTS
// namespaces of its own, in which the program is process 1.
//
//   --volume FOLDER   show this folder as /run/meterbank; otherwise the pod has no /run/meterbank
//   --user UID        user and group in the container, 65532 by default
//   --groups GID,...  supplementary groups
//   --shifted         in a user namespace too, whose ids begin at 100,000 of this machine
//   --cgroup PATH     start in this control group: a folder that is there
//   --join PID        all namespaces and the root are those of this process
//   --share-pids PID  a container of its own, in the pid namespace of this process
//   --node            no namespace and no root of its own: an agent of the machine
//   --keep CAP,...    keep sys_ptrace, dac_read_search or net_admin (one that is of no use)
//
// The program finds its pid on this machine in POD_PID. Exit status: the program's; 77: no such
// container can be made here, and standard error says why.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "call_filter.hpp"

namespace meterbank::test {
namespace {

constexpr int kCannot = 77;
constexpr unsigned kShift = 100'000;
constexpr unsigned kShiftedIds = 65'536;
// Everything is put together there, in a mount namespace of its own.
const std::string kRoot = "/mnt";

struct Options {
  std::string volume, cgroup, join, share_pids;
  uid_t user = 65532;
  std::vector<gid_t> groups;
  std::uint64_t capabilities = 0;
  bool is_shifted = false, is_node = false;
  char** program = nullptr;
};

[[noreturn]] void give_up(const std::string& what) {
  ::fprintf(stderr, "meterbank_pod: %s: %s\n", what.c_str(), ::strerror(errno));
  ::_exit(kCannot);
}

void must(bool done, const std::string& what) {
  if (!done) give_up(what);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::uint64_t capability(const std::string& name) {
  if (name == "sys_ptrace") return std::uint64_t{1} << CAP_SYS_PTRACE;
  if (name == "dac_read_search") return std::uint64_t{1} << CAP_DAC_READ_SEARCH;
  if (name == "net_admin") return std::uint64_t{1} << CAP_NET_ADMIN;
  errno = EINVAL;
  give_up("capability " + name);
}

Options parse(char** words) {
  Options options;
  for (; *words != nullptr; ++words) {
    const std::string word = *words;
    if (word == "--") {
      options.program = words + 1;
      break;
    }
    if (word == "--shifted") {
      options.is_shifted = true;
      continue;
    }
    if (word == "--node") {
      options.is_node = true;
      continue;
    }
    errno = EINVAL;
    must(words[1] != nullptr, word);
    const std::string value = *++words;
    if (word == "--volume") {
      options.volume = value;
    } else if (word == "--cgroup") {
      options.cgroup = value;
    } else if (word == "--join") {
      options.join = value;
    } else if (word == "--share-pids") {
      options.share_pids = value;
    } else if (word == "--user") {
      options.user = static_cast<uid_t>(std::stoul(value));
    } else if (word == "--groups") {
      for (const auto& group : split(value)) {
        options.groups.push_back(static_cast<gid_t>(std::stoul(group)));
      }
    } else if (word == "--keep") {
      for (const auto& name : split(value)) options.capabilities |= capability(name);
    } else {
      give_up(word);
    }
  }
  errno = EINVAL;
  must(options.program != nullptr && *options.program != nullptr, "no program is named");
  return options;
}

// ---- The root ----

void show(const std::string& source, const std::string& target, bool is_writable) {
  const std::string path = kRoot + target;
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  must(::mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
       "show " + source);
  if (is_writable) return;
  const auto flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
  must(::mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0, "write-protect " + target);
}

void mount_new(const char* type, const std::string& target, const char* data) {
  const std::string path = kRoot + target;
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  must(::mount(type, path.c_str(), type, MS_NOSUID | MS_NODEV | MS_NOEXEC, data) == 0,
       "mount " + target);
}

// A root with the programs of this machine in it, nothing of which can be written.
void make_root(const Options& options) {
  must(::unshare(CLONE_NEWNS) == 0, "make a mount namespace");
  must(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make mounts private");
  const std::string programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  must(::mount("tmpfs", kRoot.c_str(), "tmpfs", MS_NOSUID, "mode=755") == 0, "mount " + kRoot);
  for (const std::string folder : {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"}) {
    std::error_code failed;
    if (std::filesystem::is_symlink(folder, failed)) {
      std::filesystem::copy_symlink(folder, kRoot + folder, failed);
    } else if (std::filesystem::exists(folder, failed)) {
      show(folder, folder, false);
    }
  }
  show(programs, programs, false);
  mount_new("proc", "/proc", nullptr);
  mount_new("tmpfs", "/dev/shm", "size=64k,mode=1777");
  std::ofstream(kRoot + "/dev/null");
  must(::mount("/dev/null", (kRoot + "/dev/null").c_str(), nullptr, MS_BIND, nullptr) == 0,
       "show /dev/null");
  if (!options.volume.empty()) show(options.volume, "/run/meterbank", true);
  must(::mount(nullptr, kRoot.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0,
       "write-protect the root");
  must(::chdir(kRoot.c_str()) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0, "change the root");
  must(::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0, "leave the old root");
}

// ---- Privileges ----

void drop_privileges(const Options& options) {
  const gid_t group = options.user;
  must(::setgroups(options.groups.size(), options.groups.data()) == 0, "set groups");
  must(::setresgid(group, group, group) == 0, "set the group");
  must(::prctl(PR_SET_KEEPCAPS, 1) == 0, "keep capabilities");
  for (unsigned number = 0; ::prctl(PR_CAPBSET_READ, number) >= 0; ++number) {
    if ((options.capabilities >> number & 1U) == 0) ::prctl(PR_CAPBSET_DROP, number);
  }
  must(::setresuid(options.user, options.user, options.user) == 0, "set the user");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  for (std::size_t half = 0; half < 2; ++half) {
    const auto bits = static_cast<std::uint32_t>(options.capabilities >> (32 * half));
    data[half] = {bits, bits, bits};
  }
  must(::syscall(SYS_capset, &header, data.data()) == 0, "set capabilities");
  for (unsigned number = 0; number < 64; ++number) {
    if ((options.capabilities >> number & 1U) == 0) continue;
    must(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) == 0, "raise a capability");
  }
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "forbid new privileges");
}

// ---- Processes ----

// Enters these namespaces of the process that are not this process's own.
void join(const std::string& pid, const std::vector<std::string>& names) {
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& name : names) {
    const std::string path = "/proc/" + pid + "/ns/" + name;
    std::array<struct stat, 2> facts{};
    must(::stat(path.c_str(), &facts[0]) == 0, path);
    must(::stat(("/proc/self/ns/" + name).c_str(), &facts[1]) == 0, name);
    if (facts[0].st_ino == facts[1].st_ino) continue;
    found.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC), name);
  }
  for (const auto& [descriptor, name] : found) {
    must(::setns(descriptor, 0) == 0, "join " + name);
  }
}

// A byte or a pid from the other side; that it ends means that this process ends too.
template <typename T>
T receive(int end) {
  T value{};
  if (::read(end, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) ::_exit(kCannot);
  return value;
}
template <typename T>
void send(int end, T value) {
  static_cast<void>(!::write(end, &value, sizeof value));
}

struct Pipes {
  std::array<int, 2> down{}, up{};
};

[[noreturn]] void be_program(const Options& options, const Pipes& pipes) {
  ::setenv("POD_PID", std::to_string(receive<pid_t>(pipes.down[0])).c_str(), 1);
  ::unsetenv("METERBANK_DIR");
  ::unsetenv("XDG_RUNTIME_DIR");
  const bool is_new = !options.is_node && options.join.empty();
  if (is_new) make_root(options);
  if (is_new && options.is_shifted) {
    must(::unshare(CLONE_NEWUSER) == 0, "make a user namespace");
    send(pipes.up[1], 'u');
    receive<char>(pipes.down[0]);
  }
  drop_privileges(options);
  if (!options.is_node) must(install_call_filter(), "install the filter");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user has taken it away
  ::execv(options.program[0], options.program);
  give_up(options.program[0]);
}

void map_ids(pid_t child) {
  for (const char* file : {"uid_map", "gid_map"}) {
    std::ofstream map("/proc/" + std::to_string(child) + "/" + file);
    map << 0 << ' ' << kShift << ' ' << kShiftedIds << std::flush;
    must(map.good(), std::string("write ") + file);
  }
}

int run(const Options& options) {
  if (!options.cgroup.empty()) {
    std::ofstream processes(options.cgroup + "/cgroup.procs");
    processes << ::getpid() << std::flush;
    must(processes.good(), "enter " + options.cgroup);
  }
  Pipes pipes;
  must(::pipe2(pipes.down.data(), O_CLOEXEC) == 0 && ::pipe2(pipes.up.data(), O_CLOEXEC) == 0,
       "make pipes");
  const bool is_new = !options.is_node && options.join.empty();
  // The user namespace is the last one: it owns none of the others.
  if (!options.join.empty()) join(options.join, {"pid", "net", "ipc", "uts", "mnt", "user"});
  if (!options.share_pids.empty()) join(options.share_pids, {"pid"});
  // The mount namespace is the child's alone, because this process needs the /proc of the machine.
  const int pids = options.share_pids.empty() ? CLONE_NEWPID : 0;
  const int namespaces = pids | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (is_new) must(::unshare(namespaces) == 0, "make namespaces");
  const pid_t child = ::fork();
  must(child >= 0, "fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(pipes.down[1]);
    ::close(pipes.up[0]);
    be_program(options, pipes);
  }
  ::close(pipes.down[0]);
  ::close(pipes.up[1]);
  send(pipes.down[1], child);
  if (is_new && options.is_shifted) {
    if (receive<char>(pipes.up[0]) == 'u') map_ids(child);
    send(pipes.down[1], 'm');
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace
}  // namespace meterbank::test

int main(int, char** words) { return meterbank::test::run(meterbank::test::parse(words + 1)); }
