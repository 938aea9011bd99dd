// SPDX-License-Identifier: Apache-2.0
//
// Readers that cannot look at a provider's process get its memory from the provider itself.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "../support/changed_child.hpp"
#include "../support/comes_true.hpp"
#include "../support/cooked_values.hpp"
#include "../support/descriptors.hpp"
#include "../support/sanitizers.hpp"
#include "door_fixture.hpp"
#include "meterbank/shm/door.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {
namespace {

using test::ChildOutcome;
using test::comes_true;
using test::DoorTest;
using test::kOrders;
using test::kStranger;
using test::run_in_changed_child;
using test::Venue;

constexpr gid_t kAdmittedGroup = 4242;

double accepted(const Catalog& catalog) {
  auto query = Query::compile(catalog, {"demo_orders/accepted"});
  Sample sample;
  query->collect(sample);
  const auto values = test::cooked_values(nullptr, sample, {});
  return values.size() == 1 ? static_cast<double>(values.front().raw.value) : -1;
}

TEST_F(DoorTest, GivesAReaderOfAnotherNamespaceTheSameValues) {
  auto provider = *Provider::create({.name = "orders", .directory = directory_.path()});
  auto orders = *provider.add(kOrders);
  auto instance = *orders.create_instance("eu");
  instance.add(Venue::kAccepted, 42);
  show_outside(provider.record());
  const Catalog catalog = open_outside();
  const ProviderView& seen = only(catalog);
  EXPECT_EQ(seen.state, ProviderState::kLive) << seen.error.message();
  EXPECT_EQ(seen.pid_here, static_cast<std::uint32_t>(::getpid())) << "the kernel names it";
  EXPECT_EQ(accepted(catalog), 42);
  instance.add(Venue::kAccepted, 1);
  EXPECT_EQ(accepted(catalog), 43);
}

TEST_F(DoorTest, HandsOutExtentsThatWereAddedBeforeAndAfterTheReaderCame) {
  auto provider = *Provider::create({.name = "orders", .directory = directory_.path()});
  auto orders = *provider.add(kOrders);
  std::vector<Instance> instances;
  const auto create = [&](std::size_t count) {
    while (instances.size() < count) {
      instances.push_back(*orders.create_instance("i" + std::to_string(instances.size())));
    }
  };
  create(2000);
  show_outside(provider.record());
  Catalog catalog = open_outside();
  EXPECT_EQ(instances_of(only(catalog)), 2000U) << only(catalog).error.message();
  const std::uint64_t before = only(catalog).bytes;
  create(8000);
  catalog.refresh();
  EXPECT_EQ(instances_of(only(catalog)), 8000U) << only(catalog).error.message();
  EXPECT_GT(only(catalog).bytes, before);
}

TEST_F(DoorTest, ShowsTheEndOfItsProcessAtOnce) {
  const pid_t child = start_child([this] {
    static auto provider = Provider::create({.name = "orders", .directory = directory_.path()});
    static auto orders = provider->add(kOrders);
  });
  show_all_outside();
  Catalog catalog = open_outside();
  ASSERT_EQ(only(catalog).state, ProviderState::kLive) << only(catalog).error.message();
  end(child);
  catalog.refresh();
  EXPECT_EQ(only(catalog).state, ProviderState::kDead);
  EXPECT_EQ(remove_record(only(catalog)), RecordRemoval::kNotDead)
      << "the record names another pid namespace, so it is not for this reader to remove";
}

TEST_F(DoorTest, KeepsOneDescriptorOfAProviderAtMost) {
  constexpr int kProviders = 20;
  start_child([this] {
    static std::vector<Provider> providers;
    for (int i = 0; i < kProviders; ++i) {
      providers.push_back(*Provider::create(
          {.name = "orders" + std::to_string(i), .directory = directory_.path()}));
    }
  });
  show_all_outside();
  const auto before = test::open_descriptors();
  const Catalog catalog = open_outside();
  EXPECT_EQ(test::states_of(catalog), (std::map<std::string, int>{{"live", kProviders}}));
  EXPECT_LE(test::open_descriptors() - before, kProviders);
}

TEST_F(DoorTest, KeepsFewConnectionsWhereFewFilesMayBeOpenAndStillSeesDeaths) {
  constexpr int kProviders = 20;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProviders; ++i) {
    children.push_back(start_child([&] {
      static auto provider =
          Provider::create({.name = "orders" + std::to_string(i), .directory = directory_.path()});
      static auto orders = provider->add(kOrders);
    }));
  }
  show_all_outside();
  const auto before = test::open_descriptors();
  const rlimit low{64, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  Catalog catalog = open_outside();
  EXPECT_EQ(test::states_of(catalog), (std::map<std::string, int>{{"live", kProviders}}));
  EXPECT_LE(test::open_descriptors() - before, 64 / 16);
  catalog.refresh();
  EXPECT_EQ(test::states_of(catalog), (std::map<std::string, int>{{"live", kProviders}}));
  for (std::size_t i = 0; i < children.size(); i += 2) end(children[i]);
  EXPECT_TRUE(test::comes_true([&catalog] {
    catalog.refresh();
    return test::states_of(catalog) ==
           std::map<std::string, int>{{"dead", kProviders / 2}, {"live", kProviders / 2}};
  }));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST_F(DoorTest, AStoppedProviderIsNamedAndHoldsUpNoOther) {
  const pid_t child = start_child([this] {
    static auto provider = Provider::create({.name = "stopped", .directory = directory_.path()});
  });
  auto other = *Provider::create({.name = "healthy", .directory = directory_.path()});
  show_all_outside();
  ::kill(child, SIGSTOP);
  ASSERT_EQ(::waitpid(child, nullptr, WUNTRACED), child);
  const Catalog catalog = open_outside();
  ASSERT_EQ(catalog.providers().size(), 2U);
  EXPECT_EQ(catalog.providers()[0]->state, ProviderState::kLive);
  const ProviderView& stopped = *catalog.providers()[1];
  EXPECT_EQ(stopped.state, ProviderState::kForeign);
  EXPECT_NE(stopped.error.what.find("did not answer at its door"), std::string::npos)
      << stopped.error.message();
  EXPECT_EQ(stopped.error.remedy, "kill -CONT " + std::to_string(child));
  ::kill(child, SIGCONT);
}

TEST_F(DoorTest, IsServedByTheKeeperAndSoMissingWithoutOne) {
  const auto provider = *Provider::create({.name = "orders",
                                           .directory = directory_.path(),
                                           .heartbeat = std::chrono::milliseconds(0)});
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_NE(entry.path().extension(), kDoorSuffix);
  }
}

TEST_F(DoorTest, GoesWithItsProvider) {
  {
    const auto provider = *Provider::create({.name = "orders", .directory = directory_.path()});
    EXPECT_EQ(directory_.files(), 2U);
  }
  EXPECT_EQ(directory_.files(), 0U);
}

TEST_F(DoorTest, IsNotKeptOpenByAChildOfItsProvider) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer starts no threads in a forked child";
  std::array<int, 2> until_closed{};
  ASSERT_EQ(::pipe(until_closed.data()), 0);
  const pid_t child = start_child([&] {
    static auto provider = Provider::create({.name = "orders", .directory = directory_.path()});
    if (::fork() == 0) {
      ::close(until_closed[1]);
      char byte = 0;
      ::_exit(::read(until_closed[0], &byte, 1) == 0 ? 0 : 1);
    }
  });
  show_all_outside();
  Catalog catalog = open_outside();
  ASSERT_EQ(only(catalog).state, ProviderState::kLive);
  end(child);
  // The grandchild lets go of what it inherited as soon as it runs.
  EXPECT_TRUE(comes_true([&] {
    catalog.refresh();
    return only(catalog).state == ProviderState::kDead;
  }));
  for (const int end : until_closed) ::close(end);
}

