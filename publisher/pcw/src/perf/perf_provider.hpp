// SPDX-License-Identifier: Apache-2.0
//
// What PerfStartProvider starts: a provider of its own, its countersets and its ControlCallback.
#pragma once

#include <perflib.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "meterbank/base/guid.hpp"
#include "perf_set.hpp"

namespace meterbank::pcw {

class PerfProvider : public std::enable_shared_from_this<PerfProvider> {
 public:
  PerfProvider(Provider provider, const Guid& guid, PERFLIBREQUEST callback, PerfMemory memory,
               CharacterWidth width);

  void stop() noexcept;
  void set_handle(std::uintptr_t handle) noexcept { handle_ = handle; }

  DWORD add_set(const PERF_COUNTERSET_INFO* info, std::size_t bytes);
  [[nodiscard]] std::shared_ptr<PerfSet> set(const Guid& guid);
  // The set that has the row; null: none.
  [[nodiscard]] std::shared_ptr<PerfSet> set_of(PPERF_COUNTERSET_INSTANCE instance);

 private:
  [[nodiscard]] std::optional<PerfSet::Parts> parts_of(const PERF_COUNTERSET_INFO& info) const;
  std::uint32_t answer(PerfSet& set, CallbackRequest& request);
  ULONG tell_of_machine(ULONG code) const;
  ULONG tell_of_interest(const PerfSet& set, const CallbackRequest& request) const;
  ULONG tell_of_counter(const PerfSet& set, const CallbackRequest& request, ULONG code,
                        std::uint32_t counter) const;

  const Guid guid_;
  const PERFLIBREQUEST callback_;
  const PerfMemory memory_;
  const CharacterWidth width_;
  std::uintptr_t handle_ = 0;
  std::mutex turn_;   // requests are served one at a time, as by the one thread on Windows
  std::mutex mutex_;  // all below
  std::shared_ptr<Provider> provider_;
  std::map<Guid, std::shared_ptr<PerfSet>> sets_;
};

}  // namespace meterbank::pcw
