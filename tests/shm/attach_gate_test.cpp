// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "meterbank/shm/segment.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace meterbank {
namespace {

constexpr std::uint64_t kCap = 1 << 20;
constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

bool write_zeros(const UniqueFd& fd, std::uint64_t bytes) {
  const std::vector<char> zeros(bytes);
  return ::pwrite(fd.get(), zeros.data(), zeros.size(), 0) == static_cast<ssize_t>(bytes);
}

UniqueFd memory(std::uint64_t bytes, bool allocate, int seals, unsigned flags = 0) {
  UniqueFd fd(::memfd_create("gate", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (!fd) return fd;
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return {};
  if (allocate && !write_zeros(fd, bytes)) return {};
  if (seals != 0 && ::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return {};
  return fd;
}

ErrorCode refusal(const UniqueFd& fd) {
  const auto passed = pass_attach_gate(fd.get(), kCap);
  EXPECT_FALSE(passed);
  return passed ? ErrorCode::kInvalidArgument : passed.error().code;
}

TEST(AttachGate, AcceptsASealedFullyAllocatedMemfd) {
  const auto passed = pass_attach_gate(memory(8192, true, kAllSeals).get(), kCap);
  ASSERT_TRUE(passed);
  EXPECT_EQ(*passed, 8192U);
}

TEST(AttachGate, RefusesMissingSeals) {
  EXPECT_EQ(refusal(memory(8192, true, 0)), ErrorCode::kUnsealed);
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL}) {
    EXPECT_EQ(refusal(memory(8192, true, kAllSeals & ~missing)), ErrorCode::kUnsealed) << missing;
  }
}

TEST(AttachGate, RefusesHolesWhichWouldBeChargedToTheReader) {
  EXPECT_EQ(refusal(memory(8192, false, kAllSeals)), ErrorCode::kSparse);
}

TEST(AttachGate, RefusesHolesThatPagesBeyondTheEndMakeUpFor) {
  constexpr off_t kBytes = 65536;
  const UniqueFd fd = memory(kBytes, false, 0);
  ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, kBytes, kBytes), 0);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, kAllSeals), 0);
  struct stat facts {};
  ASSERT_EQ(::fstat(fd.get(), &facts), 0);
  ASSERT_EQ(facts.st_size, kBytes);
  ASSERT_GE(facts.st_blocks * 512, kBytes);  // what its blocks say is not enough
  EXPECT_EQ(refusal(fd), ErrorCode::kSparse);
}

TEST(AttachGate, RefusesOnePunchedPageAnywhere) {
  constexpr off_t kPage = 4096;
  for (const off_t hole : {off_t{0}, 7 * kPage, 15 * kPage}) {
    const UniqueFd fd = memory(16 * kPage, true, 0);
    ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 16 * kPage, kPage), 0);
    ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, hole, kPage), 0);
    ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, kAllSeals), 0);
    EXPECT_EQ(refusal(fd), ErrorCode::kSparse) << hole;
  }
}

TEST(AttachGate, MayBePassedByAnyDescriptorOfTheMemoryAtAnyOffset) {
  const UniqueFd fd = memory(8192, true, kAllSeals);
  ASSERT_EQ(::lseek(fd.get(), 5000, SEEK_SET), 5000);
  EXPECT_TRUE(pass_attach_gate(fd.get(), kCap));
}

// What the gate has found whole has to stay so while its owner still has a writable mapping.
TEST(AttachGate, PassesOnlyMemoryThatItsOwnerCannotMakeHolesInLater) {
  constexpr std::uint64_t kBytes = 16 * 4096;
  const UniqueFd fd = memory(kBytes, true, 0);
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, kAllSeals), 0);
  ASSERT_TRUE(pass_attach_gate(fd.get(), kCap));
  EXPECT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(::fallocate(fd.get(), FALLOC_FL_ZERO_RANGE, 0, 4096), -1);
  EXPECT_EQ(::fallocate(fd.get(), FALLOC_FL_COLLAPSE_RANGE, 0, 4096), -1);
  EXPECT_EQ(::madvise(mapped, kBytes, MADV_REMOVE), -1);
  // What is allowed takes the pages out of this mapping, not out of the memory.
  EXPECT_EQ(::madvise(mapped, kBytes, MADV_DONTNEED), 0);
  constexpr int kPageOut = 21, kCollapse = 25;
  static_cast<void>(::madvise(mapped, kBytes, kPageOut));
  static_cast<void>(::madvise(mapped, kBytes, kCollapse));
  EXPECT_TRUE(pass_attach_gate(fd.get(), kCap));
  ::munmap(mapped, kBytes);
  EXPECT_TRUE(pass_attach_gate(fd.get(), kCap));
}

