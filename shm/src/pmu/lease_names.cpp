// SPDX-License-Identifier: Apache-2.0
//
// Words for what messages and the ledger say. They are shown by commands and stand in rows that
// others read, so they stay as they are.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "meterbank/shm/pmu/lease_ledger.hpp"
#include "meterbank/shm/pmu/lease_wire.hpp"

namespace meterbank::pmu {
namespace {

// What came from elsewhere may be no value of its enumeration.
template <std::size_t kCount, typename Enum>
[[nodiscard]] std::string_view word_of(const std::array<std::string_view, kCount>& words,
                                       Enum value) noexcept {
  const auto place = static_cast<std::size_t>(value);
  return place < kCount ? words[place] : std::string_view("unknown");
}

}  // namespace

WireName wire_name(std::string_view name) noexcept {
  WireName result = {};
  std::copy_n(name.begin(), std::min(name.size(), kWireNameBytes - 1), result.begin());
  return result;
}

std::string_view text_of(const WireName& name) noexcept { return {name.data()}; }

bool is_terminated(const WireName& name) noexcept {
  return std::find(name.begin(), name.end(), '\0') != name.end();
}

std::string_view name_of(Answer answer) noexcept {
  constexpr std::array<std::string_view, 4> kWords = {"granted", "invalid-parameter",
                                                      "not-supported", "insufficient-resources"};
  return word_of(kWords, answer);
}

std::string_view name_of(Reason reason) noexcept {
  constexpr std::array<std::string_view, 18> kWords = {
      "none",      "malformed", "no-pmu",      "no-such-thing", "never-fits", "taken",
      "whole-pmu", "foreign",   "cpu-offline", "quota",         "too-hard",   "policy",
      "limbo",     "grace",     "time-out",    "cancelled",     "queue-full", "unverified"};
  static_assert(kWords.size() == static_cast<std::size_t>(Reason::kUnverified) + 1);
  return word_of(kWords, reason);
}

std::string_view name_of(Priority priority) noexcept {
  constexpr std::array<std::string_view, 5> kWords = {"batch", "monitoring", "interactive",
                                                      "critical", "kernel"};
  return word_of(kWords, priority);
}

std::string_view name_of(Grade grade) noexcept {
  constexpr std::array<std::string_view, 3> kWords = {"ledger", "verified", "guarded"};
  return word_of(kWords, grade);
}

std::string_view name_of(Quality quality) noexcept {
  constexpr std::array<std::string_view, 6> kWords = {"exact",   "shared", "sliced",
                                                      "starved", "fenced", "unverified"};
  return word_of(kWords, quality);
}

std::string_view name_of(OwnerKind kind) noexcept {
  constexpr std::array<std::string_view, 7> kWords = {
      "free", "untagged", "tagged", "tagged-with-source", "foreign", "offline", "limbo"};
  return word_of(kWords, kind);
}

std::string_view name_of(Rejection rejection) noexcept {
  constexpr std::array<std::string_view, 8> kWords = {"unknown",  "malformed",  "unknown-type",
                                                      "version",  "no-hello",   "rate",
                                                      "too-many", "not-allowed"};
  return word_of(kWords, rejection);
}

std::string_view name_of(NoticeKind kind) noexcept {
  constexpr std::array<std::string_view, 4> kWords = {"revoking", "lost", "suspended", "resumed"};
  return word_of(kWords, kind);
}

std::string_view name_of(Cause cause) noexcept {
  constexpr std::array<std::string_view, 11> kWords = {
      "none",          "freed",       "revoked-by-administrator", "preempted",    "hold-ended",
      "term-ended",    "cpu-offline", "taken-by-outsider",        "arbiter-ends", "holder-gone",
      "policy-changed"};
  static_assert(kWords.size() == static_cast<std::size_t>(Cause::kPolicyChanged) + 1);
  return word_of(kWords, cause);
}

std::string_view name_of(CounterState state) noexcept {
  constexpr std::array<std::string_view, 9> kWords = {
      "free", "guarded", "leased", "foreign", "kernel", "limbo", "offline", "broken", "revoking"};
  return word_of(kWords, state);
}

std::string_view name_of(LeaseState state) noexcept {
  constexpr std::array<std::string_view, 8> kWords = {
      "none", "queued", "preparing", "active", "suspended", "revoking", "fenced", "limbo"};
  return word_of(kWords, state);
}

}  // namespace meterbank::pmu
