// SPDX-License-Identifier: Apache-2.0
//
// What the arbiter's server asks of the kernel, or of a model of it. The arbiter's actions, one
// function each.
//
// One thread. Every call returns within microseconds, but for probes of many CPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arbiter/core/arbiter.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

// Counters that outlive this process image: descriptors without CLOEXEC.
struct SavedCarrier {
  CarrierNumber carrier = 0;
  std::vector<Opening> openings;
  std::vector<int> descriptors;  // as many; -1: closed, as of a paused breakpoint
  std::vector<Reading> before;   // what was counted before the descriptor was opened
  bool is_paused = false;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // What there is, found when the backend was made.
  [[nodiscard]] virtual const Machine& machine() const = 0;
  // Why no hardware PMU is there, with the setting to change; empty: there is one.
  [[nodiscard]] virtual std::string why_no_pmu() const = 0;

  // Opens all counters pinned, reads each until it has run; or none, and says why.
  virtual OpenOutcome open(CarrierNumber carrier, std::span<const Opening> openings) = 0;
  // The same, but for counters that a client kept open while there was no arbiter: as many as
  // openings; they go on from their values. Empty ones, and those that count no more, are opened;
  // all of them, where there are no descriptors.
  virtual OpenOutcome take_back(CarrierNumber carrier, std::span<const Opening> openings,
                                std::vector<UniqueFd> kept) {
    kept.clear();
    return open(carrier, openings);
  }
  virtual void close(CarrierNumber carrier) = 0;
  // After close(): whether the kernel has given all of it free.
  [[nodiscard]] virtual bool has_let_go(CarrierNumber carrier) = 0;
  // Between them the counters are not held.
  virtual void pause(CarrierNumber carrier) = 0;
  virtual OpenOutcome resume(CarrierNumber carrier) = 0;
  // As many as were opened.
  [[nodiscard]] virtual std::vector<Reading> read(CarrierNumber carrier) = 0;

  // How many more counters for the event can be had on each of the CPUs now.
  [[nodiscard]] virtual std::uint32_t probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                            std::uint32_t at_most) = 0;
  // Tries to hold so many; returns how many are held.
  virtual std::uint32_t guard(PmuIndex pmu, std::uint32_t cpu, std::uint32_t counters) = 0;

  // Whether descriptor() ever has one.
  [[nodiscard]] virtual bool has_descriptors() const { return true; }
  // To pass to a client; -1: none. Stays ours.
  [[nodiscard]] virtual int descriptor(CarrierNumber carrier, std::uint32_t opening) = 0;
  // All processes that count, except the arbiter.
  [[nodiscard]] virtual std::vector<Outsider> survey() = 0;
  [[nodiscard]] virtual CpuSet online() = 0;
  // Readable or in error when a carrier may have lost a counter: sample it.
  [[nodiscard]] virtual std::map<int, CarrierNumber> watched() const { return {}; }

  // For a new image of this program. save() clears CLOEXEC of what it names.
  [[nodiscard]] virtual std::vector<SavedCarrier> save() = 0;
  virtual void adopt(std::vector<SavedCarrier> saved) = 0;
};

}  // namespace meterbank::arbiter
