// SPDX-License-Identifier: Apache-2.0
//
// One registration: the rows that its provider created, and the callback that makes others.
//
// Rules
//   1. Blocks of created instances are read under `mutex_` and at no other time, so that closing an
//      instance waits for a read and for nothing else.
//   2. The provider's callback runs with no lock held: it may call every function.
//   3. unregister() ends the published registration first, which waits for callbacks, then the
//      instances. What comes later finds `closed_`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "counted_text.hpp"
#include "counter_layout.hpp"
#include "meterbank/publisher/provider.hpp"
#include "process_providers.hpp"
#include "wdm.h"

namespace meterbank::pcw {

class PcwRegistration;

// One created row.
struct PcwInstance {
  std::weak_ptr<PcwRegistration> owner;
  std::uintptr_t handle = 0;
  std::uint32_t id = 0;
  std::string name;
  std::vector<PCW_DATA> blocks;  // of the caller
  Instance in_place;             // else: it lies in the segment, and is no matter of callbacks
};

// What a callback adds rows to, for the time of the call.
struct PcwBuffer {
  std::mutex mutex;
  CallbackRequest* request = nullptr;  // null once the callback has returned
  std::shared_ptr<PcwRegistration> registration;
};

class PcwRegistration : public std::enable_shared_from_this<PcwRegistration> {
 public:
  struct Parts {
    std::shared_ptr<const OwnedSpec> spec;
    CounterLayout layout;
    PPCW_CALLBACK callback = nullptr;
    PVOID context = nullptr;
    CharacterWidth width = kOwnWidth;
    bool is_described = false;
  };
  explicit PcwRegistration(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] Result<void> publish();
  void unregister() noexcept;

  [[nodiscard]] CharacterWidth width() const noexcept { return parts_.width; }

  NTSTATUS create(const UNICODE_STRING* name, std::span<const PCW_DATA> blocks,
                  std::uintptr_t& handle);
  NTSTATUS create_in_place(const UNICODE_STRING* name, std::uintptr_t& handle, void*& block);
  void close(const std::shared_ptr<PcwInstance>& instance) noexcept;

  // Of a callback that runs.
  NTSTATUS add_row(CallbackRequest& request, const UNICODE_STRING* name, std::uint32_t id,
                   std::span<const PCW_DATA> blocks) const;

 private:
  std::uint32_t answer(CallbackRequest& request);
  void add_created_rows(CallbackRequest& request);
  NTSTATUS call(CallbackRequest& request);
  // The name under which a row is shown. Nothing: the set cannot have it.
  [[nodiscard]] std::optional<std::string> row_name(const UNICODE_STRING* name) const;
  [[nodiscard]] NTSTATUS may_create_locked() const;
  NTSTATUS enter_locked(const std::shared_ptr<PcwInstance>& instance);
  [[nodiscard]] std::uint32_t next_id_locked() noexcept;

  const Parts parts_;
  std::mutex mutex_;
  bool closed_ = false;
  Published published_;
  std::map<std::uint32_t, std::shared_ptr<PcwInstance>> instances_;  // by id
  std::uint32_t next_id_ = 0;
};

}  // namespace meterbank::pcw
