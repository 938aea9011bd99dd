// SPDX-License-Identifier: Apache-2.0
//
// Doors that break every rule. A reader names what is wrong, keeps nothing, and is not held up.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <thread>

#include "../support/comes_true.hpp"
#include "../support/descriptors.hpp"
#include "door_fixture.hpp"
#include "meterbank/shm/door.hpp"
#include "meterbank/shm/packet_socket.hpp"

namespace meterbank {
namespace {

using test::comes_true;
using test::DoorTest;

UniqueFd reopened(int descriptor, int flags) {
  return UniqueFd(
      ::open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), flags | O_CLOEXEC));
}

struct Lie {
  std::string name;
  // What the door does with a caller that has asked. `memory` is what it should hand out.
  std::function<void(PacketSocket&, const OwnedExtent& memory)> answer;
  std::string what;  // of the error that the reader shows

  friend void PrintTo(const Lie& lie, std::ostream* to) { *to << lie.name; }
};

void hand_out(PacketSocket& socket, DoorAnswer answer, const std::vector<int>& descriptors) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&answer);
  test::send_raw(socket.descriptor(), {bytes, bytes + sizeof answer}, descriptors);
}

DoorAnswer answer_with(std::uint32_t count) {
  DoorAnswer answer;
  answer.count = count;
  return answer;
}

