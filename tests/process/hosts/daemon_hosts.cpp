// SPDX-License-Identifier: Apache-2.0
//
// Hosts that become daemons: they change their user, their root and their program, and end where
// most system calls are forbidden. docs/daemons.md has the rules.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "../../support/comes_true.hpp"
#include "../../support/forbidden_calls.hpp"
#include "host.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kOtherUser = 65534;

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::vector<std::string> files_of(const std::string& directory, const std::string& suffix = "") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(suffix)) names.push_back(std::move(name));
  }
  return names;
}

std::size_t records_in(const std::string& directory) {
  return files_of(directory, ".provider").size();
}

ProviderOptions quick(const std::string& directory, bool keep_record = false) {
  return {.name = "orders", .directory = directory, .heartbeat = 5ms, .keep_record = keep_record};
}

// One end of a conversation between two processes, one byte at a time. The other end closes with
// its process.
class Talk {
 public:
  Talk() {
    if (::pipe2(to_child_.data(), O_CLOEXEC) != 0 || ::pipe2(to_parent_.data(), O_CLOEXEC) != 0) {
      std::abort();
    }
  }
  void tell_parent() const { static_cast<void>(!::write(to_parent_[1], "x", 1)); }
  void tell_child() const { static_cast<void>(!::write(to_child_[1], "x", 1)); }
  [[nodiscard]] bool hear_parent() const { return hear(to_child_[0]); }
  [[nodiscard]] bool hear_child() const { return hear(to_parent_[0]); }

 private:
  static bool hear(int descriptor) {
    char byte = 0;
    return ::read(descriptor, &byte, 1) == 1;
  }
  std::array<int, 2> to_child_{}, to_parent_{};
};

// ---- A child that counts ----

std::optional<EveryThing> inherited;

int ends_in_a_child(const std::string& directory, bool counts) {
  inherited.emplace(directory);
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    if (counts) inherited->instance.add(Venue::kAccepted, 1);
    static_cast<void>(inherited->instance.value(Venue::kAccepted));
    std::exit(0);
  }
  return ended_well(child) ? 0 : 1;
}

METERBANK_HOST(child_that_counted_says_so) { return ends_in_a_child(directory, true); }

METERBANK_HOST(child_that_counted_nothing_says_nothing) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return wrong("pipe2");
  const int kept = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  const int status = ends_in_a_child(directory, false);
  ::dup2(kept, STDERR_FILENO);
  // The address sanitizer may say something of the threads that a child does not have.
  std::string said;
  std::array<char, 512> bytes;
  for (ssize_t count; (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;) {
    said.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (status != 0) return status;
  return said.find("meterbank: ") == std::string::npos ? 0 : wrong("it says something");
}

// ---- Another user ----

METERBANK_HOST(changes_user_and_says_that_its_record_stays) {
  if (::geteuid() != 0) {
    std::puts("cannot remove its record: needs another user");
    return 0;
  }
  const Talk talk;
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    const Provider provider = *Provider::create(quick(directory));
    const Provider second =
        *Provider::create(quick(directory, true));  // is to keep it: says nothing
    if (::setgid(kOtherUser) != 0 || ::setuid(kOtherUser) != 0) ::_exit(wrong("setuid"));
    talk.tell_parent();
    ::_exit(talk.hear_parent() ? 0 : wrong("no word"));
  }
  if (!talk.hear_child()) return wrong("the child ended");
  // It says so at a heartbeat. Its record is of another user, and its provider is live all the
  // same.
  std::this_thread::sleep_for(100ms);
  const auto catalog = Catalog::open({.directory = directory});
  const bool is_live = std::ranges::all_of(
      catalog->providers(), [](const auto& provider) { return is_alive(provider->state); });
  talk.tell_child();
  if (!ended_well(child)) return 1;
  if (!is_live || catalog->providers().size() != 2) return wrong("readers do not find it");
  // The next start, as root, removes what was left.
  const Provider next = *Provider::create(quick(directory));
  return records_in(directory) == 1 ? 0 : wrong("a record is left");
}

// ---- Another root ----

// The path of the directory leads to another one there.
METERBANK_HOST(keeps_its_record_while_its_root_is_another) {
  if (::geteuid() != 0) return 0;
  const std::string own = directory + "/own", root = directory + "/root";
  std::filesystem::create_directories(own);
  std::filesystem::create_directories(root + own);
  const Talk talk;
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    {
      Provider provider = *Provider::create(quick(own));
      const auto waves = provider.add(kWaves, answer_nothing, {.serial = true});
      if (::chroot(root.c_str()) != 0 || ::chdir("/") != 0) ::_exit(wrong("chroot"));
      talk.tell_parent();
      if (!talk.hear_parent()) ::_exit(wrong("no word"));
    }
    ::_exit(0);
  }
  if (!talk.hear_child()) return wrong("the child ended");
  const auto records = files_of(own, ".provider");
  if (records.size() != 1) return wrong("no record");
  ::unlink((own + "/" + records.front()).c_str());
  if (!comes_true([&] { return exists(own + "/" + records.front()); })) {
    return wrong("it is not written again");
  }
  if (!files_of(root + own).empty()) return wrong("it was written below the new root");
  talk.tell_child();
  if (!ended_well(child)) return 1;
  return files_of(own).empty() ? 0 : wrong("something was left");
}

