// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/kernel_counters.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kConfirmMax = 100'000'000;

void take_kernel_ids(Carrier& carrier, const std::vector<std::uint64_t>& kernel_ids) {
  for (std::size_t i = 0; i < carrier.kernel_ids.size() && i < kernel_ids.size(); ++i) {
    carrier.kernel_ids[i] = kernel_ids[i];
  }
}

}  // namespace

const Carrier* KernelCounters::find(CarrierNumber number) const {
  const auto found = carriers_.find(number);
  return found == carriers_.end() ? nullptr : &found->second;
}

std::vector<LeaseNumber> KernelCounters::holders_of(LeaseId booking) const {
  if (booking < kCarrierFirst) return {static_cast<LeaseNumber>(booking)};
  const Carrier* carrier = find(booking - kCarrierFirst);
  return carrier == nullptr ? std::vector<LeaseNumber>{} : carrier->leases;
}

const Carrier* KernelCounters::find_shared(const std::vector<Opening>& openings) const {
  for (const auto& [number, carrier] : carriers_) {
    if (carrier.is_shared && carrier.state() == CarrierState::kOpen &&
        carrier.counts_as(openings)) {
      return &carrier;
    }
  }
  return nullptr;
}

std::vector<CarrierNumber> KernelCounters::due(Nanoseconds now) const {
  std::vector<CarrierNumber> due;
  for (const auto& [time_ns, number] : looks_) {
    if (time_ns > now) break;
    due.push_back(number);
  }
  std::sort(due.begin(), due.end());
  return due;
}

void KernelCounters::set_next(Carrier& carrier, Nanoseconds time_ns) {
  if (carrier.next_ns == time_ns) return;
  if (carrier.next_ns != 0) looks_.erase({carrier.next_ns, carrier.number});
  carrier.next_ns = time_ns;
  if (time_ns != 0) looks_.emplace(time_ns, carrier.number);
}

void KernelCounters::forget(CarrierNumber number) {
  const auto found = carriers_.find(number);
  if (found == carriers_.end()) return;
  set_next(found->second, 0);
  carriers_.erase(found);
}

CarrierNumber KernelCounters::open(const Lease& lease, const Piece& piece,
                                   std::vector<std::uint64_t> kept) {
  Carrier carrier;
  carrier.number = next_number_++;
  carrier.plan = piece.plan;
  carrier.openings = piece.openings;
  carrier.readings.resize(carrier.openings.size());
  carrier.kernel_ids.resize(carrier.openings.size());
  carrier.leases = {lease.number};
  carrier.is_shared = may_share(lease);
  carrier.is_sliced = lease.is_sliced();
  if (has_backend_) {
    if (!kept.empty()) kept.resize(carrier.openings.size());
    outbox_->ask(Open{carrier.number, carrier.openings, std::move(kept)});
  } else {
    carrier.state_ = CarrierState::kOpen;
  }
  const CarrierNumber number = carrier.number;
  carriers_.emplace(number, std::move(carrier));
  return number;
}

void KernelCounters::join(CarrierNumber number, LeaseNumber lease) {
  Carrier& carrier = carriers_.at(number);
  carrier.leases.push_back(lease);
  if (!has_backend_) return;
  carrier.joining.push_back(lease);
  outbox_->ask(ReadCounters{number});
}

void KernelCounters::stop_joining(CarrierNumber number, LeaseNumber lease) {
  std::erase(carriers_.at(number).joining, lease);
}

void KernelCounters::leave(CarrierNumber number, LeaseNumber lease) {
  stop_joining(number, lease);
  std::erase(carriers_.at(number).leases, lease);
}

void KernelCounters::sample(CarrierNumber number) {
  if (has_backend_ && at(number).state() == CarrierState::kOpen) outbox_->ask(ReadCounters{number});
}

void KernelCounters::pause(CarrierNumber number) {
  Carrier& carrier = carriers_.at(number);
  if (carrier.state() == CarrierState::kPaused || carrier.state() == CarrierState::kClosed) return;
  carrier.state_ = CarrierState::kPaused;
  if (has_backend_) outbox_->ask(Pause{number});
}

