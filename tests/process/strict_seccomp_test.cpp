// SPDX-License-Identifier: Apache-2.0
//
// A mapped block is read without any help of the kernel: a process that may only read, write and
// exit takes a million snapshots.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "numbered_set.hpp"
#include "segment_eye.hpp"

namespace meterbank {
namespace {

using test::SeenSlot;
using test::SegmentEye;

constexpr std::uint32_t kWords = 8;
constexpr std::uint32_t kSnapshots = 1'000'000;

enum Verdict : int { kGood, kTorn, kBackwards, kNeverFresh, kNoSeccomp };

Verdict take_snapshots(const BlockParts<const SharedWord>& block) {
  std::array<std::uint64_t, kWords> row{};
  std::uint64_t last = 0;
  std::uint32_t fresh = 0;
  for (std::uint32_t snapshot = 0; snapshot < kSnapshots; ++snapshot) {
    const ReadResult seen = read_bounded<StdAtomics>(block, row.data(), last);
    if (seen.status == ReadStatus::kBusy) continue;
    for (std::uint32_t word = 0; word < kWords; ++word) {
      if (row[word] != row[0] * (word + 1)) return kTorn;
    }
    if (seen.version < last) return kBackwards;
    last = seen.version;
    fresh += seen.status == ReadStatus::kFresh ? 1 : 0;
  }
  return fresh == 0 ? kNeverFresh : kGood;
}

TEST(StrictSeccomp, AMillionSnapshotsNeedNoSystemCall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer makes system calls of its own";
#endif
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "strict", .directory = directory.path()});
  const test::NumberedSet set(kWords);
  Instance instance = *provider.add(set.spec())->create_instance("it");
  auto eye = SegmentEye::of_directory(directory.path());
  ASSERT_TRUE(eye) << eye.error().message();
  std::vector<SeenSlot> slots;
  ASSERT_EQ(eye->walk(slots), "");
  ASSERT_EQ(slots.size(), 1U);

  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool is_strict = ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
    const Verdict verdict = is_strict ? take_snapshots(slots.front().block) : kNoSeccomp;
    ::syscall(SYS_exit, verdict);  // _exit() would be exit_group, which strict mode forbids
  }
  ASSERT_GT(pid, 0);
  std::uint64_t commit = 0;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    for (int burst = 0; burst < 1000; ++burst) {
      ++commit;
      instance.update([&](Values& values) noexcept {
        for (std::uint32_t word = 0; word < kWords; ++word) values.set(word, commit * (word + 1));
      });
    }
  }
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kGood);
}

TEST(StrictSeccompControl, AnyOtherSystemCallIsDeath) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) ::_exit(kNoSeccomp);
    ::syscall(SYS_getpid);
    ::syscall(SYS_exit, kGood);
  }
  ASSERT_GT(pid, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

}  // namespace
}  // namespace meterbank
