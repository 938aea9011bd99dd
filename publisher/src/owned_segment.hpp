// SPDX-License-Identifier: Apache-2.0
//
// What a provider owns besides its handles: the segment's memory, its place in the runtime
// directory and the keeper thread. Shared by the provider and everything registered with it, so
// that a handle which outlives the provider still points at memory.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cut_beat.hpp"
#include "door/door.hpp"
#include "kept_record.hpp"
#include "meterbank/base/fork_watch.hpp"
#include "meterbank/base/known_fd.hpp"
#include "meterbank/base/one_process.hpp"
#include "meterbank/publisher/provider.hpp"
#include "meterbank/shm/segment.hpp"
#include "slots/handle_memory.hpp"

namespace meterbank::detail {

class CallbackServer;
struct OwnedRegistration;

// Made by make_of_one_process(): a child never destroys what it inherited of its parent.
struct OwnedSegment final : OfOneProcess,
                            ForkWatcher,
                            DoorMemory,
                            std::enable_shared_from_this<OwnedSegment> {
  explicit OwnedSegment(ProviderOptions provider_options);
  ~OwnedSegment();

  // Allocates, publishes, starts the keeper.
  Result<void> start();
  // Orderly end. Idempotent. The memory stays until the last handle is gone.
  void close() noexcept;

  // `bytes` of zeroed shared memory, aligned to a cache line or a multiple; grows the segment if it
  // must.
  // The caller holds `mutex`.
  struct Memory {
    std::byte* data;
    Ref ref;
  };
  Result<Memory> allocate(std::uint64_t bytes, std::uint64_t alignment = kCacheLine);
  // The server for callbacks, started if it does not run. Under `mutex`.
  Result<void> serve_callbacks();
  // The heartbeat of cuts, started if it does not run. Under `mutex`.
  Result<void> serve_cuts();
  // After any change of the directory, under `mutex`. Wait-free. The number of `what` is of no
  // account; the default says that the change is not one slot's.
  void directory_changed(DirectoryChange what = {}) noexcept;
  void count_refusal(Refusal reason) noexcept;
  // Why nothing can be created any more, if so. Under `mutex`, or where it is inherited.
  [[nodiscard]] Result<void> usable() const;

  [[nodiscard]] SegmentHeader& header() const noexcept {
    return *reinterpret_cast<SegmentHeader*>(extents.front().data());
  }

  ProviderOptions options;
  std::mutex mutex;  // everything below but the keeper's part; never held on the publish path
  std::unique_ptr<HandleMemory> handle_memory = std::make_unique<HandleMemory>();
  std::vector<OwnedExtent>& extents = handle_memory->extents;
  std::uint64_t used = 0;  // bytes of the last extent
  std::uint64_t bytes = 0;
  std::uint32_t live_instances = 0;
  std::string record;
  std::vector<std::shared_ptr<OwnedRegistration>> registrations;
  std::shared_ptr<CallbackServer> callbacks;  // null until the first callback
  std::unique_ptr<CutBeat> cut_beat;          // null until the first set with cuts
  bool closed = false;

 private:
  Result<void> add_extent(std::uint64_t extent_bytes);
  void write_header();
  Result<void> start_keeper();
  void stop_keeper() noexcept;
  void stop_servers() noexcept;
  void end_outside() noexcept;
  void wait_for_handles() noexcept;
  [[nodiscard]] bool leave_to_keeper() noexcept;
  static void* keep(void* state) noexcept;
  // After a beat. The first one is what start() waits for.
  [[nodiscard]] bool keeper_goes_on() noexcept;
  // On the keeper's thread: serves readers, or sleeps if there is no door.
  void rest_until(std::chrono::steady_clock::time_point next_beat) noexcept;

  // Tells why on stderr if there is none: the provider can be read through procfs still.
  // Errors: kInvalidArgument, of ProviderOptions::readers.
  Result<void> open_door();
  [[nodiscard]] Result<void> try_to_open_door(const ReadersPolicy& policy);
  std::size_t open_extents(std::uint32_t first, std::span<UniqueFd> opened) noexcept override;
  [[nodiscard]] std::uint32_t extents_count() const noexcept override;

  // ---- fork.cpp; until it is destroyed, because handles write to it for as long ----
  void watch_forks();
  bool lock_for_fork() noexcept override;
  void unlock_after_fork() noexcept override;
  void leave_to_parent() noexcept override;
  // At the end of a child that counted into its private pages.
  void say_if_counted_here() noexcept;
  [[nodiscard]] bool has_counted_here() const noexcept;

  std::unique_ptr<Door> door_;  // null: none
  bool serves_door_ = false;    // the keeper's own: false once the program has closed it
  KnownFd own_descriptors_;     // /proc/self/fd, which a later chroot() would hide

  std::mutex keeper_mutex_;
  std::condition_variable keeper_changed_;
  pthread_t keeper_{};
  bool keeper_runs_ = false;
  bool keeper_ready_ = false;
  bool keeper_stop_ = false;
  KeptRecord kept_record_;  // under keeper_mutex_
  // This object, if its last owner has left it to the keeper's thread, or to the end of the
  // process.
  std::shared_ptr<OwnedSegment> left_to_keeper_;
  bool has_private_pages_ = false;  // in the child of a fork
  StandardError stderr_;
};

}  // namespace meterbank::detail