const std::vector<Lie> kLies{
    {"Silence", [](PacketSocket&, const OwnedExtent&) {}, "did not answer at its door"},
    {"HangingUp", [](PacketSocket& socket, const OwnedExtent&) { socket.hang_up(); }, "was shut"},
    {"Garbage",
     [](PacketSocket& socket, const OwnedExtent&) {
       test::send_raw(socket.descriptor(), std::vector<std::byte>(16));
     },
     "not an answer"},
    {"ALongPacket",
     [](PacketSocket& socket, const OwnedExtent&) {
       test::send_raw(socket.descriptor(), std::vector<std::byte>(70'000));
     },
     "too large a packet"},
    {"AnUnknownStatus",
     [](PacketSocket& socket, const OwnedExtent&) {
       DoorAnswer answer;
       answer.status = 77;
       hand_out(socket, answer, {});
     },
     "unknown status"},
    {"MoreThanItSends",
     [](PacketSocket& socket, const OwnedExtent& memory) {
       const UniqueFd opened = reopened(memory.descriptor(), O_RDONLY);
       hand_out(socket, answer_with(2), {opened.get()});
     },
     "another number of descriptors"},
    {"AnotherExtent",
     [](PacketSocket& socket, const OwnedExtent& memory) {
       const UniqueFd opened = reopened(memory.descriptor(), O_RDONLY);
       DoorAnswer answer = answer_with(1);
       answer.first_extent = 5;
       hand_out(socket, answer, {opened.get()});
     },
     "another number of descriptors"},
    {"NoDescriptor",
     [](PacketSocket& socket, const OwnedExtent&) { hand_out(socket, answer_with(0), {}); },
     "has no extent 0"},
    {"HundredsOfDescriptors",
     [](PacketSocket& socket, const OwnedExtent& memory) {
       hand_out(socket, answer_with(200), std::vector<int>(200, memory.descriptor()));
     },
     "more descriptors than there is room for"},
    {"AWritableDescriptor",
     [](PacketSocket& socket, const OwnedExtent& memory) {
       hand_out(socket, answer_with(1), {memory.descriptor()});
     },
     "not read-only"},
    {"OtherMemory",
     [](PacketSocket& socket, const OwnedExtent&) {
       const OwnedExtent other = *OwnedExtent::create("other", kExtentBytesMin);
       const UniqueFd opened = reopened(other.descriptor(), O_RDONLY);
       hand_out(socket, answer_with(1), {opened.get()});
     },
     "other memory than announced"},
    {"UnsealedMemory",
     [](PacketSocket& socket, const OwnedExtent&) {
       const UniqueFd other(::memfd_create("unsealed", MFD_CLOEXEC));
       const UniqueFd opened = reopened(other.get(), O_RDONLY);
       hand_out(socket, answer_with(1), {opened.get()});
     },
     "other memory than announced"},
    {"ADirectory",
     [](PacketSocket& socket, const OwnedExtent&) {
       const UniqueFd opened(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
       hand_out(socket, answer_with(1), {opened.get()});
     },
     "other memory than announced"},
    {"ItselfOverItself",
     [](PacketSocket& socket, const OwnedExtent&) {
       hand_out(socket, answer_with(1), {socket.descriptor()});
     },
     "not read-only"},
};

// A provider whose memory is in order, and whose door does what a lie says.
class LyingDoor {
 public:
  LyingDoor(const std::string& directory, const Lie& lie) : provider_("liar"), lie_(lie) {
    PointerRecord record = provider_.record();
    record.door = "liar.door";
    record.pid = 0x7ffffff0;
    record.pid_namespace += 1;
    listener_.emplace(*PacketListener::listen(directory + "/" + record.door, 16));
    record_ = *write_record(directory, record);
    thread_ = std::thread([this] { serve(); });
  }
  LyingDoor(const LyingDoor&) = delete;
  LyingDoor& operator=(const LyingDoor&) = delete;
  ~LyingDoor() {
    stop_.store(true, std::memory_order_relaxed);  // relaxed: join() orders
    thread_.join();
    ::unlink(record_.c_str());
  }

 private:
  void serve() {
    std::vector<PacketSocket> callers;
    PacketBuffer packet;
    while (!stop_.load(std::memory_order_relaxed)) {
      PacketSocket caller;
      if (listener_->accept(caller) == ListeningSocket::Came::kPeer) {
        callers.push_back(std::move(caller));
      }
      std::erase_if(callers, [&](PacketSocket& each) {
        UniqueFd attached;
        const auto got = each.receive(packet, attached);
        if (got == PacketSocket::Got::kPacket) lie_.answer(each, provider_.memory());
        return got == PacketSocket::Got::kEnd;
      });
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  test::BareProvider provider_;
  const Lie& lie_;
  std::optional<PacketListener> listener_;
  std::string record_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class HostileDoor : public DoorTest, public testing::WithParamInterface<Lie> {};

TEST_P(HostileDoor, IsNamedAndKeepsNothingFromOthers) {
  const auto healthy = *Provider::create({.name = "healthy", .directory = directory_.path()});
  const LyingDoor liar(directory_.path(), GetParam());
  const auto before = test::open_descriptors();
  const auto begin = std::chrono::steady_clock::now();
  {
    Catalog catalog = open();
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(catalog.providers().size(), 2U);
      EXPECT_EQ(catalog.providers()[0]->state, ProviderState::kLive);
      const ProviderView& liar_seen = *catalog.providers()[1];
      EXPECT_EQ(liar_seen.state, ProviderState::kForeign);
      EXPECT_EQ(liar_seen.segment, nullptr);
      if (round == 0) {
        EXPECT_NE(liar_seen.error.what.find(GetParam().what), std::string::npos)
            << liar_seen.error.message();
      }
      catalog.refresh();
    }
  }
  // One wait of 100 ms; what is left of the time belongs to the machine.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(comes_true([before] { return test::open_descriptors() <= before; }));
}

TEST_F(DoorTest, ControlTheSameDoorWithoutALieIsBelieved) {
  const Lie truth{"Truth",
                  [](PacketSocket& socket, const OwnedExtent& memory) {
                    const UniqueFd opened = reopened(memory.descriptor(), O_RDONLY);
                    hand_out(socket, answer_with(1), {opened.get()});
                  },
                  ""};
  const LyingDoor door(directory_.path(), truth);
  const Catalog catalog = open();
  EXPECT_EQ(only(catalog).state, ProviderState::kLive) << only(catalog).error.message();
}

INSTANTIATE_TEST_SUITE_P(Says, HostileDoor, testing::ValuesIn(kLies),
                         [](const auto& lie) { return lie.param.name; });

TEST_F(DoorTest, SilentDoorsOfOneUserAreNotEachWaitedFor) {
  constexpr int kDoors = 30;
  std::list<test::BareProvider> providers;
  std::list<PacketListener> listeners;
  for (int i = 0; i < kDoors; ++i) {
    providers.emplace_back("silent" + std::to_string(i));
    PointerRecord record = providers.back().record();
    record.door = std::to_string(i) + ".door";
    record.pid = 0x7ffffff0;
    record.pid_namespace += 1;
    listeners.push_back(*PacketListener::listen(directory_.path() + "/" + record.door, 16));
    ASSERT_TRUE(write_record(directory_.path(), record));
  }
  const auto begin = std::chrono::steady_clock::now();
  const Catalog catalog = open();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(catalog.providers().size(), std::size_t{kDoors});
  EXPECT_LT(took, std::chrono::milliseconds(100 * kDoors)) << "not each is waited for";
}

}  // namespace
}  // namespace meterbank
