// SPDX-License-Identifier: Apache-2.0
//
// Providers that are dead and look alive, or alive and look dead.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder = std::memory_order_relaxed;  // liveness words order nothing

template <typename Change>
[[noreturn]] void keep_lying(const Stage& stage, Change&& change) {
  const PatchedProvider provider(stage);
  stage.keep_on([&] {
    change(provider.header());
    ::usleep(1000);  // more often than the keeper thread says the truth
  });
}

void publish_and_stay(const Stage& stage) {
  const PatchedProvider provider(stage);
  stage.hold();
}

SharedWord32& owner_futex(SegmentHeader& header) {
  return *reinterpret_cast<SharedWord32*>(header.owner_mutex.data());
}

constexpr std::array kAttacks{
    Attack{"heartbeat_to_come", "A heartbeat of the end of time: alive, by the kernel's word.",
           [](const Stage& stage) {
             keep_lying(stage, [](SegmentHeader& header) {
               header.heartbeat_ns.store(~std::uint64_t{0}, kRelaxedOrder);
             });
           },
           "state=live|state=hung"},
    Attack{"heartbeat_of_no_period", "A period of zero, then of all ones.",
           [](const Stage& stage) {
             keep_lying(stage, [](SegmentHeader& header) {
               const std::uint64_t period = header.heartbeat_period_ns.load(kRelaxedOrder);
               header.heartbeat_period_ns.store(~period, kRelaxedOrder);
               header.heartbeat_ns.store(0, kRelaxedOrder);
             });
           },
           "state=live|state=hung"},
    Attack{"mutex_says_dead", "The mark of a dead owner on a provider that lives: hung at worst.",
           [](const Stage& stage) {
             keep_lying(stage, [](SegmentHeader& header) {
               owner_futex(header).store(kOwnerDied | 1, kRelaxedOrder);
             });
           },
           "state=hung|state=live"},
    Attack{"mutex_flickers", "The owner's word is another each moment.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage);
             stage.keep_on([&] {
               owner_futex(provider.header())
                   .store(static_cast<std::uint32_t>(any_number()), kRelaxedOrder);
             });
           }},
    Attack{"stopped", "The provider is stopped by a signal: its last values, and no wait.",
           [](const Stage& stage) {
             ::kill(in_child(stage, publish_and_stay), SIGSTOP);
             stage.hold();
           },
           "rows>"},
    Attack{"stopped_with_a_callback", "A provider that computes on demand is stopped.",
           [](const Stage& stage) {
             const pid_t child = in_child(stage, [](const Stage& there) {
               Provider provider = *Provider::create({.name = std::string(kAttackerName)});
               const auto set = provider.add(kAttacked, [](CallbackRequest&) { return 0U; });
               there.hold();
             });
             ::kill(child, SIGSTOP);
             stage.hold();
           },
           "state="},
    Attack{"killed_inside_an_update", "Killed with an update half done: the last whole version.",
           [](const Stage& stage) {
             const pid_t child = in_child(stage, [](const Stage& there) {
               PatchedProvider provider(there);
               provider.rows()[0].update([&](Values& values) {
                 values.set(Level::kLevel, 77);
                 there.hold();
               });
             });
             ::kill(child, SIGKILL);
             ::waitpid(child, nullptr, 0);
             stage.hold();
           },
           "state=dead|error="},
    Attack{"killed_and_not_waited_for", "A zombie: dead, though its pid is there.",
           [](const Stage& stage) {
             const pid_t child = in_child(stage, publish_and_stay);
             ::kill(child, SIGKILL);
             siginfo_t info;
             ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
             stage.hold();
           },
           "state=dead|error="},
    Attack{"became_another_program", "exec after publishing: same pid and start, no memory.",
           [](const Stage& stage) {
             in_child(stage, [](const Stage& there) {
               const PatchedProvider provider(there);
               there.ready();
               ::execl("/bin/sleep", "sleep", "1000", nullptr);
             });
             stage.hold();
           },
           "error=|state="},
    Attack{"orphan_of_two_forks", "Published by a grandchild whose parents have gone.",
           [](const Stage& stage) {
             const pid_t child = in_child(stage, [](const Stage& there) {
               in_child(there, publish_and_stay);
               there.ready();
             });
             ::waitpid(child, nullptr, 0);
             stage.hold();
           },
           "rows>"},
    Attack{"memory_kept_by_a_child", "The provider has gone, its memory is open in its child.",
           [](const Stage& stage) {
             const pid_t parent = in_child(stage, [](const Stage& there) {
               const int memory = forge_memory({}, honest_image(there));
               publish(there, record_for(memory));
               in_child(there, [](const Stage& last) { last.hold(); });
               there.ready();
             });
             ::waitpid(parent, nullptr, 0);
             stage.hold();
           },
           "state=dead|error="},
    Attack{"dead_providers_by_the_hundred", "200 records of processes that have gone.",
           [](const Stage& stage) {
             for (int i = 0; i < 200; ++i) {
               const pid_t child = ::fork();
               if (child == 0) {
                 const int memory = forge_memory({}, {});
                 publish(stage, record_for(memory, "attacker" + std::to_string(i)));
                 ::_exit(0);
               }
               ::waitpid(child, nullptr, 0);
             }
             stage.hold();
           },
           "state=dead|error="},
};

}  // namespace

Attacks liveness_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
