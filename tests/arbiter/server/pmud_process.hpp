// SPDX-License-Identifier: Apache-2.0
//
// The real program in a directory of its own, and a client that speaks to it in packets.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "comes_true.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"
#include "meterbank/shm/segment.hpp"
#include "temporary_directory.hpp"

namespace meterbank::test {

// Only one test at a time, of whatever program, uses the breakpoints of this machine.
class BreakpointLock {
 public:
  BreakpointLock();

 private:
  UniqueFd file_;
};

// PerfCalls::has_counting_breakpoints() of this machine.
[[nodiscard]] bool breakpoints_count();

// A machine with 4 general and 1 fixed counter on each of CPUs 0 and 1.
inline constexpr const char* kSmallTopology =
    R"([[pmu]]
name = "cpu_core"
cpus = "0-1"
general = 4
fixed = 1
width = 48
flags = ["overflow"]
event = [{code = [0x80, 0x8f], class = "low2"}]
class.low2 = {general = 0x3}
)";
// One with so many counters that no client has to wait.
inline constexpr const char* kLargeTopology =
    R"([[pmu]]
name = "cpu_core"
cpus = "0-15"
general = 16
fixed = 4
width = 48
flags = ["overflow"]
)";

class PmudProcess {
 public:
  // Of no topology: this machine, with its breakpoints. An argument "FILE:name" is the path of
  // one of the files.
  explicit PmudProcess(std::string topology = kSmallTopology,
                       std::vector<std::string> arguments = {},
                       const std::vector<std::pair<std::string, std::string>>& files = {});
  PmudProcess(const PmudProcess&) = delete;
  PmudProcess& operator=(const PmudProcess&) = delete;
  ~PmudProcess();

  void start();  // returns when it serves
  // Waits for its end; its exit code, or minus the signal.
  int wait();
  int stop();  // SIGTERM
  void kill();
  void signal(int number) const;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_.path(); }
  [[nodiscard]] std::string socket() const { return directory() + "/pmud.sock"; }
  // What it wrote on standard error so far, all starts together.
  [[nodiscard]] std::string complaints() const;
  [[nodiscard]] std::size_t descriptors() const;
  // The same, once its countersets say that it has so many clients and leases: then it has seen
  // who came and who left, and made every row of them, which may take descriptors.
  [[nodiscard]] std::size_t descriptors_of(std::uint64_t clients, std::uint64_t leases) const;
  void write_file(const std::string& name, const std::string& text) const;

 private:
  TemporaryDirectory directory_;
  TemporaryDirectory beside_;  // files that do not belong to the program
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
};

struct Got {
  std::uint64_t id = 0;
  pmu::ArbiterMessage message;
  UniqueFd attached;

  template <typename Message>
  [[nodiscard]] const Message* as() const noexcept {
    return std::get_if<Message>(&message);
  }
};

class RawClient {
 public:
  RawClient() = default;
  // Without Hello.
  explicit RawClient(const std::string& path);
  explicit RawClient(PacketSocket socket);

  // One that was welcomed.
  static RawClient greeted(const std::string& path, int heartbeat = -1);

  std::uint64_t send(const pmu::ClientMessage& message, int attached = -1);
  // The next packet; nothing if the arbiter hung up or the timeout expired (is_hung_up() tells).
  std::optional<Got> next(std::chrono::milliseconds timeout = kTimeout);
  // The next answer to `id`; what comes unasked is kept for notice().
  std::optional<Got> answer(std::uint64_t id);
  // The answer, after Queued if it has to wait.
  std::optional<Got> ask(const pmu::ClientMessage& message, int attached = -1);
  // The next packet with id 0.
  std::optional<Got> notice();
  [[nodiscard]] bool is_hung_up() const noexcept { return is_hung_up_; }
  bool waits_until_hung_up();

  [[nodiscard]] PacketSocket& socket() noexcept { return socket_; }
  [[nodiscard]] const std::shared_ptr<const pmu::LedgerView>& ledger() const { return ledger_; }
  [[nodiscard]] const pmu::Welcome& welcome() const noexcept { return welcome_; }
  bool greet(int heartbeat = -1);

 private:
  PacketSocket socket_;
  PacketBuffer packet_;
  std::deque<Got> unasked_;
  std::shared_ptr<const pmu::LedgerView> ledger_;
  pmu::Welcome welcome_;
  std::uint64_t last_id_ = 0;
  bool is_hung_up_ = false;
};

// Requests.
[[nodiscard]] pmu::CpuGroup cpus(std::uint64_t mask);
[[nodiscard]] pmu::Allocate events(std::uint32_t count, std::uint64_t cpu_mask,
                                   std::uint32_t code = 0x3c);
[[nodiscard]] pmu::Allocate exact(std::uint32_t counter, std::uint64_t cpu_mask);
[[nodiscard]] pmu::Allocate whole(std::uint64_t cpu_mask);
// Watches `bytes` at an address of this process, on these CPUs.
[[nodiscard]] pmu::Allocate breakpoint(const void* address, std::uint64_t cpu_mask);
[[nodiscard]] pmu::Allocate named(pmu::Allocate request, const std::string& label);
[[nodiscard]] pmu::Allocate waiting(pmu::Allocate request);

// A page as the library gives it with Hello.
[[nodiscard]] OwnedExtent heartbeat_page();
void beat(const OwnedExtent& page);

// The token, or 0 with a complaint of what came instead.
[[nodiscard]] pmu::Token token_of(const std::optional<Got>& got);
[[nodiscard]] const pmu::RefusedHead* refusal_of(const std::optional<Got>& got);

// In a child: a test that is stopped from outside leaves none behind.
void die_with_parent();

}  // namespace meterbank::test
