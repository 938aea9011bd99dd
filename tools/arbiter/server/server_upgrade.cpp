// SPDX-License-Identifier: Apache-2.0
//
// How a server goes on in a new image of its program: counters, sockets and state pass over, and
// no lease ends. Clients find the old ledger marked kReplaced, and get a new one.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "arbiter/server/server.hpp"
#include "meterbank/base/clock.hpp"

namespace meterbank::arbiter {

SavedServer Server::save() {
  SavedServer saved;
  saved.arbiter = exchange_->arbiter().save();
  saved.epoch = epoch_;
  saved.next_client = next_client_;
  saved.listener = listener_.descriptor();
  saved.listener_name_stays = listener_.name_stays();
  saved.connections_refused = connections_refused_;
  saved.carriers = backend_->save();
  for (const SavedVisitor& visitor : exchange_->visitors()) {
    const auto found = connections_.find(visitor.client);
    if (found == connections_.end()) continue;
    SavedClient client;
    client.visitor = visitor;
    client.socket = found->second.peer.descriptor();
    for (const UnsentPacket& packet : found->second.peer.unsent()) {
      const auto* const first = reinterpret_cast<const std::uint8_t*>(packet.bytes.data());
      // The arbiter attaches one descriptor at most.
      const int attached = packet.attached.empty() ? -1 : packet.attached.front().get();
      client.unsent.push_back({{first, first + packet.bytes.size()}, attached});
    }
    saved.clients.push_back(std::move(client));
  }
  return saved;
}

void Server::upgrade(Nanoseconds now) {
  // What may still be reclaimed, and what was offered for it, is not carried over.
  if (grace_end_ != 0) {
    upgrade_waits_ = true;
    return log_.say("the upgrade waits until leases of the arbiter before are reclaimed");
  }
  drop_ending(now);
  supervisor_.tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now / 1000));
  const SavedServer saved = save();
  const auto state = store(saved);
  if (!state) {
    log_.say("no upgrade: " + state.error().message());
    return supervisor_.tell("READY=1");
  }
  for (const int descriptor : saved.descriptors()) set_close_on_exec(descriptor, false);
  set_close_on_exec(state->get(), false);
  exchange_->ledger().end(pmu::LedgerState::kReplaced);
  rows_.reset();
  const int failure = program_.run_again(state->get());
  log_.say(fmt::format("no upgrade: the program does not start: {}", std::strerror(failure)));
  stay(saved, now);
}

// Nothing came of it: clients were told that the ledger is replaced, so it is.
void Server::stay(const SavedServer& saved, Nanoseconds now) {
  for (const int descriptor : saved.descriptors()) set_close_on_exec(descriptor, true);
  auto ledger = make_ledger(epoch_, now);
  auto rows = Rows::create(options_.directory);
  if (!ledger || !rows) {
    log_.say((ledger ? rows.error() : ledger.error()).message());
    return end(now);
  }
  exchange_->replace_ledger(std::move(*ledger));
  exchange_->announce_ledger();
  rows_.emplace(std::move(*rows));
  supervisor_.tell("READY=1");
}

}  // namespace meterbank::arbiter