TEST(AttachGate, RefusesSizesThatAreZeroOddOrBeyondTheCap) {
  EXPECT_EQ(refusal(memory(0, false, kAllSeals)), ErrorCode::kBadSize);
  EXPECT_EQ(refusal(memory(5000, true, kAllSeals)), ErrorCode::kBadSize);
  EXPECT_EQ(refusal(memory(2 * kCap, true, kAllSeals)), ErrorCode::kBadSize);
  EXPECT_EQ(refusal(memory(std::uint64_t{1} << 40, false, kAllSeals)), ErrorCode::kBadSize);
}

TEST(AttachGate, RefusesHugePagesDevicesPipesDirectoriesAndFiles) {
  if (const UniqueFd huge = memory(2 << 20, false, kAllSeals, MFD_HUGETLB); huge) {
    EXPECT_EQ(refusal(huge), ErrorCode::kWrongFilesystem);
  }
  EXPECT_EQ(refusal(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC))), ErrorCode::kNotSealable);
  EXPECT_EQ(refusal(UniqueFd(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC))),
            ErrorCode::kNotSealable);
  EXPECT_EQ(refusal(UniqueFd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC))),
            ErrorCode::kNotSealable);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  EXPECT_EQ(refusal(reading), ErrorCode::kNotSealable);
  std::string file = testing::TempDir() + "gate-XXXXXX";
  const UniqueFd ordinary(::mkstemp(file.data()));
  ::unlink(file.c_str());
  EXPECT_EQ(::ftruncate(ordinary.get(), 8192), 0);
  const auto passed = pass_attach_gate(ordinary.get(), kCap);
  EXPECT_FALSE(passed);
}

TEST(OwnedExtent, PassesTheAttachGateBeforeAnythingIsWritten) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{65536}, kCap}) {
    auto extent = OwnedExtent::create("whole", bytes);
    ASSERT_TRUE(extent) << extent.error().message();
    EXPECT_TRUE(pass_attach_gate(extent->descriptor(), kCap)) << bytes;
  }
}

TEST(OwnedExtent, CannotBeShrunkGrownPunchedOrMappedWritable) {
  auto extent = OwnedExtent::create("seals", 16384);
  ASSERT_TRUE(extent) << extent.error().message();
  const int fd = extent->descriptor();
  EXPECT_EQ(::ftruncate(fd, 4096), -1);
  EXPECT_EQ(::ftruncate(fd, 32768), -1);
  EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(::pwrite(fd, "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  extent->data()[100] = std::byte{7};  // the owner's own mapping still stores
  struct stat facts {};
  ASSERT_EQ(::fstat(fd, &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0444U);
}

TEST(OwnedExtent, ALowFileSizeLimitIsANamedErrorAndNotASignal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto extent = OwnedExtent::create("limit", 65536);
    ::_exit(!extent && extent.error().code == ErrorCode::kNoSpace ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(OwnedExtent, NoDescriptorsLeftIsANamedError) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{3, 3};
    ::setrlimit(RLIMIT_NOFILE, &small);
    const auto extent = OwnedExtent::create("limit", 65536);
    ::_exit(!extent && extent.error().code == ErrorCode::kSystem ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(MappedSegment, RefusesAnythingWithoutTheMagicWord) {
  auto mapped = MappedExtent::map(memory(8192, true, kAllSeals), kCap);
  ASSERT_TRUE(mapped);
  const auto attached = MappedSegment::attach(std::move(*mapped));
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ErrorCode::kNotASegment);
}

TEST(MappedBytes, AnOffsetThatDoesNotHoldAWholeObjectIsNull) {
  alignas(8) std::byte bytes[32]{};
  const MappedBytes mapped(bytes, sizeof bytes);
  EXPECT_NE(mapped.at<std::uint64_t>(24), nullptr);
  for (const std::uint64_t offset : {std::uint64_t{1}, std::uint64_t{28}, std::uint64_t{32},
                                     std::uint64_t{40}, ~std::uint64_t{0}, ~std::uint64_t{7}}) {
    EXPECT_EQ(mapped.at<std::uint64_t>(offset), nullptr) << offset;
  }
}

}  // namespace
}  // namespace meterbank