// ---- Whom it admits ----

struct Readers {
  std::string name;
  std::string option;        // ProviderOptions::readers
  mode_t directory = 01777;  // of the runtime directory, with group kAdmittedGroup
  std::string environment = {};
  bool in_group = false;  // the reader
  std::string state = "unreadable";

  friend void PrintTo(const Readers& readers, std::ostream* to) { *to << readers.name; }
};

class DoorReaders : public DoorTest, public testing::WithParamInterface<Readers> {};

TEST_P(DoorReaders, AreThoseOfThePolicy) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Readers& test = GetParam();
  ASSERT_EQ(::chown(directory_.path().c_str(), 0, kAdmittedGroup), 0);
  ASSERT_EQ(::chmod(directory_.path().c_str(), test.directory), 0);
  if (!test.environment.empty()) ::setenv("METERBANK_READERS", test.environment.c_str(), 1);
  const auto provider =
      Provider::create({.name = "orders", .directory = directory_.path(), .readers = test.option});
  ::unsetenv("METERBANK_READERS");
  ASSERT_TRUE(provider) << provider.error().message();
  const auto outcome = run_in_changed_child(
      [&] {
        const gid_t group = kAdmittedGroup;
        return ::setgroups(test.in_group ? 1 : 0, &group) == 0 &&
               ::setresgid(kStranger, kStranger, kStranger) == 0 &&
               ::setresuid(kStranger, kStranger, kStranger) == 0;
      },
      [&] {
        const auto catalog = Catalog::open({.directory = directory_.path()});
        if (!catalog || catalog->providers().size() != 1) return ChildOutcome{1, "no catalog"};
        const ProviderView& seen = *catalog->providers().front();
        std::string text(name_of(seen.state));
        if (seen.state == ProviderState::kUnreadable) text += " " + seen.error.message();
        return ChildOutcome{0, text};
      });
  EXPECT_EQ(outcome.text.substr(0, outcome.text.find(' ')), test.state) << outcome.text;
  if (test.state == "unreadable") {
    EXPECT_NE(outcome.text.find("does not admit"), std::string::npos) << outcome.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, DoorReaders,
    testing::Values(
        Readers{.name = "TheOwnerAloneByDefault", .option = "", .in_group = true},
        Readers{.name = "Owner", .option = "owner", .directory = 03777, .in_group = true},
        Readers{.name = "Everyone", .option = "everyone", .state = "live"},
        Readers{.name = "GroupOfTheDirectory",
                .option = "",
                .directory = 03777,
                .in_group = true,
                .state = "live"},
        Readers{.name = "OtherGroupThanThatOfTheDirectory", .option = "", .directory = 03777},
        Readers{.name = "NamedGroup", .option = "group:4242", .in_group = true, .state = "live"},
        Readers{.name = "NamedGroupAndStrangers", .option = "group:4242"},
        Readers{.name = "EnvironmentOpens",
                .option = "owner",
                .environment = "everyone",
                .state = "live"},
        Readers{.name = "EnvironmentShuts", .option = "everyone", .environment = "owner"}),
    [](const auto& test) { return test.param.name; });

