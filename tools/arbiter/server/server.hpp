// SPDX-License-Identifier: Apache-2.0
//
// The arbiter's process: one thread that waits for clients, for the ends of their processes, for
// lost counters, signals and the clock, and gives each to the Exchange.
//
//   SIGTERM, SIGINT   end: leases are taken back, clients told, the socket's name removed
//   SIGHUP            read the policy file anew; a faulty one is reported, and the old one stays
//   SIGUSR2           go on in a new image of the program: clients keep their leases
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arbiter/backend/backend.hpp"
#include "arbiter/server/client/admission.hpp"
#include "arbiter/server/client/client_connection.hpp"
#include "arbiter/server/client/process_table.hpp"
#include "arbiter/server/exchange/exchange.hpp"
#include "arbiter/server/policy_file.hpp"
#include "arbiter/server/publish/rows.hpp"
#include "arbiter/server/system/journal.hpp"
#include "arbiter/server/system/listener.hpp"
#include "arbiter/server/system/log.hpp"
#include "arbiter/server/system/program.hpp"
#include "arbiter/server/upgrade/saved_server.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/ipc/wait_set.hpp"
#include "service/supervisor.hpp"

namespace meterbank::arbiter {

struct ServerOptions {
  std::string directory;
  std::string policy;   // file; empty: Policy::standard()
  std::string journal;  // file; empty: pmud.journal in the directory
  std::uint32_t socket_mode = 0666;
};

class Server final : public Outside {
 public:
  static constexpr Nanoseconds kTick = 100'000'000;
  static constexpr Nanoseconds kGrace = 2'000'000'000;  // after an arbiter that did not end itself

  // Blocks the signals above. `saved`: what the image before this one left. Errors: those of the
  // directory, the socket, the journal, the policy file and the countersets; kCorrupt of what was
  // saved.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               std::unique_ptr<Backend> backend, Program program,
                                               const SavedServer* saved);
  ~Server() override;

  void run();  // until a signal ends it

 private:
  // Of what an epoll event is: in its top byte, the number below.
  enum class Source : std::uint8_t { kListener, kSignals, kClient, kProcess, kCounter };

  Server(ServerOptions options, std::unique_ptr<Backend> backend, Program program,
         ProcessTable processes, Journal journal, PolicyFile policy, Listener listener);

  // ---- Start (server_start.cpp) ----
  Result<void> prepare();
  Result<void> begin();
  Result<void> resume(const SavedServer& saved);
  void resume_client(const SavedClient& saved);
  Result<LedgerWriter> make_ledger(std::uint16_t epoch, Nanoseconds now);

  // ---- Loop ----
  // False: errno says why.
  bool watch(int descriptor, Source source, std::uint64_t number, std::uint32_t events) noexcept;
  void watch_counters();
  void handle(Source source, std::uint64_t number, std::uint32_t events);
  void accept_clients(Nanoseconds now);
  void admit(PacketSocket socket, Nanoseconds now);
  void add_client(ClientNumber client, ClientConnection connection);
  void serve(ClientNumber client, std::uint32_t events);
  void read_packets(ClientNumber client);
  void drop(ClientNumber client, Nanoseconds now);
  void drop_ending(Nanoseconds now);
  void tick(Nanoseconds now);
  void publish(Nanoseconds now);
  [[nodiscard]] int timeout_ms(Nanoseconds now) const;
  void read_signals(Nanoseconds now);
  void reload_policy(Nanoseconds now);
  void end(Nanoseconds now);

  // ---- Going on in a new image (server_upgrade.cpp) ----
  void upgrade(Nanoseconds now);
  [[nodiscard]] SavedServer save();
  void stay(const SavedServer& saved, Nanoseconds now);

  // ---- Outside ----
  void send(ClientNumber client, std::vector<std::byte> packet, int attached) override;
  void hang_up(ClientNumber client) override;
  void closes(CarrierNumber carrier) override;
  void record(const JournalRecord& record) override;
  void granted(Nanoseconds waited) override;

  ServerOptions options_;
  std::unique_ptr<Backend> backend_;
  Program program_;
  ProcessTable processes_;
  Journal journal_;
  PolicyFile policy_;
  Listener listener_;
  service::Supervisor supervisor_;
  Log log_;
  Admission admission_;
  WaitSet set_;
  UniqueFd signals_;
  std::map<ClientNumber, ClientConnection> connections_;
  std::set<ClientNumber> ending_;
  std::map<int, CarrierNumber> watched_;
  std::optional<Exchange> exchange_;
  std::optional<Rows> rows_;
  PacketBuffer packet_;
  ClientNumber next_client_ = 1;
  std::uint64_t connections_refused_ = 0;
  std::uint64_t published_changes_ = 0;
  std::uint16_t epoch_ = 0;
  bool upgrade_waits_ = false;  // until grace is over
  Nanoseconds next_tick_ = 0, published_ = 0, grace_end_ = 0, told_supervisor_ = 0;
  bool has_ended_ = false;
};

}  // namespace meterbank::arbiter
