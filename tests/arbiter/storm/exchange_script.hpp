// SPDX-License-Identifier: Apache-2.0
//
// An arbiter over a simulated machine, without sockets, that four clients send packets to as a
// script of bytes says: good ones, damaged ones and noise; time passes, connections end.
//
// Stops the program where the arbiter breaks a rule: an answer without a request, a packet that
// a client could not read, counters or leases without a holder that are not free in the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arbiter/server/exchange/exchange.hpp"

namespace meterbank::test {

class ExchangeScript final : private arbiter::Outside {
 public:
  ExchangeScript();
  ~ExchangeScript() override;

  // One step for each piece of it.
  void play(std::span<const std::uint8_t> script);
  // All clients leave; aborts if something is left.
  void finish();
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  [[nodiscard]] std::uint64_t granted() const noexcept { return granted_; }
  [[nodiscard]] std::uint64_t rejected() const;

 private:
  static constexpr std::size_t kClients = 4;
  class Source;

  void send(arbiter::ClientNumber client, std::vector<std::byte> packet, int attached) override;
  void hang_up(arbiter::ClientNumber client) override;
  void closes(arbiter::CarrierNumber) override {}
  void record(const arbiter::JournalRecord&) override {}
  void granted(arbiter::Nanoseconds) override { ++granted_; }

  [[nodiscard]] arbiter::ClientNumber client_at(std::size_t seat);
  void leave(std::size_t seat);
  void leave_hung_up();
  void deliver(arbiter::ClientNumber client, std::vector<std::byte> packet, bool has_descriptor);
  [[nodiscard]] pmu::ClientMessage message_from(Source& source) const;
  [[nodiscard]] pmu::Allocate allocate_from(Source& source) const;
  void pass(arbiter::Nanoseconds time);

  arbiter::Nanoseconds now_ = 1'000'000'000;
  std::unique_ptr<arbiter::Backend> backend_;
  std::optional<arbiter::ProcessTable> processes_;
  std::optional<arbiter::Exchange> exchange_;
  arbiter::ClientNumber next_client_ = 1;
  std::array<arbiter::ClientNumber, kClients> seats_ = {};  // 0: no client
  std::vector<arbiter::ClientNumber> hung_up_;
  std::map<std::pair<arbiter::ClientNumber, std::uint64_t>, int> outstanding_;  // answers owed
  std::vector<pmu::Token> tokens_;                                              // of late
  std::uint64_t packets_ = 0, granted_ = 0;
};

}  // namespace meterbank::test
