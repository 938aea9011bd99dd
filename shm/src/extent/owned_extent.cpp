// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/memfd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapping.hpp"
#include "meterbank/base/known_fd.hpp"
#include "meterbank/shm/segment.hpp"
#include "room_for_extent.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3; unknown to the C library of Debian 12
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace meterbank {

struct OwnedExtent::Mapping {
  KnownFd descriptor;
  RoomForExtent room;
  MappedRegion region;
  std::uint64_t inode = 0;
};

OwnedExtent::OwnedExtent() noexcept = default;
OwnedExtent::OwnedExtent(OwnedExtent&&) noexcept = default;
OwnedExtent& OwnedExtent::operator=(OwnedExtent&&) noexcept = default;
OwnedExtent::~OwnedExtent() = default;

namespace {

UniqueFd open_memfd(const std::string& name) noexcept {
  UniqueFd descriptor(
      ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (!descriptor && errno == EINVAL) {  // an older kernel does not know the no-exec seal
    descriptor.reset(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  return descriptor;
}

// A host that closed its standard streams must not find a segment where it expects stderr.
void move_above_standard_streams(UniqueFd& descriptor) noexcept {
  if (descriptor.get() > STDERR_FILENO) return;
  const int moved = ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved >= 0) descriptor.reset(moved);
}

// Allocation beyond RLIMIT_FSIZE raises SIGXFSZ, which would kill the host: ask first, and keep
// the signal off this thread in case the limit changes in between. The others wait as well: kernels
// that give up at a signal, and begin anew, would never end under a profiler's timer.
int allocate(int descriptor, std::uint64_t bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) return EFBIG;
  sigset_t all, size, before, pending;
  ::sigfillset(&all);
  ::sigemptyset(&size);
  ::sigaddset(&size, SIGXFSZ);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = 0;
  do {
    failed = ::fallocate(descriptor, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed == EFBIG && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1 &&
      ::sigismember(&before, SIGXFSZ) == 0) {
    const timespec now{};
    ::sigtimedwait(&size, nullptr, &now);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

// A page that was allocated and never written still counts as a hole at the attach gate. Cannot
// fault: the pages are allocated. The descriptor is asked, because emulators of Linux answer that
// they took an advice which they ignore.
void write_each_page(int descriptor, std::byte* memory, std::uint64_t bytes,
                     std::uint64_t page) noexcept {
  const bool is_advised = ::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0;
  if (is_advised && ::lseek(descriptor, 0, SEEK_HOLE) == static_cast<off_t>(bytes)) return;
  for (std::uint64_t at = 0; at < bytes; at += page) memory[at] = std::byte{0};
}

}  // namespace

Result<OwnedExtent> OwnedExtent::create(const std::string& name, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  OwnedExtent extent;
  extent.mapping_ = std::make_unique<Mapping>();
  UniqueFd descriptor = open_memfd("meterbank:" + name);
  if (!descriptor) {
    return fail(ErrorCode::kSystem, "memfd for " + name, "raise RLIMIT_NOFILE", errno);
  }
  move_above_standard_streams(descriptor);
  if (const int failed = allocate(descriptor.get(), bytes); failed != 0) {
    return fail(
        ErrorCode::kNoSpace, std::to_string(bytes) + " bytes for " + name,
        failed == EFBIG ? "raise RLIMIT_FSIZE (ulimit -f)" : "free memory or raise its limit",
        failed);
  }
  RoomForExtent& room = extent.mapping_->room;
  room = RoomForExtent::reserve(bytes);
  auto region = map_region(descriptor.get(), bytes, Access::kReadWrite, room.place());
  if (!region) return tl::make_unexpected(region.error());
  extent.mapping_->region = std::move(*region);
  write_each_page(descriptor.get(), extent.data(), bytes, page);
  // A child must not become a second writer, and counters do not belong in core dumps.
  if (room.place() != nullptr) ::madvise(extent.data(), bytes, MADV_DONTFORK);
  ::madvise(extent.data(), bytes, MADV_DONTDUMP);
  if (::fcntl(descriptor.get(), F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    return fail(ErrorCode::kSystem, "seal memory of " + name, "run Linux 5.1 or newer", errno);
  }
  // Who may read is decided by who gets a descriptor: through procfs the kernel gives one to the
  // same user and root only.
  if (::fchmod(descriptor.get(), 0444) != 0) {
    return fail(ErrorCode::kSystem, "mode of " + name, {}, errno);
  }
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0) {
    return fail(ErrorCode::kSystem, "inode of " + name, {}, errno);
  }
  extent.mapping_->inode = facts.st_ino;
  extent.mapping_->descriptor = KnownFd(std::move(descriptor));
  return extent;
}

std::byte* OwnedExtent::data() const noexcept { return mapping_->region.data(); }
std::uint64_t OwnedExtent::size() const noexcept { return mapping_->region.size(); }
int OwnedExtent::descriptor() const noexcept { return mapping_->descriptor.get(); }
bool OwnedExtent::has_descriptor() const noexcept { return mapping_->descriptor.is_here(); }
KnownFd OwnedExtent::take_descriptor() noexcept { return std::move(mapping_->descriptor); }
std::uint64_t OwnedExtent::inode() const noexcept { return mapping_->inode; }

bool OwnedExtent::detach() noexcept {
  mapping_->descriptor.reset();
  return ::mmap(data(), size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

}  // namespace meterbank