// ---- Another program ----

int run_again(const char* host, const std::string& directory, const char* life) {
  ::setenv("METERBANK_TEST_LIFE", life, 1);
  ::execl("/proc/self/exe", "meterbank_process_host", host, directory.c_str(),
          static_cast<char*>(nullptr));
  return wrong("execl");
}

// 0 for the first one.
int own_life() {
  const char* const life = std::getenv("METERBANK_TEST_LIFE");
  return life == nullptr ? 0 : std::atoi(life);
}

METERBANK_HOST(replaces_itself_and_leaves_one_record) {
  const Provider provider = *Provider::create(quick(directory));
  const Provider second = *Provider::create({.name = "orders", .directory = directory});
  const int life = own_life();
  if (records_in(directory) != 2) return wrong("records of earlier lives are left");
  if (!exists(provider.record())) return wrong("the second took the record of the first");
  if (life == 3) return 0;
  return run_again("replaces_itself_and_leaves_one_record", directory,
                   std::to_string(life + 1).c_str());
}

std::size_t live_in(const std::string& directory) {
  const auto catalog = Catalog::open({.directory = directory});
  if (!catalog) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      catalog->providers(), [](const auto& each) { return is_alive(each->state); }));
}

// The new program runs while the old one drains, as nginx does it.
METERBANK_HOST(upgrades_itself_beside_its_successor) {
  if (own_life() != 0) {
    Provider provider = *Provider::create(quick(directory));
    const auto orders = *provider.add(kOrders);
    Instance eu = *orders.create_instance("eu");
    eu.add(Venue::kAccepted, 7);
    if (live_in(directory) != 2) return wrong("not both are live");
    auto catalog = *Catalog::open({.directory = directory});
    auto query = *Query::compile(catalog, {"demo_orders/eu/accepted"});
    Sample sample;
    if (query.collect(sample).rows != 2) return wrong("a reader does not see both");
    std::fputs("upgraded\n", stdout);
    std::fflush(stdout);
    char end = 0;  // the old program lets it end
    static_cast<void>(!::read(STDIN_FILENO, &end, 1));
    return live_in(directory) == 1 ? 0 : wrong("the old one is not gone, or took the new one's");
  }
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    return wrong("pipe2");
  }
  auto provider = std::make_unique<Provider>(*Provider::create(quick(directory)));
  const Registration orders = *provider->add(kOrders);
  Instance eu = *orders.create_instance("eu");
  eu.add(Venue::kAccepted, 5);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::_exit(run_again("upgrades_itself_beside_its_successor", directory, "1"));
  }
  ::close(out[1]);
  std::array<char, 64> said{};
  if (::read(out[0], said.data(), said.size()) <= 0) return wrong("the new program failed");
  if (eu.value(Venue::kAccepted) != 5) return wrong("the new program counted here");
  provider.reset();
  static_cast<void>(!::write(in[1], "x", 1));
  if (!ended_well(child)) return 1;
  return files_of(directory).empty() ? 0 : wrong("something was left");
}

// ---- Ends under a filter ----

// What the C library needs to end a program, and to free memory.
const std::vector<long> kLeastOfAService{SYS_read,       SYS_write, SYS_futex, SYS_rt_sigreturn,
                                         SYS_exit_group, SYS_brk,   SYS_munmap};

std::optional<EveryThing> of_service;

// Runs `filter` in a child that has everything, and exits.
pid_t exit_under(const ProviderOptions& options, const std::function<bool()>& filter) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  begin_deadline();
  of_service.emplace(options);
  of_service->rows.count();
  if (!filter()) {
    of_service.reset();
    ::_exit(77);
  }
  std::exit(0);
}

bool filter_this_thread() { return allow_only(kLeastOfAService, Filtered::kThisThread); }

// Afterwards the record is there, its provider dead, and its successor removes it.
int leaves_a_record(const std::string& directory, pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return 0;  // filters are not to be had
  if (WIFSIGNALED(status)) return wrong("a system call at exit ended the program");
  if (records_in(directory) != 1) return wrong("the record is gone");
  const auto catalog = Catalog::open({.directory = directory});
  if (catalog->providers().front()->state != ProviderState::kDead) return wrong("it is not dead");
  { const Provider next = *Provider::create(quick(directory)); }
  return files_of(directory).empty() ? 0 : wrong("the next provider left something");
}

METERBANK_HOST(exits_under_a_filter_and_keeps_its_record) {
  return leaves_a_record(directory, exit_under(quick(directory, true), filter_this_thread));
}

METERBANK_HOST(control_exits_under_a_filter_and_removes_its_record) {
  const pid_t child = exit_under(quick(directory, false), filter_this_thread);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return 0;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? 0 : wrong("the filter finds nothing");
}

