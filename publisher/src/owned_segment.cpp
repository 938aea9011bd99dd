// SPDX-License-Identifier: Apache-2.0
#include "owned_segment.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "callback/callback_server.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/library_thread.hpp"
#include "meterbank/base/stay_loaded.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/owner_mutex.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "notice/notice.hpp"
#include "owned_registration.hpp"

namespace meterbank::detail {

OwnedSegment::OwnedSegment(ProviderOptions provider_options)
    : options(std::move(provider_options)) {
  // No machine runs longer, and a clock's nanoseconds have room for it.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365 * 100);
  options.heartbeat = std::min(options.heartbeat, kLongest);
  options.quarantine = std::min(options.quarantine, kLongest);
  options.cut_period = std::min<decltype(options.cut_period)>(options.cut_period, kLongest);
}

OwnedSegment::~OwnedSegment() {
  close();
  unwatch_forks(*this);
  keep_ended_memory(std::move(handle_memory));
}

Result<void> OwnedSegment::start() {
  if (!check_name(options.name, NameKind::kProvider).ok() ||
      options.name.size() > kProviderNameBytesMax) {
    return fail(ErrorCode::kBadName, "provider name '" + options.name + "'",
                "1 to 63 bytes of UTF-8 without control characters");
  }
  auto directory = prepare_first_directory(options.directory.empty()
                                               ? provider_directories()
                                               : std::vector<std::string>{options.directory});
  if (!directory) return tl::make_unexpected(std::move(directory.error()));
  options.directory = *std::move(directory);
  // The record is found again at the end, wherever the process works by then.
  std::error_code unknown;
  const auto whole = std::filesystem::absolute(options.directory, unknown);
  if (!unknown) options.directory = whole.string();
  auto keeps = keeps_record(options.keep_record);
  if (!keeps) return tl::make_unexpected(std::move(keeps.error()));
  options.keep_record = *keeps;
  if (auto good = stay_loaded(); !good) return good;
  // Before the first descriptor that a child must not keep. Under the mutex: a fork takes it, too.
  watch_forks();
  const std::lock_guard lock(mutex);
  kept_record_.choose(options.directory);
  if (auto good = add_extent(kExtentBytesMin); !good) return good;
  new (extents.front().data()) SegmentHeader{};
  used = sizeof(SegmentHeader);
  write_header();
  if (auto good = open_door(); !good) return good;
  if (auto good = start_keeper(); !good) return good;
  SegmentHeader& segment = header();
  segment.state.store(static_cast<std::uint32_t>(SegmentState::kLive), std::memory_order_relaxed);
  // [P1] pairs with [Q1]. Without it a reader sees the magic word and an empty header.
  segment.magic.store(kSegmentMagic, std::memory_order_release);
  PointerRecord pointer;
  pointer.name = options.name;
  pointer.pid = segment.pid;
  pointer.start_time = segment.start_time;
  pointer.boot_id = segment.boot_id;
  pointer.pid_namespace = own_pid_namespace();
  pointer.time_namespace = segment.time_namespace;
  if (door_ != nullptr) pointer.door = door_name(segment.pid, extents.front().inode());
  pointer.descriptor = static_cast<std::uint32_t>(extents.front().descriptor());
  pointer.inode = extents.front().inode();
  pointer.bytes = extents.front().size();
  pointer.layout_major = kLayoutMajor;
  pointer.layout_minor = kLayoutMinor;
  record = options.directory + "/" + record_file_name(pointer);
  const std::lock_guard keeper(keeper_mutex_);
  auto written = kept_record_.write(std::move(pointer));
  if (!written) record.clear();
  if (door_ == nullptr) say_if_not_dumpable(options.name, stderr_);
  return written;
}

void OwnedSegment::write_header() {
  SegmentHeader& segment = header();
  segment.layout_major = kLayoutMajor;
  segment.layout_minor = kLayoutMinor;
  segment.abi_mark = kAbiMark;
  segment.header_bytes = sizeof(SegmentHeader);
  segment.pid = static_cast<std::uint32_t>(::getpid());
  segment.uid = ::geteuid();
  segment.boot_id = boot_id();
  segment.start_time = own_start_time();
  segment.created_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
  segment.created_realtime_ns = clock_ns(CLOCK_REALTIME);
  if (::getrandom(segment.segment_id.data(), sizeof segment.segment_id, 0) !=
      static_cast<ssize_t>(sizeof segment.segment_id)) {
    segment.segment_id = {segment.created_monotonic_ns, extents.front().inode()};
  }
  segment.time_namespace = own_time_namespace();
  segment.name_bytes = static_cast<std::uint32_t>(options.name.size());
  std::memcpy(segment.name.data(), options.name.data(), options.name.size());
  const OwnedExtent& first = extents.front();
  segment.extents[0] = {first.size(), first.inode(), static_cast<std::uint32_t>(first.descriptor()),
                        0};
  // relaxed: published by [P1] with the rest of the header.
  segment.extents_count.store(1, std::memory_order_relaxed);
}

Result<void> OwnedSegment::add_extent(std::uint64_t extent_bytes) {
  if (extents.size() == kExtentsMax || extent_bytes > kExtentBytesMax ||
      bytes + extent_bytes > options.bytes_max) {
    return fail(ErrorCode::kLimit,
                "provider '" + options.name + "' would exceed " +
                    std::to_string(options.bytes_max) + " bytes",
                "raise ProviderOptions::bytes_max or close instances");
  }
  auto extent = OwnedExtent::create(options.name, extent_bytes);
  if (!extent) return tl::make_unexpected(extent.error());
  bytes += extent->size();
  extents.push_back(std::move(*extent));
  used = 0;
  return {};
}

Result<OwnedSegment::Memory> OwnedSegment::allocate(std::uint64_t wanted, std::uint64_t alignment) {
  wanted = (wanted + kCacheLine - 1) / kCacheLine * kCacheLine;
  used = std::min((used + alignment - 1) / alignment * alignment, extents.back().size());
  if (extents.back().size() - used < wanted) {
    const std::uint64_t page = 4096;
    const std::uint64_t room = options.bytes_max > bytes ? options.bytes_max - bytes : 0;
    const std::uint64_t needed = (wanted + page - 1) / page * page;
    const std::uint64_t doubled = std::min(extents.back().size() * 2, room / page * page);
    if (auto good = add_extent(std::max(needed, doubled)); !good) {
      count_refusal(good.error().code == ErrorCode::kLimit ? Refusal::kMemoryLimit
                                                           : Refusal::kSystem);
      return tl::make_unexpected(good.error());
    }
    const OwnedExtent& extent = extents.back();
    SegmentHeader& segment = header();
    segment.extents[extents.size() - 1] = {extent.size(), extent.inode(),
                                           static_cast<std::uint32_t>(extent.descriptor()), 0};
    // [P2] pairs with [Q2]. Without it a reader sees the count and an empty entry.
    segment.extents_count.store(static_cast<std::uint32_t>(extents.size()),
                                std::memory_order_release);
  }
  const Memory memory{
      extents.back().data() + used,
      make_ref(static_cast<std::uint32_t>(extents.size() - 1), static_cast<std::uint32_t>(used))};
  used += wanted;
  return memory;
}

Result<void> OwnedSegment::serve_callbacks() {
  if (callbacks != nullptr) return {};
  SegmentHeader& segment = header();
  const std::string name = socket_name(segment.pid, extents.front().inode());
  const std::string path = options.directory + "/" + name;
  ChannelLimits limits;
  limits.callbacks_max = std::max<std::uint32_t>(1, options.callbacks_max);
  auto server = CallbackServer::start(path, limits, segment.channel_refused);
  if (!server) return tl::make_unexpected(server.error());
  callbacks = std::move(*server);
  const std::lock_guard keeper(keeper_mutex_);
  kept_record_.add_socket(name);
  return {};
}

Result<void> OwnedSegment::serve_cuts() {
  if (cut_beat != nullptr) return {};
  if (options.cut_period.count() <= 0) {
    return fail(ErrorCode::kInvalidArgument, "cuts of '" + options.name + "'",
                "set ProviderOptions::cut_period");
  }
  auto beat = CutBeat::start(header().settled_epoch, options.cut_period);
  if (!beat) return tl::make_unexpected(beat.error());
  cut_beat = std::move(*beat);
  return {};
}

void OwnedSegment::directory_changed(DirectoryChange what) noexcept {
  SegmentHeader& segment = header();
  // relaxed: only the owner stores it, under the mutex.
  const std::uint64_t number = segment.directory_version.load(std::memory_order_relaxed) + 1;
  what.number = static_cast<std::uint32_t>(number);
  // [P8] pairs with [Q8]. Without it a reader that was stopped for 2^32 changes could take this
  // entry for that of its own number and still see the version of that time.
  segment.changes[number % kChangesKept].store(what.raw(), std::memory_order_release);
  // [P5] pairs with [Q5]. Without it a poll sees the new version before the change it announces.
  segment.directory_version.store(number, std::memory_order_release);
}

void OwnedSegment::count_refusal(Refusal reason) noexcept {
  // relaxed: a statistic, orders nothing.
  header().refused[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

Result<void> OwnedSegment::usable() const {
  if (is_inherited()) {
    return fail(ErrorCode::kForked, "provider '" + options.name + "' belongs to the parent process",
                "create a provider of its own in the child");
  }
  if (closed) return fail(ErrorCode::kClosed, "provider '" + options.name + "' is closed");
  return {};
}

// The keeper holds the owner mutex for as long as the process lives.
void* OwnedSegment::keep(void* argument) noexcept {
  auto& state = *static_cast<OwnedSegment*>(argument);
  SegmentHeader& segment = state.header();
  hold_owner_mutex(segment.owner_mutex);
  const auto period = std::chrono::nanoseconds(state.options.heartbeat);
  // relaxed, here and below: liveness words order nothing.
  segment.heartbeat_period_ns.store(static_cast<std::uint64_t>(period.count()),
                                    std::memory_order_relaxed);
  for (;;) {
    const auto next_beat = std::chrono::steady_clock::now() + period;
    segment.heartbeat_ns.store(clock_ns(CLOCK_MONOTONIC_COARSE), std::memory_order_relaxed);
    if (!state.keeper_goes_on()) break;
    {
      const std::lock_guard keeper(state.keeper_mutex_);
      state.kept_record_.look_after();
      if (!state.options.keep_record) state.kept_record_.say_if_not_removable();
      if (state.door_ == nullptr) say_if_not_dumpable(state.options.name, state.stderr_);
    }
    state.rest_until(next_beat);
  }
  release_owner_mutex(segment.owner_mutex);
  state.end_outside();
  state.wait_for_handles();
  // Null where the provider waits for this thread.
  const auto last = std::move(state.left_to_keeper_);
  return nullptr;
}

// The last owner of this object frees its memory, by system calls. If the provider was left
// to the keeper, that must not be a thread that holds a handle.
void OwnedSegment::wait_for_handles() noexcept {
  std::unique_lock lock(keeper_mutex_);
  while (left_to_keeper_ != nullptr && left_to_keeper_.use_count() > 1) {
    keeper_changed_.wait_for(lock, std::chrono::nanoseconds(options.heartbeat));
  }
}

bool OwnedSegment::keeper_goes_on() noexcept {
  const std::lock_guard lock(keeper_mutex_);
  keeper_ready_ = true;
  keeper_changed_.notify_all();
  return !keeper_stop_;
}

void OwnedSegment::rest_until(std::chrono::steady_clock::time_point next_beat) noexcept {
  while (serves_door_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next_beat - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    constexpr std::chrono::milliseconds kLongest{WaitSet::kLookEveryMs};
    const auto happened =
        door_->wait(door_->due_in_ms(static_cast<int>(std::min(left, kLongest).count())));
    if (happened.woke == WaitSet::Woke::kWoken) return;
    {
      const std::lock_guard keeper(keeper_mutex_);
      if (keeper_stop_) return;  // leave_to_keeper() wakes no thread
    }
    const std::lock_guard lock(mutex);
    serves_door_ = door_->serve(happened);
  }
  std::unique_lock lock(keeper_mutex_);
  keeper_changed_.wait_until(lock, next_beat, [this] { return keeper_stop_; });
}

Result<void> OwnedSegment::open_door() {
  if (options.heartbeat.count() <= 0) return {};  // no thread would serve it
  const auto policy = ReadersPolicy::choose(options.readers, options.directory);
  if (!policy) return tl::make_unexpected(policy.error());
  if (auto good = try_to_open_door(*policy); !good) {
    notice("only root and this user can read provider '" + options.name +
           "': " + good.error().message());
  }
  return {};
}

Result<void> OwnedSegment::try_to_open_door(const ReadersPolicy& policy) {
  own_descriptors_ = KnownFd(UniqueFd(::open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (!own_descriptors_)
    return fail(ErrorCode::kSystem, "open /proc/self/fd", "mount /proc", errno);
  const std::string name = door_name(header().pid, extents.front().inode());
  auto opened = Door::open(options.directory + "/" + name, policy, *this);
  if (!opened) return tl::make_unexpected(opened.error());
  door_ = std::move(*opened);
  kept_record_.add_socket(name);
  serves_door_ = true;
  return {};
}

std::uint32_t OwnedSegment::extents_count() const noexcept {
  return static_cast<std::uint32_t>(extents.size());
}

// Opened anew, so that what a reader does with its description is nothing to the provider's, and
// read-only. The inode decides, as the program may have closed the number and got it back.
std::size_t OwnedSegment::open_extents(std::uint32_t first, std::span<UniqueFd> opened) noexcept {
  std::size_t count = 0;
  for (; count < opened.size() && first + count < extents.size(); ++count) {
    const OwnedExtent& extent = extents[first + count];
    std::array<char, 12> number{};
    std::snprintf(number.data(), number.size(), "%d", extent.descriptor());
    opened[count].reset(
        ::openat(own_descriptors_.get(), number.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (!opened[count] || ::fstat(opened[count].get(), &facts) != 0 ||
        facts.st_ino != extent.inode()) {
      break;
    }
  }
  return count;
}

Result<void> OwnedSegment::start_keeper() {
  if (options.heartbeat.count() <= 0) return {};
  const int failed = start_library_thread(keeper_, keep, this);
  if (failed != 0) {
    return fail(ErrorCode::kSystem, "keeper thread of '" + options.name + "'",
                "raise RLIMIT_NPROC, or set ProviderOptions::heartbeat to zero", failed);
  }
  keeper_runs_ = true;
  std::unique_lock lock(keeper_mutex_);
  keeper_changed_.wait(lock, [this] { return keeper_ready_; });
  return {};
}

void OwnedSegment::stop_keeper() noexcept {
  if (!keeper_runs_) return;
  {
    const std::lock_guard lock(keeper_mutex_);
    keeper_stop_ = true;
  }
  keeper_changed_.notify_all();
  if (door_ != nullptr) door_->wake();
  ::pthread_join(keeper_, nullptr);
  keeper_runs_ = false;
}

void OwnedSegment::close() noexcept {
  if (is_inherited()) return say_if_counted_here();
  std::vector<std::shared_ptr<OwnedRegistration>> ending;
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    closed = true;
    ending.swap(registrations);  // they hold this object: a cycle that ends here
    for (const auto& registration : ending) registration->begin_close_locked();
  }
  for (const auto& registration : ending) registration->close();
  if (!extents.empty()) {
    const std::lock_guard lock(mutex);
    // [P7] pairs with [Q7]. Without it a reader sees "closed" before the final values.
    header().state.store(static_cast<std::uint32_t>(SegmentState::kClosed),
                         std::memory_order_release);
    directory_changed();
  }
  if (options.keep_record && leave_to_keeper()) return;
  stop_servers();
  if (keeper_runs_) {
    stop_keeper();
  } else {
    end_outside();
  }
}

// The threads that serve readers. Waits for them.
void OwnedSegment::stop_servers() noexcept {
  std::shared_ptr<CallbackServer> serving;
  std::unique_ptr<CutBeat> beating;
  {
    const std::lock_guard lock(mutex);
    serving = callbacks;
    beating = std::move(cut_beat);
  }
  if (serving != nullptr) serving->stop();
  beating.reset();
}

// What other processes see of the provider beside its memory. On the keeper's thread if there is
// one: what a program forbids its own threads does not concern that thread (filters of system
// calls, Landlock, capabilities), and it blocks SIGPIPE.
void OwnedSegment::end_outside() noexcept {
  if (left_to_keeper_ != nullptr) stop_servers();
  if (!options.keep_record || record.empty()) {
    const std::lock_guard keeper(keeper_mutex_);
    kept_record_.remove();
  }
  if (door_ != nullptr) {
    const std::lock_guard lock(mutex);  // of forks
    door_->close();
  }
}

// With ProviderOptions::keep_record the caller makes no system call here but futex, because it may
// be a thread that a filter kills for it. The keeper ends by itself, at its next look; in a program
// that exits it does not come to that. Without a keeper everything stays until the process ends.
// False: this is not a whole provider, but one that could not start.
bool OwnedSegment::leave_to_keeper() noexcept {
  auto self = weak_from_this().lock();
  if (self == nullptr || record.empty()) return false;
  const std::lock_guard keeper(keeper_mutex_);
  left_to_keeper_ = std::move(self);
  if (!keeper_runs_) return true;
  keeper_runs_ = false;
  keeper_stop_ = true;
  ::pthread_detach(keeper_);
  return true;
}

}  // namespace meterbank::detail
