// SPDX-License-Identifier: Apache-2.0
#include "pmud_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../support/cooked_values.hpp"
#include "arbiter/backend/perf/perf_calls.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {

void die_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

BreakpointLock::BreakpointLock()
    : file_(::open("/tmp/meterbank-breakpoints.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  while (::flock(file_.get(), LOCK_EX) != 0) {
  }
}

bool breakpoints_count() { return arbiter::PerfCalls().has_counting_breakpoints(); }

// ---- The program ----

PmudProcess::PmudProcess(std::string topology, std::vector<std::string> arguments,
                         const std::vector<std::pair<std::string, std::string>>& files)
    : arguments_(std::move(arguments)) {
  for (const auto& [name, text] : files) write_file(name, text);
  if (!topology.empty()) {
    write_file("machine.toml", topology);
    arguments_.insert(arguments_.end(), {"--simulate", beside_.path() + "/machine.toml"});
  }
  for (std::string& argument : arguments_) {
    if (argument.starts_with("FILE:")) argument = beside_.path() + "/" + argument.substr(5);
  }
  start();
}

PmudProcess::~PmudProcess() {
  if (pid_ > 0) kill();
}

void PmudProcess::write_file(const std::string& name, const std::string& text) const {
  std::ofstream(beside_.path() + "/" + name, std::ios::binary) << text;
}