// The keeper comes to its next look while handles are left.
METERBANK_HOST(exits_under_a_filter_with_rows_that_outlive_their_provider) {
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    static std::optional<Instance> row;
    auto provider = std::make_unique<Provider>(*Provider::create(quick(directory, true)));
    row = *provider->add(kOrders)->create_instance("eu");
    std::vector<long> allowed = kLeastOfAService;
    allowed.push_back(SYS_clock_nanosleep);
    if (!allow_only(allowed, Filtered::kThisThread)) ::_exit(77);
    provider.reset();
    std::this_thread::sleep_for(100ms);
    row.reset();
    std::exit(0);
  }
  return leaves_a_record(directory, child);
}

// The filter is of the library's threads, too: what they do while they run is allowed, and the
// calls of the C library in a thread that begins or ends.
METERBANK_HOST(exits_under_a_filter_of_all_threads) {
  std::vector<long> allowed = kLeastOfAService;
#ifdef SYS_epoll_wait
  allowed.push_back(SYS_epoll_wait);
#endif
  for (const long call :
       {SYS_epoll_pwait, SYS_epoll_ctl, SYS_newfstatat, SYS_geteuid, SYS_membarrier, SYS_fstat,
        SYS_clock_nanosleep, SYS_getpid, SYS_sendto, SYS_mmap, SYS_mprotect, SYS_rt_sigprocmask,
        SYS_set_robust_list, SYS_rseq, SYS_madvise, SYS_exit}) {
    allowed.push_back(call);
  }
  return leaves_a_record(directory, exit_under(quick(directory, true), [&] {
                           return allow_only(allowed, Filtered::kAllThreads);
                         }));
}

METERBANK_HOST(exits_under_a_filter_without_a_keeper) {
  ProviderOptions options = quick(directory, true);
  options.heartbeat = 0ms;
  return leaves_a_record(directory, exit_under(options, filter_this_thread));
}

// A thread that may not remove files leaves that to the keeper, which was there before the filter.
METERBANK_HOST(removes_its_record_where_its_threads_may_not) {
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    {
      const Provider provider = *Provider::create(quick(directory));
      std::vector<sock_filter> filter{
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      if (!install_filter(filter, 0)) ::_exit(0);
    }
    ::_exit(0);
  }
  if (!ended_well(child)) return 1;
  return files_of(directory).empty() ? 0 : wrong("something was left");
}

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

METERBANK_HOST(frees_its_memory_though_it_keeps_its_record) {
  std::thread([] {}).join();  // with the first one, the thread sanitizer starts one of its own
  const std::size_t descriptors = entries_of("/proc/self/fd");
  const std::size_t threads = entries_of("/proc/self/task");
  for (int round = 0; round < 3; ++round) {
    { const EveryThing all(quick(directory, true)); }
    if (records_in(directory) != 1) return wrong("not one record");
    if (!comes_true([&] {
          return entries_of("/proc/self/fd") == descriptors &&
                 entries_of("/proc/self/task") == threads;
        })) {
      return wrong("threads or descriptors are left");
    }
  }
  return 0;
}

METERBANK_HOST(keeps_its_record_because_the_operator_says_so) {
  std::string record;
  const auto stays = [&](const char* value, bool option) {
    ::setenv("METERBANK_KEEP_RECORD", value, 1);
    {
      const Provider provider = Provider::create_or_disabled(quick(directory, option));
      record = provider.record();
    }
    return exists(record);
  };
  if (!stays("1", false)) return wrong("it is gone");
  if (stays("0", true)) return wrong("it is there");
  if (!stays("", true) || stays("", false)) return wrong("an empty value is one");
  static_cast<void>(stays("yes\x1b", true));
  return record.empty() ? 0 : wrong("any value will do");
}

// ---- Ends in other places ----

METERBANK_HOST(exits_in_a_callback) {
  const pid_t child = ::fork();
  if (child == 0) {
    begin_deadline();
    static std::optional<Provider> provider;
    provider = orders_provider(directory);
    const auto set = provider->add(kOrders, [](CallbackRequest& request) -> std::uint32_t {
      if (request.reason() == CallbackReason::kCollect) std::exit(0);
      return 0;
    });
    if (!set) ::_exit(wrong("no callback"));
    auto catalog = Catalog::open({.directory = directory});
    auto query = Query::compile(*catalog, {});
    Sample sample;
    for (;;) query->collect(sample, 100ms);
  }
  if (!ended_well(child)) return 1;
  return files_of(directory).empty() ? 0 : wrong("something was left");
}

// It has something to say there.
METERBANK_HOST(sets_up_while_nothing_reads_standard_error) {
  return in_forked_child([&] {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return wrong("pipe2");
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    const Provider nowhere = Provider::create_or_disabled({.name = "", .directory = directory});
    inherited.emplace(directory);
    return in_forked_child([&] {
      inherited->instance.add(Venue::kAccepted, 1);
      inherited.reset();
      return 0;
    })
               ? 0
               : 1;
  })
             ? 0
             : 1;
}

}  // namespace
}  // namespace meterbank::test
