// SPDX-License-Identifier: Apache-2.0
//
// The callback channel: servers that are silent, late, garrulous or wrong.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "../../../../support/scripted_provider.hpp"
#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

using test::plain_answer;
using test::rows_answer;
using test::ScriptedProvider;
using test::ScriptedRow;

// Memory in order, and a script for each request.
[[noreturn]] void scripted(const Stage& stage, ScriptedProvider::Script script) {
  const ScriptedProvider provider(stage.directory(), kAttacked, std::move(script), "attacker");
  stage.hold();
}
// An honest provider with this callback.
[[noreturn]] void with_callback(const Stage& stage, Callback callback) {
  Provider provider = *Provider::create({.name = std::string(kAttackerName)});
  const auto set = provider.add(kAttacked, std::move(callback));
  stage.hold();
}

// An answer whose rows are said to be in the memfd that comes along.
void answer_in_memory(PacketSocket& to, const ChannelRequest& request, int memory,
                      std::uint64_t bytes, std::uint32_t rows = 1) {
  ChannelAnswer answer;
  answer.id = request.id;
  answer.rows = rows;
  answer.flags = kRowsInMemory;
  answer.rows_bytes = bytes;
  to.send(encode(answer), memory);
}

// More descriptors in one packet than anything has room for.
void send_descriptors(PacketSocket& to, std::uint64_t id) {
  constexpr std::size_t kCount = 200;
  const std::vector<std::byte> packet = plain_answer(MessageType::kDone, id);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kCount * sizeof(int))> room{};
  iovec piece{const_cast<std::byte*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kCount * sizeof(int));
  const std::array<int, kCount> descriptors{};  // standard input, many times
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  static_cast<void>(::sendmsg(to.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

constexpr std::array<std::uint64_t, 2> kTwo{5, 6};

constexpr std::array kAttacks{
    Attack{"channel_never_answers", "Takes each request and says nothing: its rows alone wait.",
           [](const Stage& stage) { scripted(stage, [](PacketSocket&, const ChannelRequest&) {}); },
           "state=live"},
    Attack{"channel_never_accepts", "Listens, and accepts no connection.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             const ScriptedProvider provider(
                 stage.directory(), spec,
                 [](PacketSocket&, const ChannelRequest&) {
                   for (;;) ::pause();  // the only thread that accepts
                 },
                 "attacker");
             stage.hold();
           },
           "state=live"},
    Attack{"channel_hangs_up", "Ends the connection at each request.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest&) { to = PacketSocket(); });
           },
           "state=live"},
    Attack{"channel_answers_garbage", "Bytes without a meaning as an answer.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest&) {
               std::vector<std::byte> noise(1 + any_number() % 4096);
               for (std::byte& byte : noise) byte = static_cast<std::byte>(any_number());
               to.send(noise);
             });
           },
           "state=live"},
    Attack{"channel_answers_twice", "Each answer twice, and one to a request that never was.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               for (const std::uint64_t id : {request.id, request.id, request.id + 1000}) {
                 to.send(rows_answer(id, {{1, "row", {5, 6}}}));
               }
             });
           },
           "rows>"},
    Attack{"channel_answers_late", "Answers in 3 s, when nothing waits any more.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               std::this_thread::sleep_for(std::chrono::seconds(3));
               to.send(rows_answer(request.id, {{1, "late", {5, 6}}}));
             });
           },
           "state=live"},
    Attack{"channel_floods", "Sends as much as there is room for at each request.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest&) {
               const auto packet = plain_answer(MessageType::kDone, any_number());
               for (int i = 0; i < 100'000; ++i) {
                 if (to.send(packet) == PacketSocket::Sent::kEnd) return;
               }
             });
           },
           "state=live"},
    Attack{
        "channel_refuses_and_is_busy", "Refuses with a reason that does not exist, then is busy.",
        [](const Stage& stage) {
          scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
            to.send(any_number() % 2 == 0 ? plain_answer(MessageType::kBusy, request.id)
                                          : plain_answer(MessageType::kRefused, request.id,
                                                         static_cast<ChannelRefusal>(0xffffffff)));
          });
        },
        "state=live"},
    Attack{"channel_sends_200_descriptors", "Descriptors by the hundred: all are closed.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               send_descriptors(to, request.id);
             });
           },
           "state=live"},
    Attack{"channel_answer_unsealed", "Rows in a memfd that can still be cut.",
           [](const Stage& stage) {
             const int memory = forge_memory({.seals = 0}, {});
             scripted(stage, [memory](PacketSocket& to, const ChannelRequest& request) {
               answer_in_memory(to, request, memory, 4096);
             });
           },
           "state=live"},
    Attack{"channel_answer_sparse", "Rows in 512 MiB of holes.",
           [](const Stage& stage) {
             const int memory = forge_memory({.bytes = 512 << 20, .allocated = 0}, {});
             scripted(stage, [memory](PacketSocket& to, const ChannelRequest& request) {
               answer_in_memory(to, request, memory, 512 << 20, 0xffffffff);
             });
           },
           "state=live"},
    Attack{"channel_answer_is_no_memory", "Rows in a device.",
           [](const Stage& stage) {
             const int device = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
             scripted(stage, [device](PacketSocket& to, const ChannelRequest& request) {
               answer_in_memory(to, request, device, 4096);
             });
           },
           "state=live"},
    Attack{"channel_rows_of_other_widths", "Rows of no value, of three and of too many.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               to.send(rows_answer(request.id, {{1, "none", {}},
                                                {2, "three", {1, 2, 3}},
                                                {3, "many", std::vector<std::uint64_t>(900)}}));
             });
           },
           "state=live"},
    Attack{"channel_rows_twice", "Ids and names twice, reserved ids, a row called `_Total`.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               to.send(rows_answer(request.id, {{1, "row", {5, 6}},
                                                {1, "row", {7, 8}},
                                                {1, "ROW", {7, 8}},
                                                {0xffffffff, "any", {7, 8}},
                                                {0xfffffffe, "_Total", {7, 8}}}));
             });
           },
           "state=live"},
    Attack{"channel_rows_with_controls", "Escape sequences in the names of rows.",
           [](const Stage& stage) {
             scripted(stage, [](PacketSocket& to, const ChannelRequest& request) {
               to.send(rows_answer(request.id, {{1, "\x1b]0;owned\x07\x1b[2J", {5, 6}},
                                                {2, "\xff\xfe\xc2\x9b", {5, 6}},
                                                {3, std::string("\0\n\t", 3), {5, 6}}}));
             });
           },
           "state=live"},
    Attack{"callback_hangs", "A callback that does not return.",
           [](const Stage& stage) {
             with_callback(stage, [](CallbackRequest& request) -> std::uint32_t {
               while (request.reason() == CallbackReason::kCollect) ::pause();
               return 0;
             });
           },
           "state=live"},
    Attack{"callback_throws_controls", "A callback that throws escape sequences.",
           [](const Stage& stage) {
             with_callback(stage, [](CallbackRequest&) -> std::uint32_t {
               throw std::runtime_error("\x1b]0;owned\x07\x1b[2J\xc2\x9b\xe2\x80\xae\nforged\r");
             });
           },
           "state=live"},
    Attack{"callback_of_many_rows", "100,000 rows in answer to each question.",
           [](const Stage& stage) {
             with_callback(stage, [](CallbackRequest& request) {
               for (std::uint32_t i = 0; i < 100'000; ++i) {
                 if (request.is_cancelled()) break;
                 request.add("row" + std::to_string(i), i, kTwo);
               }
               return 0U;
             });
           },
           "state=live", Place::kOwnDirectory, 0, 48 << 20},  // some 0.9 KiB a row
    Attack{"callback_without_end", "Rows until no answer can hold more.",
           [](const Stage& stage) {
             with_callback(stage, [](CallbackRequest& request) {
               const std::string name(1000, 'r');
               for (std::uint32_t i = 0; !request.is_cancelled(); ++i) {
                 if (request.add(name + std::to_string(i), i, kTwo) !=
                     CallbackRequest::Added::kYes) {
                   break;
                 }
               }
               return 0U;
             });
           },
           "state=live", Place::kOwnDirectory, 0,
           kAnswerBytesMax + (24 << 20)},  // and some 0.7 KiB for each of 66,000 rows
    Attack{"callback_kills_its_process", "A callback that ends the process: its rows alone go.",
           [](const Stage& stage) {
             in_child(stage, [](const Stage& there) {
               with_callback(there, [](CallbackRequest& request) -> std::uint32_t {
                 if (request.reason() == CallbackReason::kCollect) ::_exit(7);
                 return 0;
               });
             });
             stage.hold();
           },
           "state="},
};

}  // namespace

Attacks channel_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
