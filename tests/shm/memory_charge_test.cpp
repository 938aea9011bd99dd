// SPDX-License-Identifier: Apache-2.0
//
// Which process pays for pages: a reader in a small memory control group touches every page that it
// has mapped.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "../support/sanitizers.hpp"
#include "meterbank/shm/atomics.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
constexpr const char* kLimit = "16777216";

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

// A memory control group with a small limit; gone with the object.
class SmallGroup {
 public:
  static std::optional<SmallGroup> create() {
    const std::string name = "/meterbank-test-" + std::to_string(::getpid());
    for (const auto& [parent, limit] :
         {std::pair{"/sys/fs/cgroup", "/memory.max"},
          std::pair{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes"}}) {
      const std::string path = parent + name;
      if (::mkdir(path.c_str(), 0755) != 0) continue;
      if (::access((path + limit).c_str(), W_OK) == 0 && write_text(path + limit, kLimit)) {
        return SmallGroup(path);
      }
      ::rmdir(path.c_str());
    }
    return std::nullopt;
  }
  SmallGroup(SmallGroup&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  SmallGroup& operator=(SmallGroup&&) = delete;
  ~SmallGroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }

  // How a process of this group ends that reads a word of each page.
  [[nodiscard]] int status_of_reader(int descriptor) const {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!write_text(path_ + "/cgroup.procs", std::to_string(::getpid()))) ::_exit(2);
      void* const mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, descriptor, 0);
      const MappedBytes bytes(static_cast<const std::byte*>(mapped), kBytes);
      std::uint64_t sum = 0;
      for (std::uint64_t at = 0; at < kBytes; at += 4096) {
        sum += StdAtomics::load_relaxed(*bytes.at<SharedWord>(at));  // relaxed: only touched
      }
      ::_exit(sum == 0 ? 0 : 3);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

 private:
  explicit SmallGroup(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

TEST(MemoryCharge, GoesToTheOwnerForAnExtentAndToTheReaderForHoles) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer's own memory is charged, too";
  const auto group = SmallGroup::create();
  if (!group) GTEST_SKIP() << "no memory control group may be made here";
  const auto extent = OwnedExtent::create("charged", kBytes);
  ASSERT_TRUE(extent) << extent.error().message();
  ASSERT_TRUE(pass_attach_gate(extent->descriptor(), kBytes));
  EXPECT_EQ(group->status_of_reader(extent->descriptor()), 0);

  // The same reader over memory that the gate refuses: the kernel ends it.
  const UniqueFd sparse(::memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(sparse.get(), kBytes), 0);
  ASSERT_EQ(::fallocate(sparse.get(), FALLOC_FL_KEEP_SIZE, kBytes, kBytes), 0);
  ASSERT_EQ(
      ::fcntl(sparse.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL),
      0);
  EXPECT_FALSE(pass_attach_gate(sparse.get(), kBytes));
  const int status = group->status_of_reader(sparse.get());
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
}

}  // namespace
}  // namespace meterbank
