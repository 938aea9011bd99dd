// SPDX-License-Identifier: Apache-2.0
#include "rows/scale/other_providers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr SetShape kShape{};
constexpr std::size_t kSpareInstances = 10'000;
constexpr int kAnswerTimeoutMs = 120'000;

void move_to_second_processor() noexcept {
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(1, &there);
  static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
}

ProviderOptions options_for(const std::string& directory, std::size_t number,
                            std::size_t instances) {
  return {.name = fmt::format("p{}", number),
          .directory = directory,
          .bytes_max = std::uint64_t{2} << 30,
          .instances_max = static_cast<std::uint32_t>(instances + kSpareInstances),
          // Rare, so that thousands of keeper threads leave the processor alone.
          .heartbeat = std::chrono::seconds(10)};
}

}  // namespace

OtherProviders::OtherProviders(const std::string& directory, std::size_t providers,
                               std::size_t instances_each)
    : directory_(directory), instances_each_(instances_each) {
  if (::pipe2(requests_.data(), O_CLOEXEC) != 0 || ::pipe2(answers_.data(), O_CLOEXEC) != 0) {
    give_up("pipe");
  }
  for (std::size_t number = 0; number < providers; ++number) {
    const pid_t process = ::fork();
    if (process == 0) run_provider(number);
    if (process < 0) {
      const std::string why = std::strerror(errno);
      end_all();
      give_up(
          fmt::format("cannot start provider {} of {}: {}; leave out --large, or raise the limit "
                      "of processes (ulimit -u)",
                      number + 1, providers, why));
    }
    processes_.push_back(process);
    ::setpgid(process, processes_.front());
  }
  for (std::size_t number = 0; number < providers; ++number) await_answer();
}

OtherProviders::~OtherProviders() {
  end_all();
  for (const int file : {requests_[0], requests_[1], answers_[0], answers_[1]}) ::close(file);
}

void OtherProviders::end_all() const {
  for (const pid_t process : processes_) ::kill(process, SIGKILL);
  for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
}

void OtherProviders::create_instance() const {
  if (::write(requests_[1], "", 1) != 1) give_up("a provider has ended");
  await_answer();
}

void OtherProviders::await_answer() const {
  pollfd waiting{.fd = answers_[0], .events = POLLIN, .revents = 0};
  char answer = 'n';
  const bool is_there =
      ::poll(&waiting, 1, kAnswerTimeoutMs) == 1 && ::read(answers_[0], &answer, 1) == 1;
  if (is_there && answer == 'y') return;
  end_all();
  give_up(is_there ? "a provider could not be set up: too little memory, or a limit"
                   : "a provider did not answer within two minutes");
}

void OtherProviders::run_provider(std::size_t number) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  move_to_second_processor();
  const auto answer = [this](bool good) {
    static_cast<void>(!::write(answers_[1], good ? "y" : "n", 1));
  };
  auto provider = Provider::create(options_for(directory_, number, instances_each_));
  if (!provider) {
    answer(false);
    ::_exit(1);
  }
  const Registration set = add_set(*provider, kShape, 0);
  std::vector<Instance> instances;
  const auto create = [&] {
    auto instance = set.create_instance(fmt::format("i{}", instances.size()));
    if (!instance) return false;
    instances.push_back(std::move(*instance));
    for (std::size_t counter = 0; counter < kShape.counters; ++counter) {
      instances.back().set(counter, instances.size() * 100 + counter);
    }
    return true;
  };
  bool is_good = true;
  while (is_good && instances.size() < instances_each_) is_good = create();
  answer(is_good);
  if (number != 0) {
    for (;;) ::pause();
  }
  for (char request = 0; ::read(requests_[0], &request, 1) == 1;) answer(create());
  ::_exit(0);
}

}  // namespace meterbank::bench