bool KernelCounters::resume(CarrierNumber number) {
  Carrier& carrier = carriers_.at(number);
  set_next(carrier, 0);
  carrier.state_ = has_backend_ ? CarrierState::kResuming : CarrierState::kOpen;
  if (has_backend_) outbox_->ask(Resume{number});
  return !has_backend_;
}

void KernelCounters::watch(CarrierNumber number, Nanoseconds until_ns) {
  Carrier& carrier = carriers_.at(number);
  carrier.state_ = CarrierState::kWatched;
  carrier.fenced.clear();
  set_next(carrier, until_ns);
  outbox_->ask(Pause{number});
  outbox_->ask(ReadCounters{number});
}

KernelCounters::Closing KernelCounters::close(CarrierNumber number) {
  Carrier& carrier = carriers_.at(number);
  if (carrier.state() == CarrierState::kClosed) return Closing::kWasClosed;
  carrier.is_shared = false;
  carrier.state_ = CarrierState::kClosed;
  carrier.pause_ns = confirm_ns_;
  set_next(carrier, 0);
  if (!has_backend_) return Closing::kFree;
  outbox_->ask(Close{number});
  outbox_->ask(Confirm{number});
  return Closing::kWaits;
}

void KernelCounters::look_again(CarrierNumber number) {
  Carrier& carrier = carriers_.at(number);
  set_next(carrier, 0);
  if (carrier.state() == CarrierState::kClosed) outbox_->ask(Confirm{number});
  if (carrier.state() == CarrierState::kWatched) outbox_->ask(ReadCounters{number});
}

KernelCounters::Opened KernelCounters::opened(CarrierNumber number, const OpenOutcome& outcome) {
  const auto found = carriers_.find(number);
  if (found == carriers_.end()) return Opened::kIgnored;
  Carrier& carrier = found->second;
  const bool is_resuming = carrier.state() == CarrierState::kResuming;
  if (!is_resuming && carrier.state() != CarrierState::kOpening) return Opened::kIgnored;
  if (outcome.fault != OpenFault::kNone) {
    if (!is_resuming) return Opened::kFailed;
    carrier.state_ = CarrierState::kPaused;
    return Opened::kNotResumed;
  }
  carrier.state_ = CarrierState::kOpen;
  take_kernel_ids(carrier, outcome.kernel_ids);
  return is_resuming ? Opened::kResumed : Opened::kOpen;
}

KernelCounters::Sampled KernelCounters::sampled(CarrierNumber number,
                                                const std::vector<Reading>& readings,
                                                Nanoseconds now) {
  const auto found = carriers_.find(number);
  if (found == carriers_.end()) return {};
  Carrier& carrier = found->second;
  Sampled sampled;
  for (std::size_t i = 0; i < readings.size() && i < carrier.readings.size(); ++i) {
    // What a lost counter had counted last is the best that is known of it.
    if (readings[i].has_counter) {
      carrier.readings[i] = readings[i];
    } else {
      carrier.readings[i].has_counter = false;
      sampled.has_lost = true;
    }
  }
  carrier.sampled_ns = now;
  sampled.joined = std::exchange(carrier.joining, {});
  return sampled;
}

KernelCounters::Watched KernelCounters::watched(CarrierNumber number) {
  Carrier& carrier = carriers_.at(number);
  if (carrier.fenced.empty()) carrier.fenced = carrier.readings;
  const bool is_too_early = carrier.next_ns != 0;
  if (is_too_early) return Watched::kTooEarly;
  bool has_run = false;
  for (std::size_t i = 0; i < carrier.fenced.size() && i < carrier.readings.size(); ++i) {
    has_run = has_run || carrier.readings[i].running_ns > carrier.fenced[i].running_ns;
  }
  return has_run ? Watched::kHasRun : Watched::kHasStopped;
}

bool KernelCounters::confirmed(CarrierNumber number, bool has_let_go, Nanoseconds now) {
  const auto found = carriers_.find(number);
  if (found == carriers_.end() || found->second.state() != CarrierState::kClosed) return false;
  if (has_let_go) return true;
  Carrier& carrier = found->second;
  set_next(carrier, now + carrier.pause_ns);
  carrier.pause_ns = std::min(carrier.pause_ns * 2, std::max(kConfirmMax, confirm_ns_));
  return false;
}

}  // namespace meterbank::arbiter