void PmudProcess::start() {
  std::vector<std::string> words{METERBANK_PMUD, "--dir", directory()};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string errors = beside_.path() + "/stderr";
  pid_ = ::fork();
  ASSERT_GE(pid_, 0);
  if (pid_ == 0) {
    die_with_parent();
    const int file = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  // It listens before it serves.
  const bool has_greeted = comes_true([this] {
    auto connected = PacketSocket::connect(socket());
    if (!connected) return ::waitpid(pid_, nullptr, WNOHANG) != 0;
    return RawClient(std::move(*connected)).greet();
  });
  ASSERT_TRUE(has_greeted && ::kill(pid_, 0) == 0) << complaints();
}

int PmudProcess::wait() {
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) return 255;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void PmudProcess::signal(int number) const { ::kill(pid_, number); }

int PmudProcess::stop() {
  signal(SIGTERM);
  return wait();
}

void PmudProcess::kill() {
  signal(SIGKILL);
  wait();
}

std::string PmudProcess::complaints() const {
  std::ifstream file(beside_.path() + "/stderr", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t PmudProcess::descriptors() const {
  using Files = std::filesystem::directory_iterator;
  const Files files("/proc/" + std::to_string(pid_) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::size_t PmudProcess::descriptors_of(std::uint64_t clients, std::uint64_t leases) const {
  std::string shown;
  // The row of the whole is written last, at one time.
  EXPECT_TRUE(comes_true([&] {
    shown.clear();
    const auto catalog = Catalog::open({.directory = directory()});
    if (!catalog) return false;
    auto query =
        Query::compile(*catalog, {"pmu_arbiter/_Total/clients", "pmu_arbiter/_Total/leases"});
    if (!query) return false;
    Sample sample;
    query->collect(sample);
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      shown += row.short_path() + "=" + std::to_string(row.raw.value) + "\n";
    }
    return shown.find("/clients=" + std::to_string(clients) + "\n") != std::string::npos &&
           shown.find("/leases=" + std::to_string(leases) + "\n") != std::string::npos;
  })) << shown;
  return descriptors();
}

// ---- A client ----

RawClient::RawClient(const std::string& path) {
  static_cast<void>(comes_true([this, &path] {
    auto connected = PacketSocket::connect(path);
    if (connected) socket_ = std::move(*connected);
    return static_cast<bool>(socket_);
  }));
  EXPECT_TRUE(socket_) << path;
}

RawClient::RawClient(PacketSocket socket) : socket_(std::move(socket)) {}

RawClient RawClient::greeted(const std::string& path, int heartbeat) {
  RawClient client(path);
  EXPECT_TRUE(client.greet(heartbeat));
  return client;
}

bool RawClient::greet(int heartbeat) {
  auto got = ask(pmu::Hello(), heartbeat);
  if (!got || got->as<pmu::Welcome>() == nullptr) return false;
  welcome_ = *got->as<pmu::Welcome>();
  auto ledger = pmu::LedgerView::attach(std::move(got->attached));
  if (!ledger) return false;
  ledger_ = std::move(*ledger);
  return true;
}

std::uint64_t RawClient::send(const pmu::ClientMessage& message, int attached) {
  const std::uint64_t id = ++last_id_;
  const auto packet = pmu::encode(id, message);
  static_cast<void>(
      comes_true([&] { return socket_.send(packet, attached) != PacketSocket::Sent::kFull; }));
  return id;
}

std::optional<Got> RawClient::next(std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    UniqueFd attached;
    switch (socket_.receive(packet_, attached)) {
      case PacketSocket::Got::kPacket: {
        auto decoded = pmu::decode_arbiter_message(packet_.bytes());
        EXPECT_FALSE(decoded.rejection) << "the arbiter sent what it may not";
        if (decoded.rejection) return std::nullopt;
        return Got{decoded.id, std::move(decoded.message), std::move(attached)};
      }
      case PacketSocket::Got::kNothing:
        break;
      default:
        is_hung_up_ = true;
        return std::nullopt;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd readable{socket_.descriptor(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(left.count()));
  }
}

std::optional<Got> RawClient::answer(std::uint64_t id) {
  for (;;) {
    auto got = next();
    if (!got || got->id == id) return got;
    if (got->id == 0) unasked_.push_back(std::move(*got));
  }
}

std::optional<Got> RawClient::ask(const pmu::ClientMessage& message, int attached) {
  const std::uint64_t id = send(message, attached);
  auto got = answer(id);
  if (got && got->as<pmu::Queued>() != nullptr) got = answer(id);
  return got;
}

std::optional<Got> RawClient::notice() {
  if (!unasked_.empty()) {
    Got first = std::move(unasked_.front());
    unasked_.pop_front();
    return first;
  }
  return answer(0);
}

bool RawClient::waits_until_hung_up() {
  while (next()) {
  }
  return is_hung_up_;
}

// ---- Requests ----

pmu::CpuGroup cpus(std::uint64_t mask) { return {.mask = mask}; }

pmu::Allocate events(std::uint32_t count, std::uint64_t cpu_mask, std::uint32_t code) {
  pmu::Allocate request;
  request.head.flags = pmu::kAllocateHasGroups | pmu::kAllocateHasItems;
  request.head.group_count = request.head.item_count = 1;
  request.groups = {cpus(cpu_mask)};
  pmu::Item item;
  item.kind = static_cast<std::uint32_t>(pmu::ItemKind::kEvent);
  item.count = count;
  item.code = code;
  request.items = {item};
  return request;
}

pmu::Allocate exact(std::uint32_t counter, std::uint64_t cpu_mask) {
  pmu::Allocate request = events(0, cpu_mask, 0);
  request.items[0].kind = static_cast<std::uint32_t>(pmu::ItemKind::kSingle);
  request.items[0].begin = counter;
  return request;
}

pmu::Allocate whole(std::uint64_t cpu_mask) {
  pmu::Allocate request = events(0, cpu_mask, 0);
  request.head.flags = pmu::kAllocateHasGroups;
  request.head.item_count = 0;
  request.items.clear();
  return request;
}

pmu::Allocate breakpoint(const void* address, std::uint64_t cpu_mask) {
  pmu::Allocate request = events(1, cpu_mask, 2);
  request.head.pmu = pmu::wire_name("breakpoint");
  request.items[0].unit_mask = 8;
  request.items[0].configuration = reinterpret_cast<std::uintptr_t>(address);
  return request;
}

pmu::Allocate named(pmu::Allocate request, const std::string& label) {
  request.head.label = pmu::wire_name(label);
  return request;
}

pmu::Allocate waiting(pmu::Allocate request) {
  request.head.wait_ns = pmu::kForever;
  return request;
}

OwnedExtent heartbeat_page() {
  auto page = OwnedExtent::create("heartbeat", 4096);
  EXPECT_TRUE(page);
  return std::move(*page);
}

void beat(const OwnedExtent& page) {
  // relaxed: a time that stands for itself.
  reinterpret_cast<SharedWord*>(page.data())
      ->store(clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
}

pmu::Token token_of(const std::optional<Got>& got) {
  const auto* const granted = got ? got->as<pmu::Granted>() : nullptr;
  if (granted != nullptr) return granted->head.token;
  const auto* const refused = got ? got->as<pmu::Refused>() : nullptr;
  ADD_FAILURE() << (refused != nullptr ? refused->sentence
                    : got ? "answered with type " + std::to_string(got->message.index())
                          : std::string("no answer"));
  return 0;
}

const pmu::RefusedHead* refusal_of(const std::optional<Got>& got) {
  const auto* const refused = got ? got->as<pmu::Refused>() : nullptr;
  return refused == nullptr ? nullptr : &refused->head;
}

}  // namespace meterbank::test
