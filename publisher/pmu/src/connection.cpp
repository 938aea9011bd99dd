// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pmu/connection.hpp"

#include <cstdlib>
#include <utility>

#include "cpu_groups.hpp"
#include "link/link.hpp"
#include "meterbank/base/report_no_memory.hpp"
#include "refusals.hpp"

namespace meterbank::pmu {
namespace {

Error bad_request(std::string what) {
  return {ErrorCode::kInvalidArgument, 0, std::move(what), ""};
}

// An answer of the one type that can be one.
template <typename Message>
Asked<Message> only(Asked<ArbiterMessage> answer) {
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  return std::get<Message>(std::move(*answer));
}

Asked<void> done(Asked<ArbiterMessage> answer) {
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  return {};
}

}  // namespace

std::string_view name_of(LeaseNotice::Kind kind) noexcept {
  switch (kind) {
    case LeaseNotice::Kind::kRevoking:
      return "revoking";
    case LeaseNotice::Kind::kLost:
      return "lost";
    case LeaseNotice::Kind::kSuspended:
      return "suspended";
    case LeaseNotice::Kind::kResumed:
      return "resumed";
    case LeaseNotice::Kind::kAdrift:
      return "adrift";
    case LeaseNotice::Kind::kReclaimed:
      return "reclaimed";
  }
  return "unknown";
}

std::string default_arbiter_socket() {
  const auto from = [](const char* variable) {
    const char* const value = ::secure_getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string named = from("METERBANK_PMUD_SOCKET"); !named.empty()) return named;
  std::string directory = from("METERBANK_PMUD_DIR");
  if (directory.empty()) directory = from("METERBANK_DIR");
  return (directory.empty() ? "/run/meterbank" : directory) + "/" + std::string(kArbiterSocket);
}

Connection::Connection(std::shared_ptr<detail::Link> link) noexcept : link_(std::move(link)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept {
  if (this == &other) return *this;
  if (link_ != nullptr) link_->close();
  link_ = std::move(other.link_);
  return *this;
}
Connection::~Connection() {
  if (link_ != nullptr) link_->close();
}

Result<Connection> Connection::connect(ConnectionOptions options) {
  return report_no_memory([&]() -> Result<Connection> {
    auto link = make_of_one_process<detail::Link>(std::move(options));
    if (auto started = link->start(); !started) {
      link->close();
      return tl::make_unexpected(std::move(started.error()));
    }
    return Connection(std::move(link));
  });
}

Asked<Lease> Connection::acquire(const Request& request, const AcquireOptions& options) {
  return detail::undecided_without_memory([&]() -> Asked<Lease> {
    if (!request.fault().empty()) return detail::not_decided(bad_request(request.fault()));
    return link_->acquire(request.message(), options);
  });
}

Asked<Granted> Connection::try_out(const Request& request) {
  return detail::undecided_without_memory([&]() -> Asked<Granted> {
    if (!request.fault().empty()) return detail::not_decided(bad_request(request.fault()));
    Allocate allocate = request.message();
    allocate.head.flags |= kAllocateDryRun;
    allocate.head.wait_ns = 0;
    return only<Granted>(link_->ask(std::move(allocate)));
  });
}

Asked<Room> Connection::probe(const Request& request) {
  return detail::undecided_without_memory([&]() -> Asked<Room> {
    if (!request.fault().empty()) return detail::not_decided(bad_request(request.fault()));
    const Allocate asked = request.message();
    if (asked.items.size() != 1) return detail::not_decided(bad_request("one item is probed for"));
    return only<Room>(link_->ask(Probe{.flags = asked.head.flags & kAllocateHasGroups,
                                       .group_count = asked.head.group_count,
                                       .pmu = asked.head.pmu,
                                       .item = asked.items.front(),
                                       .groups = asked.groups}));
  });
}

Asked<std::vector<CounterOwner>> Connection::owners(std::string_view pmu, std::uint32_t cpu) {
  return detail::undecided_without_memory([&]() -> Asked<std::vector<CounterOwner>> {
    auto answer = only<OwnersAnswer>(link_->ask(Owners{.cpu = cpu, .pmu = wire_name(pmu)}));
    if (!answer) return tl::make_unexpected(std::move(answer.error()));
    return std::move(answer->owners);
  });
}

Asked<void> Connection::revoke(Token token, std::chrono::nanoseconds drain) {
  return detail::undecided_without_memory([&]() -> Asked<void> {
    const auto drain_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(drain.count(), 0));
    return done(link_->ask(AdminRevoke{.token = token, .drain_ns = drain_ns}, drain));
  });
}

Asked<void> Connection::reserve(std::string_view pmu, std::string_view cpus, std::uint32_t count) {
  return detail::undecided_without_memory([&]() -> Asked<void> {
    AdminReserve reserve;
    reserve.count = count;
    reserve.pmu = wire_name(pmu);
    if (!cpus.empty()) {
      auto groups = detail::parse_cpus(cpus);
      if (!groups) {
        return detail::not_decided(
            bad_request("'" + std::string(cpus) + "' is not a list of CPUs"));
      }
      reserve.flags = kAllocateHasGroups;
      reserve.group_count = static_cast<std::uint32_t>(groups->size());
      reserve.groups = std::move(*groups);
    }
    return done(link_->ask(std::move(reserve)));
  });
}

ArbiterFacts Connection::facts() const { return link_->facts(); }
bool Connection::is_connected() const { return link_->is_connected(); }
std::shared_ptr<const LedgerView> Connection::ledger() const { return link_->ledger(); }
int Connection::descriptor() const noexcept { return link_->descriptor(); }
void Connection::dispatch() {
  const std::shared_ptr<detail::Link> link = link_;  // a notice may end the connection
  link->dispatch();
}

}  // namespace meterbank::pmu
