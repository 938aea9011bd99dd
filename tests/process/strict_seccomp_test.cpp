// SPDX-License-Identifier: Apache-2.0
//
// What is mapped is read without any help of the kernel: a process that may only read, write and
// exit takes a million snapshots of a block, and a million samples through the library's query.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "../support/sample_words.hpp"
#include "../support/sanitizers.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "numbered_set.hpp"
#include "segment_eye.hpp"

namespace meterbank::strict_seccomp_test {
namespace {

using test::SeenSlot;
using test::SegmentEye;

constexpr std::uint32_t kWords = 8;
constexpr std::uint32_t kSnapshots = 1'000'000;

enum Verdict : int { kGood, kTorn, kBackwards, kNeverFresh, kNoRow, kNoSeccomp };

// What one reader has seen of a row whose word i holds i + 1 times word 0.
struct Watcher {
  std::uint64_t last = 0;
  std::uint32_t fresh = 0;

  Verdict look(const std::uint64_t* row, std::uint64_t version, bool is_fresh) {
    for (std::uint32_t word = 0; word < kWords; ++word) {
      if (row[word] != row[0] * (word + 1)) return kTorn;
    }
    if (version < last) return kBackwards;
    last = version;
    fresh += is_fresh ? 1 : 0;
    return kGood;
  }
  [[nodiscard]] Verdict end() const { return fresh == 0 ? kNeverFresh : kGood; }
};

Verdict take_snapshots(const BlockParts<const SharedWord>& block) {
  std::array<std::uint64_t, kWords> row{};
  Watcher watcher;
  for (std::uint32_t snapshot = 0; snapshot < kSnapshots; ++snapshot) {
    const ReadResult seen = read_bounded<StdAtomics>(block, row.data(), watcher.last);
    if (seen.status == ReadStatus::kBusy) continue;
    const bool is_fresh = seen.status == ReadStatus::kFresh;
    const Verdict verdict = watcher.look(row.data(), seen.version, is_fresh);
    if (verdict != kGood) return verdict;
  }
  return watcher.end();
}

Verdict take_samples(Query& query, Sample& sample) {
  Watcher watcher;
  for (std::uint32_t snapshot = 0; snapshot < kSnapshots; ++snapshot) {
    if (query.collect(sample, Timestamp{snapshot, snapshot}).rows != 1) return kNoRow;
    if (content_of(sample).status[0] == RowStatus::kBusy) continue;
    const bool is_fresh = content_of(sample).status[0] == RowStatus::kFresh;
    const Verdict verdict =
        watcher.look(content_of(sample).row(0), content_of(sample).row(0)[0], is_fresh);
    if (verdict != kGood) return verdict;
  }
  return watcher.end();
}

// A provider of one instance in this process. Commits while a child in strict mode runs `body`, and
// expects the child to find nothing wrong.
class StrictSeccomp : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  }
  template <typename F>
  void expect_good(F&& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const bool is_strict = ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
      const Verdict verdict = is_strict ? body() : kNoSeccomp;
      ::syscall(SYS_exit, verdict);  // _exit() would be exit_group, which strict mode forbids
    }
    ASSERT_GT(pid, 0);
    std::uint64_t commit = 0;
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
      for (int burst = 0; burst < 1000; ++burst) {
        ++commit;
        instance_.update([&](Values& values) noexcept {
          for (std::uint32_t word = 0; word < kWords; ++word) values.set(word, commit * (word + 1));
        });
      }
    }
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), kGood);
  }

  const test::TemporaryDirectory directory_;
  const test::NumberedSet set_{kWords};
  Provider provider_ = *Provider::create({.name = "strict", .directory = directory_.path()});
  Instance instance_ = *provider_.add(set_.spec())->create_instance("it");
};

TEST_F(StrictSeccomp, AMillionSnapshotsOfABlockNeedNoSystemCall) {
  auto eye = SegmentEye::of_directory(directory_.path());
  ASSERT_TRUE(eye) << eye.error().message();
  std::vector<SeenSlot> slots;
  ASSERT_EQ(eye->walk(slots), "");
  ASSERT_EQ(slots.size(), 1U);
  expect_good([&] { return take_snapshots(slots.front().block); });
}

TEST_F(StrictSeccomp, AMillionSamplesOfAQueryNeedNoSystemCall) {
  auto catalog = Catalog::open({.directory = directory_.path()});
  ASSERT_TRUE(catalog) << catalog.error().message();
  auto query = Query::compile(*catalog, {});
  ASSERT_TRUE(query) << query.error().message();
  Sample sample;
  query->prepare(sample);
  expect_good([&] { return take_samples(*query, sample); });
}

TEST(StrictSeccompControl, AnyOtherSystemCallIsDeath) {
  if (test::kHasThreadSanitizer) {
    GTEST_SKIP() << "strict mode kills a thread, and the sanitizer has started a second one";
  }
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
}  // namespace meterbank::strict_seccomp_test
