// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pmu/lease.hpp"

#include <utility>

#include "link/held.hpp"
#include "link/link.hpp"
#include "meterbank/base/report_no_memory.hpp"
#include "refusals.hpp"

namespace meterbank::pmu {
namespace {

Error moved_from() { return {ErrorCode::kClosed, 0, "a lease that was moved from", ""}; }

}  // namespace

std::string_view name_of(Standing standing) noexcept {
  switch (standing) {
    case Standing::kHeld:
      return "held";
    case Standing::kRevoking:
      return "revoking";
    case Standing::kSuspended:
      return "suspended";
    case Standing::kAdrift:
      return "adrift";
    case Standing::kLost:
      return "lost";
    case Standing::kReleased:
      return "released";
  }
  return "unknown";
}

Lease::Lease(std::shared_ptr<detail::Held> held) noexcept : held_(std::move(held)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  return *this;
}

Lease::~Lease() { release(); }

void Lease::release() noexcept {
  if (held_ != nullptr) held_->link->release(*held_);
}

Token Lease::token() const noexcept {
  if (held_ == nullptr) return 0;
  const Token claimed = held_->claimed();
  if (claimed != 0) return claimed;
  return held_->link->look_at(*held_, [](const auto& held) { return held.granted.head.token; });
}

bool Lease::is_in_force() const noexcept { return held_ != nullptr && held_->is_in_force(); }

bool Lease::use() noexcept { return held_ != nullptr && held_->use(); }

Standing Lease::standing() const {
  if (held_ == nullptr) return Standing::kReleased;
  return held_->link->look_at(*held_, [](const auto& held) { return held.standing; });
}

Cause Lease::cause() const {
  if (held_ == nullptr) return Cause::kNone;
  return held_->link->look_at(*held_, [](const auto& held) { return held.cause; });
}

std::uint64_t Lease::revoked_at_ns() const {
  if (held_ == nullptr) return 0;
  return held_->link->look_at(*held_, [](const auto& held) { return held.deadline_ns; });
}

Granted Lease::granted() const {
  if (held_ == nullptr) return {};
  return held_->link->look_at(*held_, [](const auto& held) { return held.granted; });
}

Result<LeaseValues> Lease::read() {
  return report_no_memory([&]() -> Result<LeaseValues> {
    if (held_ == nullptr) return tl::make_unexpected(moved_from());
    return held_->link->read(*held_);
  });
}

Asked<void> Lease::renew() {
  return detail::undecided_without_memory([&]() -> Asked<void> {
    if (held_ == nullptr) return detail::not_decided(moved_from());
    return held_->link->tell<Renew>(*held_);
  });
}

Asked<void> Lease::drained() {
  return detail::undecided_without_memory([&]() -> Asked<void> {
    if (held_ == nullptr) return detail::not_decided(moved_from());
    return held_->link->tell<Drained>(*held_);
  });
}

Result<LocalCounter> Lease::local(std::uint32_t position) {
  return report_no_memory([&]() -> Result<LocalCounter> {
    if (held_ == nullptr) return tl::make_unexpected(moved_from());
    return held_->link->local(held_, position);
  });
}

}  // namespace meterbank::pmu