TEST_F(DoorTest, RefusesAPolicyThatDoesNotParse) {
  for (const char* const readers :
       {"all", "group:", "group:no-such-group-here", "Owner", "group:-1", "\x1b[2J"}) {
    const auto provider =
        Provider::create({.name = "orders", .directory = directory_.path(), .readers = readers});
    ASSERT_FALSE(provider) << readers;
    EXPECT_EQ(provider.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(provider.error().message().find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(directory_.files(), 0U);
}

// ---- Callers that mean harm ----

class DoorCallers : public DoorTest {
 protected:
  DoorCallers()
      : provider_(*Provider::create({.name = "orders",
                                     .directory = directory_.path(),
                                     .heartbeat = std::chrono::milliseconds(20)})) {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().extension() == kDoorSuffix) door_ = entry.path().string();
    }
    show_outside(provider_.record());
  }
  [[nodiscard]] bool is_served() const {
    return comes_true([this] { return only(open_outside()).state == ProviderState::kLive; });
  }
  static bool is_hung_up_on(const PacketSocket& socket) {
    pollfd ended{socket.descriptor(), POLLRDHUP, 0};
    return ::poll(&ended, 1, 20'000) == 1 && (ended.revents & (POLLRDHUP | POLLHUP)) != 0;
  }

  Provider provider_;
  std::string door_;
};

TEST_F(DoorCallers, ThatSleepGiveWayToThoseThatComeLater) {
  std::vector<PacketSocket> sleepers;
  ASSERT_TRUE(comes_true([&] {
    while (auto socket = PacketSocket::connect(door_)) {
      sleepers.push_back(std::move(*socket));
      if (sleepers.size() == 100) return true;
    }
    return false;
  }));
  EXPECT_TRUE(is_hung_up_on(sleepers.front()));
  EXPECT_TRUE(is_served());
}

TEST_F(DoorCallers, ThatSendMalformedPacketsAreHungUpOn) {
  const auto bytes = [](std::size_t count) { return std::vector<std::byte>(count); };
  DoorRequest future;
  future.magic += 1;
  const auto* const raw = reinterpret_cast<const std::byte*>(&future);
  for (const auto& packet : {bytes(1), bytes(7), bytes(9), bytes(sizeof(DoorRequest)), bytes(60000),
                             std::vector<std::byte>(raw, raw + sizeof future)}) {
    auto socket = PacketSocket::connect(door_);
    ASSERT_TRUE(socket);
    EXPECT_TRUE(test::send_raw(socket->descriptor(), packet));
    EXPECT_TRUE(is_hung_up_on(*socket));
  }
  auto socket = PacketSocket::connect(door_);
  DoorRequest request;
  const auto* const good = reinterpret_cast<const std::byte*>(&request);
  EXPECT_TRUE(test::send_raw(socket->descriptor(), {good, good + sizeof request},
                             std::vector<int>(100, STDERR_FILENO)));
  EXPECT_TRUE(is_hung_up_on(*socket));
  EXPECT_TRUE(is_served());
}

TEST_F(DoorCallers, GetNoExtentsThatDoNotExist) {
  auto socket = PacketSocket::connect(door_);
  ASSERT_TRUE(socket);
  for (const std::uint32_t first : {1U, kExtentsMax, 0xffffffffU}) {
    DoorRequest request;
    request.first_extent = first;
    EXPECT_EQ(socket->send(std::as_bytes(std::span(&request, 1))), PacketSocket::Sent::kAll);
    PacketBuffer packet;
    UniqueFd attached;
    ASSERT_TRUE(comes_true(
        [&] { return socket->receive(packet, attached) == PacketSocket::Got::kPacket; }));
    const auto answer = decode_door<DoorAnswer>(packet.bytes());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->count, 0U);
    EXPECT_FALSE(attached);
  }
}

TEST_F(DoorCallers, GetMemoryThatTheyCannotChange) {
  auto socket = PacketSocket::connect(door_);
  ASSERT_TRUE(socket);
  const DoorRequest request;
  EXPECT_EQ(socket->send(std::as_bytes(std::span(&request, 1))), PacketSocket::Sent::kAll);
  PacketBuffer packet;
  UniqueFd handed;
  ASSERT_TRUE(
      comes_true([&] { return socket->receive(packet, handed) == PacketSocket::Got::kPacket; }));
  ASSERT_TRUE(handed);
  // Opened once more: root may do that whatever the mode.
  const UniqueFd again(
      ::open(("/proc/self/fd/" + std::to_string(handed.get())).c_str(), O_RDWR | O_CLOEXEC));
  for (const int descriptor : {handed.get(), again.get()}) {
    EXPECT_EQ(::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), MAP_FAILED);
    EXPECT_EQ(::pwrite(descriptor, "x", 1, 0), -1);
    EXPECT_EQ(::ftruncate(descriptor, 0), -1);
    EXPECT_EQ(::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
    EXPECT_EQ(::fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE), -1);
  }
  void* const read_only = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, handed.get(), 0);
  ASSERT_NE(read_only, MAP_FAILED);
  EXPECT_EQ(::mprotect(read_only, 1, PROT_READ | PROT_WRITE), -1);
  ::munmap(read_only, 1);
}

TEST_F(DoorCallers, ThatReadNoAnswersLeaveNoDescriptorsOpen) {
  const auto before = test::open_descriptors();
  {
    auto socket = PacketSocket::connect(door_);
    ASSERT_TRUE(socket);
    const DoorRequest request;
    EXPECT_TRUE(comes_true([&] {
      return socket->send(std::as_bytes(std::span(&request, 1))) == PacketSocket::Sent::kEnd;
    }));
    EXPECT_TRUE(is_hung_up_on(*socket));
  }
  EXPECT_TRUE(is_served());
  EXPECT_TRUE(comes_true([&] { return test::open_descriptors() <= before; }));
}

TEST_F(DoorCallers, ThatFloodItDelayNoHeartbeat) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::uint64_t oldest = 0;
  const Catalog catalog = *Catalog::open({.directory = directory_.path()});
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i) static_cast<void>(PacketSocket::connect(door_));
    oldest = std::max(oldest, only(catalog).heartbeat_age_ns());
  }
  EXPECT_LT(oldest, 2'000'000'000U) << "a heartbeat is due every 20 ms";
  EXPECT_TRUE(is_served());
}

}  // namespace
}  // namespace meterbank
