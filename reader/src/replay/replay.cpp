// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/replay.hpp"

#include <unistd.h>

#include <utility>

#include "replay_parts.hpp"

namespace meterbank {
namespace {

std::uint32_t place_of(ReplayRowId row) noexcept { return static_cast<std::uint32_t>(row); }

}  // namespace

Replay::Replay(CatalogOptions options, std::uint32_t own_uid)
    : parts_(std::make_unique<Parts>(std::move(options), own_uid)) {}
Replay::Replay(CatalogOptions options) : Replay(std::move(options), ::geteuid()) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

Result<ReplayProviderId> Replay::add_provider(ReplayedProvider facts) {
  return parts_->add_provider(std::move(facts));
}

Result<void> Replay::change_provider(ReplayProviderId provider, ReplayedProvider facts) {
  return parts_->change_provider(provider, std::move(facts));
}

void Replay::remove_provider(ReplayProviderId provider) { parts_->remove_provider(provider); }

void Replay::set_liveness(ReplayProviderId provider, std::uint64_t heartbeat_age_ns,
                          std::uint64_t refused) {
  parts_->set_liveness(provider, heartbeat_age_ns, refused);
}

Result<ReplaySetId> Replay::add_set(ReplayProviderId provider, ReplayedSet facts,
                                    std::size_t position) {
  return parts_->add_set(provider, std::move(facts), position);
}

void Replay::change_set(ReplaySetId set, RegistrationState state, std::uint64_t flags) {
  parts_->change_set(set, state, flags);
}

void Replay::remove_set(ReplaySetId set) { parts_->remove_set(set); }

void Replay::set_interest(ReplaySetId set, std::uint64_t connections) {
  parts_->rows_of(set).set_interest(connections);
}

Result<ReplaySetId> Replay::add_answered(ReplaySetId of, std::shared_ptr<const Counterset> set,
                                         std::uint64_t segment_serial) {
  return parts_->add_answered(of, std::move(set), segment_serial);
}

void Replay::set_answer(ReplaySetId set, CallbackAnswer answer) {
  parts_->rows_of(set).answer() = std::move(answer);
}

void Replay::clear_answer(ReplaySetId set) { parts_->rows_of(set).answer().reset(); }

Result<ReplayRowId> Replay::begin_instance(ReplaySetId set, const ReplayedInstance& instance) {
  return parts_->begin_instance(set, instance);
}

void Replay::close_instance(ReplaySetId set, ReplayRowId row) { parts_->close_instance(set, row); }

void Replay::end_instance(ReplaySetId set, ReplayRowId row) { parts_->end_instance(set, row); }

std::span<std::uint64_t> Replay::words(ReplaySetId set, ReplayRowId row) noexcept {
  return parts_->rows_of(set).words(place_of(row));
}

void Replay::set_row(ReplaySetId set, ReplayRowId row, RowStatus status,
                     RowConsistency consistency) noexcept {
  parts_->rows_of(set).set_row(place_of(row), status, consistency);
}

void Replay::show(Timestamp time) { parts_->show(time); }

Timestamp Replay::time() const noexcept { return parts_->time(); }

Catalog& Replay::catalog() noexcept { return parts_->catalog(); }

const Catalog& Replay::catalog() const noexcept { return parts_->catalog(); }

std::uint64_t Replay::bytes() const noexcept { return parts_->bytes(); }

}  // namespace meterbank
