// SPDX-License-Identifier: Apache-2.0
//
//   traced_provider [one_call_more]
//
// Lives the life of a provider with everything, in phases between system calls that nothing else
// here makes: system_calls.py reads the phases in a trace of it. Between the marks this thread
// calls the library and nothing else; the reader is another process, which it starts before.
#include <malloc.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/comes_true.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "meterbank/shm/door.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {
namespace {

using namespace std::chrono_literals;

void mark() { ::syscall(SYS_getppid); }

std::string file_of(const std::string& directory, std::string_view suffix) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().native().ends_with(suffix)) return entry.path().native();
  }
  return {};
}

std::size_t entries_of(const std::string& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

// All that readers ask for, and a record that vanishes.
bool read_everything(const std::string& directory) {
  auto socket = PacketSocket::connect(file_of(directory, ".door"));
  if (!socket) return false;
  const DoorRequest request;
  if (socket->send(std::as_bytes(std::span(&request, 1))) != PacketSocket::Sent::kAll) return false;
  PacketBuffer packet;
  std::array<UniqueFd, kPacketDescriptorsMax> extents;
  std::size_t count = 0;
  if (!test::comes_true(
          [&] { return socket->receive(packet, extents, count) == PacketSocket::Got::kPacket; })) {
    return false;
  }
  socket->hang_up();
  auto catalog = Catalog::open({.directory = directory});
  auto query = Query::compile(*catalog, {"waves"});
  Sample sample;
  if (query->collect(sample, 10s).rows == 0) return false;
  const std::string record = file_of(directory, ".provider");
  std::filesystem::remove(record);
  return count > 0 && test::comes_true([&] { return std::filesystem::exists(record); });
}

std::uint32_t answer(CallbackRequest& request) {
  request.add("red", 3, std::array<std::uint64_t, 4>{1, 2, 3, 4});
  return 0;
}

int live(const std::string& directory, bool one_call_more) {
  std::array<int, 2> go{}, done{};
  if (::pipe(go.data()) != 0 || ::pipe(done.data()) != 0) return 2;
  const pid_t reader = ::fork();
  if (reader == 0) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    const std::string descriptors = "/proc/" + std::to_string(::getppid()) + "/fd";
    const std::size_t before = entries_of(descriptors);
    if (!read_everything(directory)) ::_exit(1);
    // Until the provider has noticed that its reader is gone.
    if (!test::comes_true([&] { return entries_of(descriptors) == before; })) ::_exit(1);
    ::_exit(::write(done[1], &byte, 1) == 1 ? 0 : 1);
  }
  ProviderOptions options{.name = "traced", .directory = directory, .heartbeat = 20ms};
  std::vector<Instance> instances;
  instances.reserve(1000);
  char byte = 0;

  mark();  // create
  std::optional<Provider> provider(*Provider::create(options));
  mark();  // instances, which make the memory grow
  std::optional<Registration> orders(*provider->add(test::kOrders));
  while (instances.size() < 600) {
    instances.push_back(*orders->create_instance(std::to_string(instances.size())));
  }
  mark();  // callbacks
  std::optional<Registration> waves(*provider->add(test::kWaves, answer, CallbackOptions{}));
  mark();  // cuts
  CountersetSpec with_cuts = test::kOrders;
  with_cuts.name = "Cuts";
  with_cuts.symbol = "cuts";
  with_cuts.cuts = true;
  std::optional<Registration> cuts(*provider->add(with_cuts));
  mark();  // counting
  for (int round = 0; round < 1000; ++round) {
    for (Instance& instance : instances) instance.add(test::Venue::kAccepted, 1);
  }
  if (one_call_more) ::syscall(SYS_getuid);
  mark();  // waiting, while it is read
  if (::write(go[1], &byte, 1) != 1 || ::read(done[0], &byte, 1) != 1) return 3;
  mark();  // closing instances
  instances.clear();
  mark();  // the end
  for (auto* each : {&orders, &waves, &cuts}) each->reset();
  provider.reset();
  mark();  // what is left to the keeper
  const bool is_alone = test::comes_true([] { return entries_of("/proc/self/task") == 1; });
  int status = -1;
  ::waitpid(reader, &status, 0);
  return is_alone && status == 0 ? 0 : 4;
}

}  // namespace
}  // namespace meterbank

int main(int argc, char** argv) {
  // Memory is there, so that no call is made for it.
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_TOP_PAD, 64 << 20);
  // NOLINTNEXTLINE: taken and given back
  ::free(::malloc(1 << 20));
  const meterbank::test::TemporaryDirectory directory;
  return meterbank::live(directory.path(),
                         argc > 1 && std::string_view(argv[1]) == "one_call_more");
}
